#include "app/options.h"

#include "app/commands.h"
#include "base/json_text.h"
#include "script/vm/vm.h"

namespace rooflua::app {

namespace {

/// The options of the axes, which the library declares.
void add_axes(const Command& command, PlanArguments& a, const std::filesystem::path& home) {
  script::Vm library({.home = home, .trusted = true, .interruptible = false});
  const Json rows = library.call("rooflua.plan.axes", "options", {});
  for (const Json& row : rows.items()) {
    PlanArguments::Axis& axis = a.axes[text_of(row, "key")];
    const std::string name = text_of(row, "name"), about = text_of(row, "doc");
    if (row.find("is_flag")->boolean()) {
      command.flag(name.c_str(), axis.flag, about.c_str());
    } else {
      command.option(name.c_str(), axis.values, about.c_str(), {.repeated = true, .split = true});
    }
  }
}

}  // namespace

void add_plan(const Command& app, const std::filesystem::path& home) {
  const Command command = app.command("plan", "Which GPUs, how many, which flags, at what cost");
  auto* a = new PlanArguments;
  const auto repeated = [command](const char* name, std::vector<std::string>& to,
                                  const char* help) {
    command.option(name, to, help, {.repeated = true});
  };
  command.option("scenario", a->scenario,
                 "A Lua file of kind \"plan\" instead of a question; a plan.json for --verify");
  command.option("--model", a->model,
                 "A shipped model, config.json or .toml; with --command in place of its own");
  add_words(command, a->words);
  add_command(command, a->command, nullptr);
  add_from(command, a->from);
  command.option(
      "--workload", a->workload,
      "PROMPT+ANSWER tokens (2000+300), a preset (chatbot), or a file: a trace, a result of "
      "vllm bench serve (bench.json#2: its second)");
  command.option("--bench", a->bench, bench_help, {.check = given()});
  command.option("--rate", a->rate, "Requests per second", {.check = between(1e-6, 1e9)});
  command.option("--clients", a->clients, "Clients that each wait for their answer",
                 {.check = between(1, 1e6)});
  command.option("--users", a->users, users_help, {.check = whole(1, 1000000)});
  command.option("--peak", a->peak, "Multiplies the load (1)", {.check = between(1e-3, 1e3)});
  repeated("--autoscaler", a->autoscaler,
           "Also a day with it in place of the fleet for the peak: hpa, keda, planner_load, ...");
  repeated("--slo", a->slo,
           "METRIC=LIMIT: ttft_p99=500ms, tpot_p99=25ms, slo_attainment_frac=0.99");
  repeated("--gpus", a->gpus, "NAME[:COUNT][@PRICE]: h100-sxm:32@3.00 per GPU and hour");
  command.option("--buy", a->buy, "gpu (default) or node: whole nodes are paid");
  command.option("--engine", a->engine, engine_help);
  if (!home.empty()) add_axes(command, *a, home);
  command.option("--candidates", a->candidates, "Policy that generates candidates (ladder)");
  command.option("--objective", a->objective, "cost (default), gpus, rate, energy, ...");
  command.option("--strategy", a->strategy, "halving (default), bounded, exhaustive, sample");
  command.option("--power", a->power, "tdp (default), linear, measured: watts of a GPU");
  repeated("--watts", a->watts, "GPU=WATTS: measured power of one GPU under load");
  command.option("--confidence", a->confidence, "Least probability that the SLO is met (0.8)",
                 {.check = between(0, 1)});
  command.option("--strict", a->strict_percent,
                 "A deployment of whose time more than PERCENT is extrapolated, stand_in or "
                 "assumed does not count",
                 {.check = between(0, 100), .alone = "0"});
  command.option("--survive", a->survive, "Replicas that may be lost (0)",
                 {.check = whole(0, 1000)});
  command.option("--replicates", a->replicates, "Runs per deployment for probability (40)",
                 {.check = whole(0, 1000)});
  command.option("--requests", a->requests, "Requests of a run (by --horizon)",
                 {.check = whole(10, 10000000)});
  command.option("--horizon", a->horizon_s, "Seconds of a run (6 mean answers at the SLO)",
                 {.check = between(1e-3, 1e7)});
  command.option("--ranks", a->ranks, "Deployments in the answer (3)", {.check = whole(1, 10)});
  command.option("--seed", a->seed, "Of the random numbers (1)", {.check = seeds()});
  command.option("--jobs", a->jobs, "Worker processes", {.check = whole(1, 1024)});
  repeated("--set", a->set, "key=value of the scenario, as in run");
  command.option("--results", a->results,
                 "Keep runs in this SQLite file (a folder: DIR/); a second time only missing "
                 "ones are run");
  command.flag("--all", a->all, "Print every candidate");
  command.option("--why", a->why, "Print the account of candidate N", {.check = whole(1, 1000000)});
  command.flag("--front", a->front, "Trace speed of a user against throughput of a GPU");
  command.option("--json", a->json, "Write the plan as JSON to a file (- = stdout, alone)");
  command.option("--html", a->html, "Write the plan as one page");
  command.option("--write", a->write, "Write commands, manifests and benchmarks to a folder");
  command.option("--emit", a->emit, "Write the scenario of this question and stop (- = print)");
  command.option("--verify", a->verify, "Compare the JSON of bench.sh with the plan.json");
  command.flag("--quiet", a->quiet, "No progress");
  command.runs([a](const std::filesystem::path& found) { return plan(*a, found); });
}

}  // namespace rooflua::app
