// A replica fails: whatever is on it, or rests on it, ends as replica_lost at once.
//
//   its requests, queued and running   they end; rows of steps under way never land
//   prompts that it computed           they end, also those that wait at their decode replica or
//   whose
//                                      KV is on its way: flows stop, and the blocks are free
//   prompts elsewhere, of which KV     they end; those to which it was only promised get another
//   has set off for it                 decode replica
//   its caches, stores of its own      empty; stores of its node or of the cluster keep what is
//   ready what it writes or loads            stops; a load from a store of its own that another
//   replica
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
#include "serve/loop/life.h"
#include "serve/loop/simulation.h"

namespace rooflua {

class Simulation::Losing {
 public:
  Losing(Simulation& simulation, std::int32_t replica)
      : s_(simulation), core_(simulation.core_), index_(replica) {}

  void all() {
    end_requests();
    for (OnFlow* part : s_.parts_.on_flow) part->lost(index_);
    free_left();
    Life(s_).forget_content(index_);
  }

 private:
  bool touches(std::int32_t slot) const {
    const Progress& progress = core_.progress(slot);
    if (core_.requests[slot].replica == index_ || progress.prefill_replica == index_) return true;
    return s_.split_ && s_.hand_over_of(slot).to == index_;
  }

  /// Whether the request cannot go on without this replica.
  bool rests_here(std::int32_t slot) const {
    const Progress& progress = core_.progress(slot);
    if (core_.requests[slot].replica == index_) return true;
    if (progress.kept_blocks > 0 && progress.prefill_replica == index_) return true;
    if (!s_.split_) return false;
    const HandOver& hand_over = s_.hand_over_of(slot);
    return hand_over.to == index_ && hand_over.reserved_blocks > 0;
  }

  void end_requests() {
    for (const std::int32_t slot : core_.live_slots()) {
      if (!core_.is_live(slot)) continue;
      if (rests_here(slot)) {
        s_.abort(slot, Outcome::replica_lost);
      } else if (s_.split_ && s_.hand_over_of(slot).to == index_) {
        s_.leave_promise(slot);
      }
    }
  }

  /// KV of this slot that is under way comes no longer.
  void stop_kv(std::int32_t slot) {
    Progress& progress = core_.progress(slot);
    if (progress.flows > 0) {
      if (core_.kv_links) core_.kv_links->flows().stop_hand_over(slot, core_.now);
      core_.deliveries.erase_if([slot](const Delivery& each) {
        return each.kind == Delivery::Kind::transfer && each.slot == slot;
      });
      progress.flows = 0;
    }
    for (OnFlow* part : s_.parts_.on_flow) part->stopped(slot);
  }

  /// Requests that ended and still held something here, or blocks elsewhere for KV from here.
  void free_left() {
    std::vector<std::int32_t> slots;
    for (const Left& each : core_.left)
      if (touches(each.slot)) slots.push_back(each.slot);
    for (const std::int32_t slot : slots) stop_kv(slot);
    core_.at(index_).lose_steps();
    s_.free_left_seats(index_);
    for (const std::int32_t slot : slots) {
      const auto left = std::find_if(core_.left.begin(), core_.left.end(),
                                     [slot](const Left& each) { return each.slot == slot; });
      if (left == core_.left.end()) continue;
      if (left->replica >= 0) {
        s_.cancel_reserved(slot);  // its seat is elsewhere, and is free when its step lands
      } else if (core_.progress(slot).kept_blocks > 0) {
        s_.let_go(slot);
        s_.refuse_kv(slot);
      } else if (s_.split_ && s_.hand_over_of(slot).reserved_blocks > 0) {
        s_.end_left(slot);
      } else {
        s_.refuse_kv(slot);  // it came from stores
      }
    }
    if (core_.kv_links) core_.expect_flows();
    core_.signals.changed(index_);
    s_.fruitless_preemptions_[static_cast<std::size_t>(index_)] = 0;
    core_.runs[static_cast<std::size_t>(index_)].forget();
  }

  Simulation& s_;
  Core& core_;
  std::int32_t index_;
};

void Simulation::fail_replica(std::int32_t index, double repair_s) {
  ROOFLUA_ASSERT(index >= 0 && index < replica_count());
  Life life(*this);
  Fleet& fleet = life.open();
  const std::int32_t engine = core_.engine_of(index);
  const Lifecycle state = fleet.engine(engine).state;
  if (state == Lifecycle::absent || state == Lifecycle::failed) return;
  core_.signals.pass_time(core_.now, core_.replicas);
  if (state == Lifecycle::starting && core_.kv_links) {
    core_.kv_links->flows().stop(Errand::start, engine, core_.now);
    core_.expect_flows();
  }
  fleet.engine(engine).will_be_repaired = std::isfinite(repair_s);
  life.set_state(engine, Lifecycle::failed);
  const double detect_s = core_.bindings.faults == nullptr ? 0 : core_.bindings.faults->detect_s();
  if (detect_s > 0 && state == Lifecycle::ready) {
    fleet.engine(engine).is_undetected = true;
    life.gather_candidates();
    life.alarm(engine, LifeAlarm::Kind::detected, detect_s);
  }
  const std::vector<std::int32_t> members = core_.groups[static_cast<std::size_t>(engine)].members;
  for (const std::int32_t member : members) Losing(*this, member).all();
  if (std::isfinite(repair_s)) life.alarm(engine, LifeAlarm::Kind::repaired, repair_s);
}

void Life::lose_connection(std::int32_t slot, std::int32_t replica) {
  core_.requests[slot].replica = replica;
  const FaultPolicy* faults = core_.bindings.faults;
  const double connect_s = faults == nullptr ? 0 : faults->connect_s();
  if (!(connect_s >= 0)) throw Error("faults", "connect_s: seconds from 0 on are right");
  if (std::isinf(connect_s)) return;
  core_.end_at(slot, DueEnd::Kind::lost, after(core_.now, connect_s, "faults: connect_s"));
}

void Life::forget_content(std::int32_t index) {
  core_.at(index).lose_steps();
  core_.at(index).lose_content();
  for (OnFlow* part : s_.parts_.on_flow) part->emptied(index);
  if (s_.knowledge_) s_.knowledge_->lose(index);
  core_.signals.changed(index);
  core_.tell_blocks(index);
}

}  // namespace rooflua
