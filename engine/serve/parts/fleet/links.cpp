// Faults that come. Links that carry less for a while, and transfers that stand still for too long.
//
//   what failed                         what happens
//   KV of a computed prompt             its prefill replica's blocks are free; the decode replica,
//                                       which keeps the blocks, computes what it has not cached
//   KV of a prompt that is not          blocks at its decode replica are free; it is sent from its
//   computed yet                        beginning, with the next chunk or at its end
//   a load from a store                 what that transfer carried is computed; another transfer of
//                                       the same load stays where it has come
//   KV that is fetched ahead            it is asked for again
//   a write into a store                the store does not get it
//
// Where faults end requests (FaultPolicy::ends_requests), those of the first three end as
// replica_lost instead. Other transfers of the same request or load stop in each case.
//
// @source vLLM vllm/config/kv_transfer.py (kv_load_failure_policy: recompute, fail), pull request
// 19330; kvcache-ai/Mooncake transfer engine (a transfer that fails gives nothing)

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/error.h"
#include "serve/parts/fleet/fleet.h"

namespace rooflua {

namespace {
constexpr std::int32_t most_idle_faults = 10'000;  // without a step, or a request that came
}  // namespace

/// A list of faults without end does not keep a run going in which nothing else happens any more.
void FleetPart::ask_faults() {
  loop_.due_changed();
  const std::int64_t events = core_.totals.arrived + core_.totals.steps + core_.totals.ended[0];
  fleet_.idle_faults = events == fleet_.events_at_fault ? fleet_.idle_faults + 1 : 0;
  fleet_.events_at_fault = events;
  fleet_.fault.reset();
  fleet_.fault_time = never;
  if (fleet_.idle_faults > most_idle_faults) return;
  fleet_.fault = core_.bindings.faults->next(seconds(core_.now), core_.replica_count());
  if (!fleet_.fault) return;
  const Fault& fault = *fleet_.fault;
  const bool is_link = fault.kind == Fault::Kind::link;
  if (is_link) check_link(fault);
  if (fault.replica < (is_link ? -1 : 0) || fault.replica >= core_.replica_count())
    throw Error("faults", "next: found replica " + std::to_string(fault.replica + 1) +
                              "; there are " + std::to_string(core_.replica_count()));
  fleet_.fault_time = picoseconds(fault.time_s, "faults: next");
  if (fleet_.fault_time < core_.now)
    throw Error("faults", "next: a fault at " + std::to_string(fault.time_s) +
                              " s lies before the one in front of it (" +
                              std::to_string(seconds(core_.now)) + " s)");
}

void FleetPart::come_to_pass(const Fault& fault) {
  if (fault.kind == Fault::Kind::fail) return fail_replica(fault.replica, fault.for_s);
  if (fault.kind == Fault::Kind::link) return degrade(fault);
  const bool ends = std::isfinite(fault.for_s);
  slow_replica(fault.replica, fault.factor,
               ends ? after(core_.now, fault.for_s, "faults: for_s") : never);
}

void FleetPart::check_link(const Fault& fault) const {
  if (!core_.kv_links)
    throw Error("faults", "next: link '" + fault.link +
                              "': no transfer uses links here (network.path, tiers, "
                              "replicas[].start.link)");
  core_.kv_links->wires().link_named(fault.link, "faults: next");
  if (!(fault.factor >= 0 && fault.factor <= 1))
    throw Error("faults", "next: found the factor " + std::to_string(fault.factor) +
                              " of a link; a number from 0 to 1 is right");
  const TiersConfig& tiers = core_.config.tiers;
  if (!tiers.stores.empty() && tiers.overlap == LoadOverlap::layers)
    throw Error("faults",
                "next: a link fails, and prompts are computed while their KV comes "
                "(tiers.overlap); with 'none' it may");
}

void FleetPart::degrade(const Fault& fault) {
  const Wires& wires = core_.kv_links->wires();
  const std::vector<std::int32_t> which =
      wires.of_link(wires.link_named(fault.link, "faults: next"), fault.replica);
  const Picoseconds until =
      std::isfinite(fault.for_s) ? after(core_.now, fault.for_s, "faults: for_s") : never;
  fleet_.wires.resize(wires.all().size());
  for (const std::int32_t wire : which) {
    Fleet::Slow& own = fleet_.wires[static_cast<std::size_t>(wire)];
    own = {fault.factor, until, own.ticket + 1};
    if (until != never && fault.factor != 1)
      fleet_.due.push({until, wire, LifeAlarm::Kind::link_over, own.ticket});
  }
  core_.kv_links->flows().fail_after(core_.bindings.faults->timeout_s());
  set_wires(which, fault.factor);
}

void FleetPart::set_wires(std::span<const std::int32_t> which, double factor) {
  loop_.due_changed();
  const std::vector<Wires::Wire>& all = core_.kv_links->wires().all();
  for (const std::int32_t wire : which) {
    fleet_.wires[static_cast<std::size_t>(wire)].factor = factor;
    for (Observer* observer : core_.bindings.observers)
      observer->on_link({all[static_cast<std::size_t>(wire)].link, wire, factor, core_.now});
  }
  core_.kv_links->flows().set_factor(which, factor, core_.now);
  core_.expect_flows();
}

}  // namespace rooflua
