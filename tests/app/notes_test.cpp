// What is known of a model, a GPU and a batch and is not in the price is said in every report.

#include <fstream>
#include <sstream>

#include "base/json.h"
#include "tests/app/program.h"
#include "tests/scratch.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

std::string written(const std::string& name, const std::string& text) {
  const auto folder = scratch() / "notes";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / name) << text;
  return (folder / name).string();
}

std::string content(const std::string& path) {
  std::ifstream in(path);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

/// A model whose file says what its description leaves out: a window of 1,024 tokens, and a word.
std::string windowed() {
  return written(
      "windowed.toml",
      "layers = 32\nhidden_size = 4096\nheads = 32\nkv_heads = 8\nhead_dim = 128\n"
      "intermediate_size = 14336\nvocab_size = 32000\nmax_model_len = 131072\n"
      "notes = [{ text = \"attention is priced in full; the model has a sliding window of "
      "1024 tokens\", touches = \"attention\", beyond_tokens = 1024 }, "
      "\"the tower is not counted\"]\n");
}

constexpr const char* window_note =
    "windowed: attention is priced in full; the model has a sliding window of 1024 tokens";
constexpr const char* other_note = "windowed: the tower is not counted";

std::string served() {
  return written("served.lua", "return { rooflua = 1, model = '" + windowed() +
                                   "', hardware = 'l40s', "
                                   "engine = { 'vllm 0.24', max_num_batched_tokens = 8192 }, "
                                   "workload = require 'workloads.poisson' "
                                   "{ rate_per_s = 1, num_requests = 100, prompt_tokens = 3000, "
                                   "output_tokens = 20 } }");
}

/// The percentage after "touched by notes" in a report; -1 where there is none.
double touched(const std::string& text) {
  const std::string mark = "touched by notes ";
  const std::size_t at = text.find(mark);
  return at == std::string::npos ? -1 : std::stod(text.substr(at + mark.size()));
}

}  // namespace

TEST_CASE("step says what the model's file has and the price has not, and counts it") {
  const std::string step =
      "step --model " + windowed() + " --hardware h100 --engine 'vllm 0.24' --decode ";
  const Said said = rooflua::test::rooflua(step + "30000x8");
  CHECK(contains(said.text, window_note));
  CHECK(contains(said.text, other_note));
  CHECK(touched(said.text) > 30);
  CHECK(touched(rooflua::test::rooflua(step + "1000x8").text) == -1);  // within the window
  const Json document = parse_json(rooflua::test::rooflua(step + "30000x8 --json -").text, "step");
  const Json& variant = document.find("variants")->items()[0];
  CHECK(variant.find("notes")->items().size() == 2);
  CHECK(variant.find("summary")->find("noted_frac")->number() > 0.3);
}

TEST_CASE("step says which keys of a config.json it does not follow, or refuses them") {
  const auto step = [](const std::string& key, const std::string& more) {
    const std::string file = written(
        "keys.json", R"({"model_type": "mistral", "num_hidden_layers": 32, "hidden_size": 4096,
        "num_attention_heads": 32, "num_key_value_heads": 8, "intermediate_size": 14336,
        "vocab_size": 32000, "torch_dtype": "bfloat16", "max_position_embeddings": 131072, ")" +
                         key + "\": 3}");
    return rooflua::test::rooflua("step --model " + file + more +
                                  " --hardware h100 --engine 'vllm 0.24' --decode 1000x8 2>&1");
  };
  CHECK(contains(step("tower_of_babel", "").text, "cost is not known: tower_of_babel"));
  const Said refused = step("experts_of_babel", "");
  CHECK(refused.status == 1);
  CHECK(contains(refused.text, "experts_of_babel: speaks of experts"));
  CHECK(contains(refused.text, "--ignore experts_of_babel"));
  const Said ignored = step("experts_of_babel", " --ignore experts_of_babel");
  CHECK(ignored.status == 0);
  CHECK(contains(ignored.text, "ignored as asked: experts_of_babel"));
  CHECK(contains(step("tower", " --ignore towers").text, "did you mean 'tower'"));
}

TEST_CASE("run, its JSON, its page, --strict and check say it too") {
  const std::string page = (scratch() / "notes" / "page.html").string();
  const std::string json = (scratch() / "notes" / "run.json").string();
  const Said said =
      rooflua::test::rooflua("run " + served() + " --html " + page + " --json " + json + " 2>&1");
  CHECK(said.status == 0);
  CHECK(contains(said.text, window_note));
  CHECK(contains(said.text, "constants fitted on Hopper (H100, H200), none on Ada"));
  CHECK(touched(said.text) > 4);
  CHECK(contains(content(page), window_note));
  CHECK(contains(content(page), "of the time, which counts as unsupported"));
  const Json document = parse_json(content(json), "run");
  CHECK(document.find("variants")->items()[0].find("summary")->find("noted_frac")->number() > 0.04);
  const Said strict = rooflua::test::rooflua("run " + served() + " --strict=5 2>&1");
  CHECK(strict.status == 1);
  CHECK(contains(strict.text, "or notes of the model touch it"));
  const Said checked = rooflua::test::rooflua("check " + served());
  CHECK(contains(checked.text, window_note));
  CHECK(contains(checked.text, "none on Ada"));
  CHECK(touched(checked.text) > 4);
}

TEST_CASE("the table of variants counts what notes touch as unsupported") {
  const Said with = rooflua::test::rooflua(
      "run " + served() + " --quiet --set 'vary={\"hardware\": [\"h100\", \"l40s\"]}'");
  CHECK(contains(with.text, "or that notes of the model touch"));
}

TEST_CASE("the prompt says it when a scenario is opened") {
  const Said said = rooflua::test::rooflua("repl " + served() + " < /dev/null 2>&1");
  const Said opened =
      rooflua::test::rooflua("repl < " + written("open.txt", ":open " + served() + "\n") + " 2>&1");
  CHECK(contains(said.text + opened.text, "sliding window of 1024"));
  const Said report = rooflua::test::rooflua("repl " + served() + " < " +
                                             written("report.txt", ":run\n:report\n") + " 2>&1");
  INFO(report.text);
  CHECK(report.status == 0);
  CHECK(contains(report.text, "requests  100 of 100 completed"));
  CHECK(touched(report.text) > 4);
}

TEST_CASE("a batch that could not run is told: its length, its KV, its activations") {
  const std::string step = "step --model llama-3.1-8b --hardware h100 ";
  CHECK(contains(rooflua::test::rooflua(step + "--prefill 0+900000").text,
                 "step: could not run with llama-3.1-8b: a request has 900,000 tokens, "
                 "llama-3.1-8b's max_model_len is 131,072; deployment.max_model_len = N states a "
                 "longer one, which vllm 0.24.0 takes with --hf-overrides"));
  CHECK(contains(rooflua::test::rooflua(step + "--prefill 0+900000").text, "GiB activations"));
  CHECK(contains(rooflua::test::rooflua(step + "--decode 100000x64").text,
                 "its requests need 400,064 KV blocks of 16 tokens, the cache has"));
  CHECK(contains(rooflua::test::rooflua(step + "--decode 100x1 --set kv_blocks=1").text,
                 "need 7 KV blocks of 16 tokens, the cache has 1"));
  CHECK_FALSE(contains(rooflua::test::rooflua(step + "--decode 4000x32").text, "could not run"));
  CHECK_FALSE(
      contains(rooflua::test::rooflua(step + "--decode 150000x1 --set max_model_len=200000").text,
               "could not run"));
}

TEST_CASE("step sets the deployment, as its own advice says, and names its formats") {
  const std::string step = "step --model llama-3.1-70b --hardware h100 --decode 1000x4 ";
  CHECK(contains(rooflua::test::rooflua(step + "2>&1").text, "or with weights = \"fp8\""));
  const Said said = rooflua::test::rooflua(step + "--set weights=fp8 --set kv=fp8 2>&1");
  CHECK(said.status == 0);
  CHECK(contains(said.text, "llama-3.1-70b on h100, tp 1, weights fp8, KV fp8\n"));
  CHECK(contains(said.text, "\nstep: "));
}

TEST_CASE("blocks that do not fit are taken and told; a cache below the stated length is refused") {
  const auto with = [](const std::string& deployment) {
    return written("deployed.lua",
                   "return { rooflua = 1, model = 'llama-3.1-8b', hardware = 'h100', deployment = "
                   "{ " +
                       deployment +
                       " }, workload = require 'workloads.poisson' { num_requests = 200 } }");
  };
  CHECK(rooflua::test::rooflua("check " + with("")).status == 0);
  for (const std::string command : {"check ", "run "}) {
    const Said blocks = rooflua::test::rooflua(command + with("kv_blocks = 1000000"));
    CHECK(blocks.status == 0);
    CHECK(contains(blocks.text,
                   "deployment.kv_blocks: 1,000,000 blocks of 16 tokens are taken as they are "
                   "stated: llama-3.1-8b on h100-sxm has room for "));
    const Said length =
        rooflua::test::rooflua(command + with("kv_blocks = 500, max_model_len = 8192") + " 2>&1");
    CHECK(length.status == 1);
    CHECK(contains(length.text,
                   "the KV cache holds 8,000 tokens, fewer than "
                   "deployment.max_model_len, 8,192: vLLM would not start"));
    CHECK(rooflua::test::rooflua(command + with("kv_blocks = 500, max_model_len = 8000")).status ==
          0);
    const Said implied = rooflua::test::rooflua(command + with("kv_blocks = 500"));
    CHECK(implied.status == 0);  // the scenario does not say the length
    CHECK(contains(implied.text, "deployment: the KV cache holds 8,000 tokens, fewer than"));
  }
}
