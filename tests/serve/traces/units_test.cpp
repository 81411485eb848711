// The unit of a trace's time is stated, or told by its stamps alone with a note; results of vllm
// bench serve are traces.

#include "base/error.h"
#include "serve/traces/read.h"
#include "serve/traces/time_unit.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

Trace parse(const std::string& text, TraceOptions options = {}) {
  return parse_trace(text, "t.jsonl", options);
}

/// Rows with these stamps, with hash_ids or without.
std::string rows(const std::vector<std::string>& stamps, bool hashes) {
  std::string out;
  for (const std::string& stamp : stamps)
    out += "{\"timestamp\": " + stamp + ", \"input_length\": 100, \"output_length\": 5" +
           (hashes ? ", \"hash_ids\": [1]" : "") + "}\n";
  return out;
}

std::string notes(const Trace& trace) {
  std::string out;
  for (const std::string& note : trace.notes) out += note + "\n";
  return out;
}

}  // namespace

TEST_CASE("the unit follows from the stamps, and never from whether there are hash_ids") {
  struct Known {
    std::vector<std::string> stamps;
    double last_s;
    const char* unit;
  };
  const Known all[] = {{{"0.1", "1.6", "3.1"}, 3.1, "read as s"},
                       {{"0", "1", "4"}, 4, "read as s"},
                       {{"100", "1600", "3100"}, 3.1, "read as ms"},
                       {{"0", "1500000", "3100000"}, 3.1, "read as us"},
                       {{"0", "1500000000", "3100000000"}, 3.1, "read as ns"},
                       {{"1700000000", "1700000003"}, 3, "read as s"},
                       {{"1700000000000", "1700000003000"}, 3, "read as ms"},
                       {{"1700000000000000000", "1700000003000000000"}, 3, "read as ns"}};
  for (const Known& each : all)
    for (const bool hashes : {false, true}) {
      const Trace trace = parse(rows(each.stamps, hashes));
      INFO(each.stamps.back() << (hashes ? " with hash_ids" : ""));
      CHECK(trace.rows.back().arrival_s == Approx(each.last_s));
      CHECK_THAT(notes(trace), StartsWith("t.jsonl: ") && ContainsSubstring(each.unit));
    }
}

TEST_CASE("a unit that is stated holds, is no news, and is doubted where the rate is odd") {
  std::vector<std::string> stamps;
  for (int i = 0; i < 20; ++i) stamps.push_back(std::to_string(1.5 * i));
  TraceOptions options;
  options.units_per_s = 1;
  CHECK(parse(rows(stamps, true), options).rows.back().arrival_s == 28.5);
  CHECK(parse(rows(stamps, true), options).notes.empty());
  options.units_per_s = 1e3;
  CHECK(parse(rows(stamps, true), options).rows.back().arrival_s == Approx(0.0285));
  CHECK_THAT(notes(parse(rows(stamps, true), options)),
             ContainsSubstring("667 requests/s") && ContainsSubstring("a wrong unit"));
  stamps.clear();
  for (int i = 0; i < 20; ++i) stamps.push_back(std::to_string(150000 * i));
  options.units_per_s = 1;
  CHECK_THAT(notes(parse(rows(stamps, true), options)), ContainsSubstring("a wrong unit"));
}

TEST_CASE("a column that names its unit needs no note, and contradicts another unit") {
  const std::string text = "arrival_ms,prompt_tokens,output_tokens\n0,5,5\n1500,5,5\n";
  CHECK(parse(text).notes.empty());
  TraceOptions options;
  options.units_per_s = 1e3;
  CHECK(parse(text, options).rows[1].arrival_s == 1.5);
  options.units_per_s = 1;
  CHECK_THROWS_WITH(parse(text, options), ContainsSubstring("time_unit: the name of the column"));
  CHECK_THROWS_WITH(
      parse("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-02-28 00:00:00,5,5\n", options),
      ContainsSubstring("time_unit: nothing reads it: the arrivals are dates"));
  CHECK_THROWS_WITH(time_unit("sec", "w"), ContainsSubstring("unknown unit of time 'sec'"));
}

TEST_CASE("the unit does not depend on the limit, nor on the order of rows") {
  std::vector<std::string> stamps;
  for (int i = 0; i < 50; ++i) stamps.push_back(std::to_string(i));  // slow at first
  for (int i = 0; i < 50; ++i) stamps.push_back(std::to_string(100000 + 3000 * i));
  TraceOptions options;
  options.limit = 10;
  const Trace some = parse(rows(stamps, false), options);
  CHECK(some.rows.size() == 10);
  CHECK(some.rows.back().arrival_s == parse(rows(stamps, false)).rows[9].arrival_s);
  options.limit = 0;
  options.sort = true;
  std::swap(stamps.front(), stamps.back());
  CHECK(parse(rows(stamps, false), options).rows.back().arrival_s == Approx(247));
}

TEST_CASE("BurstGPT documents seconds, so that a slow start is no millisecond") {
  const std::string head = "Timestamp,Model,Request tokens,Response tokens\n";
  const Trace trace = parse(head + "5,ChatGPT,472,18\n45,ChatGPT,1087,230\n195,ChatGPT,417,276\n");
  CHECK(trace.rows.back().arrival_s == 195);
  CHECK_THAT(notes(trace), ContainsSubstring("documents seconds"));
  CHECK(parse(head + "5000,a,1,1\n12000,a,1,1\n30000,a,1,1\n").rows.back().arrival_s == 30);
}

TEST_CASE("a result of vllm bench serve is a trace where its lists are there") {
  const std::string lists =
      "{\"request_rate\": 10.0, \"mean_ttft_ms\": 3, \"input_lens\": [30, 20, 10, 5], "
      "\"output_lens\": [3, 2, "
      "1, 0], ";
  const std::string starts = "\"start_times\": [101.5, 100.0, 103.0, 104.0]";
  const Trace trace = parse(lists + starts + ", \"errors\": [\"\", \"\", \"\", \"timeout\"]}");
  CHECK(trace.format == TraceFormat::vllm_bench);
  REQUIRE(trace.rows.size() == 3);
  CHECK(trace.rows[0].prompt_tokens == 20);
  CHECK(trace.rows[1].arrival_s == 1.5);
  CHECK(trace.skipped.at("failed when recorded").count == 1);
  CHECK(parse("{\"request_rate\": Infinity, \"input_lens\": [1, 2], \"output_lens\": [3, 4]}")
            .rows[1]
            .arrival_s == 0);
  const std::pair<std::string, const char*> wrong[] = {
      {lists + "\"e\": 1}", "start_times: is missing"},
      {"{\"mean_ttft_ms\": 3, \"total_input_tokens\": 5}", "input_lens: is missing"},
      {lists + "\"start_times\": [1, 2, 3]}", "start_times: expected an entry for each of 4"},
      {lists + "\"start_times\": [1, 2, 3, NaN]}", "start_times[4]: expected a number"},
      {"{\"input_lens\": [1.5], \"output_lens\": [1], \"start_times\": [0]}",
       "input_lens[1]: expected a whole number"}};
  for (const auto& [text, words] : wrong) {
    INFO(text);
    CHECK_THROWS_WITH(parse(text), StartsWith("t.jsonl") && ContainsSubstring(words));
  }
}

TEST_CASE("of several results one is named, by its number or its name") {
  const auto result = [](int prompt, const char* label) {
    return "{\"label\": \"" + std::string(label) + "\", \"input_lens\": [" +
           std::to_string(prompt) + "], \"output_lens\": [1], \"start_times\": [0]}";
  };
  const std::string lines = result(7, "a") + "\n" + result(8, "b") + "\n";
  const std::string list = "[[" + result(7, "a") + "], [" + result(8, "b") + "]]";
  for (const std::string& text : {lines, list}) {
    TraceOptions options;
    CHECK_THROWS_WITH(parse(text), ContainsSubstring("holds 2 results; name one of them"));
    options.run = "2";
    CHECK(parse(text, options).rows[0].prompt_tokens == 8);
    options.run = "a";
    CHECK(parse(text, options).rows[0].prompt_tokens == 7);
    options.run = "c";
    CHECK_THROWS_WITH(parse(text, options),
                      ContainsSubstring("run: expected \"1\" to \"2\", found 'c'"));
  }
  TraceOptions options;
  options.run = "2";
  CHECK_THROWS_WITH(parse("arrival_s,prompt_tokens,output_tokens\n0,5,5\n", options),
                    ContainsSubstring("run: nothing reads it"));
}
