// What a run calls of the stores, and the transfers from and to them.

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.h"
#include "serve/parts/list.h"
#include "serve/parts/tiers/trips.h"

namespace rooflua {

namespace {

std::vector<std::int32_t> block_sizes(const std::vector<ReplicaConfig>& replicas) {
  std::vector<std::int32_t> out;
  for (const ReplicaConfig& each : replicas) out.push_back(each.block_size);
  return out;
}

}  // namespace

std::unique_ptr<Part> make_tiers(Core& core, Loop& loop) {
  return std::make_unique<TiersPart>(
      core, loop,
      Tiers(core.config.tiers, block_sizes(core.config.replicas), core.kv_links->wires()));
}

const Tiers* tiers_of(const Parts* parts) {
  if (parts == nullptr) return nullptr;
  for (const auto& each : parts->all)
    if (const auto* part = dynamic_cast<const TiersPart*>(each.get())) return &part->tiers();
  return nullptr;
}

TiersPart::TiersPart(Core& core, Loop& loop, const Tiers& tiers)
    : core_(core), loop_(loop), tiers_(tiers) {
  bind();
}

void TiersPart::bind() {
  tiers_.use(core_.bindings.tiers, core_.bindings.evictions);
  tiers_.watch(core_.kv_links->flows());
  for (Replica& replica : core_.replicas) {
    if (replica.config().role == Role::decode) continue;
    const std::int32_t index = replica.view().index;
    if (tiers_.policy(index) == nullptr)
      throw Error("tiers", "replica " + std::to_string(index + 1) + " has no policy");
    replica.use_tiers(&tiers_);
  }
}

void TiersPart::rebind(const Bindings& before) {
  const Bindings& now = core_.bindings;
  if (now.tiers != before.tiers || now.evictions != before.evictions) bind();
}

std::optional<double> TiersPart::fact(std::int32_t slot, std::int32_t replica,
                                      RouterFact what) const {
  if (what != RouterFact::stored_tokens) return std::nullopt;
  if (core_.is_decoder(replica)) return 0;
  return tiers_.stored_tokens(replica, core_.requests[slot], core_.progress(slot),
                              core_.at(replica).cached_tokens(slot));
}

void TiersPart::fills(std::int32_t slot, RequestDone& done) const {
  const Tiers::Loaded loaded = tiers_.loaded(slot, core_.requests[slot]);
  done.tier_tokens = loaded.tokens;
  if (loaded.end != never) done.load = loaded.end - loaded.start;
}

void TiersPart::planned(Replica& replica) {
  write_back(replica);
  note_admissions(replica);
}

// --- transfers

/// The flows of trips_ begin. `slot`: whose load it is; -1: they are writes.
void TiersPart::send_trips(Errand errand, std::int32_t slot) {
  for (Tiers::Trip& trip : trips_) {
    core_.kv_links->flows().start({.path = std::move(trip.path),
                                   .errand = errand,
                                   .ticket = trip.ticket,
                                   .bytes = trip.bytes,
                                   .alpha_s = trip.alpha_s,
                                   .slot = slot,
                                   .from = trip.from,
                                   .to = trip.to},
                                  core_.now);
  }
  core_.expect_flows();
}

void TiersPart::moved(std::vector<FlowEnded>& ended) {
  if (!ended.empty()) ask_again();
  // What ends in the instant of an alarm has come in time.
  std::stable_partition(ended.begin(), ended.end(),
                        [](const FlowEnded& flow) { return flow.what.errand != Errand::alarm; });
}

/// The part of TransferSeen that only the stores know.
bool TiersPart::describes(const FlowRequest& what, TransferSeen& seen) const {
  if (what.errand == Errand::load) {
    seen.id = tiers_.is_prefetch(what.ticket) ? -1 : tiers_.request_of_load(what.ticket);
    seen.store = tiers_.store_of_load(what.ticket);
    seen.is_load = true;
  } else if (what.errand == Errand::store) {
    seen.store = tiers_.store_of_write(what.ticket);
  } else {
    return false;
  }
  return true;
}

bool TiersPart::arrived(const FlowEnded& flow) {
  switch (flow.what.errand) {
    case Errand::load:
      end_load(flow.what.ticket);
      return true;
    case Errand::store:
      end_write(flow.what.ticket);
      return true;
    case Errand::alarm:
      lose_patience(flow);
      return true;
    default:
      return false;
  }
}

}  // namespace rooflua
