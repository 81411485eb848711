// Transfers over links: those that end, and those that stood still for too long (OnFlow).

#include <algorithm>
#include <vector>

#include "serve/loop/simulation.h"

namespace rooflua {

namespace {

void tell_failed(Core& core, const Parts& parts, const FlowEnded& flow) {
  const FlowRequest& what = flow.what;
  TransferSeen seen{.from = what.from,
                    .to = what.to,
                    .start = flow.start,
                    .end = flow.end,
                    .bytes = flow.through,
                    .alone_end = flow.alone_end,
                    .wires = what.path};
  for (const OnFlow* part : parts.on_flow)
    if (part->describes(what, seen)) break;
  core.tell(&Observer::on_failed_transfer, seen);
}

}  // namespace

void Simulation::pass_flows() {
  scratch_.flows_ended.clear();
  core_.kv_links->flows().pass(core_.now, scratch_.flows_ended);
  core_.flows_expected = never;
  core_.expect_flows();
  for (OnFlow* part : parts_.on_flow) part->moved(scratch_.flows_ended);
  std::vector<FlowEnded> failed;
  for (const FlowEnded& flow : scratch_.flows_ended) {
    if (flow.failed) {
      failed.push_back(flow);
      continue;
    }
    for (OnFlow* part : parts_.on_flow)
      if (part->arrived(flow)) break;
  }
  if (failed.empty()) return;
  for (const FlowEnded& flow : failed) tell_failed(core_, parts_, flow);
  for (const FlowEnded& flow : failed)
    for (OnFlow* part : parts_.on_flow)
      if (part->failed(flow.what)) break;
  core_.expect_flows();  // others may be faster now
}

}  // namespace rooflua
