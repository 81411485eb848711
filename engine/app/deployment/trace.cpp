// rooflua trace: a profiler's trace of an engine's steps against the prices of the same steps
// (scripts/lib/rooflua/profile).

#include "app/deployment/trace.h"

#include <filesystem>

#include "app/commands.h"
#include "app/deployment/asked.h"
#include "app/deployment/batch_option.h"
#include "app/options.h"
#include "app/output.h"
#include "base/error.h"
#include "base/gzip.h"
#include "base/json_text.h"
#include "measure/html/sections.h"
#include "script/vm/vm.h"

namespace rooflua::app {

namespace fs = std::filesystem;

namespace {

struct TraceArguments {
  std::vector<std::string> files, from;  // traces; files of a start
  std::string scenario, engine, command, model, hardware;
  std::vector<std::string> set;              // key=value
  std::string steps;                         // N..M
  std::vector<std::string> prefill, decode;  // the batch of every step
  std::optional<long> context;               // tokens before each decode
  std::string json, html, data;
};

/// Refuses a folder that has something in it: a GPU is not mixed with another one.
void check_new_folder(const std::string& folder) {
  std::error_code ignored;
  if (!folder.empty() && fs::exists(folder, ignored) && !fs::is_empty(folder, ignored))
    throw Error("--data " + folder, "is there already, with files in it; name a new folder");
}

/// Writes the tables of --data in front of those of the GPU that they were measured on.
/// @param written  {files: {name = text}, behind: the folder of that GPU}
void write_tables(const Json& written, const std::string& folder) {
  make_folder(folder);
  const fs::path to = folder, behind = written.find("behind")->text();
  for (const auto& each : fs::directory_iterator(behind))
    if (each.is_regular_file()) fs::copy_file(each.path(), to / each.path().filename());
  for (const Json::Member& file : written.find("files")->members()) {
    const fs::path path = to / file.key;
    const bool is_list = file.key == "tables.toml" && fs::exists(path);
    write_text((is_list ? read_text(path) + "\n" : "") + file.value.text(), path.string());
  }
}

int trace(const TraceArguments& arguments, const std::filesystem::path& home) {
  std::vector<std::string> read = arguments.files;
  if (!arguments.scenario.empty()) read.push_back(arguments.scenario);
  check_files({arguments.json, arguments.html}, read);
  check_new_folder(arguments.data);
  Json options = Json::object();
  options["files"] = texts_json(arguments.files);
  put(options, "scenario", arguments.scenario);
  put(options, "hardware", arguments.hardware);
  const script::LaunchCommand command =
      launch_command(arguments.command, arguments.engine, arguments.model, arguments.from);
  if (command.is_given() == !arguments.scenario.empty())
    throw Misused("trace", command.is_given()
                               ? "--scenario and --command: give one of them"
                               : "needs --scenario FILE, or --command \"vllm serve ...\" "
                                 "--hardware GPU: what the trace is compared with");
  if (command.is_given()) {
    if (arguments.hardware.empty() && arguments.from.empty())
      throw Misused("trace", "--hardware: on which GPU does the command run?");
    options["command"] = command.json();
  }
  options["set"] =
      texts_json(with_engine(command.is_given() ? "" : arguments.engine, arguments.set));
  put(options, "steps", arguments.steps);
  put(options, "context", arguments.context);
  put(options, "data", arguments.data);
  if (!arguments.prefill.empty() || !arguments.decode.empty())
    options["batch"] = batch_of(arguments.prefill, arguments.decode, "trace");
  options["page"] = !arguments.html.empty();
  script::Vm vm({.home = home, .print_to_stderr = arguments.json == "-"});
  const Json found = vm.call("rooflua.profile.command", "run", {options});
  if (arguments.json != "-") print_report(text_of(found, "text"), false);
  if (!arguments.json.empty()) write_document(*found.find("document"), arguments.json);
  if (!arguments.html.empty())
    write_text(html::described_page(*found.find("page")), arguments.html);
  if (!arguments.data.empty()) write_tables(*found.find("written"), arguments.data);
  return 0;
}

}  // namespace

void add_trace(const Command& app) {
  const Command command = app.command(
      "trace", "A profiler's trace (torch, Nsight Systems): which operation is slow, and why");
  auto* a = new TraceArguments;
  command.option("file", a->files, "Traces of one run, a file per rank: JSON, .json.gz, .sqlite",
                 {.required = true});
  command.option("--scenario", a->scenario, "The scenario whose steps are recorded; else --command",
                 {.check = given()});
  add_command(command, a->command, &a->model);
  add_from(command, a->from);
  command.option("--engine", a->engine, engine_help);
  command.option("--hardware", a->hardware,
                 "With --command, in place of a scenario: a shipped GPU or hardware.toml");
  command.option("--set", a->set, "key=value, as in run", {.repeated = true});
  command.option("--steps", a->steps, "N..M: only these steps of the trace, from 1",
                 {.check = given()});
  command.option("--prefill", a->prefill, "CTX+NEW,...: prefill chunks of every step",
                 {.split = true});
  command.option("--decode", a->decode, "CTXxCOUNT,...: decodes of every step", {.split = true});
  command.option("--context", a->context,
                 "Tokens before each decode, where the trace tells their number alone",
                 {.check = whole(1, 100000000)});
  command.option("--data", a->data, "Write the kernels as tables of a GPU into this folder",
                 {.check = given()});
  command.option("--html", a->html, "Write the answer as one page");
  command.option("--json", a->json, "Write the answer to a file (- = stdout, alone)");
  command.runs([a](const std::filesystem::path& home) { return trace(*a, home); });
}

}  // namespace rooflua::app
