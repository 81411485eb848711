// SglangThroughPlan of plan_policies.h.

#include <algorithm>
#include <vector>

#include "serve/replica/replica.h"
#include "tests/reference/plan_policies.h"

namespace rooflua::reference {

SglangThroughPlan::SglangThroughPlan(const SglangConfig& config) : config_(config) {
  init_ratio_ = std::min(1.0, 0.7 * config.schedule_conservativeness);
  min_ratio_ = init_ratio_ * 0.14;
  ratio_ = init_ratio_;
}

int SglangThroughPlan::max_new_left(const VisibleReplica& replica, std::int32_t slot) const {
  const rooflua::Request& request = replica.request(slot);
  return std::min(4096, request.max_output_tokens - emitted_tokens(replica.view(), request));
}

void SglangThroughPlan::plan(const VisibleReplica& replica, Plan& plan) {
  const ReplicaView& view = replica.view();
  if (view.seats == 0 && view.waiting == 0) {
    ratio_ = init_ratio_;
    return;
  }
  if (view.seats < seats_before_) full_ = false;
  prefill_first(replica, plan);
  if (plan.view().tokens == 0) decode_rest(replica, plan);
  seats_before_ = view.seats + plan.view().preempted;
}

void SglangThroughPlan::prefill_first(const VisibleReplica& replica, Plan& plan) {
  const ReplicaView& view = replica.view();
  const std::int32_t chunked = view.prefilling_head;
  if ((full_ || view.waiting == 0) && chunked < 0) return;
  const int unchunked = view.seats - view.prefilling;
  if (unchunked >= config_.max_running_requests && chunked < 0) {
    full_ = true;
    return;
  }
  int future = 0, taken = 0;
  for (std::int32_t slot = view.running_head; slot >= 0; slot = replica.request(slot).next)
    if (slot != chunked) future += max_new_left(replica, slot);
  double total = view.free_blocks - future * ratio_;
  int input = config_.max_prefill_tokens, chunk = config_.chunked_prefill_size;
  const auto book = [&](int tokens, int reserve) {
    total -= tokens + reserve;
    input -= tokens;
    chunk -= tokens;
    ++taken;
  };
  if (chunked >= 0) {
    const rooflua::Request& request = replica.request(chunked);
    const int pending = pending_tokens(view, request), tokens = std::min(pending, chunk);
    if (!plan.prefill(chunked, tokens)) return;
    book(tokens, tokens < pending ? 0 : std::min(request.max_output_tokens, 4096));
  }
  while (view.waiting > 0) {
    if (unchunked + taken >= config_.max_running_requests) {
      full_ = true;
      return;
    }
    const std::int32_t slot = view.waiting_head;
    const rooflua::Request& request = replica.request(slot);
    const int pending =
        request.prompt_tokens + request.emitted_tokens - replica.cached_tokens(slot);
    if (pending + max_new_left(replica, slot) + 1 + view.seat_blocks > total) {
      full_ = true;
      return;
    }
    if ((pending >= input && taken > 0) || chunk <= 0) return;
    const int tokens = std::min(pending, chunk);
    if (!plan.admit(slot, tokens)) return;
    total -= view.seat_blocks;
    book(tokens, tokens < pending ? 0 : std::min(request.max_output_tokens, 4096));
    if (total <= 0) full_ = true;
    if (total <= 0 || input <= 0 || chunk <= 0) return;
  }
}

void SglangThroughPlan::decode_rest(const VisibleReplica& replica, Plan& plan) {
  const ReplicaView& view = replica.view();
  if (view.decodes <= view.free_blocks) {
    plan.decode_all();
    if (view.decodes > 0) ratio_ = std::max(ratio_ - (init_ratio_ - min_ratio_) / 600, min_ratio_);
    return;
  }
  while (view.decodes > 1 && view.decodes > view.free_blocks) {
    std::int32_t victim = -1;
    for (std::int32_t slot = view.running_head; slot >= 0; slot = replica.request(slot).next) {
      const rooflua::Request& request = replica.request(slot);
      if (request.phase != Phase::decoding) continue;
      const int emitted = emitted_tokens(view, request);
      const int least = victim < 0 ? 0 : emitted_tokens(view, replica.request(victim));
      if (victim < 0 || emitted < least ||
          (emitted == least && request.prompt_tokens >= replica.request(victim).prompt_tokens))
        victim = slot;
    }
    plan.preempt(victim);
  }
  double generated = 0, max_new = 0;
  for (std::int32_t slot = view.running_head; slot >= 0; slot = replica.request(slot).next) {
    const rooflua::Request& request = replica.request(slot);
    if (request.phase != Phase::decoding) continue;
    generated += emitted_tokens(view, request);
    max_new += request.max_output_tokens;
  }
  ratio_ = std::min(1.0, (generated + 20.0 * view.decodes) / (max_new + 1));
  if (view.decodes <= view.free_blocks) plan.decode_all();
}

}  // namespace rooflua::reference
