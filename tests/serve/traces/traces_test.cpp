#include "base/error.h"
#include "serve/traces/read.h"
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
  CHECK(trace.classes == std::vector<std::string>{"batch", "chat, fast", "(none)"});
  CHECK(trace.sessions == std::vector<std::string>{"b", "a"});
  CHECK(trace.rows[2].class_index == 0);
  CHECK(trace.rows[2].session == 0);
  CHECK(trace.rows[2].round == 1);
  CHECK(trace.rows[2].priority == 2);
  CHECK(trace.rows[3].class_index == 2);  // not the class of another row
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
  CHECK(trace.skipped.size() == 1);
  CHECK(trace.skipped.at("failed when recorded").count == 1);
  CHECK(trace.skipped.at("failed when recorded").first_line == 3);
  CHECK(trace.read == 3);
}

TEST_CASE("Mooncake blocks of 512 tokens become content, the last one partly") {
  const Trace trace = parse(
      "{\"timestamp\": 0, \"input_length\": 1100, \"output_length\": 5, \"hash_ids\": [0, 1, 2]}\n"
      "{\"timestamp\": 1500, \"input_length\": 600, \"output_length\": 6, \"hash_ids\": [0, 9]}\n"
      "{\"output_length\": 6, \"hash_ids\": [0], \"input_length\": 512, \"timestamp\": 1500, "
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
  REQUIRE(c.size() == 1);
  CHECK(c[0].tokens == 512);
}

TEST_CASE("a Mooncake row has one id for every block of 512 tokens that its prompt begins") {
  const auto with = [](const std::string& tokens, const std::string& ids) {
    return "{\"timestamp\": 0, \"input_length\": 9, \"output_length\": 5, \"hash_ids\": [1]}\n"
           "{\"timestamp\": 0, \"input_length\": " +
           tokens + ", \"output_length\": 5, \"hash_ids\": " + ids + "}\n";
  };
  for (const auto& [tokens, ids] : std::vector<std::pair<std::string, std::string>>{
           {"1", "[7]"}, {"512", "[7]"}, {"513", "[7, 8]"}, {"1024", "[7,8]"}, {"600", "null"}})
    CHECK(parse(with(tokens, ids)).rows.size() == 2);
  says(complaint(with("600", "[7]")),
       "t.csv:2: hash_ids: expected 2 ids, one for every 512 of the prompt's 600 tokens, found 1");
  says(complaint(with("512", "[7, 8]")), "t.csv:2: hash_ids: expected 1 id, one for every 512");
  says(complaint(with("600", "[]")), "t.csv:2: hash_ids: expected 2 ids");
  says(complaint(with("64", "[7, 8, 9, 10]")), "; hash_block_tokens = 16 would fit this row");
  TraceOptions options;
  options.hash_block_tokens = 16;
  const Trace trace = parse(
      "{\"timestamp\": 0, \"input_length\": 40, \"output_length\": 5, "
      "\"hash_ids\": [7, 8, 9]}\n",
      options);
  REQUIRE(trace.content(trace.rows[0]).size() == 3);
  CHECK(trace.content(trace.rows[0])[2].tokens == 8);
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
  CHECK(trace.skipped.at("failed when recorded").count == 1);
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
  CHECK(trace.skipped.at("failed when recorded").count == 1);
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
       "t.csv:1: hash_ids: expected 1 id, one for every 512 of the prompt's 500 tokens, found 2");
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
  CHECK(trace.skipped.at("no output").count == 1);
  CHECK(trace.skipped.at("no output").first_line == 2);
}

TEST_CASE("what a trace leaves out is all that was read and is not replayed") {
  const std::string header =
      "request_id,prefix_group,round_index,input_tokens,output_tokens,arrival_time_us,status\n";
  const Trace trace = parse(header +
                            "0,,0,5,5,0,ok\n1,,0,5,0,1,ok\n2,,0,5,3,2,timeout\n"
                            "3,,0,5,0,3,error\n4,,0,5,5,4,\n5,,0,5,0,5,ok\n");
  CHECK(trace.format == TraceFormat::blis_v2);
  const auto left = left_out(trace);
  REQUIRE(left.has_value());
  CHECK(left->source == "t.csv");
  CHECK(left->unit == "rows");
  CHECK(left->total == 6);
  REQUIRE(left->reasons.size() == 2);
  CHECK(left->reasons[0].why == "failed when recorded");
  CHECK(left->reasons[0].count == 2);
  CHECK(left->reasons[0].first_line == 4);
  CHECK(left->reasons[1].why == "no output");
  CHECK(left->reasons[1].count == 2);
  CHECK(left->reasons[1].first_line == 3);
  CHECK(left->total == static_cast<std::int64_t>(trace.rows.size()) + 4);
  CHECK(!left_out(parse("arrival_s,prompt_tokens,output_tokens\n0,5,5\n")).has_value());
  says(complaint("arrival_s,prompt_tokens,output_tokens\n0,5,0\n1,5,0\n"),
       "t.csv: no request in it; of its rows: no output 2 (first in line 2)");
}

TEST_CASE("of our own rows those that did not complete are not replayed") {
  const Trace trace = parse(
      "id,class,outcome,arrival_s,prompt_tokens,output_tokens,ttft_s\n"
      "1,0,completed,3,5,5,0.1\n0,0,unfinished,1,5,3,0.1\n2,0,starved,2,5,0,\n");
  CHECK(trace.format == TraceFormat::requests);
  REQUIRE(trace.rows.size() == 1);
  CHECK(trace.rows[0].arrival_s == 3);
  CHECK(trace.skipped.at("failed when recorded").count == 2);
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

TEST_CASE("the first requests are those that arrive first, wherever they stand in the file") {
  TraceOptions options;
  options.limit = 2;
  options.sort = true;
  const Trace trace =
      parse("arrival_s,prompt_tokens,output_tokens\n9,1,1\n5,2,2\n1,3,3\n5,4,4\n", options);
  REQUIRE(trace.rows.size() == 2);
  CHECK(trace.rows[0].prompt_tokens == 3);
  CHECK(trace.rows[1].prompt_tokens == 2);
}

TEST_CASE("a byte-order mark, CRLF, blank lines and a missing last line break change nothing") {
  for (const std::string text :
       {"arrival_s,prompt_tokens,output_tokens\n0,5,6\n1,7,8",
        "\xEF\xBB\xBF"
        "arrival_s,prompt_tokens,output_tokens\r\n\r\n0,5,6\r\n1,7,8\r\n\r\n",
        "\n\n arrival_s , prompt_tokens, output_tokens\n0 ,5, 6\n\n1,7,8\n",
        "\xEF\xBB\xBF{\"arrival_s\": 0, \"prompt_tokens\": 5, \"output_tokens\": 6}\r\n\r\n"
        "{\"arrival_s\": 1, \"prompt_tokens\": 7, \"output_tokens\": 8}"}) {
    INFO(text);
    const Trace trace = parse(text);
    REQUIRE(trace.rows.size() == 2);
    CHECK(trace.rows[1].arrival_s == 1);
    CHECK(trace.rows[1].prompt_tokens == 7);
    CHECK(trace.rows[1].output_tokens == 8);
  }
}

TEST_CASE("a file of another kind is told for what it is") {
  using namespace std::string_literals;
  says(complaint("\x1F\x8B\x08\0\0"s), "t.csv: ends before the packed data does");
  says(complaint("\x28\xB5\x2F\xFD\x24"), "packed with zstd");
  says(complaint("PAR1\x15\x04"), "a Parquet file");
  says(complaint("PK\x03\x04\x14"), "a zip archive");
  says(complaint("arrival_s,\0,output_tokens\n"s), "t.csv:1: holds bytes of zero");
  says(complaint("arrival_s;prompt_tokens;output_tokens\n0;5;5\n"),
       "t.csv:1: expected columns separated by commas, found ';'");
  says(complaint("arrival_s\tprompt_tokens\toutput_tokens\n0\t5\t5\n"), "found tabs");
  says(complaint("0.5,10,20\n1.5,10,20\n"),
       "t.csv:1: expected the names of the columns, found numbers");
  says(complaint("arrival_s,prompt_tokens,prompt_tokens,output_tokens\n0,5,5,5\n"),
       "t.csv:1: columns 'prompt_tokens' and 'prompt_tokens' mean the same");
  says(complaint("\xEF\xBB\xBF\n \r\n"), "t.csv: an empty file");
}

TEST_CASE("times and counts beyond reason are refused where they stand") {
  const std::string header = "arrival_s,prompt_tokens,output_tokens\n0,5,5\n";
  says(complaint(header + "1700000000000,5,5\n"),
       "t.csv:3: arrival: '1700000000000' is after the year 5000 in the unit of this column");
  says(complaint(header + "1e999,5,5\n"), "t.csv:3: arrival: expected a number");
  says(complaint(header + "1,-9000000000,5\n"), "t.csv:3: prompt tokens: found '-9000000000'");
  says(complaint(header + "1,5,99999999999999999999\n"),
       "t.csv:3: output tokens: expected a whole");
  CHECK(parse("timestamp_ms,prompt_tokens,output_tokens\n1700000000000,5,5\n1700000001500,5,5\n")
            .rows[1]
            .arrival_s == 1.5);
  const std::string date = "TIMESTAMP,ContextTokens,GeneratedTokens\n";
  says(complaint(date + "2023-02-28 00:00:00,5,5\n7,5,5\n"),
       "t.csv:3: arrival: expected a date, as in the rows above, found '7'");
  says(complaint(header + "2023-02-28 00:00:00,5,5\n"),
       "t.csv:3: arrival: expected a number, as in the rows above, found '2023-02-28");
  says(complaint(date + "2023-02-29 00:00:00,5,5\n"), "t.csv:2: arrival: expected a date");
  CHECK(parse(date + "2024-02-29 23:59:59,5,5\n2024-03-01 00:00:00,5,5\n").rows[1].arrival_s == 1);
}

TEST_CASE("a damaged trace is read or refused, never more") {
  const std::string texts[] = {
      "arrival_s,prompt_tokens,output_tokens,class\n0.5,10,20,\"a, b\"\n1.25,30,40,c\n",
      "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,374,44\n",
      "{\"timestamp\": 0, \"input_length\": 600, \"output_length\": 5, \"hash_ids\": [0, 1]}\n",
      "prefix_group,prefix_length,round_index,session_id,slo_class,input_tokens,output_tokens,"
      "arrival_time_us,status\n,0,0,,,5,5,0,ok\ng,16,1,s,batch,5,5,1,ok\ng,16,1,s,,5,5,2,error\n",
      "outcome,arrival_s,prompt_tokens,output_tokens,ttft_s\ncompleted,3,5,5,0.1\n"
      "completed,1,5,5,0.1\nstarved,2,5,0,\n"};
  std::uint64_t state = 3;
  const auto noise = [&] {
    return static_cast<std::size_t>((state = state * 6364136223846793005u + 1442695040888963407u) >>
                                    33);
  };
  int read = 0, refused = 0;
  for (int i = 0; i < 6000; ++i) {
    std::string text = texts[i % 5];
    for (std::size_t k = 0; k <= noise() % 3; ++k) {
      constexpr std::string_view letters = "\",{}[]\n\r-.:0159eE x\xEF";
      text[noise() % text.size()] = letters[noise() % letters.size()];
    }
    if (i % 7 == 0) text.resize(noise() % text.size());
    try {
      const Trace trace = parse(text);
      ++read;
      const auto left = left_out(trace);  // every row is replayed or counted
      std::int64_t skipped = 0;
      if (left) {
        for (const Unsent::Reason& each : left->reasons) skipped += each.count;
      }
      CHECK(trace.read == static_cast<std::int64_t>(trace.rows.size()) + skipped);
    } catch (const Error&) {
      ++refused;
    }
  }
  CHECK(read + refused == 6000);
  CHECK(read > 100);
  CHECK(refused > 1000);
}
