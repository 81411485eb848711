#include "app/deployment/asked.h"

#include <cstdio>

#include "app/output.h"
#include "app/quote.h"
#include "base/json_text.h"
#include "script/vm/vm.h"

namespace rooflua::app {

Json asked_of(const AskedScenario& asked) {
  Json out = Json::object();
  put(out, "scenario", asked.scenario);
  put(out, "hardware", asked.hardware);
  put(out, "seed", asked.seed);
  out["set"] = texts_json(
      with_engine(asked.command.empty() && asked.from.empty() ? asked.engine : "", asked.set));
  out["jobs"] = asked.jobs;
  const script::LaunchCommand command =
      launch_command(asked.command, asked.engine, asked.model, asked.from);
  if (command.is_given()) out["command"] = command.json();
  return out;
}

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

void add_load(const Command& command, AskedLoad& load) {
  command.option("--bench", load.bench, bench_help, {.check = given()});
  command.option("--workload", load.workload,
                 "With --command: PROMPT+ANSWER tokens as 2000+300, a preset or a file");
  command.option("--rate", load.rate, "With --command: requests/s", {.check = between(1e-6, 1e9)});
  command.option("--clients", load.clients, "With --command: so many clients that wait for answers",
                 {.check = whole(1, 1000000)});
  command.option("--requests", load.requests, "With --command: how many requests a run sends",
                 {.check = whole(1, 10000000)});
}

void put_load(Json& options, const AskedLoad& load) {
  put(options, "bench", load.bench);
  put(options, "workload", load.workload);
  put(options, "rate", load.rate);
  put(options, "clients", load.clients);
  put(options, "requests", load.requests);
}

}  // namespace rooflua::app
