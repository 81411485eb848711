// rooflua advise: the fewest changes of settings that meet an SLO (scripts/lib/rooflua/advise).
// rooflua check-run: whether a measured result is plausible (scripts/lib/rooflua/plausible).

#include <cstdio>

#include "app/commands.h"
#include "app/options.h"
#include "app/output.h"
#include "app/quote.h"
#include "base/json_text.h"
#include "script/vm/vm.h"

namespace rooflua::app {

namespace {

constexpr double default_limit_s = 30;
constexpr double grace_s = 2;  // in which the search ends by itself, between two runs

template <class Value>
void put(Json& to, const char* key, const std::optional<Value>& value) {
  if (value) to[key] = *value;
}

void put(Json& to, const char* key, const std::optional<long>& value) {
  if (value) to[key] = std::int64_t{*value};
}

void put(Json& to, const char* key, const std::string& value) {
  if (!value.empty()) to[key] = value;
}

/// The scenario or the launch command of a question, as the Lua side reads them.
Json asked_of(const AskedScenario& asked) {
  Json out = Json::object();
  put(out, "scenario", asked.scenario);
  put(out, "hardware", asked.hardware);
  put(out, "seed", asked.seed);
  out["set"] = texts_json(with_engine(asked.command.empty() ? asked.engine : "", asked.set));
  out["jobs"] = asked.jobs;
  const script::LaunchCommand command = launch_command(asked.command, asked.engine, asked.model);
  if (!command.text.empty()) out["command"] = command.json();
  return out;
}

/// Calls the module of a command and prints what it answers; the exit status.
/// @param limit_s  CPU seconds after which a run that still goes on is stopped
int answer(const char* module, const AskedScenario& asked, const Json& options, double limit_s,
           const std::filesystem::path& home) {
  script::Vm vm({.home = home, .timeout_s = limit_s, .print_to_stderr = asked.json == "-"});
  const Json found = vm.call(module, "run", {options});
  if (asked.json != "-") std::fputs(printable(text_of(found, "text")).c_str(), stdout);
  if (!asked.json.empty()) write_document(*found.find("document"), asked.json);
  return static_cast<int>(found.find("status")->number());
}

void add_asked(const Command& command, AskedScenario& asked) {
  add_command(command, asked.command, &asked.model);
  command.option("--engine", asked.engine, engine_help);
  command.option("--hardware", asked.hardware,
                 "With --command, in place of a scenario: a shipped GPU or hardware.toml");
  command.option("--set", asked.set, "key=value, as in run", {.repeated = true});
  command.option("--seed", asked.seed, "Overrides the scenario's seed", {.check = seeds()});
  command.option("--jobs", asked.jobs, "Worker processes for runs", {.check = whole(1, 1024)});
  command.option("--json", asked.json, "Write the answer to a file (- = stdout, alone)");
}

}  // namespace

void add_advise(const Command& app) {
  const Command command =
      app.command("advise", "The fewest changes of settings that meet an SLO (exit 1: none does)");
  auto* a = new AdviseArguments;
  command.option("scenario", a->asked.scenario, "A scenario of kind serve; else --command");
  command.option("--slo", a->slo, "METRIC=LIMIT,...: ttft_p99=1s,output_tokens_per_s=5000",
                 {.required = true, .repeated = true, .split = true});
  add_asked(command, a->asked);
  command.option("--workload", a->workload,
                 "With --command: PROMPT+ANSWER tokens as 2000+300, a preset or a file");
  command.option("--rate", a->rate, "With --command: requests/s", {.check = between(1e-6, 1e9)});
  command.option("--clients", a->clients, "With --command: so many clients that wait for answers",
                 {.check = whole(1, 1000000)});
  command.option("--requests", a->requests, "With --command: how many requests a run sends",
                 {.check = whole(1, 10000000)});
  command.option("--gpus", a->gpus, "GPUs that there are (those of the deployment)",
                 {.check = whole(1, 100000)});
  command.option("--limit", a->limit_s, "Seconds after which the search ends (30)",
                 {.check = between(1, 1e6)});
  command.runs([a](const std::filesystem::path& home) { return advise(*a, home); });
}

int advise(const AdviseArguments& arguments, const std::filesystem::path& home) {
  check_files({arguments.asked.json}, {arguments.asked.scenario});
  Json options = asked_of(arguments.asked);
  put(options, "workload", arguments.workload);
  put(options, "rate", arguments.rate);
  put(options, "clients", arguments.clients);
  put(options, "requests", arguments.requests);
  put(options, "gpus", arguments.gpus);
  put(options, "limit_s", arguments.limit_s);
  options["slo"] = texts_json(arguments.slo);
  const double limit_s = arguments.limit_s.value_or(default_limit_s) + grace_s;
  return answer("rooflua.advise.command", arguments.asked, options, limit_s, home);
}

void add_check_run(const Command& app) {
  const Command command = app.command(
      "check-run", "Is a measured result plausible? Against a scenario's interval (exit 1: not)");
  auto* a = new CheckRunArguments;
  command.option("result", a->result, "Result of a benchmark tool (docs/CALIBRATING.md)",
                 {.required = true});
  command.option("scenario", a->asked.scenario, "A scenario of kind serve; else --command");
  add_asked(command, a->asked);
  command.runs([a](const std::filesystem::path& home) { return check_run(*a, home); });
}

int check_run(const CheckRunArguments& arguments, const std::filesystem::path& home) {
  check_files({arguments.asked.json}, {arguments.result, arguments.asked.scenario});
  Json options = asked_of(arguments.asked);
  options["result"] = arguments.result;
  return answer("rooflua.plausible.command", arguments.asked, options, default_limit_s + grace_s,
                home);
}

}  // namespace rooflua::app
