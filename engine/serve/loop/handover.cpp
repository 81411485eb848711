// Prompts that one replica computes and another one decodes, as vLLM's connectors do it.
// @source SERVING A3, A1.2, A1.3
//
//   prefilled   the prompt is computed; its blocks stay at the prefill replica (kept_blocks), and
//               the request queues at the decode replica
//   pulled      the decode replica's scheduler admits it: blocks for all of its prompt are taken
//               there, and the KV is on its way; without room the request stays in the queue, and
//               the prefill replica's blocks stay taken
//   arrived     the prefill replica's blocks are free; those of the decode replica carry content,
//               and the request waits for a seat in front of all that hold no blocks

#include <utility>

#include "serve/loop/simulation.h"

namespace rooflua {

/// The prompt is computed: it queues at a decode replica; the token is discarded, and the router
/// does not see it either.
void Simulation::hand_over(std::int32_t slot, std::int32_t from) {
  requests_[slot].emitted_tokens = 0;
  const std::int32_t to = choose(slot, Stage::decode);
  Progress& progress = requests_.progress(slot);
  progress.prefill_replica = from;
  progress.kept_blocks = std::exchange(progress.held_blocks, 0) + at(from).config().seat_blocks;
  progress.remote_tokens = requests_[slot].prompt_tokens - 1;
  queue(slot, to);
}

/// It has blocks at the decode replica: its KV sets off.
void Simulation::pull(std::int32_t slot) {
  const Request& request = requests_[slot];
  const std::int32_t from = requests_.progress(slot).prefill_replica;
  const KvTransfer& transfer = config_.transfer;
  const double bytes = transfer.bytes(request.prompt_tokens);
  if (kv_links_) {
    kv_links_->send({slot, from, request.replica, bytes, transfer.alpha_s, transfer.bytes_per_s},
                    now_);
    expect_flows();
    return tell_blocks(request.replica);
  }
  const Picoseconds end = after(now_, transfer.alpha_s + bytes / transfer.bytes_per_s,
                                "network (alpha_s + bytes_per_token * tokens / bytes_per_s)");
  post({.time = end, .kind = Delivery::Kind::transfer, .slot = slot, .to = request.replica});
  for (Observer* observer : bindings_.observers)
    observer->on_transfer({request.id, from, request.replica, now_, end, bytes});
  tell_blocks(request.replica);
}

/// Its KV is no longer needed where it was computed.
void Simulation::let_go(std::int32_t slot) {
  const std::int32_t from = requests_.progress(slot).prefill_replica;
  at(from).release_kept(slot);
  leave_replica(slot, from);
  touch(from);
  tell_blocks(from);
}

void Simulation::tell_blocks(std::int32_t index) {
  const KvCache& kv = replica(index).kv();
  for (Observer* observer : bindings_.observers)
    observer->on_blocks({index, now_, kv.used_blocks(), kv.total_blocks()});
}

void Simulation::arrive(std::int32_t slot, std::int32_t to) {
  let_go(slot);
  touch(to);
  if (has_left(slot)) return refuse_kv(slot, to);
  at(to).receive(slot, scheduler(to));
}

// --- over links

/// The next time that a flow begins to move, or ends, becomes an instant.
void Simulation::expect_flows() {
  const Picoseconds next = kv_links_->flows().next();
  if (next >= flows_expected_) return;
  flows_expected_ = next;
  post({.time = next, .kind = Delivery::Kind::flows});
}

void Simulation::pass_flows() {
  flows_ended_.clear();
  kv_links_->flows().pass(now_, flows_ended_);
  flows_expected_ = never;
  expect_flows();
  if (tiers_) {
    ask_again();
    // What ends in the instant of an alarm has come in time.
    std::stable_partition(flows_ended_.begin(), flows_ended_.end(), [](const FlowEnded& flow) {
      return flow.what.errand != Errand::alarm;
    });
  }
  for (const FlowEnded& flow : flows_ended_) {
    const FlowRequest& what = flow.what;
    if (what.errand == Errand::load) {
      end_load(flow);
      continue;
    }
    if (what.errand == Errand::store) {
      end_write(flow);
      continue;
    }
    if (what.errand == Errand::alarm) {
      lose_patience(flow);
      continue;
    }
    for (Observer* observer : bindings_.observers)
      observer->on_transfer({requests_[what.slot].id, what.from, what.to, flow.start, flow.end,
                             what.bytes, flow.alone_end, what.path});
    arrive(what.slot, what.to);
  }
}

}  // namespace rooflua
