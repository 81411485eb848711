#include "base/csv.h"

#include <filesystem>
#include <fstream>
#include <functional>

#include "base/error.h"
#include "tests/catch.h"
#include "tests/scratch.h"

using namespace rooflua;

namespace {

std::string problem_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

bool contains(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("rows are found by the names of their columns") {
  const CsvFile file = parse_csv("m,k,n\n16,4096,1\n32, 8192 ,2\n", "gemm.csv");
  CHECK(file.header == std::vector<std::string>{"m", "k", "n"});
  REQUIRE(file.rows.size() == 2);
  CHECK(file.integer(file.rows[1], file.require("k")) == 8192);
  CHECK_FALSE(file.column("latency"));
}

TEST_CASE("CRLF, a byte-order mark, blank lines and a missing last line break change nothing") {
  const CsvFile plain = parse_csv("a,b\n1,2\n3,4\n", "x.csv");
  const CsvFile windows = parse_csv(
      "\xEF\xBB\xBF"
      "a,b\r\n1,2\r\n\r\n3,4",
      "x.csv");
  CHECK(windows.header == plain.header);
  REQUIRE(windows.rows.size() == 2);
  CHECK(windows.rows[1].cells == plain.rows[1].cells);
  CHECK(windows.rows[1].line == 4);
}

TEST_CASE("quotes hold commas, quotes and line breaks") {
  const CsvFile file = parse_csv("name,note\nx,\"a,\"\"b\"\"\nc\"\ny,z\n", "x.csv");
  REQUIRE(file.rows.size() == 2);
  CHECK(file.rows[0].cells[1] == "a,\"b\"\nc");
  CHECK(file.rows[1].line == 4);  // the quoted cell took two lines
  CHECK(csv_cell("a,\"b\"") == "\"a,\"\"b\"\"\"");
  CHECK(csv_cell("plain") == "plain");
}

TEST_CASE("what is written as a cell is read back as it was") {
  for (const std::string cell : {"a,b", "\"", "line\nbreak", "", "plain"}) {
    const CsvFile file = parse_csv("h,i\n" + csv_cell(cell) + ",end\n", "x.csv");
    REQUIRE(file.rows.size() == 1);
    CHECK(file.rows[0].cells[0] == cell);
  }
}

TEST_CASE("a text that a spreadsheet would compute gets an apostrophe, a number does not") {
  for (const std::string text : {"=1+1", "+1+1", "-a", "@SUM(A1)", "\t=1", "=", "-", "--x"})
    CHECK(csv_cell(text) == "'" + text);
  CHECK(csv_cell("=\"a\",1") == "\"'=\"\"a\"\",1\"");
  CHECK(csv_cell("\r=1") == "\"'\r=1\"");
  for (const std::string text : {"-1", "-0.5", "1e-3", "a=1", "", "x-y"})
    CHECK(csv_cell(text) == text);
}

TEST_CASE("a file whose first line is numbers has no header") {
  const CsvFile file = parse_csv("1,1024,0.5\n2,1024,0.6\n", "64-2-128.csv");
  CHECK(file.header.empty());
  CHECK(file.rows.size() == 2);
}

TEST_CASE("a bad cell is named by file, line and column") {
  const CsvFile file = parse_csv("m,k\n1,x\n1.5,2\n7\n", "g.csv");
  CHECK(problem_of([&] { file.number(file.rows[0], 1); }) ==
        "g.csv:2: column 'k': expected a number, found 'x'");
  CHECK(problem_of([&] { file.integer(file.rows[1], 0); }) ==
        "g.csv:3: column 'm': expected a whole number, found '1.5'");
  CHECK(problem_of([&] { file.number(file.rows[2], 1); }).find("g.csv:4: ") == 0);
  CHECK(problem_of([&] { file.require("n"); }).find("g.csv:1: ") == 0);
}

TEST_CASE("a row longer than the header and an open quote are errors with their line") {
  CHECK(problem_of([] { parse_csv("a,b\n1,2\n1,2,3\n", "x.csv"); }).find("x.csv:3: ") == 0);
  CHECK(problem_of([] { parse_csv("a,b\n1,\"2\n", "x.csv"); }).find("x.csv:2: ") == 0);
  CHECK(problem_of([] { read_csv("no/such/file.csv"); }).find("no/such/file.csv") == 0);
}

TEST_CASE("a number is the whole cell, decimal and finite") {
  CHECK(parse_number("1e3") == 1000.0);
  CHECK(parse_number(" -2.5 ") == -2.5);
  CHECK(parse_number("+4") == 4.0);
  for (const char* bad : {"", " ", "1 2", "0x10", "inf", "nan", "1e999", "12us", "--1"}) {
    INFO(bad);
    CHECK_FALSE(parse_number(bad));
  }
}

TEST_CASE("the header alone is that of the whole file, and rows are not looked at") {
  const std::filesystem::path path = rooflua::test::scratch() / "header.csv";
  const auto header_of = [&](const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
    return read_csv_header(path);
  };
  for (const char* text : {"a,\"b, c\",d\n1,2,3\n", "\n \r\na,\"b\nc\"\r\n1,2\n", "a,b",
                           "1,2\n3,4\n", "", "\xEF\xBB\xBF\na,b\n"})
    CHECK(header_of(text) == parse_csv(text, "x.csv").header);
  CHECK(header_of("a,b\n1,\"never closed\n") == std::vector<std::string>{"a", "b"});
  CHECK(contains(problem_of([&] { header_of("a,\"b\n1,2\n"); }), "never closed"));
  CHECK(contains(problem_of([&] { header_of(std::string(2 << 20, 'x')); }), "longer than 1 MiB"));
  CHECK(contains(problem_of([&] { read_csv_header(path.parent_path()); }), "is a folder"));
  std::filesystem::remove(path);
  CHECK(contains(problem_of([&] { read_csv_header(path); }), "cannot be read"));
}
