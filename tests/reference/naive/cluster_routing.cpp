// Routers of the naive cluster: what they see, and what they answer.

#include <stdexcept>

#include "tests/reference/engine_run.h"
#include "tests/reference/naive/cluster.h"

namespace rooflua::reference {

std::vector<ReplicaSignals> NaiveCluster::look() const {
  std::vector<ReplicaSignals> out;
  for (std::size_t i = 0; i < count_; ++i) {
    out.push_back(engines_[i]->signals());
    for (const int id : sent_to(i)) {
      ++out[i].waiting;
      out[i].waiting_tokens += prompts()[static_cast<std::size_t>(id)].plain.prompt;
    }
    if (!router_->reads_reports()) continue;
    out[i].waiting = reports_[i].waiting;
    out[i].running = reports_[i].running;
    out[i].kv_used_frac = reports_[i].kv_used_frac;
  }
  return out;
}

/// Signals as they were before the first instant at or after the last tick.
std::vector<ReplicaSignals> NaiveCluster::signals() const {
  if (staleness_ == 0) return look();
  const Ps tick = now_ - now_ % staleness_;
  const Snapshot* last = &past_.front();
  for (const Snapshot& each : past_)
    if (each.time < tick) last = &each;
  return last->signals;
}

std::vector<ReplicaSignals> NaiveCluster::signals_for_router() const {
  std::vector<ReplicaSignals> seen = signals();
  for (std::size_t i = 0; i < count_; ++i) seen[i].outstanding = outstanding_[i];
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    for (const std::size_t i : groups_[g]) seen[i].group = static_cast<std::int32_t>(g);
  }
  return seen;
}

RouteView NaiveCluster::route_view(int id, const std::vector<std::int32_t>& candidates,
                                   const std::vector<ReplicaSignals>& seen) const {
  RouteView view;
  view.now_s = seconds(now_);
  view.signals_s = seconds(staleness_ > 0 ? now_ - now_ % staleness_ : now_);
  view.signals = seen.data();
  view.candidates = candidates.data();
  view.candidate_count = static_cast<std::int32_t>(candidates.size());
  view.replica_count = static_cast<std::int32_t>(count_);
  view.slot = id;
  view.source = this;
  return view;
}

int NaiveCluster::choose(int id, bool decode_stage) {
  std::vector<std::int32_t> candidates;
  int built = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    const bool decodes = cluster_.replicas[i].role == Role::decode;
    built += decodes == decode_stage;
    if (!is_candidate(i)) continue;
    if (decodes == decode_stage) candidates.push_back(static_cast<std::int32_t>(i));
  }
  if (built == 1) return candidates.front();
  std::vector<ReplicaSignals> seen = signals_for_router();
  RouteView view = route_view(id, candidates, seen);
  view.decode_stage = decode_stage ? 1 : 0;
  const int chosen = router_->route(shown_[id], view);
  note_sent(id, chosen, decode_stage);
  return chosen;
}

/// What the router believes to be cached there of a prompt is what its index says.
void NaiveCluster::note_sent(int id, int to, bool decode_stage) {
  const PlainRequest& request = prompts()[static_cast<std::size_t>(id)].plain;
  const bool remembers = knowledge_.rules().kind == RouterIndex::Kind::sent;
  const int known = remembers ? knowledge_.sent_tokens(request, to, now_) : cached_tokens(id, to);
  believed_uncached_ = std::max(0, request.prompt - known);
  knowledge_.send(id, request, to, decode_stage ? 0 : believed_uncached_, now_);
}

double NaiveCluster::fact(const RouteView& view, std::int32_t replica,
                          RouterFact what) const noexcept {
  const PlainRequest& request = prompts()[static_cast<std::size_t>(view.slot)].plain;
  switch (what) {
    case RouterFact::sent_tokens:
      return knowledge_.sent_tokens(request, replica, now_);
    case RouterFact::prefill_tokens:
      return knowledge_.prefill_tokens(replica);
    case RouterFact::blocks:
      return knowledge_.blocks(replica);
    case RouterFact::shared_blocks:
      return knowledge_.shared_blocks(request, replica);
    case RouterFact::sent_blocks:
      return knowledge_.sent_blocks(replica);
    case RouterFact::rank_requests:
      return static_cast<double>(requests_at(static_cast<std::size_t>(replica)).size());
    case RouterFact::rank_seats:
      return seats_left(static_cast<std::size_t>(replica));
    case RouterFact::rank_tokens: {
      double tokens = 0;
      for (const int id : requests_at(static_cast<std::size_t>(replica)))
        tokens += prompts()[static_cast<std::size_t>(id)].plain.prompt;
      return tokens;
    }
    default:
      return 0;
  }
}

std::span<const std::int32_t> NaiveCluster::sent_holders(const RouteView& view) const noexcept {
  holders_.clear();
  for (std::int32_t place = 0; place < view.candidate_count; ++place) {
    if (fact(view, view.candidates[place], RouterFact::sent_tokens) > 0) holders_.push_back(place);
  }
  return holders_;
}

/// A request as routers read it: its slot is its id.
void NaiveCluster::show(const Prompt& prompt) {
  std::vector<Segment> segments;
  const RequestSpec spec = spec_of(prompt, segments);
  const auto id = shown_.slots();
  const std::int32_t slot = shown_.open(spec, id);
  if (slot != id) throw std::logic_error("slots are not given in order");
  shown_[slot].id = id;
}

std::int32_t NaiveCluster::least_outstanding(const RouteView& view) const noexcept {
  std::int32_t best = 0;
  for (std::int32_t place = 1; place < view.candidate_count; ++place) {
    if (outstanding_of(view, place) < outstanding_of(view, best)) best = place;
  }
  return best;
}

std::span<const std::int32_t> NaiveCluster::prefix_holders(const RouteView& view) const noexcept {
  holders_.clear();
  for (std::int32_t place = 0; place < view.candidate_count; ++place) {
    if (cached_tokens(view.slot, view.candidates[place]) > 0) holders_.push_back(place);
  }
  return holders_;
}

}  // namespace rooflua::reference
