// Bodies that no client would send: read or refused, and never anything else.

#include <string>
#include <vector>

#include "emulate/asked.h"
#include "emulate/example.h"
#include "emulate/faces/face.h"
#include "tests/catch.h"
#include "tests/serve/random_case.h"

using namespace rooflua;
using namespace rooflua::emulate;
using namespace rooflua::test;

namespace {

const std::vector<std::string> samples{
    R"({"prompt":[1,2,3],"max_tokens":7,"ignore_eos":true,"stream":true,"min_tokens":3,"priority":-5})",
    R"({"model":"m","messages":[{"role":"system","content":"a"},{"role":"user","content":[{"type":"text",
       "text":"\u00e4\ud83d\ude00"}]}],"tools":[{"type":"function","function":{"name":"f","parameters":{
       "type":"object","properties":{"a":{"type":"integer","minimum":-3e8},"b":{"$ref":"#/$defs/x"},
       "c":{"anyOf":[{"type":"string","maxLength":3},{"type":"null"}]}},"required":["a","b","c"],
       "$defs":{"x":{"type":"array","items":{"enum":["y",5]},"minItems":2}}}}}],"tool_choice":"required",
       "max_completion_tokens":5,"stream_options":{"include_usage":true}})",
    R"({"input":[{"type":"message","role":"user","content":"a"},{"type":"function_call_output",
       "call_id":"c","output":"b"}],"instructions":"i","max_output_tokens":1e2,"tools":[{"type":"function",
       "name":"f","parameters":{"const":null}}],"tool_choice":{"type":"function","name":"f"}})",
    R"({"max_tokens":9,"system":[{"type":"text","text":"s"}],"messages":[{"role":"assistant","content":[
       {"type":"tool_use","id":"t","name":"f","input":{}}]}],"tools":[{"name":"f","input_schema":{
       "type":["integer","null"],"exclusiveMaximum":-1e300,"multipleOf":1e-300}}]})"};

const std::vector<std::string> words{"null",
                                     "true",
                                     "-1",
                                     "1e999",
                                     "0.5",
                                     "[",
                                     "{",
                                     "}",
                                     "]",
                                     "\"",
                                     "\\u",
                                     "\\ud800",
                                     ":",
                                     ",",
                                     "\"n\"",
                                     "{}",
                                     "\"$ref\"",
                                     "\"#\"",
                                     "99999999999999999999",
                                     std::string(1, '\0'),
                                     "\xff",
                                     "\"items\"",
                                     "\"enum\""};

std::string changed(Dice& dice, std::string text) {
  for (std::int32_t i = dice.upto(1, 6); i > 0; --i) {
    const auto at = static_cast<std::size_t>(dice.upto(0, static_cast<std::int32_t>(text.size())));
    const auto length = static_cast<std::size_t>(dice.upto(0, 12));
    const auto word =
        static_cast<std::size_t>(dice.upto(0, static_cast<std::int32_t>(words.size()) - 1));
    switch (dice.upto(0, 3)) {
      case 0:
        text.insert(at, words[word]);
        break;
      case 1:
        text.erase(at, length);
        break;
      case 2:
        text.replace(at, std::min(length, text.size() - at), words[word]);
        break;
      default:
        text.insert(at, text.substr(text.size() - at > 40 ? at : 0, 40));
    }
  }
  return text;
}

/// How many bodies were read.
int fuzz(int cases, std::uint64_t seed) {
  Dice dice(seed);
  int read = 0;
  for (int i = 0; i < cases; ++i) {
    const auto sample = static_cast<std::size_t>(dice.upto(0, 3));
    const std::string body = changed(dice, samples[sample]);
    const auto api = static_cast<Api>(dice.upto(0, 3));
    try {
      const Asked asked = read_asked(api, body, PromptRules{});
      ++read;
      for (const Tool& tool : asked.tools) {
        const std::string text = dump_json(example_of(tool.schema));
        parse_json(text, "example");
      }
    } catch (const Refused& refused) {
      REQUIRE(refused.status() == 400);
    }
  }
  return read;
}

}  // namespace

TEST_CASE("100,000 bodies are read or refused") {
  CHECK(fuzz(100'000, 1) > 1000);
}

TEST_CASE("a million bodies are read or refused", "[long]") {
  CHECK(fuzz(1'000'000, 2) > 10'000);
}
