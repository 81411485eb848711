// Bodies that clients send, and answers in the words of their APIs.

#include <fstream>
#include <iterator>

#include "base/error.h"
#include "emulate/asked.h"
#include "emulate/bodies.h"
#include "emulate/example.h"
#include "emulate/exposition.h"
#include "emulate/faces/face.h"
#include "emulate/limits.h"
#include "emulate/recording.h"
#include "tests/catch.h"

using namespace rooflua;
using namespace rooflua::emulate;

namespace {

Json json(const std::string& text) {
  return parse_json(text, "test");
}

/// "16,777,216"
std::string grouped(std::int64_t value) {
  std::string out = std::to_string(value);
  for (std::size_t at = out.size(); at > 3;) out.insert(at -= 3, ",");
  return out;
}

int refused_with(Api api, const std::string& body) {
  try {
    read_asked(api, body, PromptRules{});
  } catch (const Refused& refused) {
    return refused.status();
  }
  return 0;
}

}  // namespace

TEST_CASE("text counts its bytes, a list of tokens exactly") {
  const PromptRules rules;
  CHECK(count_text("", rules).tokens == 1);
  CHECK(count_text("12345678", rules).tokens == 2);
  CHECK(count_text("123456789", rules).tokens == 3);
  const std::vector<std::int64_t> tokens{1, 2, 3};
  CHECK(count_tokens(tokens, rules).tokens == 3);
  CHECK(count_tokens(tokens, rules).blocks.size() == 1);
}

TEST_CASE("prompts share blocks as far as they begin alike") {
  const PromptRules rules;  // blocks of 64 bytes
  const std::string common(64 * 5, 'a');
  const Prompt a = count_text(common + std::string(100, 'b'), rules);
  const Prompt b = count_text(common + std::string(100, 'c'), rules);
  REQUIRE(a.blocks.size() == 7);
  for (std::size_t i = 0; i < 7; ++i) CHECK((a.blocks[i] == b.blocks[i]) == (i < 5));
  const Prompt later = count_text("x" + common, rules);  // the same text at another place
  CHECK(later.blocks[1] != a.blocks[1]);
  std::int64_t sum = 0;
  for (const Segment& each : segments_of(a, rules)) sum += each.tokens;
  CHECK(sum == a.tokens);
}

TEST_CASE("prompts of every length have a block for each of their tokens' blocks") {
  for (const double bytes : {1.0, 3.3, 4.0, 5.7}) {
    PromptRules rules;
    rules.bytes_per_token = bytes;
    for (std::size_t length = 0; length < 700; ++length) {
      const Prompt prompt = count_text(std::string(length, 'x'), rules);
      REQUIRE(static_cast<std::int64_t>(prompt.blocks.size()) == (prompt.tokens + 15) / 16);
      REQUIRE(pieces_of(std::string(length, 'x'), rules).size() ==
              static_cast<std::size_t>(prompt.tokens));
    }
  }
  CHECK(text_of(pieces_of("hello, world", PromptRules{})) == "hello, world");
}

TEST_CASE("bodies are read, and what is not emulated is refused") {
  const PromptRules rules;
  const Asked asked =
      read_asked(Api::completions,
                 R"({"prompt":[1,2,3],"max_tokens":7,"ignore_eos":true,"stream":true,
                                     "stream_options":{"include_usage":true},"model":"m"})",
                 rules);
  CHECK(asked.prompt.tokens == 3);
  CHECK(asked.fixed_length() == 7);
  CHECK((asked.streamed && asked.include_usage));
  CHECK(read_asked(Api::completions, R"({"prompt":"a"})", rules).max_tokens == 16);
  CHECK(
      read_asked(Api::chat, R"({"messages":[{"role":"user","content":"a"}]})", rules).max_tokens ==
      0);
  for (const char* body :
       {"", "[]", "{", "{}", R"({"prompt":5})", R"({"prompt":[]})", R"({"prompt":"a","n":2})",
        R"({"prompt":"a","logprobs":1})", R"({"prompt":"a","max_tokens":0})",
        R"({"prompt":"a","max_tokens":1e99})", R"({"prompt":"a","max_tokens":1.5})",
        R"({"prompt":"a","stream":"yes"})", R"({"prompt":[1,"a"]})", R"({"prompt":["a","b"]})"})
    CHECK(refused_with(Api::completions, body) == 400);
  CHECK(refused_with(Api::completions, R"({"prompt":"a","n":1,"logprobs":null})") == 0);
  CHECK(refused_with(Api::messages, R"({"messages":[{"role":"user","content":"a"}]})") == 400);
  CHECK(refused_with(Api::chat, R"({"messages":[]})") == 400);
  CHECK(refused_with(Api::chat, R"({"messages":[1]})") == 400);
  const std::string deep(100'000, '[');
  CHECK(refused_with(Api::chat, "{\"messages\":" + deep) == 400);
}

TEST_CASE("tools are read from all APIs, and a choice of an unknown one is refused") {
  const PromptRules rules;
  const std::string chat =
      R"({"messages":[{"role":"user","content":"a"}],"tools":[{"type":"function",
      "function":{"name":"f","parameters":{"type":"object"}}}],"tool_choice":)";
  CHECK(read_asked(Api::chat, chat + "\"none\"}", rules).choice == Asked::Choice::none);
  CHECK(read_asked(Api::chat, chat + "\"required\"}", rules).choice == Asked::Choice::required);
  CHECK(read_asked(Api::chat, chat + R"({"type":"function","function":{"name":"f"}}})", rules)
            .chosen == "f");
  CHECK(refused_with(Api::chat, chat + R"({"type":"function","function":{"name":"g"}}})") == 400);
  const Asked messages = read_asked(
      Api::messages,
      R"({"max_tokens":5,"messages":[{"role":"user","content":[{"type":"text","text":"a"}]}],
        "tools":[{"name":"f","input_schema":{"type":"object"}},{"type":"web_search_20250305",
        "name":"web_search"}],"tool_choice":{"type":"tool","name":"f"}})",
      rules);
  CHECK(messages.tools.size() == 1);
  CHECK(messages.chosen == "f");
}

TEST_CASE("examples fit their schemas") {
  const auto text = [](const char* schema) { return dump_json(example_of(json(schema))); };
  CHECK(
      text(
          R"({"type":"object","properties":{"a":{"type":"integer","minimum":3},"b":{"type":"string"}},
                 "required":["a"]})") == R"({"a":3})");
  CHECK(text(R"({"enum":["x","y"]})") == R"("x")");
  CHECK(text(R"({"type":"array","items":{"type":"boolean"},"minItems":2})") == "[false,false]");
  CHECK(text(R"({"anyOf":[{"type":"null"},{"type":"string"}]})") == "null");
  CHECK(text(R"({"$defs":{"t":{"const":5}},"$ref":"#/$defs/t"})") == "5");
  CHECK(text(R"({"type":"string","minLength":3})") == R"("aaa")");
  CHECK(text(R"({"type":"number","exclusiveMinimum":1,"multipleOf":4})") == "4");
  // A schema that contains itself ends.
  const Json endless = json(R"({"type":"object","properties":{"a":{"$ref":"#"},"b":{"$ref":"#"},
                               "c":{"$ref":"#"}},"required":["a","b","c"]})");
  CHECK(dump_json(example_of(endless)).size() < 100'000);
}

TEST_CASE("what a schema may cost is bounded, whatever it says") {
  const auto refused = [](const std::string& schema) {
    try {
      return dump_json(example_of(json(schema))).size() > 2'000'000;
    } catch (const Refused& problem) {
      return problem.status() == 400;
    }
  };
  CHECK(refused("{\"default\":" + std::string(300, '[') + std::string(300, ']') + "}"));
  const std::string wide = "\"" + std::string(100'000, 'x') + "\"";
  CHECK(refused(R"({"type":"array","minItems":256,"items":{"const":)" + wide + "}}"));
  std::string properties, required;
  for (int i = 0; i < 20'000; ++i) {
    const std::string name = "\"p" + std::to_string(i) + "\"";
    properties += (i > 0 ? "," : "") + name + ":{}";
    required += (i > 0 ? "," : "") + name;
  }
  CHECK(refused("{\"type\":\"object\",\"properties\":{" + properties + "},\"required\":[" +
                required + "]}"));
  // Not refused: a tree, as strict schemas of clients have it.
  CHECK_FALSE(refused(R"({"type":"object","properties":{"l":{"anyOf":[{"$ref":"#"},
    {"type":"null"}]},"r":{"anyOf":[{"$ref":"#"},{"type":"null"}]}},"required":["l","r"]})"));
}

TEST_CASE("limits of clients stand in the document as in the program") {
  std::ifstream file(test::source_dir() / "docs" / "EMULATE.md");
  const std::string document((std::istreambuf_iterator<char>(file)), {});
  for (const limits::Row& each : limits::table) {
    const std::string line =
        std::string("| ") + each.what + " | " + grouped(each.value) + " | " + each.why + " |\n";
    INFO(line);
    CHECK(document.find(line) != std::string::npos);
  }
}

TEST_CASE("what engines refuse is refused, and keys that change nothing are named") {
  for (const char* more :
       {R"("min_tokens":9,"max_tokens":4)", R"("temperature":-1)", R"("top_p":0)", R"("top_p":"a")",
        R"("suffix":"x")", R"("stream_options":{})", R"("truncate_prompt_tokens":4)",
        R"("presence_penalty":3)", R"("max_tokens":99999999)"})
    CHECK(refused_with(Api::completions, std::string(R"({"prompt":"a",)") + more + "}") == 400);
  CHECK(refused_with(Api::responses, R"({"input":"a","previous_response_id":"resp_1"})") == 404);
  const Asked asked = read_asked(
      Api::chat, R"({"messages":[{"role":"user","content":"a"}],"temperature":0.5,"stop":["x"],
                     "user":null,"prompt_cache_key":"k"})",
      PromptRules{});
  CHECK(asked.unread == std::vector<std::string>{"temperature", "stop", "prompt_cache_key"});
}

TEST_CASE("streams add up to the whole answer in every API") {
  for (const Api api : {Api::completions, Api::chat, Api::responses, Api::messages}) {
    for (const bool calls : {false, true}) {
      if (calls && api == Api::completions) continue;
      Asked asked;
      asked.api = api;
      asked.include_usage = true;
      Answer answer;
      answer.id = answer_id(api, 7);
      answer.model = "m \"quoted\"";
      answer.asked = &asked;
      answer.prompt_tokens = 10;
      answer.length = answer.limit = 9;
      if (calls) {
        answer.tool = "f";
        answer.arguments = "{\"name\":\"\xC3\xA4\xC3\xB6\xC3\xBC\",\"b\":[1,2,3]}";
      }
      const Face& face = face_of(api);
      std::string stream = face.opening(answer), joined;
      while (answer.written < answer.length) {
        const std::int32_t count = std::min(answer.length - answer.written, 2);
        stream += face.tokens(answer, count, answer.written + count == answer.length);
        joined += answer.piece(answer.written, answer.written + count);
        answer.written += count;
      }
      stream += face.ending(answer);
      CHECK(joined == (calls ? answer.arguments : " a a a a a a a a a"));
      std::size_t events = 0;
      for (std::size_t at = 0; (at = stream.find("data: ", at)) != std::string::npos; at += 6) {
        const std::size_t end = stream.find("\n\n", at);
        REQUIRE(end != std::string::npos);
        const std::string text = stream.substr(at + 6, end - at - 6);
        if (text != "[DONE]") CHECK(parse_json(text, "event").is_object());
        ++events;
      }
      CHECK(events >= 6);
      CHECK(face.whole(answer).is_object());
    }
  }
}

TEST_CASE("histograms count below their bounds, and text is escaped") {
  Histogram histogram({0.1, 1});
  for (const double value : {0.05, 0.1, 0.5, 2.0}) histogram.observe(value);
  Exposition out;
  out.begin("a", "histogram", "Help.\nMore");
  out.add({{"model", "m\"\\"}}, histogram);
  CHECK(out.text() ==
        "# HELP a Help.\\nMore\n# TYPE a histogram\n"
        "a_bucket{model=\"m\\\"\\\\\",le=\"0.1\"} 2\n"
        "a_bucket{model=\"m\\\"\\\\\",le=\"1\"} 3\n"
        "a_bucket{model=\"m\\\"\\\\\",le=\"+Inf\"} 4\n"
        "a_sum{model=\"m\\\"\\\\\"} 2.65\na_count{model=\"m\\\"\\\\\"} 4\n");
}

TEST_CASE("a time in microseconds is written so that it reads back as the same number") {
  for (std::int64_t us = 1; us < 9'000'000'000'000; us = us * 7 / 3 + 1)
    REQUIRE(std::stod(text_of_us(us)) == seconds_of_us(us));
}
