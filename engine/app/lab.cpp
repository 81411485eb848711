// rooflua lab: a scenario that a page in a browser changes, and its answer (engine/lab,
// scripts/lib/rooflua/lab).

#include "lab/lab.h"

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "app/commands.h"
#include "app/deployment/started.h"
#include "app/options.h"
#include "script/scenario.h"
#include "script/vm/vm.h"

extern char** environ;

namespace rooflua::app {

namespace {

constexpr int usual_port = 8765;

struct LabArguments {
  RunArguments run;  // scenario, set, engine, command, model, from, hardware, users, bench
  std::optional<int> port;
  bool stays_closed = false;
};

bool has_screen() {
  const auto is_set = [](const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0';
  };
  return is_set("DISPLAY") || is_set("WAYLAND_DISPLAY");
}

/// What the desktop opens pages with; nothing happens where there is none.
void open_browser(const std::string& address) {
  std::string program = "xdg-open", page = address;
  char* words[] = {program.data(), page.data(), nullptr};
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  for (const int each : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    posix_spawn_file_actions_addopen(&files, each, "/dev/null", O_RDWR, 0);
  pid_t process = 0;
  posix_spawnp(&process, words[0], &files, nullptr, words, environ);
  posix_spawn_file_actions_destroy(&files);
}

/// The words of `rooflua run` for what the command states.
Json words_of(const RunArguments& a) {
  Json out = Json::array();
  const auto add = [&](const char* option, const std::string& value) {
    if (value.empty()) return;
    if (*option != '\0') out.push_back(option);
    out.push_back(value);
  };
  add("", a.scenario);
  add("--engine", a.engine);
  add("--command", a.command);
  add("--model", a.model);
  add("--hardware", a.hardware);
  add("--bench", a.bench);
  if (a.users) add("--users", std::to_string(*a.users));
  for (const std::string& each : a.from) add("--from", each);
  return out;
}

int run_lab(const LabArguments& given, const std::filesystem::path& home) {
  const RunArguments run = sorted(given.run, "lab");
  lab::Subject subject;
  subject.file = run.scenario;
  subject.table = started(run.hardware);
  subject.options.command = launch_command(run.command, run.engine, run.model, run.from);
  subject.options.set = with_engine(subject.options.command.is_given() ? "" : run.engine, run.set);
  set_load(run.users, run.bench, subject.options.set);
  subject.options.seed = run.seed;
  subject.stated = stated_options(run);
  subject.words = words_of(run);
  script::Vm vm({.home = home, .memory_bytes = lab::question_bytes, .print_to_stderr = true});
  // What is wrong with it is said before anything listens.
  opened(vm, run, subject.options).laboratory("rehearse");
  const lab::ServerOptions options{given.port.value_or(usual_port), !given.port};
  lab::serve(vm, subject, options, [&](const std::string& address) {
    std::printf("%s\nCtrl-C ends it\n", address.c_str());
    std::fflush(stdout);
    if (!given.stays_closed && has_screen()) open_browser(address);
  });
  return 0;
}

}  // namespace

void add_lab(const Command& app) {
  const Command command = app.command(
      "lab", "Change a scenario on a page in the browser, and see how its answer changes");
  auto* a = new LabArguments;
  command.option("scenario", a->run.scenario, "A Lua file that returns a scenario; else --from");
  command.option("--port", a->port,
                 "Where it listens, on this machine alone; 0: any free port; default 8765, or a "
                 "free one where it is taken",
                 {.check = whole(0, 65535)});
  command.flag("--no-open", a->stays_closed, "Print the address and open no browser");
  add_served(command, a->run);
  command.option("--users", a->run.users, users_help, {.check = whole(1, 1000000)});
  command.option("--bench", a->run.bench, bench_help, {.excludes = "--users"});
  command.option("--seed", a->run.seed, "Overrides the scenario's seed", {.check = seeds()});
  command.runs([a](const std::filesystem::path& home) { return run_lab(*a, home); });
}

}  // namespace rooflua::app
