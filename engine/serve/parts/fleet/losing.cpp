// A replica fails: whatever is on it, or rests on it, ends as replica_lost at once.
//
//   its requests, queued and running   they end; rows of steps under way never land
//   prompts that it computed           they end, also those that wait at their decode replica, or
//                                      whose KV is on its way: flows stop, the blocks are free
//   prompts elsewhere, of which KV     they end; those to which it was only promised get another
//   has set off for it                 decode replica
//   its caches, stores of its own      empty; stores of its node or of the cluster keep what is
//                                      ready
//   what it writes or loads            stops; a load from a store of its own that another replica
//                                      waits for is cut: what has come stays, the rest is computed
//
// A load layer by layer of a step that runs elsewhere goes on.
// @source vLLM and SGLang lose what is on an engine with its process; vLLM docs/features/nixl:
// kv_load_failure_policy "fail"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/error.h"
#include "serve/parts/fleet/fleet.h"

namespace rooflua {

namespace {

class Losing {
 public:
  Losing(Core& core, Loop& loop, std::int32_t replica)
      : core_(core), loop_(loop), index_(replica) {}

  void all() {
    end_requests();
    for (OnFlow* part : loop_.on_flow()) part->lost(index_);
    free_left();
  }

 private:
  bool touches(std::int32_t slot) const {
    const Progress& progress = core_.progress(slot);
    if (core_.requests[slot].replica == index_ || progress.prefill_replica == index_) return true;
    return core_.is_split && core_.hand_over_of(slot).to == index_;
  }

  /// Whether the request cannot go on without this replica.
  bool rests_here(std::int32_t slot) const {
    const Progress& progress = core_.progress(slot);
    if (core_.requests[slot].replica == index_) return true;
    if (progress.kept_blocks > 0 && progress.prefill_replica == index_) return true;
    if (!core_.is_split) return false;
    const HandOver& hand_over = core_.hand_over_of(slot);
    return hand_over.to == index_ && hand_over.reserved_blocks > 0;
  }

  void end_requests() {
    for (const std::int32_t slot : core_.live_slots()) {
      if (!core_.is_live(slot)) continue;
      if (rests_here(slot)) {
        loop_.abort(slot, Outcome::replica_lost);
      } else if (core_.is_split && core_.hand_over_of(slot).to == index_) {
        for (OnKv* part : loop_.on_kv()) part->leave_promise(slot);
      }
    }
  }

  /// KV of this slot that is under way comes no longer.
  void stop_kv(std::int32_t slot) {
    for (OnFlow* part : loop_.on_flow()) part->stopped(slot);
  }

  /// Requests that ended and still held something here, or blocks elsewhere for KV from here.
  void free_left() {
    std::vector<std::int32_t> slots;
    for (const Left& each : core_.left)
      if (touches(each.slot)) slots.push_back(each.slot);
    for (const std::int32_t slot : slots) stop_kv(slot);
    core_.at(index_).lose_steps();
    loop_.free_left_seats(index_);
    for (const std::int32_t slot : slots) {
      const Left* left = core_.left_of(slot);
      if (left == nullptr) continue;
      if (left->replica >= 0) {
        // Its seat is elsewhere, and is free when its step lands.
        for (OnKv* part : loop_.on_kv()) part->cancel_reserved(slot);
      } else if (core_.progress(slot).kept_blocks > 0) {
        for (OnKv* part : loop_.on_kv()) part->let_go(slot);
        loop_.refuse_kv(slot);
      } else if (core_.is_split && core_.hand_over_of(slot).reserved_blocks > 0) {
        for (OnKv* part : loop_.on_kv()) part->end_left(slot);
      } else {
        loop_.refuse_kv(slot);  // it came from stores
      }
    }
    if (core_.kv_links) core_.expect_flows();
    core_.signals.changed(index_);
    core_.fruitless_preemptions[static_cast<std::size_t>(index_)] = 0;
    core_.runs[static_cast<std::size_t>(index_)].forget();
  }

  Core& core_;
  Loop& loop_;
  std::int32_t index_;
};

}  // namespace

void lose_replica(Core& core, Loop& loop, std::int32_t replica) {
  Losing(core, loop, replica).all();
}

}  // namespace rooflua
