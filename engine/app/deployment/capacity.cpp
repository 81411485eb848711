// rooflua capacity: how many tokens the KV cache of an engine holds, and whether it would start
// (scripts/lib/rooflua/serving/capacity.lua).

#include <cstdio>

#include "app/commands.h"
#include "app/options.h"
#include "app/output.h"
#include "app/quote.h"
#include "base/json_text.h"
#include "script/vm/vm.h"

namespace rooflua::app {

namespace {

/// The deployment as a scenario has it.
Json given_by(const CapacityArguments& arguments) {
  Json given = Json::object(), deployment = Json::object();
  if (!arguments.hardware.empty()) given["hardware"] = arguments.hardware;
  if (!arguments.command.empty() || !arguments.from.empty()) return given;
  given["model"] = model_given(arguments.model, arguments.words);
  if (!arguments.engine.empty()) given["engine"] = arguments.engine;
  const std::pair<const char*, int> widths[] = {
      {"tp", arguments.tp}, {"pp", arguments.pp}, {"dp", arguments.dp}, {"ep", arguments.ep}};
  for (const auto& [key, value] : widths)
    if (value > 0) deployment[key] = value;
  if (!arguments.weights.empty()) deployment["weights"] = arguments.weights;
  if (!arguments.kv.empty()) deployment["kv"] = arguments.kv;
  given["deployment"] = std::move(deployment);
  return given;
}

}  // namespace

void add_capacity(const Command& app) {
  const Command command =
      app.command("capacity",
                  "Tokens of the KV cache as the engine prints them; whether it "
                  "would start (exit 1 if not)");
  auto* a = new CapacityArguments;
  command.option("--model", a->model,
                 "A shipped model, config.json or .toml; with --command in place of its own");
  add_words(command, a->words);
  command.option("--hardware", a->hardware, "A shipped GPU or hardware.toml");
  command.option("--engine", a->engine, engine_help);
  add_command(command, a->command, nullptr);
  add_from(command, a->from);
  const std::pair<const char*, int*> widths[] = {
      {"--tp", &a->tp}, {"--pp", &a->pp}, {"--dp", &a->dp}, {"--ep", &a->ep}};
  const char* docs[] = {"Tensor parallel degree", "Stages of layers",
                        "Data-parallel ranks of the attention", "Ranks with whole experts"};
  for (std::size_t i = 0; i < std::size(widths); ++i)
    command.option(widths[i].first, *widths[i].second, docs[i],
                   {.check = bounds_of(widths[i].first + 2)});
  command.option("--weights", a->weights,
                 "Format of the weights, or a release of the model (list models)");
  command.option("--kv", a->kv, "Format of the KV cache");
  command.option("--set", a->set,
                 "key=value of the deployment (max_model_len=8192), of the engine "
                 "(engine.max_num_seqs=64) or the scheduler",
                 {.repeated = true});
  command.option("--json", a->json, "Write the ledger to a file (- = stdout, alone)");
  command.runs([a](const std::filesystem::path& home) { return capacity(*a, home); });
}

int capacity(const CapacityArguments& arguments, const std::filesystem::path& home) {
  check_files({arguments.json}, {arguments.model});
  const script::LaunchCommand command =
      deployed("capacity", arguments.command, arguments.engine, arguments.model, arguments.hardware,
               arguments.from);
  check_launched("capacity", command,
                 {{"--tp", arguments.tp > 0},
                  {"--pp", arguments.pp > 0},
                  {"--dp", arguments.dp > 0},
                  {"--ep", arguments.ep > 0},
                  {"--weights", !arguments.weights.empty()},
                  {"--kv", !arguments.kv.empty()},
                  {"--ignore", !arguments.words.ignore.empty()},
                  {"--read-as", !arguments.words.read_as.empty()}});
  script::Vm vm({.home = home, .print_to_stderr = arguments.json == "-"});
  const Json answer = vm.call("rooflua.program.capacity", "command",
                              {given_by(arguments), texts_json(arguments.set), command.json()});
  if (arguments.json != "-") std::printf("%s\n", printable(text_of(answer, "text")).c_str());
  if (!arguments.json.empty()) write_document(*answer.find("document"), arguments.json);
  return answer.find("starts")->boolean() ? 0 : 1;
}

}  // namespace rooflua::app
