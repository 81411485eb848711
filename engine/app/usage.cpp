#include "app/usage.h"

#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "app/quote.h"
#include "base/error.h"

namespace rooflua::app {

namespace {

std::vector<std::string> names_of(const Command& app) {
  std::vector<std::string> out;
  for (const Command& each : app.commands()) out.push_back(each.name);
  return out;
}

/// The innermost command that the parser recognised.
Command innermost(const Command& app) {
  const auto parsed = app.chosen();
  return parsed.empty() ? app : innermost(parsed.front());
}

/// "data import"; "" of the program itself.
std::string path_of(const Command& app) {
  const auto parsed = app.chosen();
  if (parsed.empty()) return "";
  const std::string inner = path_of(parsed.front());
  return parsed.front().name + (inner.empty() ? "" : " " + inner);
}

bool takes_words(const Command& command) {
  const auto all = command.options();
  return std::any_of(all.begin(), all.end(), [](const Option& each) { return each.is_word; });
}

/// The error for a word that the command does not take, with similar names; "" if it takes all.
std::string stray_word(const Command& command) {
  const std::vector<std::string> commands = names_of(command), words = command.words_left();
  std::vector<std::string> options;
  for (const Option& each : command.options())
    options.insert(options.end(), each.long_names.begin(), each.long_names.end());
  for (const std::string& word : words) {
    if (word.size() > 1 && word.front() == '-')
      return unknown_name("option", word.substr(0, word.find('=')), options);
  }
  if (words.empty()) return "";
  const std::string& word = words.front();
  if (!commands.empty()) return unknown_name("command", word, commands);
  const std::vector<std::string> near = suggestions("--" + word, options);
  std::string out = "'" + word + "' is one word too many";
  if (!takes_words(command)) out = "'" + word + "' has no option before it";
  return near.empty() ? out : out + "; did you mean '" + joined(near, "', '") + "'?";
}

/// The option of the command that a message of the parser begins with: "--jobs: ..." or "scenario
/// is required".
std::optional<Option> option_in(const Command& command, const std::string& message) {
  const std::string name = message.substr(0, message.find_first_of(": "));
  for (const Option& each : command.options()) {
    if (each.name == name) return each;
  }
  return std::nullopt;
}

/// What the parser found wrong, and what stands in the place of it.
std::string fault_of(const Command& command, const Misread& problem) {
  const std::string& message = problem.message;
  const std::optional<Option> option = option_in(command, message);
  const std::string about = option ? ": " + option->doc : "";
  if (problem.kind == Misread::Kind::missing) {
    if (!option) return "a command is missing: " + joined(names_of(command), ", ");
    return option->name + " is missing" + about;
  }
  if (problem.kind == Misread::Kind::count && option) {
    if (option->times_given > 1)
      return option->name + " is given " + std::to_string(option->times_given) +
             " times; once is right" + about;
    return option->name + " has no value after it" + about;
  }
  if (problem.kind == Misread::Kind::value) {
    static const std::string before = "Could not convert: ";
    const std::string given = message.substr(std::min(before.size(), message.size()));
    const std::string name = given.substr(0, given.find(' '));
    const std::optional<Option> converted = option_in(command, name + ":");
    if (converted && converted->most_values == 0) return name + " takes no value";
    return given + ": expected " + (converted ? converted->type : "another value");
  }
  return message;
}

}  // namespace

void check_command(const Command& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return;
  const std::vector<std::string> known = names_of(app);
  if (std::find(known.begin(), known.end(), argv[1]) == known.end())
    throw Error("", unknown_name("command", argv[1], known));
}

int refuse(const Command& app, const Misread& problem) {
  if (problem.kind == Misread::Kind::answered) return 0;
  const Command command = innermost(app);
  const std::string path = path_of(app);
  const std::string stray = stray_word(command);
  const std::string help = path.empty() ? "help" : "help " + path;
  const std::string text = "rooflua: " + (path.empty() ? "" : path + ": ") +
                           (stray.empty() ? fault_of(command, problem) : stray) + "\nrooflua " +
                           help + " lists what it takes\n";
  std::fputs(printable(text).c_str(), stderr);
  return 2;
}

std::string first_steps(const Command& app) {
  return app.doc + R"(

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
