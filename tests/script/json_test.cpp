#include "tests/script/sandbox.h"

using namespace rooflua;
using namespace rooflua::test;

namespace {
std::string value(const std::string& text) {
  script::Vm vm(sandbox_options());
  return run(vm, "local json = require 'rooflua.json' " + text);
}
std::string trouble(const std::string& text) {
  script::Vm vm(sandbox_options());
  return complaint(vm, "local json = require 'rooflua.json' " + text);
}
}  // namespace

TEST_CASE("what is encoded decodes to the same, doubles to the last bit") {
  CHECK(value(R"(
    local numbers = { 0.1, 1/3, 1e-308, 5e-324, 1.7976931348623157e308, 2^53, -0.5, 123456789.123456789, 100, -3 }
    local back = json.decode(json.encode(numbers))
    for i = 1, #numbers do assert(back[i] == numbers[i], i) end
    return #back
  )") == "10");
}

TEST_CASE("null, empty arrays and empty objects survive a round trip") {
  CHECK(
      value(
          R"(return json.encode(json.decode '{"a":null,"b":[],"c":{},"d":[null,1],"e":"\\u00e9\\n"}'))") ==
      "{\"a\":null,\"b\":[],\"c\":{},\"d\":[null,1],\"e\":\"\xc3\xa9\\n\"}");
  CHECK(value("return json.encode { x = json.array {}, y = {} }") == R"({"x":[],"y":{}})");
  CHECK(value("return tostring(json.decode 'null' == json.null)") == "true");
}

TEST_CASE("keys are sorted, so that equal values give equal text") {
  CHECK(value("return json.encode { b = 1, a = { d = true, c = 'x' } }") ==
        R"({"a":{"c":"x","d":true},"b":1})");
  CHECK(value("return json.encode({ 1, { 2 } }, 0)").find('\n') != std::string::npos);
}

TEST_CASE("a result as a line is the text of the result as a document") {
  script::Vm vm(sandbox_options());
  const Json given(
      R"({"b":[1,[],{},null,{"z":-0.0,"a":0.1}],"a\"\n":"\u0001\u00e9\\","c":true,"d":1e300})");
  const std::string line = vm.call_for_line("rooflua.json", "decode", {given});
  CHECK(line == dump_json(vm.call("rooflua.json", "decode", {given})));
  CHECK(line.find(R"("b":[1,[],{},null,{"a":0.1,"z":-0.0}],"c":true)") != std::string::npos);
  CHECK(vm.call_for_line("string", "rep", {"\xff\"", 2}) == "\"\xef\xbf\xbd\\\"\xef\xbf\xbd\\\"\"");
}

TEST_CASE("what has no JSON form is refused with its key path") {
  CHECK(has(trouble("local t = json.encode { a = { b = 0/0 } }"),
            "a.b: a number that is not finite"));
  CHECK(has(trouble("local t = json.encode { a = print }"), "a: a function has no JSON form"));
  CHECK(has(trouble("local t = json.encode { 1, x = 2 }"), "both numbered and named"));
  CHECK(has(trouble("local t = json.encode { 1, nil, 3 }"), "holes"));
  CHECK(has(trouble("local t = {} t.t = t local s = json.encode(t)"), "holds itself"));
  CHECK(has(trouble("local t = json.encode(nil)"), "found nil"));
  CHECK(has(trouble("local t = json.encode { [true] = 1 }"), "keys are text, or 1..n"));
}

TEST_CASE("bad JSON names line and column") {
  CHECK(has(trouble("local t = json.decode '{\\n  \"a\": 1,\\n}'"), "json:3:"));
  CHECK(has(trouble("local t = json.decode ''"), "json:1:"));
  CHECK(has(trouble("local t = json.decode '{\"a\":1,\"a\":2}'"), "twice"));
  CHECK(has(trouble("local t = json.decode(7)"), "expected text, found number 7"));
}
