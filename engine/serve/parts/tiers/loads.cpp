// What is loaded from stores.

#include <algorithm>

#include "serve/parts/tiers/trips.h"

namespace rooflua {

/// What the plan at hand admitted asks the stores for its content, and loads begin.
void TiersPart::note_admissions(const Replica& replica) {
  if (replica.tiers() == nullptr) return;
  for (const std::int32_t slot : replica.plan().loading()) load(slot);
  for (const PrefillWork& work : replica.plan().prefills()) {
    if (core_.progress(work.slot).admitted == replica.plan().serial())
      tiers_.ask(work.slot, core_.requests[work.slot], core_.progress(work.slot), core_.now);
  }
}

void TiersPart::load(std::int32_t slot) {
  const Request& request = core_.requests[slot];
  tiers_.ask(slot, request, core_.progress(slot), core_.now);
  trips_.clear();
  tiers_.send_load(slot, request, core_.progress(slot), core_.now, trips_);
  send_trips(Errand::load, slot);
  if (request.phase != Phase::pending) return;
  ring(slot, tiers_.patience_s(slot));
  core_.tell(&Observer::on_load, request, core_.now);
  core_.tell_blocks(request.replica);
}

void TiersPart::end_load(std::int32_t ticket) {
  const std::int32_t slot = tiers_.slot_of_load(ticket);
  if (!tiers_.end_trip_of_load(ticket, core_.requests, core_.now)) return;
  if (core_.has_left(slot)) return loop_.refuse_kv(slot);
  if (core_.requests[slot].phase == Phase::pending) receive_loaded(slot);  // else it runs by layers
}

void TiersPart::receive_loaded(std::int32_t slot) {
  const std::int32_t index = core_.requests[slot].replica;
  core_.tell(&Observer::on_loaded, core_.requests[slot], core_.now);
  core_.at(index).receive(slot, core_.scheduler(index));
  core_.touch(index);
}

/// The policy of a request that waits for its load is asked no longer when this time is over.
void TiersPart::ring(std::int32_t slot, double after_s) {
  if (after_s >= TierPolicy::endless_s) return;
  core_.kv_links->flows().start({.path = {},
                                 .errand = Errand::alarm,
                                 .ticket = core_.requests[slot].id,
                                 .alpha_s = after_s,
                                 .slot = slot},
                                core_.now);
  core_.expect_flows();
}

/// What has come of a load stays, and the rest is computed. Requests that wait for a prefetch are
/// asked about again (ask_again()).
void TiersPart::lose_patience(const FlowEnded& alarm) {
  const std::int32_t slot = alarm.what.slot;
  if (core_.requests[slot].id != alarm.what.ticket || core_.requests[slot].phase != Phase::pending)
    return;
  if (!tiers_.is_loading(slot) || core_.has_left(slot)) return;
  const std::int32_t lost = cut_load(slot);
  core_.expect_flows();  // others may be faster now
  core_.progress(slot).remote_tokens -= lost;
  receive_loaded(slot);
}

/// What later stores have of a request that is queued now is brought into the first one.
void TiersPart::entered(std::int32_t slot) {
  if (!core_.config.tiers.prefetch) return;
  const Request& request = core_.requests[slot];
  Replica& replica = core_.at(request.replica);
  if (replica.tiers() == nullptr) return;
  trips_.clear();
  const double patience_s =
      tiers_.prefetch(slot, request, core_.progress(slot), replica.cached_tokens(slot),
                      replica.view().waiting - 1, core_.now, trips_);
  send_trips(Errand::load, slot);
  ring(slot, patience_s);
}

/// Something arrived somewhere: policies that wanted to be asked again are asked at the next plan.
void TiersPart::ask_again() {
  for (Replica& replica : core_.replicas) {
    if (!replica.has_deferred()) continue;
    replica.ask_again();
    core_.touch(replica.view().index);
  }
}

/// The step begins when what made room for it is written. Of a step whose requests load layer by
/// layer, the first layer begins when its KV has come, and the last layer's KV comes at the end of
/// the load.
void TiersPart::waits(Replica& replica, StepPrice& price, std::vector<OpTime>& operations) {
  if (replica.tiers() == nullptr) return;
  const Picoseconds start = replica.next_start(core_.now);
  const Picoseconds written = tiers_.held_until(replica.view().index);
  const double store_s = seconds(std::max<Picoseconds>(0, written - start));
  const double load_s = load_wait_s(replica, start, price.time_s) - store_s;
  const auto add = [&](const char* name, double wait_s) {
    if (!(wait_s > 0)) return;
    price.time_s += wait_s;
    price.evidence_s[static_cast<int>(Evidence::modelled)] += wait_s;
    if (!operations.empty()) operations.push_back({name, Evidence::modelled, wait_s});
  };
  add("kv_store", store_s);
  add("kv_load", load_s);
}

/// How much longer a step that starts then and computes for `time_s` takes, as its requests load
/// layer by layer.
double TiersPart::load_wait_s(const Replica& replica, Picoseconds start, double time_s) const {
  if (tiers_.config().overlap != LoadOverlap::layers) return 0;
  const double layers = tiers_.config().layers;
  double wait_s = 0;
  for (const PrefillWork& work : replica.plan().prefills()) {
    if (!tiers_.is_loading(work.slot)) continue;
    const Picoseconds began = tiers_.loaded(work.slot, core_.requests[work.slot]).start;
    const double load_s = seconds(tiers_.expected_end(work.slot) - began);
    const double late_s = seconds(start - began);
    wait_s =
        std::max({wait_s, load_s / layers - late_s, load_s - late_s - time_s * (1 - 1 / layers)});
  }
  return wait_s;
}

}  // namespace rooflua
