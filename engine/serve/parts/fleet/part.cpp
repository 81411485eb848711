// When something of a fleet is due, and requests that wait in front of it until a replica is ready.

#include <algorithm>
#include <utility>
#include <vector>

#include "serve/contract/fault.h"
#include "serve/parts/fleet/fleet.h"

namespace rooflua {

std::unique_ptr<Part> make_fleet(Core& core, Loop& loop) {
  std::vector<std::vector<std::int32_t>> engines;
  for (const RankGroup& each : core.groups) engines.push_back(each.members);
  auto out = std::make_unique<FleetPart>(core, loop, Fleet(core.config.pools, engines));
  out->gather_candidates();
  if (core.bindings.faults != nullptr) out->ask_faults();
  out->bind_autoscalers();
  return out;
}

FleetPart::FleetPart(Core& core, Loop& loop, const Fleet& fleet)
    : core_(core), loop_(loop), fleet_(fleet) {
  core_.states.clear();
  for (const Fleet::Engine& each : fleet_.engines) core_.states.push_back(each.state);
  set_speeds();
}

/// Where the step models have changed.
void FleetPart::set_speeds() {
  for (std::size_t i = 0; i < fleet_.slow.size(); ++i)
    if (fleet_.slow[i].factor != 1) set_speed(static_cast<std::int32_t>(i));
}

void FleetPart::rebind(const Bindings& before) {
  if (core_.bindings.steps != before.steps) set_speeds();
  if (core_.bindings.autoscalers != before.autoscalers) bind_autoscalers();
}

void FleetPart::pass(Moment moment) {
  switch (moment) {
    case Moment::before:
      if (fleet_.sample_at <= core_.now) sample_until(core_.now);
      return;
    case Moment::due:
      if (fleet_.next() <= core_.now) pass_due();
      return;
    case Moment::late:
      return open_door();
    case Moment::sent:
      if (fleet_.scale_due <= core_.now) ask_autoscalers();
      return;
    case Moment::over:
      return settle_drains();
    case Moment::stuck:
      return close_door();
    default:
      return;
  }
}

bool FleetPart::arrived(const FlowEnded& flow) {
  if (flow.what.errand != Errand::start) return false;
  end_part(flow.what.ticket);
  return true;
}

/// Whether a request can go on when an engine or a link changes.
bool FleetPart::helps_requests() {
  if (fleet_.scale_due != never || !fleet_.door.empty()) return true;
  for (const std::int32_t engine : fleet_.drains) {  // what is left there ends after the grace
    const auto pool = static_cast<std::size_t>(fleet_.engine(engine).pool);
    if (fleet_.pools[pool].config.grace_s > 0) return true;
  }
  if (core_.kv_links && core_.kv_links->flows().under_way() > 0) return true;
  if (core_.held == 0) return false;
  for (std::size_t g = 0; g < core_.groups.size(); ++g)
    if (fleet_.will_come(static_cast<std::int32_t>(g))) return true;
  return false;
}

/// When something in the life of an engine is due, for the sake of requests that are not over.
/// @param other  when anything else is due. Faults and repairs alone help those that wait for a
/// replica, or whose KV stands still, and no other
Picoseconds FleetPart::due(Picoseconds other) {
  const Picoseconds next = earliest();
  if (next == never) return never;
  if (next <= core_.until) return next;
  if (other == never && !helps_requests()) return never;
  const bool goes_on = core_.requests.alive() > 0 || core_.workload_due != never ||
                       (other != never && next <= other);  // rows of an aborted request end first
  return goes_on ? next : never;
}

/// One that waits for a replica.
void FleetPart::aborting(std::int32_t slot) {
  std::erase_if(fleet_.door, [&](const Fleet::Waits& each) {
    if (each.slot == slot) core_.progress(slot).held += core_.now - each.since;
    return each.slot == slot;
  });
}

// --- requests without a replica

/// Where KV is sent on, a prompt needs a replica of either kind, or where the decode replica comes
/// first, that one.
bool FleetPart::has_candidates() const {
  const bool decode_first =
      core_.is_split && core_.config.disaggregation.order == SplitOrder::decode_first;
  if (!decode_first && core_.candidates_for(Stage::prompt).empty()) return false;
  return !core_.is_split || !core_.candidates_for(Stage::decode).empty();
}

bool FleetPart::may_have_candidates() const {
  bool may[2] = {core_.built[0] == 0, core_.built[1] == 0};
  for (std::size_t g = 0; g < core_.groups.size(); ++g) {
    const auto engine = static_cast<std::int32_t>(g);
    const Fleet& fleet = fleet_;
    const Fleet::Engine& own = fleet.engine(engine);
    const bool decodes = core_.is_decoder(core_.groups[g].members.front());
    const auto pool = static_cast<std::size_t>(own.pool);
    const bool is_scaled = own.pool >= 0 && pool < core_.bindings.autoscalers.size() &&
                           core_.bindings.autoscalers[pool] != nullptr;
    const bool is_wanted = own.pool >= 0 && fleet.pools[pool].wanted > 0;
    const bool is_lost = own.state == Lifecycle::failed && !own.will_be_repaired;
    may[decodes ? 1 : 0] |= fleet.takes_requests(engine) || fleet.will_come(engine) ||
                            (!is_lost && (is_scaled || is_wanted));
  }
  return may[0] && may[1];
}

bool FleetPart::wait_at_door(std::int32_t slot) {
  if (has_candidates()) return false;
  if (!may_have_candidates()) {
    ++core_.totals.refused_without_replica;
    loop_.finish(slot, Outcome::refused);
    return true;
  }
  fleet_.door.push_back({slot, core_.now});
  note_waiting(slot);
  core_.tell(&Observer::on_held, core_.requests[slot], core_.now);
  core_.tell(&Observer::on_no_replica, core_.requests[slot]);
  return true;
}

bool FleetPart::may_open_door() const {
  return !fleet_.door.empty() && (has_candidates() || !may_have_candidates());
}

void FleetPart::open_door() {
  if (may_open_door()) leave_door(has_candidates());
}

void FleetPart::leave_door(bool is_open) {
  const std::vector<Fleet::Waits> waiting = std::exchange(fleet_.door, {});
  fleet_.leaves_door = true;
  for (const auto& [slot, since] : waiting) {
    core_.progress(slot).held += core_.now - since;
    if (!is_open) {
      ++core_.totals.refused_without_replica;
      loop_.finish(slot, Outcome::refused);
      continue;
    }
    core_.tell(&Observer::on_passed, core_.requests[slot], core_.now);
    loop_.route(slot);
  }
  fleet_.leaves_door = false;
}

}  // namespace rooflua
