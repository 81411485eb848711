// rooflua help TOPIC: a command, and what the library says of the topic.

#include <cstdio>

#include "app/commands.h"
#include "app/options.h"
#include "app/shell/manual.h"
#include "base/error.h"
#include "script/vm/vm.h"

namespace rooflua::app {

namespace fs = std::filesystem;

namespace {

/// The command that the words name ("data", "import"), if they name one.
std::optional<Command> command_of(const Command& app, const std::vector<std::string>& words) {
  std::optional<Command> found = app;
  for (auto word = words.begin(); found && word != words.end(); ++word) found = found->inner(*word);
  return found;
}

int help(const Command& app, const std::vector<std::string>& words, const fs::path& home) {
  const std::optional<Command> command = command_of(app, words);
  const std::string name = words.empty() ? "rooflua" : "rooflua " + joined(words, " ");
  if (command) std::fputs(command->help(name).c_str(), stdout);
  if (words.empty()) return 0;
  script::Vm library({.home = home, .trusted = true, .interruptible = false});
  Json commands = Json::array();
  for (const Command& each : app.commands()) commands.push_back(each.name);
  // The words of a topic of the library are one: "vllm 0.19 on h100".
  const Json said = library.call("rooflua.help.topics", command ? "beside" : "of_topic",
                                 {Json(joined(words, " ")), std::move(commands)});
  if (said.is_text()) std::printf("%s%s\n", command ? "\n" : "", said.text().c_str());
  return 0;
}

}  // namespace

void add_help(const Command& app) {
  const Command command =
      app.command("help", "Help on a command, a module, a function or a policy");
  auto* topic = new std::vector<std::string>;
  auto* man = new bool(false);
  command.option("topic", *topic,
                 "run, data import, cost.gemm, schedulers.vllm_v1, vllm 0.19, ...");
  command.flag("--man", *man, "Print the manual page rooflua(1)");
  command.runs([=](const fs::path& home) {
    if (!*man) return help(app, *topic, home);
    std::fputs(manual_page(app).c_str(), stdout);
    return 0;
  });
}

}  // namespace rooflua::app
