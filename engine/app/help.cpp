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

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::App* each : app.get_subcommands([](const CLI::App*) { return true; }))
    out.push_back(each->get_name());
  return out;
}

/// The command that the words name ("data", "import"); null if they name none.
const CLI::App* command_of(const CLI::App& app, const std::vector<std::string>& words) {
  const CLI::App* found = &app;
  for (const std::string& word : words) {
    const CLI::App* inner = nullptr;
    for (const CLI::App* each : found->get_subcommands([](const CLI::App*) { return true; })) {
      if (each->get_name() == word) inner = each;
    }
    if (inner == nullptr) return nullptr;
    found = inner;
  }
  return found;
}

void print_help_of(const CLI::App& command, const std::vector<std::string>& words) {
  const std::string name = words.empty() ? "rooflua" : "rooflua " + joined(words, " ");
  std::fputs(command.get_formatter()->make_help(&command, name, CLI::AppFormatMode::Normal).c_str(),
             stdout);
}

int help(const CLI::App& app, const std::vector<std::string>& words, const fs::path& home) {
  const CLI::App* command = command_of(app, words);
  if (command != nullptr) print_help_of(*command, words);
  if (words.empty()) return 0;
  script::Vm library({.home = home, .trusted = true, .interruptible = false});
  Json commands = Json::array();
  for (const std::string& each : command_names(app)) commands.push_back(each);
  // The words of a topic of the library are one: "vllm 0.19 on h100".
  const Json said = library.call("rooflua.help.topics", command == nullptr ? "of_topic" : "beside",
                                 {Json(joined(words, " ")), std::move(commands)});
  if (said.is_text()) std::printf("%s%s\n", command == nullptr ? "" : "\n", said.text().c_str());
  return 0;
}

}  // namespace

void add_help(CLI::App& app, Door& door) {
  auto* command = app.add_subcommand("help", "Help on a command, a module, a function or a policy");
  auto* topic = new std::vector<std::string>;
  auto* man = new bool(false);
  command->add_option("topic", *topic,
                      "run, data import, cost.gemm, schedulers.vllm_v1, vllm 0.19, ...");
  command->add_flag("--man", *man, "Print the manual page rooflua(1)");
  command->callback([=, &app, &door] {
    door = [=, &app](const fs::path& home) {
      if (!*man) return help(app, *topic, home);
      std::fputs(manual_page(app).c_str(), stdout);
      return 0;
    };
  });
}

}  // namespace rooflua::app
