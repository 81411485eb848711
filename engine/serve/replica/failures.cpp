// Requests of a replica that will not run to their end: each fails when no token of it is in
// flight.

#include <algorithm>

#include "serve/replica/replica_state.h"

namespace rooflua {

void ReplicaState::fail(std::int32_t slot, Outcome outcome) {
  board_.request(slot).phase = Phase::pending;
  failing_.push_back({slot, outcome});
}

void ReplicaState::reject(std::int32_t slot) {
  leave_queue(slot);
  fail(slot, Outcome::rejected);
}

namespace {

bool lands(const Step& step, std::int32_t slot) {
  const auto completes = [slot](const PrefillWork& work) {
    return work.slot == slot && work.completes != 0;
  };
  return std::find(step.stamps.begin(), step.stamps.end(), slot) != step.stamps.end() ||
         std::any_of(step.prefills.begin(), step.prefills.end(), completes);
}

}  // namespace

bool ReplicaState::awaits_token(std::int32_t slot) const noexcept {
  if (!flight_ || pipeline_.planned() == 0) return false;
  if (lands(pipeline_.front(), slot)) return true;
  return std::any_of(flight_->behind.begin(), flight_->behind.end(),
                     [slot](const Step& step) { return lands(step, slot); });
}

std::vector<ReplicaState::Failing> ReplicaState::take_failing() {
  std::vector<Failing> out;
  std::erase_if(failing_, [&](const Failing& each) {
    if (awaits_token(each.slot)) return false;
    out.push_back(each);
    return true;
  });
  return out;
}

}  // namespace rooflua
