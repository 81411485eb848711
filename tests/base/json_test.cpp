#include "base/json.h"

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

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

namespace {

/// What a reading gives: the document as text, or the error.
template <class Read>
std::string outcome(const Read& read) {
  try {
    return dump_json(read());
  } catch (const Error& error) {
    return error.what();
  }
}

/// A text of JSON, or nearly one, of pieces at which readers differ.
std::string random_text(std::mt19937& draws, int depth) {
  static const std::vector<std::string> pieces{"0",
                                               "-0",
                                               "12",
                                               "-7",
                                               "1.5",
                                               "1e3",
                                               "-0.0",
                                               "1E400",
                                               "18446744073709551615",
                                               "9223372036854775808",
                                               "123456789012345678901234567890",
                                               "0.1",
                                               "5e-324",
                                               "2.2250738585072011e-308",
                                               "01",
                                               "+1",
                                               ".5",
                                               "1.",
                                               "NaN",
                                               "Infinity",
                                               "nul",
                                               "null",
                                               "true",
                                               "false",
                                               "\"a\"",
                                               "\"\\u00e9\"",
                                               "\"\\ud83d\\ude00\"",
                                               "\"\\ud83d\"",
                                               "\"\\ude00\"",
                                               "\"\\x\"",
                                               "\"\\u0000\"",
                                               "\"\t\"",
                                               "\"\xc3\x28\"",
                                               "\"\xc3\xa9\"",
                                               "\"",
                                               "[]",
                                               "{}",
                                               "[1,]",
                                               "[,1]",
                                               "[1 2]",
                                               "{\"a\"}",
                                               "{1:2}"};
  const auto below = [&](std::size_t n) { return static_cast<std::size_t>(draws() % n); };
  if (depth == 0 || below(4) == 0) return pieces[below(pieces.size())];
  std::string out;
  const bool object = below(2) == 0;
  const std::size_t count = below(4);
  for (std::size_t i = 0; i < count; ++i) {
    if (i > 0) out += ", ";
    if (object) out += "\"" + std::string(1, static_cast<char>('a' + below(6))) + "\": ";
    out += random_text(draws, depth - 1);
  }
  return (object ? "{" : "[") + out + (object ? "}" : "]");
}

}  // namespace

TEST_CASE("where nothing is packed, packed reading gives the same documents and the same errors") {
  std::mt19937 draws(7);
  int refused = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text = random_text(draws, 4);
    if (draws() % 8 == 0 && !text.empty()) text.resize(draws() % text.size());
    const std::string name = "a.json";
    CAPTURE(text);
    const std::string plain = outcome([&] { return parse_json(text, name); });
    CHECK(outcome([&] { return parse_json_packed(text, name, "none"); }) == plain);
    refused += plain.starts_with(name) ? 1 : 0;
  }
  CHECK(refused > 2000);
  CHECK(refused < 18000);
}

TEST_CASE("nesting is limited alike where arrays are packed") {
  for (const int depth : {149, 150, 151, 511, 512, 513, 1100}) {
    const std::string text = std::string(static_cast<std::size_t>(depth), '[') +
                             std::string(static_cast<std::size_t>(depth), ']');
    CHECK(outcome([&] { return parse_json_packed(text, "a.json", "none"); }) ==
          outcome([&] { return parse_json(text, "a.json"); }));
    const std::string limited =
        outcome([&] { return parse_json_packed(text, "a.json", "none", 150); });
    CHECK((limited == "a.json: nested more than 150 deep") == (depth > 150));
  }
}

TEST_CASE("packed arrays hold whole numbers of 31 bits only") {
  const auto packed = [](const std::string& text) {
    return outcome([&] { return parse_json_packed(text, "a.json", "k"); });
  };
  CHECK(
      parse_json_packed("{\"k\": [1, 2147483647, 3.0]}", "a.json", "k").find("k")->text().size() ==
      12);
  for (const char* wrong :
       {"-1", "2147483648", "1.5", "null", "[1]", "{}", "\"1\"", "1e20", "99999999999999999999"}) {
    CHECK(packed("{\"k\": [1, " + std::string(wrong) + "]}") ==
          "a.json: k: expected whole numbers from 0 to 2147483647");
  }
}
