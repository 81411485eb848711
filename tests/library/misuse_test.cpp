// Wrong arguments are answered with a code and a text.

#include <cstring>
#include <limits>
#include <string>

#include "base/printable.h"
#include "library/rooflua.h"
#include "tests/script/sandbox.h"

using namespace rooflua::test;

namespace {

const char* const small = R"({"model": "llama-3.1-8b", "hardware": "h200-sxm"})";

std::string refused(const char* path, const char* overrides) {
  char error[2048] = "";
  rooflua_pricer* pricer = rooflua_open(path, overrides, error, sizeof error);
  CHECK(pricer == nullptr);
  rooflua_close(pricer);
  return error;
}

::rooflua_batch one_decode() {
  ::rooflua_batch batch{};
  batch.size = sizeof batch;
  batch.decodes = 1;
  batch.decode_context_tokens = 100;
  return batch;
}

/// Answers of one pricer, as "code text".
class Asked {
 public:
  Asked() : pricer_(rooflua_open(nullptr, small, nullptr, 0)) { REQUIRE(pricer_ != nullptr); }
  ~Asked() { rooflua_close(pricer_); }
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;

  std::string price(const ::rooflua_batch* batch) const {
    char error[512] = "";
    double seconds = 0;
    const int code = rooflua_price(pricer_, batch, &seconds, error, sizeof error);
    return std::to_string(code) + " " + error;
  }
  template <class Change>
  std::string changed(const Change& change) const {
    ::rooflua_batch batch = one_decode();
    change(batch);
    return price(&batch);
  }
  rooflua_pricer* handle() const { return pricer_; }

 private:
  rooflua_pricer* pricer_;
};

}  // namespace

TEST_CASE("what cannot be opened is told") {
  CHECK(has(refused(nullptr, nullptr), "neither a scenario nor overrides"));
  CHECK(has(refused("/nowhere.lua", nullptr), "/nowhere.lua"));
  CHECK(has(refused(nullptr, "{"), "overrides:1"));
  CHECK(has(refused(nullptr, "[1]"), "expected an object"));
  CHECK(has(refused(nullptr, R"({"model": "llama-3.1-8c", "hardware": "h200-sxm"})"),
            "did you mean 'llama-3.1-8b'"));
  CHECK(has(refused(nullptr, R"({"modle": "llama-3.1-8b"})"), "unknown key 'modle'"));
  CHECK(has(
      refused(nullptr, R"({"model": "llama-3.1-8b", "hardware": "h200-sxm", "deployment.tpp": 2})"),
      "tpp"));
  CHECK(has(refused(nullptr, R"({"model": "llama-3.1-8b", "hardware": "h200-sxm", "command": 3})"),
            "command"));
  const auto plan = source_dir() / "scenarios" / "23_plan.lua";
  CHECK(has(refused(plan.c_str(), nullptr), "expected \"price\" or \"serve\""));
  const auto varied = source_dir() / "scenarios" / "02_chunk_size.lua";
  CHECK(has(refused(varied.c_str(), nullptr), "gives 3 variants"));
  const auto served = source_dir() / "scenarios" / "02_chunk_size.lua";
  CHECK(has(refused(served.c_str(),
                    R"({"vary": {}, "replicas": [{"role": "prefill"}, {"role": "decode"}]})"),
            "replicas: has 2 entries, and a pricer prices one"));
}

TEST_CASE("a key that names a policy names one, whichever kind reads it") {
  for (const char* key : {"workload", "router", "admission", "client", "faults", "steps"}) {
    const std::string given = R"({"model": "llama-3.1-8b", "hardware": "h200-sxm", ")" +
                              std::string(key) + R"(": "no such thing"})";
    CHECK(has(refused(nullptr, given.c_str()), key));
    CHECK(has(refused(nullptr, given.c_str()), "unknown policy of"));
  }
}

TEST_CASE("messages that are cut stay UTF-8") {
  const std::string name =
      "{\"model\": \"" + std::string(40, 'a') + "\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\"}";
  for (std::size_t size = 1; size < 120; ++size) {
    std::string error(size, '\0');
    CHECK(rooflua_open(nullptr, name.c_str(), error.data(), size) == nullptr);
    CHECK(rooflua::first_not_utf8(error.c_str()) == std::string::npos);
  }
}

TEST_CASE("a wrong batch names its field") {
  const Asked asked;
  CHECK(asked.price(nullptr) == "-2 batch: is NULL");
  CHECK(has(asked.changed([](auto& b) { b.size = 8; }), "-2 batch: size: expected sizeof"));
  CHECK(has(asked.changed([](auto& b) { b.decodes = 0, b.decode_context_tokens = 0; }),
            "nothing to price"));
  CHECK(has(asked.changed([](auto& b) { b.decodes = -1; }), "-2 batch: decodes: expected"));
  CHECK(has(asked.changed([](auto& b) { b.decodes = 2'000'000; }),
            "from 0 to 1000000, found 2000000"));
  CHECK(has(asked.changed([](auto& b) { b.prefill_count = 1; }), "prefills: is NULL"));
  CHECK(has(asked.changed([](auto& b) { b.prefill_count = -5; }), "prefill_count"));
  CHECK(has(asked.changed([](auto& b) { b.decode_context_tokens = -1; }), "decode_context_tokens"));
  CHECK(has(asked.changed([](auto& b) {
    b.decode_context_tokens = std::numeric_limits<std::int64_t>::max();
  }),
            "decode_context_tokens"));
  CHECK(has(asked.changed([](auto& b) { b.draft_rows = -1; }), "draft_rows"));
  CHECK(has(asked.changed([](auto& b) { b.decode_tokens = -1; }), "decode_tokens"));
  CHECK(has(asked.changed([](auto& b) { b.ranks_tokens = 5; }), "ranks: is 0"));
  CHECK(has(asked.changed([](auto& b) { b.ranks = 2, b.ranks_tokens = 9, b.ranks_max_tokens = 1; }),
            "cannot have 9"));
  CHECK(has(asked.changed([](auto& b) { b.decodes = 2, b.decode_context_max = 10; }),
            "-2 batch: decode_context_max: 2 contexts of at most 10 cannot have 100 tokens"));
  CHECK(
      has(asked.changed([](auto& b) { b.decode_context_max = 101; }), "-2 batch: decode_context"));
  CHECK(has(asked.changed([](auto& b) { b.decode_context_tokens = 2'000'000'000; }),
            "more than 1000000000 of each decode"));
  CHECK(
      has(asked.changed([](auto& b) { b.draft_rows = 2, b.draft_tokens = 2, b.draft_passes = 1; }),
          "draft_rows: 2 of 1 requests"));
  CHECK(
      has(asked.changed([](auto& b) { b.draft_rows = 1, b.draft_tokens = 4, b.draft_passes = 3; }),
          "cannot get 4 drafts"));
  CHECK(has(asked.changed([](auto& b) { b.draft_passes = 1; }), "draft_tokens: 0 requests"));
  const std::int32_t contexts[] = {5, -1};
  CHECK(has(asked.changed([&](auto& b) { b.decodes = 2, b.decode_contexts = contexts; }),
            "says it all"));
  CHECK(has(asked.changed([&](auto& b) {
    b.decodes = 2, b.decode_contexts = contexts, b.decode_context_tokens = 0;
  }),
            "decode_contexts[1]"));
  const std::int32_t widths[] = {0};
  CHECK(has(asked.changed([&](auto& b) { b.decode_widths = widths; }), "decode_widths[0]"));
  const rooflua_prefill prompts[] = {{1, 0, 0}, {7, 0, 2}};
  CHECK(has(asked.changed([&](auto& b) { b.prefills = prompts, b.prefill_count = 2; }),
            "prefills[1].unfinished"));
  CHECK(asked.changed([](auto&) {}) == "0 ");
}

TEST_CASE("a refused call leaves the pricer as it was") {
  static const std::int32_t contexts[] = {5, 700}, wrong[] = {5, -1}, widths[] = {1, 0};
  static const rooflua_prefill prompts[] = {{64, 0, 0}, {7, 100, 1}},
                               bad[] = {{64, 0, 0}, {0, 0, 0}};
  using Change = void (*)(::rooflua_batch&);
  constexpr Change right[] = {
      [](auto&) {}, [](auto& b) { b.prefills = prompts, b.prefill_count = 2; },
      [](auto& b) { b.decodes = 2, b.decode_contexts = contexts, b.decode_context_tokens = 0; },
      [](auto& b) { b.ranks = 2, b.ranks_tokens = 2, b.ranks_max_tokens = 1; }};
  constexpr Change refused_ones[] = {
      [](auto& b) { b.size = 1; },
      [](auto& b) { b.decodes = -1; },
      [](auto& b) { b.prefills = bad, b.prefill_count = 2; },
      [](auto& b) { b.decodes = 2, b.decode_contexts = wrong, b.decode_context_tokens = 0; },
      [](auto& b) {
        b.decodes = 2, b.decode_contexts = contexts, b.decode_context_tokens = 0;
        b.decode_widths = widths;
      },
      [](auto& b) { b.prefills = prompts, b.prefill_count = 2, b.draft_rows = 9; },
      [](auto& b) { b.ranks = 2, b.ranks_tokens = 90, b.ranks_max_tokens = 1; },
      [](auto& b) { b.decode_tokens = 1LL << 40; }};
  const auto answers = [&](rooflua_pricer* pricer) {
    std::string out;
    for (const Change change : right) {
      ::rooflua_batch batch = one_decode();
      change(batch);
      double seconds = 0;
      char json[1 << 16] = "";
      REQUIRE(rooflua_price(pricer, &batch, &seconds, nullptr, 0) == ROOFLUA_OK);
      REQUIRE(rooflua_explain(pricer, &batch, json, sizeof json) > 0);
      out += std::to_string(seconds * 1e9) + json;
    }
    return out;
  };
  const Asked fresh, used;
  const std::string expected = answers(fresh.handle());
  for (const Change change : refused_ones) {
    ::rooflua_batch batch = one_decode();
    change(batch);
    char json[300] = "";
    rooflua_memory memory{};
    CHECK(starts(used.price(&batch), "-2 batch"));
    CHECK(rooflua_explain(used.handle(), &batch, json, sizeof json) == ROOFLUA_MISUSE);
    CHECK(rooflua_capacity(used.handle(), &memory) == ROOFLUA_MISUSE);
    CHECK(answers(used.handle()) == expected);
  }
}

TEST_CASE("missing pointers, small buffers and closed pricers are answered") {
  const ::rooflua_batch batch = one_decode();
  char error[16] = "";
  double seconds = 0;
  rooflua_pricer* closed = nullptr;
  {
    const Asked asked;
    closed = asked.handle();
    CHECK(rooflua_price(closed, &batch, nullptr, error, sizeof error) == ROOFLUA_MISUSE);
    CHECK(std::string(error) == "seconds: is NUL");  // cut, with its end
    CHECK(rooflua_explain(closed, &batch, nullptr, 10) == ROOFLUA_MISUSE);
    CHECK(rooflua_capacity(closed, nullptr) == ROOFLUA_MISUSE);
    rooflua_memory memory{};
    CHECK(rooflua_capacity(closed, &memory) == ROOFLUA_MISUSE);
    CHECK(rooflua_price(closed, &batch, &seconds, nullptr, 0) == ROOFLUA_OK);
  }
  const Asked other;  // its number is another one
  CHECK(rooflua_price(closed, &batch, &seconds, error, sizeof error) == ROOFLUA_CLOSED);
  CHECK(rooflua_price(nullptr, &batch, &seconds, error, sizeof error) == ROOFLUA_CLOSED);
  char json[200] = "";
  CHECK(rooflua_explain(closed, &batch, json, sizeof json) == ROOFLUA_CLOSED);
  CHECK(has(json, R"({"error":"pricer: is closed)"));
  rooflua_memory memory{};
  memory.size = sizeof memory;
  CHECK(rooflua_capacity(closed, &memory) == ROOFLUA_CLOSED);
  CHECK(has(memory.text, "is closed"));
  rooflua_close(closed);
  rooflua_close(nullptr);
}
