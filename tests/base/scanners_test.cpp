#include "base/csv_scanner.h"
#include "base/error.h"
#include "base/json_lines.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

using Cells = std::vector<std::string_view>;

template <typename Scan>
std::string complaint(Scan scan) {
  try {
    scan();
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing was wrong";
}

}  // namespace

TEST_CASE("the scanner reads what the CSV reader reads: quotes, CRLF, blank lines, spaces") {
  CsvScanner scanner("\xEF\xBB\xBF a , b\r\n\r\n\"x, \"\"y\"\"\",\"two\nlines\"\n,\nlast,",
                     "f.csv");
  REQUIRE(scanner.next());
  CHECK(scanner.cells() == Cells{"a", "b"});
  CHECK(scanner.line() == 1);
  REQUIRE(scanner.next());
  CHECK(scanner.cells() == Cells{"x, \"y\"", "two\nlines"});
  CHECK(scanner.line() == 3);
  REQUIRE(scanner.next());
  CHECK(scanner.cells() == Cells{"", ""});
  CHECK(scanner.line() == 5);
  REQUIRE(scanner.next());
  CHECK(scanner.cells() == Cells{"last", ""});
  CHECK_FALSE(scanner.next());
}

TEST_CASE("a bad quote is told with its row") {
  const auto scan = [](const char* text) {
    return complaint([&] {
      CsvScanner scanner(text, "f.csv");
      while (scanner.next()) {
      }
    });
  };
  CHECK(scan("a\n\"b\n").find("f.csv:2: a quote is opened") == 0);
  CHECK(scan("a\n\"b\"c\n").find("f.csv:2: text after a closing quote") == 0);
}

TEST_CASE("one object per line gives its members as written") {
  JsonLines lines(
      "\n {\"a\": 1.5, \"b\":\"x \\\" y\",\"c\": [1, {\"d\": \"]\"}] , \"e\":null}\r\n{}\n",
      "f.jsonl");
  REQUIRE(lines.next());
  CHECK(lines.line() == 2);
  REQUIRE(lines.members().size() == 4);
  CHECK(lines.members()[0].key == "a");
  CHECK(lines.members()[0].value == "1.5");
  CHECK(lines.members()[1].value == "x \\\" y");
  CHECK(lines.members()[2].value == "[1, {\"d\": \"]\"}]");
  CHECK(lines.members()[3].value == "null");
  REQUIRE(lines.next());
  CHECK(lines.members().empty());
  CHECK_FALSE(lines.next());
}

TEST_CASE("a number in quotes is a text, and a word is no number") {
  const auto members = members_in(R"({"a":"5","b":-5,"c":"","d":true,"e":{"f":5},"g":0.5})", "f");
  REQUIRE(members.size() == 6);
  std::string numbers, texts;
  for (const JsonLines::Member& each : members) {
    if (each.is_number()) numbers += each.key;
    if (each.is_text) texts += each.key;
  }
  CHECK(numbers == "bg");
  CHECK(texts == "ac");
  CHECK(members_in(members[4].value, "f").front().value == "5");
  CHECK(members[0].number() == 0);
  CHECK(members[1].number() == -5);
  CHECK(members[5].number() == 0.5);
}

TEST_CASE("values may hold quotes, brackets and escapes") {
  const auto members = members_in(R"({"a":"x\"}]\\","b":{"c":["}\"",{"d":"]"}]},"e":1})", "f");
  REQUIRE(members.size() == 3);
  CHECK(decoded(members[0].value) == "x\"}]\\");
  CHECK(members[1].value == R"({"c":["}\"",{"d":"]"}]})");
  CHECK(decoded("\\u00e9 plain") == "\xc3\xa9 plain");
}

TEST_CASE("a line that is no object is told with its number and what was found") {
  const auto scan = [](const char* text) {
    return complaint([&] {
      JsonLines lines(text, "f.jsonl");
      while (lines.next()) {
      }
    });
  };
  CHECK(scan("{}\nx").find("f.jsonl:2: expected '{', found 'x'") == 0);
  CHECK(scan("{\"a\" 1}").find("f.jsonl:1: expected ':'") == 0);
  CHECK(scan("{\"a\": }").find("f.jsonl:1: expected a value") == 0);
  CHECK(scan("{\"a\": [1}").find("f.jsonl:1:") == 0);
  CHECK(scan("{\"a\": 1,}").find("f.jsonl:1: expected a name in quotes") == 0);
  CHECK(scan("{\"a\": \"1}").find("f.jsonl:1: expected a closing quote") == 0);
  CHECK(scan("{} {}").find("f.jsonl:1: expected the end of the line") == 0);
}
