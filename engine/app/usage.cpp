#include "app/usage.h"

#include <cstdio>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "app/quote.h"
#include "base/error.h"

namespace rooflua::app {

namespace {

/// The innermost command that the parser recognised.
const CLI::App& chosen(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : chosen(*parsed.front());
}

/// The error for an unknown option or command, with similar names; "" if all are known.
std::string stray_word(const CLI::App& app) {
  const CLI::App& command = chosen(app);
  const std::string before = &command == &app ? "" : command.get_name() + ": ";
  std::vector<std::string> options, commands;
  for (const CLI::Option* each : command.get_options()) {
    for (const std::string& name : each->get_lnames()) options.push_back("--" + name);
  }
  for (const CLI::App* each : command.get_subcommands([](const CLI::App*) { return true; }))
    commands.push_back(each->get_name());
  for (const std::string& word : command.remaining()) {
    if (word.size() > 1 && word.front() == '-')
      return before + unknown_name("option", word.substr(0, word.find('=')), options);
  }
  if (command.remaining().empty() || commands.empty()) return "";
  return before + unknown_name("command", command.remaining().front(), commands);
}

}  // namespace

void check_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  std::vector<std::string> known;
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; })) {
    known.push_back(each->get_name());
    if (each->get_name() == argv[1]) return;
  }
  throw Error("", unknown_name("command", argv[1], known));
}

int refuse(const CLI::App& app, const CLI::ParseError& problem) {
  const std::string stray = problem.get_exit_code() == 0 ? "" : stray_word(app);
  std::ostringstream said;
  if (stray.empty() && app.exit(problem, std::cout, said) == 0) return 0;
  const std::string text = stray.empty() ? said.str() : "rooflua: " + stray + "\n";
  std::fputs(printable(text).c_str(), stderr);
  return 2;
}

}  // namespace rooflua::app
