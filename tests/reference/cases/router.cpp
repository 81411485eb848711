#include "tests/reference/cases/router.h"

#include <algorithm>
#include <tuple>

#include "serve/replica/cluster.h"

namespace rooflua::reference {

std::int32_t CaseRouter::route(const rooflua::Request&, const RouteView& view) {
  const std::int32_t count = view.candidate_count;
  if (kind_ == 0 || kind_ > 4) return view.candidates[turn_++ % count];
  if (kind_ == 4) return view.candidates[dice_.between(0, count - 1)];
  std::int32_t best = view.candidates[0];
  for (std::int32_t i = 1; i < count; ++i) {
    const std::int32_t each = view.candidates[i];
    if (load(view.signals[each]) < load(view.signals[best])) best = each;
  }
  return best;
}

double CaseRouter::load(const ReplicaSignals& signals) const {
  if (kind_ == 1) return signals.outstanding;
  if (kind_ == 2)
    return signals.waiting_tokens + signals.context_tokens + signals.prefilling +
           0.5 * signals.running;
  return signals.kv_used_frac + signals.waiting + 1e-3 * signals.decodes;
}

CommonQueue CaseRouter::common_queue() const {
  if (kind_ < 5) return CommonQueue::none;
  return kind_ == 5 ? CommonQueue::arrival : CommonQueue::longest;
}

void CaseRouter::look_at_ranks(const RouteView& view) {
  ranks_.clear();
  int all = view.together, fullest = 0;
  for (std::int32_t i = 0; i < view.candidate_count; ++i) {
    const std::int32_t each = view.candidates[i];
    const auto fact = [&](RouterFact what) { return view.source->fact(view, each, what); };
    const auto requests = static_cast<int>(fact(RouterFact::rank_requests));
    ranks_.push_back({requests, static_cast<int>(fact(RouterFact::rank_seats)),
                      fact(RouterFact::rank_tokens)});
    all += requests;
    fullest = std::max(fullest, requests);
  }
  most_ = std::max(fullest, (all + view.candidate_count - 1) / view.candidate_count);
}

std::int32_t CaseRouter::place(const rooflua::Request& request, const RouteView& view) {
  if (view.placed == 0) look_at_ranks(view);
  const std::size_t none = ranks_.size();
  std::size_t best = none;
  for (; best == none; ++most_) {
    for (std::size_t i = 0; i < none; ++i) {
      if (ranks_[i].requests >= most_ || ranks_[i].seats == 0) continue;
      const bool is_less = best == none || std::tie(ranks_[i].tokens, ranks_[i].requests) <
                                               std::tie(ranks_[best].tokens, ranks_[best].requests);
      if (is_less) best = i;
    }
  }
  --most_;
  ++ranks_[best].requests;
  --ranks_[best].seats;
  ranks_[best].tokens += request.prompt_tokens;
  return view.candidates[best];
}

}  // namespace rooflua::reference
