// rooflua check calls every policy of a scenario once, prices searches, and stops where running
// would. rooflua list.

#include <fstream>
#include <sstream>

#include "measure/write/table.h"
#include "tests/app/program.h"
#include "tests/scratch.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

/// A check of a scenario with a policy `p` and more keys.
Said check(const std::string& policy, const std::string& keys,
           const std::string& workload = "require 'workloads.poisson' { num_requests = 200 }") {
  const auto folder = scratch() / "policies";
  std::filesystem::create_directories(folder);
  const auto file = folder / "scenario.lua";
  std::ofstream(file) << "local P = require 'rooflua.policy'.define { name = 'p', doc = 'x' }\n"
                      << policy << "\nreturn { rooflua = 1, model = 'llama-3.1-8b', hardware = "
                      << "'h100', workload = " << workload << ", " << keys << " }\n";
  return rooflua::test::rooflua("check " + file.string() + " 2>&1");
}

void finds(const Said& said, const std::string& part) {
  INFO(said.text);
  CHECK(said.status == 1);
  CHECK(contains(said.text, part));
}

}  // namespace

TEST_CASE("check calls the router") {
  finds(check("function P:route() return 7 end", "replicas = 2, router = P {}"),
        "route returned 7; expected a whole number from 1 to 2");
  finds(
      check("function P:route(request) return request.nonsense end", "replicas = 2, router = P {}"),
      "scenario.lua:2");
  CHECK(check("function P:route() return 2 end", "replicas = 2, router = P {}").status == 0);
}

TEST_CASE("check calls the scheduler") {
  finds(check("function P:plan() error 'no plan today' end", "scheduler = P {}"), "no plan today");
}

TEST_CASE("check finds a step model without time") {
  finds(check("function P:tim() return 1 end", "steps = P {}"), "steps: p has no time method");
  finds(check("function P:tim() return 1 end",
              "kind = 'price', price = { { decodes = 1 } }, steps = P {}", "nil"),
        "steps: p has no time method");
}

TEST_CASE("check forecasts what the runs of a search rest on, with what the search changes") {
  const std::string search =
      "kind = 'search', search = { slo = { ttft_s_p99 = 1 }, min = 1, max = 2 }";
  const Said said = check("", search);
  INFO(said.text);
  CHECK(said.status == 0);
  CHECK(contains(said.text, "forecast  measured"));
  CHECK_FALSE(contains(said.text, "nothing is priced"));
  const Said large = check("",
                           "kind = 'search', search = { goal = 'cheapest', slo = { ttft_s_p99 = "
                           "1 }, deployments = { { name = 'two', cost_per_hour = 1, set = { "
                           "['deployment.memory_utilization'] = 0.9 } } } }, deployment = { "
                           "memory_utilization = 0.1 }");
  INFO(large.text);
  CHECK(large.status == 0);
  CHECK(contains(large.text, "forecast  measured"));
}

TEST_CASE("list knows lookups by the name of their folder, and hardware as GPUs") {
  for (const char* same : {"lookup lookups", "gpus hardware"}) {
    const std::string words = same;
    const std::size_t cut = words.find(' ');
    const Said one = rooflua::test::rooflua("list " + words.substr(0, cut));
    CHECK(one.status == 0);
    CHECK(one.text == rooflua::test::rooflua("list " + words.substr(cut + 1)).text);
  }
  CHECK(rooflua::test::rooflua("list nonsense 2>&1").status == 1);
}

TEST_CASE("list hardware has memory, bandwidth, rows and aliases of every GPU") {
  const std::string listed = rooflua::test::rooflua("list hardware").text;
  const auto line_of = [&](const std::string& gpu) {
    const std::size_t at = listed.find("\n" + gpu + " ");
    REQUIRE(at != std::string::npos);
    return listed.substr(at + 1, listed.find('\n', at + 1) - at - 1);
  };
  std::istringstream gpus(rooflua::test::rooflua("data list").text);
  for (std::string line; std::getline(gpus, line);) line_of(line.substr(0, line.find(' ')));
  // The rows are those of all tables together.
  std::istringstream tables(rooflua::test::rooflua("data describe h20").text);
  std::int64_t rows = 0;
  for (std::string line; std::getline(tables, line);) {
    if (line.ends_with(" rows")) rows += std::stoll(line.substr(line.size() - 12));
  }
  CHECK(rows > 0);
  CHECK(contains(line_of("h20"), " " + grouped(rows) + " "));
  for (const char* part : {" 80 ", " 3.350 ", "NVIDIA H100 SXM"})
    CHECK(contains(line_of("h100-sxm"), part));
  CHECK(contains(line_of("h100-pcie"), " h100-sxm "));
}
