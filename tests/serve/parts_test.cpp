// The parts of a run: which there are, and in which order the loop calls them. What a run does at
// one instant depends on it, byte for byte.

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "serve/parts/list.h"
#include "tests/catch.h"
#include "tests/serve/native_policies.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

/// A file's text in small letters.
std::string small_text(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  for (char& each : text) each = static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
  return text;
}

}  // namespace

TEST_CASE("the loop calls parts in this order") {
  const std::vector<std::string> order = {"stations", "gate",  "fleet",   "encoder", "split",
                                          "clients",  "tiers", "experts", "adapters"};
  std::string found;
  auto at = order.begin();  // a program may be built without some of them
  for (const PartMaker& row : part_order()) {
    found += std::string(row.name) + " ";
    INFO("parts in their order: " << found);
    at = std::find(at, order.end(), row.name);
    REQUIRE(at != order.end());
    ++at;
  }
}

TEST_CASE("a run that names no part has none") {
  ListedWorkload workload({spec(0, 10, 2)});
  Fcfs scheduler;
  LinearSteps model(5e-3, 1e-6, 1e-9);
  ClusterConfig cluster;
  cluster.replicas.resize(1);
  cluster.replicas[0].kv_blocks = 100;
  Bindings bindings;
  bindings.schedulers = {&scheduler};
  bindings.steps = {&model};
  bindings.workload = &workload;
  const Simulation simulation(cluster, bindings);
  const Parts& parts = simulation.parts();
  CHECK(parts.all.size() == part_order().size());
  for (const auto& part : parts.all) CHECK(part == nullptr);
  CHECK((parts.on_time.empty() && parts.on_spec.empty() && parts.on_request.empty() &&
         parts.on_step.empty() && parts.on_flow.empty() && parts.on_kv.empty()));
}

TEST_CASE("the loop knows no part by name") {
  const std::filesystem::path engine = source_dir() / "engine" / "serve";
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(engine / "loop")) {
    const std::string text = small_text(entry.path());
    INFO(entry.path().string());
    for (const PartMaker& part : part_order()) {
      CAPTURE(part.name);
      CHECK(text.find(part.name) == std::string::npos);
    }
    for (std::size_t at = text.find("serve/parts/"); at != std::string::npos;
         at = text.find("serve/parts/", at + 1))
      CHECK(text.compare(at, 18, "serve/parts/list.h") == 0);
    CHECK(text.find("friend") == std::string::npos);
    ++files;
  }
  CHECK(files > 5);
  for (const PartMaker& part : part_order()) {
    CAPTURE(part.name);
    CHECK(std::filesystem::is_directory(engine / "parts" / part.name));
  }
}
