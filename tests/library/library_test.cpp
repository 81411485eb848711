#include <cmath>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <set>
#include <string>
#include <thread>

#include "script/scenario.h"
#include "script/vm/memory_account.h"
#include "tests/library/batches.h"
#include "tests/script/sandbox.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {

using CBatch = ::rooflua_batch;

/// A pricer that is closed in the end.
class Opened {
 public:
  explicit Opened(const std::string& overrides, const char* path = nullptr) {
    char error[2048] = "";
    handle_ =
        rooflua_open(path, overrides.empty() ? nullptr : overrides.c_str(), error, sizeof error);
    INFO(error);
    REQUIRE(handle_ != nullptr);
  }
  ~Opened() { rooflua_close(handle_); }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  operator rooflua_pricer*() const { return handle_; }
  double price(const CBatch* batch) const {
    char error[2048] = "";
    double seconds = -1;
    const int code = rooflua_price(handle_, batch, &seconds, error, sizeof error);
    INFO(error);
    REQUIRE(code == ROOFLUA_OK);
    return seconds;
  }

 private:
  rooflua_pricer* handle_ = nullptr;
};

const std::string small =
    R"({"model": "llama-3.1-8b", "hardware": "h200-sxm", "engine": "vllm 0.19"})";

CBatch decodes(std::int32_t count, std::int64_t context_tokens) {
  CBatch batch{};
  batch.size = sizeof batch;
  batch.decodes = count;
  batch.decode_context_tokens = context_tokens;
  return batch;
}

/// Engines, kinds of attention and of parallelism.
const std::vector<std::string> setups = {
    small,
    R"({"model": "llama-3.1-8b", "hardware": "h100-sxm", "engine": "vllm 0.10", "deployment": {"tp": 2, "kv": "fp8"}})",
    R"({"model": "gpt-oss-20b", "hardware": "h200-sxm", "engine": "vllm 0.24"})",
    R"({"model": "deepseek-v3", "hardware": "h200-sxm", "engine": "vllm 0.19", "deployment": {"tp": 8}})",
    R"({"model": "llama-3.1-70b", "hardware": "h100-sxm", "engine": "vllm 0.19", "deployment": {"tp": 4, "pp": 2}})",
    R"({"model": "qwen3-30b-a3b", "hardware": "h100-sxm", "engine": "sglang"})",
    R"({"model": "llama-4-scout", "hardware": "h200-sxm", "engine": "sglang 0.5", "deployment": {"tp": 4}})",
    R"({"model": "qwen3-next-80b-a3b", "hardware": "h200-sxm", "engine": "sglang", "deployment": {"tp": 2}})",
    R"({"model": "llama-3.1-8b", "hardware": "h200-sxm", "engine": "trtllm"})",
    R"({"model": "llama-3.1-8b", "hardware": "h200-sxm", "steps": "roofline_v2",
        "corrections": ["norm_apart", "step_overhead"]})",
};

/// What `rooflua step` says of each batch.
std::vector<double> stepped(const std::string& setup, const std::vector<OwnBatch>& batches) {
  Json table = parse_json(setup, "setup"), list = Json::array();
  table["kind"] = "price";
  for (const OwnBatch& each : batches) list.push_back(as_scenario(each));
  table["price"] = std::move(list);
  script::Vm vm(sandbox_options());
  script::Scenario scenario(vm, table, {});
  script::RunOutputs outputs;
  outputs.operations = false;
  const script::VariantResult result = scenario.run(0, false, outputs);
  std::vector<double> times;
  for (const Json& each : result.document.find("price")->items())
    times.push_back(each.find("time_s")->number());
  return times;
}

/// What the process has allocated more after so many pricers, each opened, asked and closed.
double growth_bytes(int times) {
  const CBatch batch = decodes(8, 8 * 1000);
  const auto once = [&] { Opened(small).price(&batch); };
  for (int i = 0; i < 40; ++i) once();
  const auto before = static_cast<double>(script::native_bytes());
  for (int i = 0; i < times; ++i) once();
  return static_cast<double>(script::native_bytes()) - before;
}

}  // namespace

TEST_CASE("the library prices ten thousand random batches to the same bits as step") {
  std::set<std::string> engines;
  constexpr int total = 10'000;
  int compared = 0;
  for (std::size_t s = 0; s < setups.size(); ++s) {
    Dice dice(static_cast<unsigned>(s) + 1);
    std::vector<OwnBatch> batches;
    for (int i = 0; i < total / static_cast<int>(setups.size()); ++i)
      batches.push_back(random_batch(dice));
    const std::vector<double> expected = stepped(setups[s], batches);
    REQUIRE(expected.size() == batches.size());
    const Opened pricer(setups[s]);
    int different = 0;
    for (int round = 0; round < 2; ++round) {  // the second from memory
      for (std::size_t i = 0; i < batches.size(); ++i) {
        const double found = pricer.price(batches[i].c());
        different += std::memcmp(&found, &expected[i], sizeof found) != 0 ? 1 : 0;
        if (different == 1 && found != expected[i]) {
          UNSCOPED_INFO(dump_json(as_scenario(batches[i]))
                        << ": " << found << ", step " << expected[i]);
          ++different;
        }
      }
    }
    INFO(setups[s]);
    CHECK(different == 0);
    compared += static_cast<int>(batches.size());
    const Json setup = parse_json(setups[s], "setup");
    const Json* engine = setup.find("engine");
    if (engine != nullptr) engines.insert(engine->text().substr(0, engine->text().find(' ')));
  }
  CHECK(compared == total);
  for (const auto& each :
       std::filesystem::directory_iterator(source_dir() / "scripts" / "engines")) {
    if (each.path().extension() != ".lua") continue;
    INFO(each.path());
    CHECK(engines.count(each.path().stem().string()) == 1);
  }
}

TEST_CASE("an explanation adds up to the price, and a short buffer says how much is needed") {
  const Opened pricer(small);
  const CBatch batch = decodes(64, 64 * 2048);
  const double seconds = pricer.price(&batch);
  const int bytes = rooflua_explain(pricer, &batch, nullptr, 0);
  REQUIRE(bytes > 100);
  std::string text(static_cast<std::size_t>(bytes) + 1, '?');
  CHECK(rooflua_explain(pricer, &batch, text.data(), text.size()) == bytes);
  CHECK(text.back() == '\0');
  text.pop_back();
  const Json told = parse_json(text, "explain");
  CHECK(told.find("time_s")->number() == seconds);
  double sum = 0;
  for (const Json& row : told.find("rows")->items()) sum += row.find("time_s")->number();
  CHECK(std::abs(sum - seconds) < 1e-9 * seconds);
  CHECK(told.find("scenario")->find("engine")->text() == "vllm");
  char cut[10] = "";
  CHECK(rooflua_explain(pricer, &batch, cut, sizeof cut) == bytes);
  CHECK(std::string(cut) == text.substr(0, 9));
}

TEST_CASE("a served scenario is priced as its replica steps") {
  const auto path = source_dir() / "scenarios" / "02_chunk_size.lua";
  const Opened served(R"({"vary": {}})", path.c_str());
  const Opened priced(R"({"model": "qwen3-8b", "hardware": "h20", "engine": "vllm 0.19"})");
  const CBatch batch = decodes(4, 4096);
  CHECK(served.price(&batch) > 0);
  CHECK(priced.price(&batch) > 0);
}

TEST_CASE("the memory is that of the command capacity") {
  const Opened pricer(small);
  rooflua_memory memory{};
  memory.size = sizeof memory;
  REQUIRE(rooflua_capacity(pricer, &memory) == ROOFLUA_OK);
  script::Vm vm(sandbox_options());
  Json about = parse_json(small, "small");
  const Json told =
      *vm.call("rooflua.program.capacity", "command", {about, Json::array(), Json()})
           .find("document");
  CHECK(memory.kv_tokens == told.find("kv_tokens")->integer());
  CHECK(memory.kv_blocks == told.find("kv_blocks")->integer());
  CHECK(memory.kv_bytes == told.find("kv_bytes")->number());
  CHECK(memory.starts == 1);
  CHECK(std::string(memory.text).empty());
  const Opened full(R"({"model": "llama-3.1-70b", "hardware": "h100-sxm", "engine": "vllm 0.19",
                        "deployment.tp": 1, "deployment.kv_blocks": 100})");
  CHECK(rooflua_capacity(full, &memory) == ROOFLUA_OK);
  CHECK(memory.starts == 0);
  CHECK(!std::string(memory.text).empty());
}

TEST_CASE("two threads have pricers of their own, and neither may use that of the other") {
  const Opened mine(small);
  const CBatch batch = decodes(16, 16 * 500);
  const double expected = mine.price(&batch);
  const auto work = [&](double* found) {
    const Opened own(small);
    const CBatch same = decodes(16, 16 * 500);
    for (int i = 1; i <= 3000; ++i) {
      const CBatch other = decodes(16, 16 * 500 + i);
      double ignored = 0;
      rooflua_price(own, &other, &ignored, nullptr, 0);
    }
    *found = 0;
    rooflua_price(own, &same, found, nullptr, 0);
  };
  double first = 0, second = 0;
  int code = 0, kept = 0;
  char error[256] = "";
  std::thread a(work, &first), b(work, &second);
  std::thread stranger([&] {
    double seconds = 0;
    code = rooflua_price(mine, &batch, &seconds, error, sizeof error);
    rooflua_close(mine);  // leaves it alone
    kept =
        rooflua_open(nullptr, small.c_str(), nullptr, 0) != nullptr;  // the thread's end frees it
  });
  a.join();
  b.join();
  stranger.join();
  CHECK(first == expected);
  CHECK(second == expected);
  CHECK(code == ROOFLUA_CLOSED);
  CHECK(has(error, "another thread"));
  CHECK(kept == 1);
  CHECK(mine.price(&batch) == expected);
}

TEST_CASE("opening and closing does not grow the process") {
  CHECK(growth_bytes(40) < 40e3);
}

TEST_CASE("a thousand pricers do not grow the process", "[long]") {
  CHECK(growth_bytes(1'000) < 100e3);
}

TEST_CASE("ten thousand pricers do not grow the process", "[.][hours]") {
  CHECK(growth_bytes(10'000) < 200e3);
}

TEST_CASE("millions of different batches do not grow the process without end", "[long]") {
  const Opened pricer(small);
  const auto ask = [&](int from, int to) {
    for (int i = from; i < to; ++i) {
      const CBatch batch = decodes(64, 100'000 + i);
      pricer.price(&batch);
    }
  };
  ask(0, 500'000);
  const auto before = static_cast<double>(script::native_bytes());
  ask(500'000, 1'500'000);
  CHECK(static_cast<double>(script::native_bytes()) - before < 16e6);
}
