// KV that goes from prefill to decode replicas over links that transfers share.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.h"
#include "tests/serve/native_policies.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

constexpr Picoseconds s = 1'000'000'000'000;

/// Two prefill and two decode replicas; steps take a second, a token of KV is a byte.
struct Pools : Bench {
  Pools() : Bench(64, 64, 4) {
    replica().role = Role::prefill;
    for (int i = 0; i < 3; ++i) cluster.replicas.push_back(replica());
    for (const std::size_t i : {2, 3}) cluster.replicas[i].role = Role::decode;
    cluster.transfer = {0.5, 8, 1};
  }
};

class Turns : public Router {
 public:
  std::int32_t route(const Request& request, const RouteView& view) override {
    return view.candidates[request.id % view.candidate_count];
  }
};

struct Seen : Observer {
  std::vector<TransferSeen> all;
  void on_transfer(const TransferSeen& seen) override { all.push_back(seen); }
};

std::vector<TransferSeen> transfers(Pools& pools, std::vector<RequestSpec> specs) {
  Seen seen;
  ListedWorkload workload(std::move(specs));
  Turns router;
  Bindings bindings = pools.bindings(workload);
  bindings.router = &router;
  bindings.observers.push_back(&seen);
  simulate(pools.cluster, bindings);
  return seen.all;
}

const std::vector<RequestSpec> four = {spec(0, 8, 3), spec(0, 16, 3), spec(0.25, 8, 2),
                                       spec(2, 8, 1)};

}  // namespace

TEST_CASE("KV over a link that no other transfer uses takes what it takes over a wire of its own") {
  Pools own;
  const std::vector<TransferSeen> alone = transfers(own, four);
  const std::vector<std::string> steps = own.recorder.steps;
  Pools shared;
  shared.cluster.links = {{"nic", 1e30, 0, LinkScope::node}};
  shared.cluster.transfer.path.between = {"nic"};
  const std::vector<TransferSeen> over = transfers(shared, four);
  REQUIRE(over.size() == alone.size());
  CHECK(shared.recorder.steps == steps);
  for (std::size_t i = 0; i < over.size(); ++i) {
    const auto same = std::find_if(alone.begin(), alone.end(),
                                   [&](const auto& each) { return each.id == over[i].id; });
    REQUIRE(same != alone.end());
    CHECK(over[i].start == same->start);
    CHECK(over[i].end == same->end);
    CHECK(over[i].alone_end == same->end);
  }
}

// Both prompts are computed from 0 to 1. Their KV leaves two nodes, and enters two: each has 8
// bytes/s, 8 tokens take 1 s and 16 tokens 2. Over a switch of 8 bytes/s both get 4 until request 0
// is there, at 3.5; then request 1 has 8 of its 16 bytes left and gets all.
TEST_CASE("KV of two prompts shares a switch, and not the wires of nodes") {
  Pools nodes;
  nodes.cluster.links = {{"nic", 8, 0, LinkScope::node}};
  nodes.cluster.transfer.path.between = {"nic"};
  std::vector<TransferSeen> seen = transfers(nodes, {spec(0, 8, 3), spec(0, 16, 3)});
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].end == 5 * s / 2);
  CHECK(seen[1].end == 7 * s / 2);
  Pools fabric;
  fabric.cluster.links = {{"nic", 8, 0, LinkScope::node}, {"switch", 8, 0.25, LinkScope::cluster}};
  fabric.cluster.transfer.alpha_s = 0.25;
  fabric.cluster.transfer.path.between = {"nic", "switch"};
  seen = transfers(fabric, {spec(0, 8, 3), spec(0, 16, 3)});
  REQUIRE(seen.size() == 2);
  CHECK(seen[0].end == 7 * s / 2);
  CHECK(seen[0].alone_end == 5 * s / 2);
  CHECK(seen[1].end == 9 * s / 2);
}

TEST_CASE("replicas on one node share its wires, or take the links within it") {
  const auto ends = [](const std::vector<std::int32_t>& nodes, std::vector<std::string> within) {
    Pools pools;
    for (std::size_t i = 0; i < nodes.size(); ++i) pools.cluster.replicas[i].node = nodes[i];
    pools.cluster.links = {{"nic", 8, 0, LinkScope::node}, {"nvlink", 800, 0, LinkScope::replica}};
    pools.cluster.transfer = {0.5, 0, 1};
    pools.cluster.transfer.path = {{"nic"}, std::move(within)};
    std::vector<Picoseconds> out;
    for (const TransferSeen& each : transfers(pools, {spec(0, 8, 3), spec(0, 8, 3)}))
      out.push_back(each.end);
    return out;
  };
  using Ends = std::vector<Picoseconds>;
  CHECK(ends({1, 2, 3, 4}, {}) == Ends{5 * s / 2, 5 * s / 2});
  CHECK(ends({1, 1, 2, 3}, {}) == Ends{7 * s / 2, 7 * s / 2});
  CHECK(ends({1, 2, 1, 2}, {"nvlink"}) == Ends{3 * s / 2 + s / 100, 3 * s / 2 + s / 100});
}

TEST_CASE("a copy of a run goes on alike while KV is on its way over links") {
  Pools pools;
  pools.cluster.links = {{"switch", 8, 0, LinkScope::cluster}};
  pools.cluster.transfer.path.between = {"switch"};
  std::vector<RequestSpec> specs = four;
  ListedWorkload workload(std::move(specs));
  Turns router;
  Bindings bindings = pools.bindings(workload);
  bindings.router = &router;
  Simulation simulation(pools.cluster, bindings);
  simulation.run_until(2.75);
  const std::unique_ptr<Workload> rest = workload.fork();
  Bindings forked = bindings;
  forked.workload = rest.get();
  forked.observers.clear();
  const std::unique_ptr<Simulation> copy = simulation.fork(forked);
  simulation.run();
  copy->run();
  CHECK(copy->totals().last_end == simulation.totals().last_end);
  CHECK(copy->totals().steps == simulation.totals().steps);
  CHECK(simulation.requests().alive() == 0);
}

TEST_CASE("links that are wrong are refused by name") {
  const auto problem = [](auto change) -> std::string {
    Pools pools;
    pools.cluster.links = {{"nic", 8, 0, LinkScope::node}};
    pools.cluster.transfer.path.between = {"nic"};
    change(pools.cluster);
    try {
      validate(pools.cluster);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  CHECK(problem([](ClusterConfig&) {}).empty());
  CHECK(problem([](ClusterConfig& c) { c.transfer.path.between = {"nik"}; }) ==
        "transfer.path[1]: unknown link 'nik'; did you mean 'nic'? (known: nic)");
  CHECK(problem([](ClusterConfig& c) {
          c.transfer.path = {{}, {"nic"}};
        }) == "transfer.within: give path as well: the links between two nodes");
  CHECK(problem([](ClusterConfig& c) { c.links[0].bytes_per_s = 0; }) ==
        "links.nic.bytes_per_s: found 0.000000; a bandwidth above 0 is right");
  CHECK(problem([](ClusterConfig& c) { c.links.push_back(c.links[0]); }) ==
        "links: two are called nic");
}
