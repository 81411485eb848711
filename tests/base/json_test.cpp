#include "base/json.h"

#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/toml.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

std::string parse_problem(std::string_view text) {
  try {
    parse_json(text, "a.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("a document reads as written and writes as read") {
  const std::string text = R"({"z":1,"a":[true,null,-2.5,"x\n\"y"],"empty":{},"none":[]})";
  CHECK(dump_json(parse_json(text, "a.json")) == text);
}

TEST_CASE("objects keep the order of the file") {
  const Json value = parse_json(R"({"b":1,"a":2,"c":3})", "a.json");
  std::string order;
  for (const Json::Member& member : value.members()) order += member.key;
  CHECK(order == "bac");
}

TEST_CASE("every double reads back the same") {
  for (const double value :
       {0.1, 1.0 / 3, 1e-308, 5e-324, 1.7976931348623157e308, 528.7936000000001, -0.0,
        9007199254740993.0, 1e22, 123456789012345680.0}) {
    const double back = parse_json(json_number(value), "a.json").number();
    CHECK(back == value);
    CHECK(std::signbit(back) == std::signbit(value));
  }
}

TEST_CASE("numbers are written in their shortest form") {
  CHECK(json_number(0.1) == "0.1");
  CHECK(json_number(3.0) == "3");
  CHECK(json_number(1e300) == "1e+300");
  CHECK(dump_json(Json(std::int64_t{9007199254740993})) == "9007199254740993");
  CHECK(dump_json(Json(std::numeric_limits<double>::quiet_NaN())) == "null");
}

TEST_CASE("a whole number is an integer, one beyond 64 bits a double") {
  CHECK(parse_json("12", "a.json").is_integer());
  CHECK_FALSE(parse_json("12.0", "a.json").is_integer());
  CHECK(parse_json("12.0", "a.json").integer() == 12);
  CHECK(parse_json("18446744073709551615", "a.json").number() == 18446744073709551615.0);
}

TEST_CASE("a syntax error names line and column") {
  CHECK(parse_problem("{\n  \"a\": 1,\n  \"b\" 2\n}").find("a.json:3:7: ") == 0);
  CHECK(parse_problem("").find("a.json:1:1: ") == 0);
  CHECK(parse_problem("{\"a\": nan}").find("a.json:1:") == 0);
  CHECK(parse_problem("[1,2").find("a.json:1:") == 0);
  CHECK(parse_problem("[1, 1e999]") ==
        "a.json:1:9: the number is beyond the range of a double, 1.8e308");
}

TEST_CASE("TOML that nests without end is refused, dots in texts and comments are not") {
  std::string dotted = "a";
  for (int i = 0; i < 200000; ++i) dotted += ".a";
  const auto refused = [](const std::string& text, const std::string& where) {
    try {
      parse_toml(text, "a.toml");
      FAIL("accepted");
    } catch (const Error& error) {
      CHECK(error.where() == where);
    }
  };
  refused(dotted + " = 1\n", "a.toml:1");
  refused("b = 1\n[" + dotted + "]\n", "a.toml:2");
  refused("b = 1\nc = { " + dotted + " = 1 }\n", "a.toml:2");
  std::string tables = "x";
  for (int i = 0; i < 100; ++i) tables = "{ a.b = " + (i == 0 ? "1" : tables) + " }";
  refused("x = " + tables + "\n", "a.toml:1");

  const std::string dots(500, '.');
  const Json value = parse_toml("# " + dots + "\na = \"" + dots + "\\\"" + dots + "\"\nb = '" +
                                    dots + "'\nc = \"\"\"\n" + dots + "\n\"\"\"\nd.e.f = 1.5\n",
                                "a.toml");
  CHECK(value.find("d")->find("e")->find("f")->number() == 1.5);
  CHECK(value.find("d")->find("e")->find("f")->line == 7);
}

TEST_CASE("a key that occurs twice is an error, and so is bottomless nesting") {
  CHECK(parse_problem(R"({"a":1,"b":{"x":1,"x":2}})") ==
        "a.json: the key 'x' occurs twice in one object");
  CHECK(parse_problem(std::string(100000, '[')).find("nested") != std::string::npos);
}

TEST_CASE("a document can be built and is written with indentation") {
  Json value;
  value["name"] = "x";
  value["list"].push_back(1);
  value["list"].push_back(2.5);
  CHECK(dump_json(value, 2) == "{\n  \"name\": \"x\",\n  \"list\": [\n    1,\n    2.5\n  ]\n}");
  CHECK(value.find("name")->text() == "x");
  CHECK(value.find("absent") == nullptr);
}

TEST_CASE("control characters are escaped and UTF-8 is kept") {
  CHECK(dump_json(Json("\x01\t\u00e9")) == "\"\\u0001\\t\u00e9\"");
  CHECK(parse_json(R"("é")", "a.json").text() == "\u00e9");
}

TEST_CASE("TOML becomes the same kind of value, in the order of the file and with lines") {
  const Json value = parse_toml("b = 1\na = 2.5\n\n[t]\nz = \"x\"\ny = [true, false]\n", "a.toml");
  CHECK(dump_json(value) == R"({"b":1,"a":2.5,"t":{"z":"x","y":[true,false]}})");
  CHECK(value.find("a")->line == 2);
  CHECK(value.find("t")->find("y")->line == 6);
}

TEST_CASE("a TOML syntax error names line and column, and a date is refused") {
  try {
    parse_toml("a = 1\nb = = 2\n", "a.toml");
    FAIL("no error");
  } catch (const Error& error) {
    CHECK(error.where().find("a.toml:2:") == 0);
  }
  CHECK_THROWS_AS(parse_toml("when = 2024-01-01\n", "a.toml"), Error);
  CHECK_THROWS_AS(parse_toml("a = 1\na = 2\n", "a.toml"), Error);
}

TEST_CASE("arrays in objects in arrays keep their order, and each object has its own keys") {
  const std::string text =
      R"([[],{},[[1],[]],{"a":{"a":[{"a":null},2]},"b":[{"a":1},{"a":2}],"c":"x"},3])";
  CHECK(dump_json(parse_json(text, "f")) == text);
  CHECK_THROWS_AS(parse_json(R"({"a":[{"b":1}],"c":{"a":1},"a":2})", "f"), Error);
}
