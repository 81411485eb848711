#include "script/serving/abi.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace rooflua::script {

namespace {

/// A whole number as the engine counts, or -1 where it is none: every operation refuses -1.
std::int32_t whole(double value) noexcept {
  constexpr double most = std::numeric_limits<std::int32_t>::max();
  if (!(value >= 0 && value <= most)) return -1;
  const auto integer = static_cast<std::int32_t>(value);
  return integer == value ? integer : -1;
}

/// To be called with the status of an operation that may have moved requests between the lists:
/// positions that a script remembers are stale then. Decodes and prefills of seated requests leave
/// every list as it is, so that a policy can walk along while it plans.
std::int32_t moved(ServeBorder* border, std::int32_t status) noexcept {
  if (status != 0) ++border->change;
  return status;
}

/// The same for an operation that may preempt requests on the way.
template <class Operation>
std::int32_t shedding(ServeBorder* border, Operation operation) noexcept {
  const std::int32_t before = border->plan->view().preempted;
  const std::int32_t status = operation();
  if (border->plan->view().preempted != before) ++border->change;
  return status;
}

std::int32_t decode_all(ServeBorder* border, double limit) noexcept {
  const std::int32_t most = limit == Plan::no_limit ? Plan::no_limit : whole(limit);
  // -1 means no limit to the plan; every other value that is no count must be refused there.
  const bool nonsense = limit != Plan::no_limit && most < 0;
  return shedding(border, [&] { return border->plan->try_decode_all(nonsense ? -3 : most); });
}

std::int32_t shed(ServeBorder* border, double slot) noexcept {
  return shedding(border, [&] { return border->plan->try_shed(whole(slot)); });
}

std::int32_t decode(ServeBorder* border, double slot, double tokens) noexcept {
  if (tokens == Plan::all_tokens) return border->plan->try_decode(whole(slot), Plan::all_tokens);
  // What is no count must be refused, as no tokens are.
  return border->plan->try_decode(whole(slot), std::max(0, whole(tokens)));
}

std::int32_t prefill(ServeBorder* border, double slot, double tokens) noexcept {
  return border->plan->try_prefill(whole(slot), whole(tokens));
}

/// Lua has checked neither the request's handle nor that the numbers are whole and at least 0. -2:
/// one of them makes no sense.
std::int32_t admit(ServeBorder* border, std::int32_t slot, std::uint32_t epoch, double tokens,
                   double hold_tokens, double fit_tokens, double spare_blocks) noexcept {
  constexpr std::int32_t not_read = -2;
  const Admission admission{whole(tokens), whole(hold_tokens), whole(fit_tokens),
                            whole(spare_blocks)};
  const bool sense = std::min({admission.tokens, admission.hold_tokens, admission.fit_tokens,
                               admission.spare_blocks}) >= 0;
  const bool known = slot >= 0 && slot < border->slots && border->requests[slot].epoch == epoch;
  if (!sense || !known) return not_read;
  return moved(border, border->plan->try_admit(slot, admission));
}

std::int32_t preempt(ServeBorder* border, double slot) noexcept {
  return moved(border, border->plan->try_preempt(whole(slot)));
}

std::int32_t encodable(ServeBorder* border, double slot, double tokens) noexcept {
  return border->plan->try_encodable(whole(slot), whole(tokens));
}

std::int32_t reject(ServeBorder* border, double slot) noexcept {
  return moved(border, border->plan->try_reject(whole(slot)));
}

std::int32_t wake_at(ServeBorder* border, double time_s) noexcept {
  return border->plan->try_wake_at(time_s);
}

const TierFound* found(ServeBorder* border) noexcept {
  return border->plan->found();
}

std::int32_t answer_load(ServeBorder* border, double tokens, double patience_s) noexcept {
  border->plan->answer_load(tokens < 0 ? TierPolicy::ask_later : whole(tokens), patience_s);
  return 1;
}

const char* refusal(ServeBorder* border) noexcept {
  static thread_local char text[512];
  try {
    const std::string said = border->plan->refusal_text();
    const std::size_t length = std::min(said.size(), sizeof text - 1);
    said.copy(text, length);
    text[length] = '\0';
  } catch (const std::exception&) {
    return words_of(border->plan->view().refusal).help.data();
  }
  return text;
}

std::int32_t cached_tokens(ServeBorder* border, double slot) noexcept {
  if (border->replica == nullptr) return 0;
  return border->replica->cached_tokens(whole(slot));
}

std::int32_t growing_tokens(ServeBorder* border, double slot) noexcept {
  return border->replica == nullptr ? 0 : border->replica->growing_tokens(whole(slot));
}

std::int32_t shared_tokens(ServeBorder* border, double slot, double other) noexcept {
  if (border->replica == nullptr) return 0;
  return border->replica->shared_tokens(whole(slot), whole(other));
}

double new_block(ServeBorder* border, double slot) noexcept {
  return border->replica == nullptr ? 0 : border->replica->new_block(whole(slot));
}

std::int32_t route_cached_tokens(ServeBorder* border, double replica) noexcept {
  const std::int32_t index = whole(replica);
  if (border->route == nullptr || index < 0 || index >= border->route->replica_count) return 0;
  return rooflua::cached_tokens(*border->route, index);
}

std::int32_t least_outstanding(ServeBorder* border) noexcept {
  if (border->route == nullptr || border->route->source == nullptr) return 0;
  return border->route->source->least_outstanding(*border->route);
}

std::int32_t show_holders(ServeBorder* border, std::span<const std::int32_t> places,
                          std::int32_t sent) noexcept {
  border->holders = places.data();
  border->holder_count = static_cast<std::int32_t>(places.size());
  border->holders_sent = sent;
  return border->holder_count;
}

std::int32_t find_holders(ServeBorder* border) noexcept {
  if (border->route == nullptr || border->route->source == nullptr) return 0;
  return show_holders(border, border->route->source->prefix_holders(*border->route), 0);
}

std::int32_t find_sent_holders(ServeBorder* border) noexcept {
  if (border->route == nullptr || border->route->source == nullptr) return 0;
  return show_holders(border, border->route->source->sent_holders(*border->route), 1);
}

double route_fact(ServeBorder* border, double replica, std::int32_t what) noexcept {
  const std::int32_t index = whole(replica);
  const RouteView* view = border->route;
  if (view == nullptr || view->source == nullptr || index < 0 || index >= view->replica_count)
    return 0;
  return view->source->fact(*view, index, static_cast<RouterFact>(what));
}

std::int32_t route_segment(ServeBorder* border, double number) noexcept {
  const std::int32_t index = whole(number);
  if (border->route == nullptr || border->route->source == nullptr) return -1;
  const std::vector<Segment>& segments =
      border->route->source->requests().progress(border->route->slot).segments;
  if (index < 0 || static_cast<std::size_t>(index) >= segments.size()) return -1;
  const Segment& segment = segments[static_cast<std::size_t>(index)];
  border->segment_content = static_cast<double>(segment.content);
  return segment.tokens;
}

/// The view of the call is that of a decider: its pool comes first.
std::int32_t pair_member(ServeBorder* border, double place, PairMember* out) noexcept {
  const std::int32_t index = whole(place);
  if (border->route == nullptr || index < 0 || index >= border->route->candidate_count) return 0;
  const auto& view = *reinterpret_cast<const PairView*>(border->route);
  if (view.source == nullptr) return 0;
  *out = view.source->member(view, index);
  return 1;
}

std::int32_t context_max(ServeBorder* border) noexcept {
  return decode_context_max(*border->batch);
}

std::int32_t decode_blocks(ServeBorder* border) noexcept {
  return border->replica == nullptr ? 0 : border->replica->decode_blocks();
}

std::int32_t adapter(ServeBorder* border, double slot) noexcept {
  const std::int32_t at = whole(slot);
  if (at < 0 || at >= border->slots) return 0;
  if (border->replica != nullptr) return border->replica->adapter(at);
  if (border->route == nullptr || border->route->source == nullptr) return 0;
  return border->route->source->requests().progress(at).adapter;
}

const std::int32_t* contexts(ServeBorder* border) noexcept {
  return decode_contexts(*border->batch);
}

const std::int32_t* widths(ServeBorder* border) noexcept {
  return decode_widths(*border->batch);
}

}  // namespace

ServeTable serve_table(ServeState& state) {
  return {sizeof(ServeTable),
          &state.border,
          &state.run,
          &state.follow_up,
          decode_all,
          shed,
          decode,
          prefill,
          admit,
          preempt,
          encodable,
          reject,
          wake_at,
          found,
          answer_load,
          refusal,
          cached_tokens,
          route_cached_tokens,
          context_max,
          contexts,
          widths,
          decode_blocks,
          adapter,
          growing_tokens,
          shared_tokens,
          new_block,
          least_outstanding,
          find_holders,
          find_sent_holders,
          route_fact,
          route_segment,
          pair_member};
}

}  // namespace rooflua::script
