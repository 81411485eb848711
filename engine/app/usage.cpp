#include "app/usage.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

#include "app/quote.h"
#include "base/error.h"

namespace rooflua::app {

namespace {

std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> names_of(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::App* each : commands_of(app)) out.push_back(each->get_name());
  return out;
}

/// The innermost command that the parser recognised.
const CLI::App& chosen(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  return parsed.empty() ? app : chosen(*parsed.front());
}

/// "data import"; "" of the program itself.
std::string path_of(const CLI::App& app) {
  const auto parsed = app.get_subcommands();
  if (parsed.empty()) return "";
  const std::string inner = path_of(*parsed.front());
  return parsed.front()->get_name() + (inner.empty() ? "" : " " + inner);
}

std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> out;
  for (const CLI::Option* each : command.get_options()) {
    for (const std::string& name : each->get_lnames()) out.push_back("--" + name);
  }
  return out;
}

bool takes_words(const CLI::App& command) {
  const auto all = command.get_options();
  return std::any_of(all.begin(), all.end(),
                     [](const CLI::Option* each) { return each->get_positional(); });
}

/// The error for a word that the command does not take, with similar names; "" if it takes all.
std::string stray_word(const CLI::App& command) {
  const std::vector<std::string> options = options_of(command), commands = names_of(command);
  for (const std::string& word : command.remaining()) {
    if (word.size() > 1 && word.front() == '-')
      return unknown_name("option", word.substr(0, word.find('=')), options);
  }
  if (command.remaining().empty()) return "";
  const std::string word = command.remaining().front();
  if (!commands.empty()) return unknown_name("command", word, commands);
  const std::vector<std::string> near = suggestions("--" + word, options);
  std::string out = "'" + word + "' is one word too many";
  if (!takes_words(command)) out = "'" + word + "' has no option before it";
  return near.empty() ? out : out + "; did you mean '" + joined(near, "', '") + "'?";
}

/// The option of the command that a message of the parser begins with: "--jobs: ..." or "scenario
/// is required".
const CLI::Option* option_in(const CLI::App& command, const std::string& message) {
  const std::string name = message.substr(0, message.find_first_of(": "));
  for (const CLI::Option* each : command.get_options()) {
    if (each->get_name() == name) return each;
  }
  return nullptr;
}

/// What the parser found wrong, and what stands in the place of it.
std::string fault_of(const CLI::App& command, const CLI::ParseError& problem) {
  const std::string message = problem.what();
  const CLI::Option* option = option_in(command, message);
  const std::string about = option == nullptr ? "" : ": " + option->get_description();
  if (dynamic_cast<const CLI::RequiredError*>(&problem) != nullptr) {
    if (option == nullptr) return "a command is missing: " + joined(names_of(command), ", ");
    return option->get_name() + " is missing" + about;
  }
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&problem) != nullptr && option != nullptr) {
    if (option->count() > 1)
      return option->get_name() + " is given " + std::to_string(option->count()) +
             " times; once is right" + about;
    return option->get_name() + " has no value after it" + about;
  }
  if (dynamic_cast<const CLI::ConversionError*>(&problem) != nullptr) {
    static const std::string before = "Could not convert: ";
    const std::string given = message.substr(std::min(before.size(), message.size()));
    const std::string name = given.substr(0, given.find(' '));
    const CLI::Option* converted = option_in(command, name + ":");
    if (converted != nullptr && converted->get_items_expected_max() == 0)
      return name + " takes no value";
    return given + ": expected " + (converted ? converted->get_type_name() : "another value");
  }
  return message;
}

}  // namespace

void check_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  const std::vector<std::string> known = names_of(app);
  if (std::find(known.begin(), known.end(), argv[1]) == known.end())
    throw Error("", unknown_name("command", argv[1], known));
}

int refuse(const CLI::App& app, const CLI::ParseError& problem) {
  if (problem.get_exit_code() == 0) return app.exit(problem, std::cout, std::cerr);
  const CLI::App& command = chosen(app);
  const std::string path = path_of(app);
  const std::string stray = stray_word(command);
  const std::string help = path.empty() ? "help" : "help " + path;
  const std::string text = "rooflua: " + (path.empty() ? "" : path + ": ") +
                           (stray.empty() ? fault_of(command, problem) : stray) + "\nrooflua " +
                           help + " lists what it takes\n";
  std::fputs(printable(text).c_str(), stderr);
  return 2;
}

std::string first_steps(const CLI::App& app) {
  return app.get_description() + R"(

The time of one step, and the tokens that fit beside the weights:
  rooflua step --model llama-3.1-8b --hardware h100 --decode 2000x32
  rooflua capacity --model llama-3.1-8b --hardware h100

A question of your own, its mistakes, and its answer:
  rooflua new chat
  rooflua check chat.lua
  rooflua run chat.lua

What can be named, and what it does:
  rooflua list
  rooflua list hardware
  rooflua help schedulers.vllm_v1

Commands: )" +
         joined(names_of(app), ", ") + "\nrooflua help COMMAND says more on one.\n";
}

}  // namespace rooflua::app
