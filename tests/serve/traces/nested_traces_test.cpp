// Traces whose fields lie in nested objects: AIPerf's records and OTLP's spans.
#include "base/error.h"
#include "serve/traces/read.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

Trace parse(const std::string& text) {
  return parse_trace(text, "t.csv");
}

std::string complaint(const std::string& text) {
  try {
    parse(text);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was wrong";
}

void says(const std::string& text, const std::string& part) {
  INFO(text);
  CHECK(text.find(part) != std::string::npos);
}

}  // namespace

TEST_CASE("AIPerf: sorted by start, exact to a nanosecond, the warm-up and failures counted") {
  const Trace trace =
      read_trace(ROOFLUA_SOURCE_DIR "/tests/fixtures/formats/aiperf_profile_export.jsonl");
  CHECK(trace.format == TraceFormat::aiperf);
  REQUIRE(trace.rows.size() == 3);
  CHECK(trace.rows[0].arrival_s == 0);
  CHECK(trace.rows[0].prompt_tokens == 200);
  CHECK(trace.rows[0].line == 3);
  CHECK(trace.rows[1].arrival_s == 0.5);
  CHECK(trace.rows[2].arrival_s == 0.750000001);
  CHECK(trace.rows[2].output_tokens == 8);
  CHECK(trace.read == 5);
  CHECK(trace.skipped.at("warm-up").count == 1);
  CHECK(trace.skipped.at("failed when recorded").first_line == 5);
  // Lines 3 and 4 are of one conversation, so they sent the same prompt.
  REQUIRE(trace.content(trace.rows[0]).size() == 1);
  CHECK(trace.content(trace.rows[0])[0].content == trace.content(trace.rows[2])[0].content);
  CHECK(trace.content(trace.rows[0])[0].content != trace.content(trace.rows[1])[0].content);
  TraceOptions two;
  two.limit = 2;
  CHECK(read_trace(ROOFLUA_SOURCE_DIR "/tests/fixtures/formats/aiperf_profile_export.jsonl", two)
            .rows.size() == 2);
}

TEST_CASE("AIPerf: a missing or wrong field is named with its line") {
  const std::string head =
      R"({"metadata":{"request_start_ns":1759813207532900363},"metrics":{"input_sequence_length":)";
  says(complaint(head + R"({"value":3}}})"),
       "t.csv:1: metrics.output_sequence_length.value: is missing");
  says(complaint(head + R"({"value":"x"}}})"),
       "t.csv:1: metrics.input_sequence_length.value: expected a whole number, 0 or more, found");
  says(complaint(head + R"({"value":3}})"), "t.csv");
}

TEST_CASE("OTLP: spans of requests in every batch; text holds whole numbers") {
  const Trace trace = read_trace(ROOFLUA_SOURCE_DIR "/tests/fixtures/formats/otlp_spans.jsonl");
  CHECK(trace.format == TraceFormat::otlp);
  REQUIRE(trace.rows.size() == 3);
  CHECK(trace.rows[0].prompt_tokens == 200);
  CHECK(trace.rows[2].arrival_s == 0.750000001);
  CHECK(trace.rows[1].line == 1);
  CHECK(trace.content(trace.rows[0]).empty());
}

TEST_CASE("OTLP: prefill and decode in two engines are one request") {
  const Trace trace =
      read_trace(ROOFLUA_SOURCE_DIR "/tests/fixtures/formats/otlp_two_engines.jsonl");
  REQUIRE(trace.rows.size() == 1);
  CHECK(trace.rows[0].output_tokens == 16);
  CHECK(trace.rows[0].arrival_s == 0);
  CHECK(trace.skipped.at("failed when recorded").count == 1);
}

TEST_CASE("OTLP: one document over several lines; a file without requests says what it holds") {
  const char* document = R"({
  "resourceSpans": [{"scopeSpans": [{"spans": [{"name": "NAME", "startTimeUnixNano": "7",
    "attributes": [{"key": "gen_ai.usage.prompt_tokens", "value": {"intValue": 12}},
                   {"key": "gen_ai.usage.completion_tokens", "value": {"intValue": "5"}}]}]}]}]
})";
  std::string text = document;
  says(complaint(text), "no span is called llm_request; found NAME");
  text.replace(text.find("NAME"), 4, "llm_request");
  CHECK(parse(text).rows[0].prompt_tokens == 12);
}
