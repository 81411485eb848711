// What becomes of stores when a replica is lost: its own instances are empty, what it was writing
// does not arrive, and what came for it comes no longer. Instances of nodes and of the cluster keep
// what is ready.

#include <algorithm>
#include <utility>

#include "serve/stores/tiers.h"

namespace rooflua {

bool Tiers::is_of_replica_alone(std::int32_t place, std::int32_t replica) const {
  const std::int32_t store = this->place(place).store;
  return config_of(store).per == LinkScope::replica && place == place_of(store, replica);
}

std::vector<std::int32_t> Tiers::writes_from(std::int32_t replica) const {
  std::vector<std::int32_t> out;
  for (std::size_t i = 0; i < writes_.size(); ++i)
    if (writes_[i].replica == replica) out.push_back(static_cast<std::int32_t>(i));
  return out;
}

void Tiers::cancel_write(std::int32_t ticket) {
  Write& write = writes_[static_cast<std::size_t>(ticket)];
  std::erase(holding_[static_cast<std::size_t>(write.replica)], ticket);
  place(write.place).chunks.cancel_put(write.chunks);
  place(write.place).queued_bytes -= write.bytes;
  changed(write.place);
  write = {};
  spare_writes_.push_back(ticket);
}

std::vector<std::int32_t> Tiers::loads_from(std::int32_t replica) const {
  std::vector<std::int32_t> out;
  for (std::size_t i = 0; i < loads_.size(); ++i) {
    const LoadTrip& load = loads_[i];
    if (load.slot < 0 || load.done || !load.sent) continue;
    const bool reads = is_of_replica_alone(load.place, replica);
    const bool fills = load.promoted_to >= 0 && is_of_replica_alone(load.promoted_to, replica);
    if (reads || fills) out.push_back(static_cast<std::int32_t>(i));
  }
  return out;
}

void Tiers::drop_load(std::int32_t ticket, const Requests& requests, Picoseconds now) {
  LoadTrip& load = loads_[static_cast<std::size_t>(ticket)];
  State& own = states_[static_cast<std::size_t>(load.slot)];
  leave_out(load, -load.first);
  const bool lives = requests[load.slot].id == load.request;
  const Request* request = lives ? &requests[load.slot] : nullptr;
  place(load.place).chunks.end_read(load.chunks, owner(load.place, request, now));
  if (own.id == load.request) {
    if (load.prefetch) --own.prefetches;
    if (std::erase(own.loads, ticket) > 0) --own.under_way;
  }
  release_load(ticket);
}

void Tiers::empty(std::int32_t replica) {
  for (std::int32_t store = 0; store < static_cast<std::int32_t>(config_.stores.size()); ++store) {
    const std::int32_t own = place_of(store, replica);
    if (!is_of_replica_alone(own, replica)) continue;
    place(own).chunks.lose_ready();
    changed(own);
  }
}

}  // namespace rooflua
