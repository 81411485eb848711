// Loads and writes of which a link or a replica fails.

#include "serve/contract/fault.h"
#include "serve/parts/tiers/trips.h"

namespace rooflua {

// --- transfers that fail

bool TiersPart::failed(const FlowRequest& what) {
  if (what.errand == Errand::load) {
    fail_load(what.ticket);
  } else if (what.errand == Errand::store) {
    fail_write(what.ticket);
  } else {
    return false;
  }
  return true;
}

void TiersPart::fail_load(std::int32_t ticket) {
  const std::int32_t slot = tiers_.slot_of_load(ticket);
  if (slot < 0) return;  // it was cut with another one
  const Request& request = core_.requests[slot];
  const bool is_own = request.id == tiers_.request_of_load(ticket);
  if (tiers_.is_prefetch(ticket) || !is_own || request.phase != Phase::pending) {
    tiers_.drop_load(ticket, core_.requests, core_.now);
    return ask_again();
  }
  if (!core_.has_left(slot) && core_.bindings.faults->ends_requests())
    loop_.abort(slot, Outcome::replica_lost);
  const std::int32_t lost = cut_load(slot);
  if (core_.has_left(slot)) return loop_.refuse_kv(slot);
  core_.progress(slot).remote_tokens -= lost;
  receive_loaded(slot);
}

void TiersPart::fail_write(std::int32_t ticket) {
  const std::int32_t from = tiers_.replica_of_write(ticket);
  core_.at(from).unpin(first_pin + ticket);
  tiers_.cancel_write(ticket);
  core_.touch(from);
}

// --- replicas that fail

/// What has come of the load stays. @returns tokens that have not
std::int32_t TiersPart::cut_load(std::int32_t slot) {
  return tiers_.cut_load(slot, core_.requests, core_.now, [this](std::int32_t ticket) {
    return core_.kv_links->flows().stop(Errand::load, ticket, core_.now);
  });
}

void TiersPart::stopped(std::int32_t slot) {
  if (tiers_.is_loading(slot)) cut_load(slot);
}

/// What it writes stops, and loads from stores of its own.
void TiersPart::lost(std::int32_t replica) {
  for (const std::int32_t ticket : tiers_.writes_from(replica)) {
    core_.kv_links->flows().stop(Errand::store, ticket, core_.now);
    core_.at(replica).unpin(first_pin + ticket);
    tiers_.cancel_write(ticket);
  }
  for (const std::int32_t ticket : tiers_.loads_from(replica)) cut_foreign(ticket);
}

void TiersPart::cut_foreign(std::int32_t ticket) {
  const std::int32_t slot = tiers_.slot_of_load(ticket);
  if (slot < 0) return;  // it was cut with another one
  const Request& request = core_.requests[slot];
  const bool lives = request.id == tiers_.request_of_load(ticket) && core_.is_live(slot);
  if (lives && !tiers_.is_prefetch(ticket)) {
    if (request.phase != Phase::pending) return;  // by layers
    core_.progress(slot).remote_tokens -= cut_load(slot);
    return receive_loaded(slot);
  }
  if (!tiers_.is_prefetch(ticket) && core_.has_left(slot) && request.phase == Phase::pending)
    return;  // free_left() sees to it
  core_.kv_links->flows().stop(Errand::load, ticket, core_.now);
  tiers_.drop_load(ticket, core_.requests, core_.now);
}

void TiersPart::emptied(std::int32_t replica) {
  if (core_.at(replica).tiers() != nullptr) tiers_.empty(replica);
}

}  // namespace rooflua
