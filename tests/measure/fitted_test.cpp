// A report for a terminal: which columns a narrow one shows, and what gets colour.

#include "measure/write/fitted.h"

#include "measure/write/progress.h"
#include "measure/write/table.h"
#include "tests/catch.h"

using namespace rooflua;

namespace {

/// Three columns of 4, 6 and 5 characters, which end at 4, 12 and 19.
std::string three_columns() {
  Table table;
  table.add({"name", "time s", "share"});
  table.rule();
  table.add({"\xC3\xA4", "1.234", "5.0 %"});
  table.add({"long", "22.11", ""});
  return table.text();
}

bool has(const std::string& line, const char* name) {
  return line.find(name) != std::string::npos;
}

/// The text without colour.
std::string plain(std::string text) {
  for (std::size_t at; (at = text.find("\x1b[")) != std::string::npos;)
    text.erase(at, text.find('m', at) - at + 1);
  return text;
}

}  // namespace

TEST_CASE("a table that fits, and one for a pipe, stay as they are") {
  CHECK(fitted(three_columns(), 0, "--wide") == three_columns());
  CHECK(fitted(three_columns(), 19, "--wide") == three_columns());
}

TEST_CASE("columns that do not fit are left out from the right, and are named") {
  CHECK(fitted(three_columns(), 18, "-w") == R"(name  time s
------------
)"
                                             "\xC3\xA4"
                                             R"(      1.234
long   22.11
(1 column not shown; -w shows all)
)");
  CHECK(fitted(three_columns() + "\nmore\n", 18, "x").ends_with("x shows all)\n\nmore\n"));
  const std::string gap(19, ' ');
  CHECK(fitted("a" + gap + "b" + gap + "c\n--\n1" + gap + "2" + gap + "3\n", 30, "--w") ==
        "a" + gap + "b\n--\n1" + gap + "2\n(not shown: c; --w shows all)\n");
}

TEST_CASE("the first column stays, however narrow the terminal is") {
  const std::string shown = fitted(three_columns(), 1, "--wide");
  CHECK(shown.starts_with("name\n----\n"));
  CHECK(shown.find("2 columns not shown") != std::string::npos);
}

TEST_CASE("of a step's table, the times and shares stay longest") {
  Table table;
  table.left(1);
  table.add({"op", "shape", "runs", "bound", "time us", "share", "evidence"});
  table.rule();
  table.add({"qkv", "m=8 k=4096", "32", "memory", "650.5", "9.9 %", "measured"});
  table.add({"step", "", "", "", "6558", "100.0 %"});
  CHECK(fitted(table.text(), 48, "--wide") == R"(op    shape       runs   bound  time us    share
------------------------------------------------
qkv   m=8 k=4096    32  memory    650.5    9.9 %
step                               6558  100.0 %
(not shown: evidence; --wide shows all)
)");
  const std::string narrow = fitted(table.text(), 30, "--wide");
  CHECK(narrow.starts_with("op    runs  time us    share\n"));
  CHECK(narrow.find("step           6558  100.0 %\n") != std::string::npos);
  CHECK(fitted(table.text(), 14, "--wide").starts_with("op    time us\n"));
}

TEST_CASE("of a table of runs the least useful columns go, and never the goodput or own metrics") {
  Table table;
  const std::vector<std::string> head{"variant",    "req/s",       "tok/s",       "TTFT p50 ms",
                                      "TTFT p99 s", "TPOT p50 ms", "TPOT p99 ms", "E2E mean s",
                                      "goodput/s",  "preempted",   "failed",      "unsupported",
                                      "chat_ok",    "load",        "preempted"};
  table.add(head);
  table.rule();
  for (const char* name : {"tp=1", "tp=2"}) {
    std::vector<std::string> row(head.size(), "1.000");
    row[0] = name;
    table.add(row);
  }
  const std::string text = table.text();
  const std::size_t across = text.find('\n');
  std::vector<std::string> shown = head;
  for (std::size_t limit = across; limit > 0; --limit) {
    INFO(limit);
    const std::string fits = fitted(text, static_cast<int>(limit), "--wide");
    const std::string line = fits.substr(0, fits.find('\n'));
    std::erase_if(shown, [&](const std::string& name) { return !has(line, name.c_str()); });
    // A metric of the scenario may have the name of a column of another table.
    for (const char* kept : {"variant", "goodput/s", "chat_ok", "load", "preempted"})
      CHECK(has(line, kept));
    CHECK((width(line) <= limit || shown.size() == 6));
    for (const auto& [less, more] : {std::pair{"E2E mean s", "TPOT p99 ms"},
                                     {"TTFT p50 ms", "TTFT p99 s"},
                                     {"tok/s", "req/s"},
                                     {"unsupported", "failed"}})
      CHECK((has(line, more) || !has(line, less)));
  }
  CHECK(shown.size() == 6);
}

TEST_CASE("a metric that was asked for by name stays at any width, with the column beside it") {
  Table table;
  table.add({"parameter", "value", "moved", "ttft_s_p99", "", "mine", ""});
  table.rule();
  table.add({"steps.sampler_s", "0.00015 s", "1 %", "71.61 us", "+0.322 %", "0.25", "+0.01 %"});
  table.add({"steps.small_kernel_s", "3e-06 s", "1 %", "1.2 us", "+0.001 %", "0.26", "-0.01 %"});
  for (int limit = 1; limit < 90; ++limit) {
    INFO(limit);
    const std::string text = fitted(table.text(), limit, "--wide", {"ttft_s_p99", "mine"});
    for (const char* kept : {"ttft_s_p99", "+0.322 %", "mine", "-0.01 %"}) CHECK(has(text, kept));
  }
  CHECK_FALSE(has(fitted(table.text(), 50, "--wide"), "+0.001 %"));
  CHECK_FALSE(has(fitted(table.text(), 60, "--wide", {"ttft_s_p99", "mine"}), "3e-06 s"));
}

TEST_CASE("lines that are no table are never cut") {
  const std::string lines =
      "requests  2 of 3 completed, and a long line of prose that no terminal has room for\n"
      "rates     3 per second, and another long line of prose that goes on and on\n"
      "\n"
      "a title with some words, longer than the line: 9 ms\n";
  CHECK(fitted(lines, 30, "--wide") == lines);
  CHECK(fitted("no line break", 5, "--wide") == "no line break");
  CHECK(fitted("", 5, "--wide").empty());
}

TEST_CASE("colour adds nothing but colour") {
  const std::string text = "A title\n\n" + three_columns() +
                           "\nevidence  measured 9.4 %, extrapolated 3.0 %\n"
                           "unsupported: share of time that is extrapolated or assumed\n"
                           "tp=2: FAILED\n";
  const std::string shown = painted(text);
  CHECK(plain(shown) == text);
  CHECK(shown.starts_with("\x1b[1mA title\x1b[0m\n"));
  CHECK(shown.find("\x1b[1mname  time s  share\x1b[0m\n\x1b[2m---") != std::string::npos);
  CHECK(shown.find("\x1b[32mmeasured\x1b[0m 9.4 %, \x1b[33mextrapolated\x1b[0m") !=
        std::string::npos);
  CHECK(shown.find("is extrapolated or assumed") != std::string::npos);  // a sentence
  CHECK(shown.find("tp=2: \x1b[1;31mFAILED\x1b[0m") != std::string::npos);
  CHECK(painted("").empty());
}

TEST_CASE("the time that is left is told from the second on, if the end is known") {
  CHECK(ProgressBar::time_left(15, 10, 40) == "45 s left");
  CHECK(ProgressBar::time_left(30, 10, 40) == "1:30 min left");
  CHECK(ProgressBar::time_left(300, 10, 40) == "15:00 min left");
  CHECK(ProgressBar::time_left(7200, 10, 20) == "2:00 h left");
  CHECK(ProgressBar::time_left(0.5, 10, 20).empty());
  CHECK(ProgressBar::time_left(30, 0, 20).empty());
  CHECK(ProgressBar::time_left(30, 20, 20).empty());
  CHECK(ProgressBar::time_left(30, 20, 0).empty());
}
