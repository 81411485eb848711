// The sessions in README.md and docs/REPL.md are real: they are run and compared. In a block, lines
// that begin with "> " or ">> " are typed, the others are the answer. "..." alone in a line stands
// for any lines, at the end of a line for any text.

#include <algorithm>
#include <fstream>
#include <regex>

#include "tests/app/program.h"

using namespace rooflua::test;

namespace {

struct Exchange {
  std::string typed, answer;
  int line = 0;
};

/// The exchanges of all indented blocks; they are one session.
std::vector<Exchange> read_manual(const std::string& path) {
  std::vector<Exchange> out;
  std::ifstream in(path);
  std::string line;
  bool session = false;  // in a block that began with "> "
  for (int number = 1; std::getline(in, line); ++number) {
    if (!line.empty() && line.rfind("    ", 0) != 0) session = false;
    const std::string text = line.empty() ? "" : line.substr(std::min<std::size_t>(4, line.size()));
    if (line.rfind("    > ", 0) == 0) {
      out.push_back({text.substr(2) + "\n", "", number});
      session = true;
    } else if (session && text.rfind(">> ", 0) == 0) {
      out.back().typed += text.substr(3) + "\n";
    } else if (session) {
      out.back().answer += text + "\n";
    }
  }
  return out;
}

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t begin = 0; begin <= text.size();) {
    std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) end = text.size();
    out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

bool line_fits(const std::string& wanted, const std::string& said) {
  if (wanted.size() < 3 || wanted.substr(wanted.size() - 3) != "...") return wanted == said;
  return said.rfind(wanted.substr(0, wanted.size() - 3), 0) == 0;
}

bool fits(const std::vector<std::string>& wanted, std::size_t w,
          const std::vector<std::string>& said, std::size_t s) {
  if (w == wanted.size()) return s == said.size();
  if (wanted[w] == "...") {
    for (std::size_t skip = s; skip <= said.size(); ++skip) {
      if (fits(wanted, w + 1, said, skip)) return true;
    }
    return false;
  }
  return s < said.size() && line_fits(wanted[w], said[s]) && fits(wanted, w + 1, said, s + 1);
}

/// Types the inputs of a document into one session, with a scenario or "", and compares answers.
void check_sessions(const std::string& document, const std::string& scenario, std::size_t least) {
  const std::vector<Exchange> exchanges = read_manual((source_dir() / document).string());
  REQUIRE(exchanges.size() >= least);
  const std::string mark = "@@ ";
  std::string typed;
  for (std::size_t i = 0; i < exchanges.size(); ++i) {
    typed += "do io.stderr:write('" + mark + std::to_string(i) + "\\n') end\n" + exchanges[i].typed;
  }
  // one stream, unbuffered, so that results and messages stay in order
  const Said said = rooflua::test::rooflua(
      "repl " + scenario + " 2>&1 <<'END'\nio.stdout:setvbuf('no');\n" + typed + "END\n");
  for (std::size_t i = 0; i < exchanges.size(); ++i) {
    const std::string begin = mark + std::to_string(i) + "\n",
                      end = mark + std::to_string(i + 1) + "\n";
    const std::size_t from = said.text.find(begin);
    REQUIRE(from != std::string::npos);
    const std::size_t to = said.text.find(end, from);
    // at a terminal it says prompt:1 where a pipe has the number of its line
    const std::string answer = std::regex_replace(
        said.text.substr(from + begin.size(),
                         to == std::string::npos ? to : to - from - begin.size()),
        std::regex("stdin:[0-9]+:"), "prompt:1:");
    INFO(document << ":" << exchanges[i].line << ": " << exchanges[i].typed << "said:\n" << answer);
    CHECK(fits(lines_of(trimmed(exchanges[i].answer)), 0, lines_of(trimmed(answer)), 0));
  }
}

}  // namespace

TEST_CASE("the sessions of docs/REPL.md are real") {
  check_sessions("docs/REPL.md", "", 10);
}

TEST_CASE("the session of README.md is real") {
  check_sessions("README.md", "scenarios/02_chunk_size.lua", 4);
}
