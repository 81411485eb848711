// rooflua capacity: exit status, words of the engine's log, the ledger as a document.

#include "base/json.h"
#include "tests/app/program.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

const std::string qwen = "capacity --model qwen3-32b --hardware h100 --engine 'vllm 0.19' ";

}  // namespace

TEST_CASE("an engine that would not start has status 1, the reason, and what would start") {
  const Said refused = rooflua::test::rooflua(qwen);
  CHECK(refused.status == 1);
  CHECK(contains(refused.text, "GPU KV cache size: "));
  CHECK(contains(refused.text, "Maximum concurrency for 40,960 tokens per request: 0.80x"));
  CHECK(contains(refused.text, "would not start: max_model_len 40,960 needs"));
  CHECK(contains(refused.text, "--max-model-len "));
  CHECK(contains(refused.text, "or tp 2"));
  const Said starts = rooflua::test::rooflua(qwen + "--tp 2");
  CHECK(starts.status == 0);
  CHECK(!contains(starts.text, "would not start"));
}

TEST_CASE("what is said to fit does") {
  CHECK(rooflua::test::rooflua(qwen + "--set max_model_len=8192").status == 0);
  CHECK(rooflua::test::rooflua(qwen + "--set engine.max_model_len=8192").status == 0);
  CHECK(rooflua::test::rooflua(qwen + "--set engine.gpu_memory_utilization=0.95").status == 0);
  CHECK(rooflua::test::rooflua(qwen + "--weights fp8").status == 0);
}

TEST_CASE("the ledger's parts sum to what the engine divides") {
  for (const char* engine : {"vllm 0.22", "sglang 0.5.9", "trtllm 1.2.0rc6"}) {
    const Said said = rooflua::test::rooflua(
        std::string("capacity --model gpt-oss-20b --hardware h200 --engine '") + engine +
        "' --json -");
    CHECK(said.status == 0);
    const Json document = parse_json(said.text, "capacity");
    double sum = document.find("kv_bytes")->number();
    for (const Json& part : document.find("parts")->items()) sum += part.find("bytes")->number();
    CHECK(sum == Approx(document.find("budget_bytes")->number()).epsilon(1e-9));
    CHECK(document.find("starts")->boolean());
  }
}

TEST_CASE("mistakes of capacity are told, with what is meant") {
  const std::pair<std::string, const char*> mistakes[] = {
      {"capacity --model qwen3-32 --hardware h100 2>&1", "did you mean 'qwen3-32b'"},
      {"capacity --model qwen3-32b --hardware h10 2>&1", "unknown hardware 'h10'"},
      {qwen + "--tp 3 2>&1", "do not divide by tp = 3"},
      {qwen + "--set engine.max_num_seq=3 2>&1", "did you mean 'max_num_seqs'"},
      {qwen + "--set max_model_le=3 2>&1", "max_model_le"},
      {qwen + "--set max_model_len=lots 2>&1", "max_model_len"},
      {qwen + "--kv fp9 2>&1", "unknown dtype 'fp9'"},
      {qwen + "--set engine.gpu_memory_utilization=7 2>&1", "gpu_memory_utilization"},
      {"capacity --model qwen3-32b --hardware h100 --engine 'vllm 0.1' 2>&1",
       "rules are known from"}};
  for (const auto& [command, part] : mistakes) {
    const Said said = rooflua::test::rooflua(command);
    INFO(command << "\n" << said.text);
    CHECK(said.status == 1);
    CHECK(contains(said.text, part));
  }
  CHECK(rooflua::test::rooflua("capacity --model qwen3-32b 2>&1").status == 2);
  CHECK(rooflua::test::rooflua(qwen + "--tp 0 2>&1").status == 2);
}
