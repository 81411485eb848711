// The recorded traces beside the checkout, where they are there.

#include <algorithm>
#include <numeric>
#include <set>

#include "serve/traces/read.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

std::int64_t total(const Trace& trace, std::int64_t TraceRow::*member) {
  return std::accumulate(trace.rows.begin(), trace.rows.end(), std::int64_t{0},
                         [&](std::int64_t sum, const TraceRow& row) { return sum + row.*member; });
}

}  // namespace

TEST_CASE("every trace beside the checkout loads") {
  struct Known {
    const char* path;
    TraceFormat format;
    std::size_t rows;
  };
  const Known all[] = {
      {"traces/azure2023_code.csv", TraceFormat::azure, 8819},
      {"traces/azure2023_conv.csv", TraceFormat::azure, 19366},
      {"traces/blis_chatbot_poisson30_100k.csv", TraceFormat::plain, 100000},
      {"traces/blis_chatbot_poisson30_10k.csv", TraceFormat::plain, 10000},
      {"traces/blis_chatbot_r30_10k.csv", TraceFormat::plain, 10000},
      {"traces/mooncake_conversation.jsonl", TraceFormat::mooncake, 12031},
      {"traces/mooncake_synthetic.jsonl", TraceFormat::mooncake, 3993},
      {"truth/llmservingsim/RTXPRO6000_Llama-3.1-8B/requests.jsonl", TraceFormat::plain, 300},
      {"truth/blis_eval_guidellm/jan21-llama7b-train-1.csv", TraceFormat::requests, 0}};
  for (const Known& known : all) {
    if (!test::have_shared(known.path)) continue;
    const Trace trace = read_trace(test::shared_data() / known.path);
    INFO(known.path);
    CHECK(trace.format == known.format);
    if (known.rows > 0) CHECK(trace.rows.size() == known.rows);
    CHECK(trace.rows.front().arrival_s < 60);
    CHECK(trace.skipped.empty());
    for (const TraceRow& row : trace.rows) {
      std::int64_t tokens = 0;
      for (const Segment& segment : trace.content(row)) tokens += segment.tokens;
      if (tokens != 0 && tokens != row.prompt_tokens) FAIL("content of line " << row.line);
    }
  }
}

TEST_CASE("the training runs of BLIS load with 100 prompts each") {
  if (!test::have_shared("truth/blis_training16/traces")) return;
  int files = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(test::shared_data() / "truth/blis_training16/traces")) {
    const Trace trace = read_trace(entry.path());
    CHECK(trace.format == TraceFormat::blis_training);
    std::vector<std::uint64_t> contents;
    for (const Segment& segment : trace.segments) contents.push_back(segment.content);
    std::sort(contents.begin(), contents.end());
    CHECK(std::unique(contents.begin(), contents.end()) - contents.begin() == 100);
    ++files;
  }
  CHECK(files == 5);
}

// Counted from the files by another program (Python's csv, json and datetime).
TEST_CASE("counts, tokens and time spans of the traces are those of the files") {
  struct Counted {
    const char* path;
    std::int64_t rows, prompt_tokens, output_tokens, longest_prompt, longest_output;
    double first_s, last_s;
    std::size_t blocks, different_blocks;
  };
  const Counted all[] = {
      {"azure2023_code.csv", 8819, 18059974, 245896, 7437, 1899, 0, 3435.948056, 0, 0},
      {"azure2023_conv.csv", 19366, 22361870, 4088665, 14050, 1000, 0, 3501.721937, 0, 0},
      {"blis_chatbot_poisson30_100k.csv", 100000, 25633340, 25630488, 708, 681, 0.016869,
       3320.840428, 0, 0},
      {"blis_chatbot_poisson30_10k.csv", 10000, 2573227, 2568238, 602, 640, 0.016869, 330.119111, 0,
       0},
      {"blis_chatbot_r30_10k.csv", 10000, 2559958, 2577333, 644, 674, 0.033333, 333.33, 0, 0},
      {"mooncake_conversation.jsonl", 12031, 144793823, 4122048, 126195, 2000, 0, 3536.999, 288500,
       182790},
      {"mooncake_synthetic.jsonl", 3993, 61194628, 595432, 191378, 893, 0, 1022.025, 121877,
       43924}};
  for (const Counted& file : all) {
    const std::string path = std::string("traces/") + file.path;
    if (!test::have_shared(path)) continue;
    const Trace trace = read_trace(test::shared_data() / path);
    INFO(file.path);
    CHECK(trace.read == file.rows);
    CHECK(static_cast<std::int64_t>(trace.rows.size()) == file.rows);
    CHECK(total(trace, &TraceRow::prompt_tokens) == file.prompt_tokens);
    CHECK(total(trace, &TraceRow::output_tokens) == file.output_tokens);
    const auto longest = [&](std::int64_t TraceRow::*member) {
      std::int64_t most = 0;
      for (const TraceRow& row : trace.rows) most = std::max(most, row.*member);
      return most;
    };
    CHECK(longest(&TraceRow::prompt_tokens) == file.longest_prompt);
    CHECK(longest(&TraceRow::output_tokens) == file.longest_output);
    CHECK(trace.rows.front().arrival_s == file.first_s);
    CHECK(trace.rows.back().arrival_s == file.last_s);
    CHECK(trace.segments.size() == file.blocks);
    std::set<std::uint64_t> different;
    for (const Segment& segment : trace.segments) different.insert(segment.content);
    CHECK(different.size() == file.different_blocks);
  }
}
