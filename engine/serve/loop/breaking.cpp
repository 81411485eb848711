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
#include "serve/loop/life.h"
#include "serve/loop/simulation.h"

namespace rooflua {

namespace {
constexpr std::int32_t most_idle_faults = 10'000;  // without a step, or a request that came
}  // namespace

/// A list of faults without end does not keep a run going in which nothing else happens any more.
void Life::ask_faults() {
  const std::int64_t events = core_.totals.arrived + core_.totals.steps + core_.totals.ended[0];
  fleet().idle_faults = events == fleet().events_at_fault ? fleet().idle_faults + 1 : 0;
  fleet().events_at_fault = events;
  fleet().fault.reset();
  fleet().fault_time = never;
  if (fleet().idle_faults > most_idle_faults) return;
  fleet().fault = core_.bindings.faults->next(s_.now_s(), s_.replica_count());
  fleet().fault_time = never;
  if (!fleet().fault) return;
  const Fault& fault = *fleet().fault;
  const bool is_link = fault.kind == Fault::Kind::link;
  if (is_link) check_link(fault);
  if (fault.replica < (is_link ? -1 : 0) || fault.replica >= s_.replica_count())
    throw Error("faults", "next: found replica " + std::to_string(fault.replica + 1) +
                              "; there are " + std::to_string(s_.replica_count()));
  fleet().fault_time = picoseconds(fault.time_s, "faults: next");
  if (fleet().fault_time < core_.now)
    throw Error("faults", "next: a fault at " + std::to_string(fault.time_s) +
                              " s lies before the one in front of it (" +
                              std::to_string(s_.now_s()) + " s)");
}

void Life::come_to_pass(const Fault& fault) {
  if (fault.kind == Fault::Kind::fail) return s_.fail_replica(fault.replica, fault.for_s);
  if (fault.kind == Fault::Kind::link) return degrade(fault);
  const bool ends = std::isfinite(fault.for_s);
  s_.slow_replica(fault.replica, fault.factor,
                  ends ? after(core_.now, fault.for_s, "faults: for_s") : never);
}

void Life::check_link(const Fault& fault) const {
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

void Life::degrade(const Fault& fault) {
  const Wires& wires = core_.kv_links->wires();
  const std::vector<std::int32_t> which =
      wires.of_link(wires.link_named(fault.link, "faults: next"), fault.replica);
  const Picoseconds until =
      std::isfinite(fault.for_s) ? after(core_.now, fault.for_s, "faults: for_s") : never;
  fleet().wires.resize(wires.all().size());
  for (const std::int32_t wire : which) {
    Fleet::Slow& own = fleet().wires[static_cast<std::size_t>(wire)];
    own = {fault.factor, until, own.ticket + 1};
    if (until != never && fault.factor != 1)
      fleet().due.push({until, wire, LifeAlarm::Kind::link_over, own.ticket});
  }
  core_.kv_links->flows().fail_after(core_.bindings.faults->timeout_s());
  set_wires(which, fault.factor);
}

void Life::set_wires(std::span<const std::int32_t> which, double factor) {
  const std::vector<Wires::Wire>& all = core_.kv_links->wires().all();
  for (const std::int32_t wire : which) {
    fleet().wires[static_cast<std::size_t>(wire)].factor = factor;
    for (Observer* observer : core_.bindings.observers)
      observer->on_link({all[static_cast<std::size_t>(wire)].link, wire, factor, core_.now});
  }
  core_.kv_links->flows().set_factor(which, factor, core_.now);
  core_.expect_flows();
}

// --- transfers that fail

void Life::fail_flows(std::span<const FlowEnded> ended) {
  std::vector<FlowEnded> failed;
  for (const FlowEnded& flow : ended)
    if (flow.failed) failed.push_back(flow);
  for (const FlowEnded& flow : failed) tell_failed(flow);
  std::vector<std::int32_t> slots;  // whose KV has failed
  for (const FlowEnded& flow : failed) {
    const FlowRequest& what = flow.what;
    for (OnFlow* part : s_.parts_.on_flow)
      if (part->failed(what)) break;
    if (what.errand != Errand::hand_over) continue;
    if (std::find(slots.begin(), slots.end(), what.slot) != slots.end()) continue;
    slots.push_back(what.slot);
    fail_hand_over(what.slot);
  }
  core_.expect_flows();  // others may be faster now
}

void Life::tell_failed(const FlowEnded& flow) {
  const FlowRequest& what = flow.what;
  TransferSeen seen{.from = what.from,
                    .to = what.to,
                    .start = flow.start,
                    .end = flow.end,
                    .bytes = flow.through,
                    .alone_end = flow.alone_end,
                    .wires = what.path};
  if (what.errand == Errand::hand_over) {
    seen.id = core_.requests[what.slot].id;
    seen.is_pushed = s_.hand_over_of(what.slot).pushed;
  } else {
    for (const OnFlow* part : s_.parts_.on_flow)
      if (part->describes(what, seen)) break;
  }
  core_.tell(&Observer::on_failed_transfer, seen);
}

void Life::fail_hand_over(std::int32_t slot) {
  Progress& progress = core_.progress(slot);
  const bool is_computed = progress.kept_blocks > 0;
  core_.kv_links->flows().stop_hand_over(slot, core_.now);
  progress.flows = 0;
  if (!core_.has_left(slot) && core_.bindings.faults->ends_requests())
    s_.abort(slot, Outcome::replica_lost);
  else if (!core_.has_left(slot) && !is_computed)
    return s_.cancel_reserved(slot);
  if (!is_computed) {
    if (core_.has_left(slot)) s_.end_left(slot);  // else abort() has freed it
    return;
  }
  const std::int32_t to = core_.requests[slot].replica;
  s_.let_go(slot);
  core_.touch(to);
  if (core_.has_left(slot)) return s_.refuse_kv(slot);
  HandOver& hand_over = s_.hand_over_of(slot);
  if (hand_over.pushed) {
    core_.tell(&Observer::on_kv, core_.requests[slot], core_.now);
  }
  progress.remote_tokens = hand_over.cached_tokens;
  core_.at(to).receive(slot, core_.scheduler(to));
}

}  // namespace rooflua
