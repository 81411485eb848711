// Requests that wait in front of a fleet until a replica is ready.

#include <utility>
#include <vector>

#include "serve/loop/life.h"
#include "serve/loop/simulation.h"

namespace rooflua {

/// Where KV is sent on, a prompt needs a replica of either kind, or where the decode replica comes
/// first, that one.
bool Life::has_candidates() const {
  const bool decode_first =
      s_.split_ && core_.config.disaggregation.order == SplitOrder::decode_first;
  if (!decode_first && core_.candidates_for(Stage::prompt).empty()) return false;
  return !s_.split_ || !core_.candidates_for(Stage::decode).empty();
}

bool Life::may_have_candidates() const {
  bool may[2] = {core_.built[0] == 0, core_.built[1] == 0};
  for (std::size_t g = 0; g < core_.groups.size(); ++g) {
    const auto engine = static_cast<std::int32_t>(g);
    const Fleet& fleet = *s_.fleet_;
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

bool Life::wait_at_door(std::int32_t slot) {
  if (has_candidates()) return false;
  if (!may_have_candidates()) {
    s_.finish(slot, Outcome::refused);
    return true;
  }
  fleet().door.push_back({slot, core_.now});
  note_waiting(slot);
  core_.tell(&Observer::on_held, core_.requests[slot], core_.now);
  return true;
}

void Life::open_door() {
  if (fleet().door.empty()) return;
  const bool is_open = has_candidates();
  if (is_open || !may_have_candidates()) leave_door(is_open);
}

void Life::leave_door(bool is_open) {
  const std::vector<Fleet::Waits> waiting = std::exchange(fleet().door, {});
  fleet().leaves_door = true;
  for (const auto& [slot, since] : waiting) {
    core_.progress(slot).held += core_.now - since;
    if (!is_open) {
      s_.finish(slot, Outcome::refused);
      continue;
    }
    core_.tell(&Observer::on_passed, core_.requests[slot], core_.now);
    s_.route(slot);
  }
  fleet().leaves_door = false;
}

}  // namespace rooflua
