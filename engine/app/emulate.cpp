// rooflua emulate: a scenario behind HTTP (engine/emulate,
// scripts/lib/rooflua/serving/emulated.lua).

#include <cstdio>

#include "app/commands.h"
#include "app/deployment/started.h"
#include "app/options.h"
#include "app/output.h"
#include "app/run_report.h"
#include "emulate/bind.h"
#include "script/scenario.h"
#include "script/vm/vm.h"

namespace rooflua::app {

namespace {

struct EmulateArguments {
  RunArguments run;  // scenario, set, engine, command, model, seed, json, requests, trace, quiet
  std::string host = "127.0.0.1", ports, record, model_name;
  int port = 8000, answer_tokens = 128, most_streams = 4096;
  std::string kv_events, kv_replay, kv_topic, kv_seed = "0";
  std::string startup_log, startup_form = "plain";
  bool admin = false;
  double speed = 1, drain_s = 10, bytes_per_token = 4, tool_share = 0.5, request_s = 30;
};

Json options_of(const EmulateArguments& a) {
  Json out = Json::object();
  out["host"] = a.host;
  out["port"] = a.port;
  out["ports_each"] = a.ports == "each";
  out["admin"] = a.admin;
  out["speed"] = a.speed;
  out["drain_s"] = a.drain_s;
  out["bytes_per_token"] = a.bytes_per_token;
  out["answer_tokens"] = a.answer_tokens;
  out["tool_share"] = a.tool_share;
  out["most_streams"] = a.most_streams;
  out["request_s"] = a.request_s;
  out["quiet"] = a.run.quiet;
  if (!a.record.empty()) out["record"] = a.record;
  if (!a.kv_events.empty()) {
    Json& kv = out["kv_events"] = Json::object();
    kv["events"] = a.kv_events;
    if (!a.kv_replay.empty()) kv["replay"] = a.kv_replay;
    kv["topic"] = a.kv_topic;
    kv["seed"] = a.kv_seed;
  }
  if (!a.model_name.empty()) out["model_name"] = a.model_name;
  if (!a.startup_log.empty()) {
    out["startup_log"] = a.startup_log;
    out["startup_form"] = a.startup_form;
  }
  return out;
}

void check_scenario(const script::Scenario& scenario) {
  if (scenario.kind() != "serve") {
    throw Misused("emulate", "kind \"" + scenario.kind() +
                                 "\" serves no requests; only scenarios of kind \"serve\" do");
  }
  if (scenario.variants().size() == 1) return;
  throw Misused("emulate", "the scenario has " + std::to_string(scenario.variants().size()) +
                               " variants, and one of them is served; --set 'vary={}' leaves them "
                               "out");
}

int emulate_scenario(const EmulateArguments& given, const std::filesystem::path& home) {
  EmulateArguments a = given;
  a.run = sorted(a.run, "emulate");
  check_files({a.run.json, a.run.requests, a.run.trace, a.record, a.startup_log},
              {a.run.scenario, a.run.model});
  script::ScenarioOptions options;
  options.command = launch_command(a.run.command, a.run.engine, a.run.model, a.run.from);
  options.set = with_engine(options.command.is_given() ? "" : a.run.engine, a.run.set);
  options.seed = a.run.seed;
  script::Vm vm({.home = home});
  emulate::bind_emulate(vm);
  script::Scenario scenario = opened(vm, a.run, options);
  check_scenario(scenario);
  script::RunOutputs outputs;
  outputs.requests = a.run.requests;
  outputs.trace = a.run.trace;
  outputs.emulate = options_of(a);
  std::vector<script::VariantResult> results;
  results.push_back(scenario.run(0, false, outputs));
  print_report(report_text(scenario, results, "", a.run), a.run.wide);
  if (!a.run.json.empty()) write_document(scenario.document(results), a.run.json);
  return 0;
}

void add_server_options(const Command& command, EmulateArguments* a) {
  command.option("--port", a->port, "Where it listens; 0: any free port",
                 {.check = whole(0, 65535)});
  command.option("--host", a->host,
                 "The address; 0.0.0.0 lets other machines in, and there is no password");
  command.option("--speed", a->speed, "Seconds of the scenario in a second",
                 {.check = between(0.001, 1000)});
  command.option("--ports", a->ports, "each: replica i at port + i, and no router",
                 {.check = one_of({"each"})});
  command.flag("--admin", a->admin,
               "Serve /admin to programs of this machine: faults, policies, drain");
  command.option("--record", a->record,
                 "Write what came as a trace that replays to the same "
                 "schedule");
  command.option("--drain", a->drain_s, "Seconds that answers have to end in after a TERM",
                 {.check = between(0, 86400)});
  command.option("--model-name", a->model_name, "What clients call the model");
  command.option("--bytes-per-token", a->bytes_per_token, "Of prompts that are text",
                 {.check = between(1, 64)});
  command.option("--answer-tokens", a->answer_tokens,
                 "Of answers, where neither the client nor the workload says it",
                 {.check = whole(1, 1000000)});
  command.option("--tool-share", a->tool_share,
                 "Share of the requests with tools that are answered with a call",
                 {.check = between(0, 1)});
  command.option("--most-streams", a->most_streams, "Requests under way at once; more get 503",
                 {.check = whole(1, 100000)});
  command.option("--request-seconds", a->request_s,
                 "In which a connection must have sent its request", {.check = between(0.1, 3600)});
}

void add_kv_options(const Command& command, EmulateArguments* a) {
  command.option(
      "--kv-events", a->kv_events,
      "Tell over ZeroMQ which blocks caches hold: a port, or tcp://HOST:PORT; replica i at port + "
      "i");
  command.option("--kv-events-replay", a->kv_replay, "Where missed messages are sent again",
                 {.needs = "--kv-events"});
  command.option("--kv-events-topic", a->kv_topic,
                 "Of these messages; %replica in it is the replica's number, from 0",
                 {.needs = "--kv-events"});
  command.option("--kv-events-seed", a->kv_seed,
                 "The PYTHONHASHSEED of the engines, from which blocks are named",
                 {.needs = "--kv-events"});
}

void add_log_options(const Command& command, EmulateArguments* a) {
  command.option("--startup-log", a->startup_log,
                 "Write what the engine logs when it starts (- = stdout); %replica in it is the "
                 "replica's number, from 0");
  command.option("--startup-log-form", a->startup_form,
                 "plain; compose, kubectl: with a container's name in front; json: a line of the "
                 "container's log file",
                 {.check = one_of({"plain", "compose", "kubectl", "json"}),
                  .needs = "--startup-log"});
}

}  // namespace

void add_emulate(const Command& app) {
  const Command command =
      app.command("emulate", "Serve a scenario over HTTP, as the engine would, without a GPU");
  auto* a = new EmulateArguments;
  command.option("scenario", a->run.scenario, "A Lua file that returns a scenario; else --from");
  add_server_options(command, a);
  add_kv_options(command, a);
  add_log_options(command, a);
  add_served(command, a->run);
  command.option("--seed", a->run.seed, "Overrides the scenario's seed", {.check = seeds()});
  command.option("--json", a->run.json, "Write the result document to a file");
  command.option(
      "--requests", a->run.requests,
      "One row per request as CSV; to F.json, the result file of vLLM's serving benchmark");
  command.option("--trace", a->run.trace, "Write a Chrome/Perfetto trace");
  command.flag("--quiet", a->run.quiet, "No notes");
  command.runs([a](const std::filesystem::path& home) { return emulate_scenario(*a, home); });
}

}  // namespace rooflua::app
