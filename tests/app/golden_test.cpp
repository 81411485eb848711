// The reports of shipped scenarios equal the files of tests/golden/. After an intended change write
// them again, and read the difference:
//   ROOFLUA_UPDATE_GOLDEN=1 build/release/tests/app/test_app "[golden]"

#include <cstdlib>
#include <fstream>

#include "base/json.h"
#include "tests/app/program.h"
#include "tests/app/schema.h"
#include "tests/scratch.h"

using namespace rooflua::test;

namespace {

void compare_with_golden(const std::string& scenario, const std::string& arguments) {
  const rooflua::test::ScratchFolder folder;
  const std::string document = folder.path() / (scenario + ".json");
  const Said said = rooflua::test::rooflua("run scenarios/" + scenario + ".lua --quiet " +
                                           arguments + " --json " + document);
  CHECK(may_fit("result", document));
  REQUIRE(said.status == 0);
  const auto path = source_dir() / "tests" / "golden" / (scenario + ".txt");
  if (std::getenv("ROOFLUA_UPDATE_GOLDEN") != nullptr) std::ofstream(path) << said.text;
  CHECK(said.text == file_text(path));
}

}  // namespace

TEST_CASE("a decode step and a prefill are priced op by op", "[golden]") {
  compare_with_golden("01_hello", "--explain");
}

TEST_CASE("a smaller chunk protects TPOT and costs TTFT", "[golden]") {
  compare_with_golden("02_chunk_size", "");
}

TEST_CASE("schedulers are compared on the same requests", "[golden]") {
  compare_with_golden("03_schedulers", "");
}

TEST_CASE("each switch of the MFU roofline has its worth", "[golden]") {
  compare_with_golden("04_switches", "");
}

TEST_CASE("every other question has its answer", "[golden]") {
  for (const char* scenario :
       {"07_disaggregation", "08_prefix_caching", "09_moe_against_dense", "10_long_context",
        "11_gpus", "12_replay", "13_own_scheduler", "14_bucketing", "15_one_point_eight",
        "17_attention_kinds", "25_shared_links", "26_host_memory", "28_peers",
        "29_prefix_indices", "40_autoscaling", "43_emulated", "49_attach",
        "50_encoder_pool"}) {
    compare_with_golden(scenario, "");
  }
}

TEST_CASE(
    "agents fill caches, and routers, tools and memory of the host change what they find there",
    "[golden]") {
  for (const char* scenario :
       {"32_agents", "33_agents_and_routers", "34_tool_time", "35_memory_for_agents"})
    compare_with_golden(scenario, "--jobs 2");
}

TEST_CASE("batches of rollouts are shorter where their rest is aborted and continued", "[golden]") {
  compare_with_golden("36_rollouts", "--jobs 2");
  compare_with_golden("37_gates", "--jobs 2");
  compare_with_golden("38_fairness", "--jobs 2");
}

TEST_CASE("retries at once keep a cluster down, and retries with delays do not", "[golden]") {
  compare_with_golden("39_retries", "--jobs 2");
}

TEST_CASE("a gate that refuses ends what retries at once keep up", "[golden]") {
  compare_with_golden("42_retries_and_a_gate", "--jobs 2");
}

TEST_CASE("requests wait for slots of adapters while seats are free", "[golden]") {
  compare_with_golden("45_adapters", "--jobs 2");
}

TEST_CASE("migration keeps what clients have, and a loss that is not detected costs more",
          "[golden]") {
  compare_with_golden("41_losing_one", "--jobs 2");
}

TEST_CASE("a disk pays where computing takes longer, or where the GPU is busy", "[golden]") {
  compare_with_golden("27_disk_or_compute", "--jobs 2");
}

TEST_CASE("a plan names GPUs, their number, settings and price", "[golden]") {
  compare_with_golden("23_plan", "--jobs 2");
  compare_with_golden("24_plan_split", "--jobs 1");
}

TEST_CASE("three engines' tables and two lookups price the same shapes", "[golden]") {
  compare_with_golden("05_two_tables", "");
}

TEST_CASE("ranks of attention wait for a prompt on one of them; split, decodes do not",
          "[golden]") {
  compare_with_golden("18_attention_ranks", "--jobs 2");
}

TEST_CASE("context parallel shortens a long prompt, and makes room for more decodes", "[golden]") {
  compare_with_golden("44_context_parallel", "--jobs 2");
}

TEST_CASE("AFD pays for many requests, against gathered rows", "[golden]") {
  compare_with_golden("46_afd", "");
}

TEST_CASE("imbalance of experts costs less than its rows", "[golden]") {
  compare_with_golden("19_expert_imbalance", "");
}

TEST_CASE("experts that drift are followed for a price, and moved beside steps for none",
          "[golden]") {
  compare_with_golden("47_expert_drift", "--jobs 2");
}

TEST_CASE("over two nodes, a pipeline serves many and tensor parallelism serves one", "[golden]") {
  compare_with_golden("20_pipeline", "");
}

TEST_CASE("KV that is pushed hides behind its prefill, and some prompts are better not split",
          "[golden]") {
  compare_with_golden("30_shared_nics", "");
  compare_with_golden("31_when_not_to_split", "");
}

TEST_CASE("drafts pay up to a load, and rules that adapt find it", "[golden]") {
  compare_with_golden("21_speculation", "--jobs 2");
  compare_with_golden("22_multi_token_prediction", "--jobs 2");
}

TEST_CASE("two GPUs have a capacity under an SLO, and it is what the scenario expects",
          "[golden]") {
  compare_with_golden("16_capacity_planning", "--jobs 2");
  const Said said =
      rooflua::test::rooflua("run scenarios/16_capacity_planning.lua --quiet --jobs 2 --json -");
  const rooflua::Json document = rooflua::parse_json(said.text, "run");
  const auto& variants = document.find("variants")->items();
  REQUIRE(variants.size() == 2);
  double loads[2];
  for (int i = 0; i < 2; ++i) {
    const rooflua::Json& search = *variants[static_cast<std::size_t>(i)].find("search");
    loads[i] = search.find("value")->number();
    CHECK(search.find("missed_at")->number() <= loads[i] * 1.02);
    CHECK(search.find("monotone")->boolean());
  }
  CHECK(loads[1] > loads[0]);
  CHECK(loads[1] < 1.43 * loads[0]);
}

TEST_CASE("InferSim's model gives its published points with the shipped rows", "[golden]") {
  compare_with_golden("06_infersim_table", "");
}
