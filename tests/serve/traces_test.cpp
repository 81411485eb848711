#include "serve/traces.h"

#include <numeric>

#include "base/error.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

Trace parse(const std::string& text, TraceOptions options = {}) {
  return parse_trace(text, "t.csv", options);
}

std::string complaint(const std::string& text, TraceOptions options = {}) {
  try {
    parse(text, options);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was wrong";
}

bool says(const std::string& text, const std::string& part) {
  INFO(text);
  const bool found = text.find(part) != std::string::npos;
  CHECK(found);
  return found;
}

std::int64_t total(const Trace& trace, std::int64_t TraceRow::*member) {
  return std::accumulate(trace.rows.begin(), trace.rows.end(), std::int64_t{0},
                         [&](std::int64_t sum, const TraceRow& row) { return sum + row.*member; });
}

}  // namespace

TEST_CASE("a plain trace is read by the usual names of its columns") {
  const Trace trace = parse("arrival_s,prompt_tokens,output_tokens\n0.5,10,20\n1.25,30,40\n");
  CHECK(trace.format == TraceFormat::plain);
  REQUIRE(trace.rows.size() == 2);
  CHECK(trace.rows[1].arrival_s == 1.25);
  CHECK(trace.rows[1].prompt_tokens == 30);
  CHECK(trace.rows[1].output_tokens == 40);
  CHECK(trace.rows[1].line == 3);
  CHECK(trace.rows[1].class_index == -1);
  CHECK(trace.content(trace.rows[1]).empty());
}

TEST_CASE("the suffix of the arrival column is its unit") {
  for (const char* text : {"num_prefill_tokens,num_decode_tokens,arrived_at\n7,8,1.5\n",
                           "Arrival (ms),Input Length,Output Length\r\n1500,7,8\r\n",
                           "timestamp_us,input_tokens,completion_tokens\n1500000,7.0,8\n"}) {
    const Trace trace = parse(text);
    REQUIRE(trace.rows.size() == 1);
    CHECK(trace.rows[0].arrival_s == 1.5);
    CHECK(trace.rows[0].prompt_tokens == 7);
    CHECK(trace.rows[0].output_tokens == 8);
  }
}

TEST_CASE("classes and sessions get numbers in order of appearance") {
  const Trace trace = parse(
      "arrival_s,prompt_tokens,output_tokens,class,session,round,priority\n"
      "0,1,1,batch,b,0,2\n1,1,1,\"chat, fast\",a,0,0\n2,1,1,batch,b,1,2\n3,1,1,,,0,0\n");
  CHECK(trace.classes == std::vector<std::string>{"batch", "chat, fast"});
  CHECK(trace.sessions == std::vector<std::string>{"b", "a"});
  CHECK(trace.rows[2].class_index == 0);
  CHECK(trace.rows[2].session == 0);
  CHECK(trace.rows[2].round == 1);
  CHECK(trace.rows[2].priority == 2);
  CHECK(trace.rows[3].class_index == -1);
}

TEST_CASE("Azure dates count from the first row, to 100 ns") {
  const Trace trace = parse(
      "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 23:59:59.9999999,374,44\n"
      "2023-11-17 00:00:01.0000000,396,109\n");
  CHECK(trace.format == TraceFormat::azure);
  CHECK(trace.rows[0].arrival_s == 0);
  CHECK(trace.rows[1].arrival_s == 1.0000001);
}

TEST_CASE("a response of 0 in BurstGPT is a failure: skipped and counted") {
  const Trace trace = parse(
      "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
      "5,ChatGPT,472,18,490,Conversation log\n45,ChatGPT,1087,0,1087,Conversation log\n"
      "118,GPT-4,417,276,693,API log\n");
  CHECK(trace.format == TraceFormat::burstgpt);
  REQUIRE(trace.rows.size() == 2);
  CHECK(trace.rows[1].arrival_s == 118);
  CHECK(trace.rows[1].line == 4);
  CHECK(trace.classes == std::vector<std::string>{"ChatGPT", "GPT-4"});
  CHECK(trace.skipped == std::map<std::string, std::int64_t>{{"failed", 1}});
}

TEST_CASE("Mooncake blocks of 512 tokens become content, the last one partly") {
  const Trace trace = parse(
      "{\"timestamp\": 0, \"input_length\": 1100, \"output_length\": 5, \"hash_ids\": [0, 1, 2]}\n"
      "{\"timestamp\": 1500, \"input_length\": 600, \"output_length\": 6, \"hash_ids\": [0, 9]}\n"
      "{\"output_length\": 6, \"hash_ids\": [0], \"input_length\": 600, \"timestamp\": 1500, "
      "\"x\": {\"y\": [1]}}\n");
  CHECK(trace.format == TraceFormat::mooncake);
  REQUIRE(trace.rows.size() == 3);
  CHECK(trace.rows[1].arrival_s == 1.5);
  const auto a = trace.content(trace.rows[0]), b = trace.content(trace.rows[1]),
             c = trace.content(trace.rows[2]);
  REQUIRE(a.size() == 3);
  CHECK(a[0].tokens == 512);
  CHECK(a[2].tokens == 76);
  CHECK(a[0].content == b[0].content);
  CHECK(a[1].content != b[1].content);
  CHECK(a[0].content != 0);
  REQUIRE(c.size() == 2);  // what has no id is its own
  CHECK(c[1].tokens == 88);
  CHECK(c[1].content == 0);
}

TEST_CASE("TraceV2 prompts consist of a shared prefix and their own part") {
  const std::string header =
      "request_id,client_id,tenant_id,slo_class,session_id,round_index,prefix_group,prefix_length,"
      "streaming,"
      "input_tokens,output_tokens,text_tokens,image_tokens,audio_tokens,video_tokens,reason_ratio,"
      "model,"
      "deadline_us,server_input_tokens,arrival_time_us,send_time_us,first_chunk_time_us,last_chunk_"
      "time_us,"
      "num_chunks,status,error_message,finish_reason\n";
  const Trace trace = parse(
      header +
      "0,c0,t,critical,s1,0,g,100,true,50,20,50,0,0,0,0,m,0,0,250000,250000,0,0,0,ok,,\n"
      "1,c0,t,batch,,0,,0,true,50,20,50,0,0,0,0,m,0,57,500000,0,0,0,0,ok,,\n"
      "2,c0,t,batch,,0,,0,true,50,0,50,0,0,0,0,m,0,0,500000,0,0,0,0,error,\"boom, twice\",\n");
  CHECK(trace.format == TraceFormat::blis_v2);
  REQUIRE(trace.rows.size() == 2);
  CHECK(trace.rows[0].arrival_s == 0.25);
  CHECK(trace.rows[0].prompt_tokens == 150);
  REQUIRE(trace.content(trace.rows[0]).size() == 2);
  CHECK(trace.content(trace.rows[0])[0].tokens == 100);
  CHECK(trace.content(trace.rows[0])[1].content == 0);
  CHECK(trace.rows[1].prompt_tokens == 57);
  CHECK(trace.skipped.at("failed") == 1);
}

TEST_CASE("rows with the same prompt_id have the same content") {
  const Trace trace = parse(
      "index,prompt_id,arrival_us,input_tokens,output_tokens_client_count,output_tokens_true,error,"
      "ttft_s,e2e_s\n"
      "0,7,0,591,140,247,0,0.1,1.9\n1,8,53490,589,48,247,0,0.1,1.9\n2,7,60000,590,48,247,0,0.1,1."
      "9\n"
      "3,7,60000,590,48,247,1,0.1,1.9\n");
  CHECK(trace.format == TraceFormat::blis_training);
  REQUIRE(trace.rows.size() == 3);
  CHECK(trace.rows[1].arrival_s == 0.05349);
  CHECK(trace.rows[0].output_tokens == 247);
  CHECK(trace.content(trace.rows[0])[0].content == trace.content(trace.rows[2])[0].content);
  CHECK(trace.content(trace.rows[0])[0].content != trace.content(trace.rows[1])[0].content);
  CHECK(trace.skipped.at("failed") == 1);
}

TEST_CASE("a malformed row is an error that names file, row and what was found") {
  const std::string header = "arrival_s,prompt_tokens,output_tokens\n0,5,5\n";
  says(complaint(header + "-1,5,5\n"), "t.csv:3: arrival: is negative: '-1'");
  says(complaint(header + "nan,5,5\n"), "t.csv:3: arrival: expected a number, found 'nan'");
  says(complaint(header + "inf,5,5\n"), "t.csv:3: arrival: expected a number, found 'inf'");
  says(complaint(header + ",5,5\n"), "t.csv:3: arrival: expected a number, found ''");
  says(complaint(header + "1,0,5\n"), "t.csv:3: prompt tokens: expected at least 1, found '0'");
  says(complaint(header + "1,-3,5\n"), "t.csv:3: prompt tokens: expected at least 1, found '-3'");
  says(complaint(header + "1,2.5,5\n"),
       "t.csv:3: prompt tokens: expected a whole number, found '2.5'");
  says(complaint(header + "1,5,x\n"), "t.csv:3: output tokens: expected a whole number, found 'x'");
  says(complaint(header + "1,5,-1\n"), "t.csv:3: output tokens: expected at least 0, found '-1'");
  says(complaint(header + "1,5,9000000000\n"), "t.csv:3: output tokens: found '9000000000'");
  says(complaint(header + "1,5\n"), "t.csv:3: expected 3 cells, found 2");
  says(complaint(header + "1,5,\"7\n"), "t.csv:3: a quote is opened");
  says(complaint("arrival_s,prompt_tokens,output_tokens\n"), "t.csv: no request in it");
  says(complaint(""), "t.csv: an empty file");
  says(complaint("a,prompt_tokens,output_tokens\n0,5,5\n"), "t.csv:1: no column for the arrival");
  says(complaint("arrival_s,arrival_ms,prompt_tokens,output_tokens\n0,0,5,5\n"),
       "columns 'arrival_s' and 'arrival_ms' mean the same");
  says(complaint("TIMESTAMP,ContextTokens,GeneratedTokens\n2023-13-16 18:15:46,5,5\n"),
       "t.csv:2: arrival: expected a date");
  says(complaint("{\"timestamp\": 0, \"input_length\": 500, \"output_length\": 5, \"hash_ids\": "
                 "[0, 1]}\n"),
       "t.csv:1: hash_ids: more ids than the 500 tokens");
  says(complaint("{\"timestamp\": 0, \"input_length\": 500, \"output_length\": 5, \"hash_ids\": "
                 "[0, x]}\n"),
       "t.csv:1: hash_ids: expected whole numbers, found 'x'");
  says(complaint("{\"timestamp\": 0, \"input_length\": 500, \"output_length\": 5\n"),
       "t.csv:1: expected '}'");
  says(complaint("[1]"), "expected one object per line");
}

TEST_CASE("unsorted arrivals are an error unless sorting was asked for") {
  const std::string text = "arrival_s,prompt_tokens,output_tokens\n2,1,1\n1,2,2\n2,3,3\n";
  says(complaint(text), "t.csv:3: arrival: '1' is before the row above");
  TraceOptions options;
  options.sort = true;
  const Trace trace = parse(text, options);
  CHECK(trace.rows[0].prompt_tokens == 2);
  CHECK(trace.rows[1].prompt_tokens == 1);  // ties keep the order of the file
  CHECK(trace.rows[2].prompt_tokens == 3);
}

TEST_CASE("an answer of no tokens is skipped and counted, not lost") {
  const Trace trace = parse("arrival_s,prompt_tokens,output_tokens\n0,5,0\n1,5,5\n");
  CHECK(trace.rows.size() == 1);
  CHECK(trace.skipped.at("no output") == 1);
}

TEST_CASE("a format that was named wins, and a misspelt one is told") {
  TraceOptions options;
  options.format = trace_format("azure", "x");
  says(complaint("arrival_s,prompt_tokens,output_tokens\n0,5,5\n", options),
       "known to format 'azure': timestamp");
  CHECK_THROWS_AS(trace_format("azur", "workload.format"), Error);
}

TEST_CASE("only as many requests are read as were asked for") {
  TraceOptions options;
  options.limit = 1;
  CHECK(parse("arrival_s,prompt_tokens,output_tokens\n0,5,5\nnonsense\n", options).rows.size() ==
        1);
}

TEST_CASE("a damaged trace is read or refused, never more") {
  const std::string texts[] = {
      "arrival_s,prompt_tokens,output_tokens,class\n0.5,10,20,\"a, b\"\n1.25,30,40,c\n",
      "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\n",
      "{\"timestamp\": 0, \"input_length\": 600, \"output_length\": 5, \"hash_ids\": [0, 1]}\n"};
  std::uint64_t state = 3;
  const auto noise = [&] {
    return static_cast<std::size_t>((state = state * 6364136223846793005u + 1442695040888963407u) >>
                                    33);
  };
  int read = 0, refused = 0;
  for (int i = 0; i < 6000; ++i) {
    std::string text = texts[i % 3];
    for (std::size_t k = 0; k <= noise() % 3; ++k) {
      constexpr std::string_view letters = "\",{}[]\n\r-.:0159eE x\xEF";
      text[noise() % text.size()] = letters[noise() % letters.size()];
    }
    if (i % 5 == 0) text.resize(noise() % text.size());
    try {
      parse(text);
      ++read;
    } catch (const Error&) {
      ++refused;
    }
  }
  CHECK(read + refused == 6000);
  CHECK(read > 100);
  CHECK(refused > 1000);
}

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

TEST_CASE("tokens of the Azure conversation trace are those of the file") {
  if (!test::have_shared("traces/azure2023_conv.csv")) return;
  const Trace trace = read_trace(test::shared_data() / "traces/azure2023_conv.csv");
  CHECK(total(trace, &TraceRow::prompt_tokens) == 22361870);
  CHECK(total(trace, &TraceRow::output_tokens) == 4088665);
}
