// Every command, its options, and the function of app/commands.h that it calls.

#include <cmath>
#include <cstdio>

#include "app/campaign/campaign.h"
#include "app/command_line.h"
#include "app/commands.h"
#include "app/deployment/trace.h"
#include "app/options.h"
#include "app/output.h"
#include "app/quote.h"
#include "app/results/options.h"
#include "app/shell/completion.h"
#include "app/usage.h"
#include "base/build_stamp.h"
#include "base/error.h"
#include "base/log.h"
#include "base/packed/documents.h"
#include "script/packed_library.h"
#include "script/published_reader.h"
#include "script/vm/compiled_chunks.h"
#include "script/vm/interrupt.h"

namespace {

using namespace rooflua;
using app::between;
using app::Command;
using app::seeds;
namespace fs = std::filesystem;

void add_run(const Command& app) {
  const Command command = app.command("run", "Run a scenario and print its report");
  auto* a = new app::RunArguments;  // lives as long as the program: the options point into it
  command.option("scenario", a->scenario, "A Lua file that returns a scenario; or --from");
  command.option("--set", a->set, "key=value: any declared parameter (steps.prefill_divisor=2.0)",
                 {.repeated = true});
  command.option("--engine", a->engine, app::engine_help);
  app::add_command(command, a->command, &a->model);
  app::add_from(command, a->from);
  command.option("--hardware", a->hardware, "With --from, without a scenario: the GPU");
  command.option("--bench", a->bench, app::bench_help, {.check = app::given()});
  command.option("--users", a->users, app::users_help, {.check = app::whole(1, 1000000)});
  command.option("--seed", a->seed, "Overrides the scenario's seed", {.check = seeds()});
  command.option("--jobs", a->jobs, "Worker processes for variants, or for the replicas of one",
                 {.check = app::whole(1, 1024)});
  command.option("--results", a->results,
                 "Keep every run in this SQLite file; a second time only missing ones are "
                 "run. A folder (DIR/) "
                 "is read as a whole",
                 {.check = app::given()});
  command.option("--shard", a->shard,
                 "Do part I (from 0) of N of the runs, and keep them in the folder of "
                 "--results; auto/N: which, the engine of the cluster says",
                 {.check = app::given()});
  command.option("--round", a->round,
                 "Of a search or plan, with --shard: do the own part of its next round only; "
                 "FILE has the runs of the rounds before",
                 {.check = app::given()});
  command.option("--json", a->json, "Write the result document to a file (- = stdout, alone)");
  command.option(
      "--requests", a->requests,
      "One row per request as CSV; to F.json, the result file of vLLM's serving benchmark");
  command.option("--trace", a->trace, "Write a Chrome/Perfetto trace");
  command.option("--html", a->html, "Write a report as one self-contained page");
  command.option("--write", a->write,
                 "FORMAT=FILE, the run as a file of another tool: aiperf, guidellm, inferencex, "
                 "llm-d, otlp",
                 {.repeated = true});
  command.option("--as", a->as, "The report as a benchmark tool prints it: vllm, sglang or aiperf");
  command.option("--why", a->why,
                 "Say where the time of request N went (from 0, by arrival), or of the slowest: "
                 "slowest, slowest_ttft, slowest_tpot; or of a play: play:N (from 1), "
                 "play:slowest, play:p50, play:NAME",
                 {.check = app::request_word()});
  command.flag("--explain", a->explain, "Print the price of a step operation by operation");
  app::add_intervals(command, a->intervals);
  command.option("--strict", a->strict_percent,
                 "Exit 1 if more than PERCENT of the time is extrapolated, stand_in, modelled or assumed",
                 {.check = between(0, 100), .alone = "0"});
  command.flag("--trusted", a->trusted, "Give the scenario the full standard library");
  command.option("--timeout", a->timeout_s,
                 "CPU seconds (of each variant with --jobs) after which it is stopped; what is "
                 "known is reported; 0 = never",
                 {.check = between(0, 1e9)});
  command.flag("--jit-log", a->jit_log, "Report Lua lines that could not be compiled");
  command.flag("--no-jit", a->no_jit, "Interpret all scripts: the same bytes, slower");
  command.flag("--quiet", a->quiet, "No progress, no notes");
  command.option("--progress", a->progress,
                 "Write how far the run is to a file, as lines of JSON, ten a second at most");
  command.flag("--wide", a->wide, "All columns of tables, whatever the terminal's width");
  command.runs([a](const fs::path& home) { return app::run(*a, home); });
}

void add_step(const Command& app) {
  const Command command = app.command("step", "Price one step of a batch");
  auto* a = new app::StepArguments;
  command.option("--model", a->model,
                 "A shipped model, config.json or .toml; with --command in place of its own");
  app::add_words(command, a->words);
  command.option("--hardware", a->hardware, "A shipped GPU or hardware.toml");
  command.option("--engine", a->engine, app::engine_help);
  app::add_command(command, a->command, nullptr);
  app::add_from(command, a->from);
  command.option("--tp", a->tp, "Tensor parallel degree", {.check = app::bounds_of("tp")});
  command.option("--weights", a->weights,
                 "Format of the weights, or a release of the model (list models)");
  command.option("--kv", a->kv, "Format of the KV cache");
  command.option("--steps", a->steps, "Step model NAME[:PRESET]");
  command.option("--set", a->set, "key=value of the step model, or of the deployment (ep=8)",
                 {.repeated = true});
  command.option("--prefill", a->prefill, "CTX+NEW,...: prefill chunks", {.split = true});
  command.option("--images", a->images,
                 "WxH,...: images in pixels, whose encoder runs in front of the step", {.split = true});
  command.option("--decode", a->decode, "CTXxCOUNT,...: decodes", {.split = true});
  command.flag("--explain", a->explain, "Operation by operation");
  app::add_intervals(command, a->intervals);
  command.flag("--wide", a->wide, "All columns of tables, whatever the terminal's width");
  command.option("--json", a->json, "Write the result document to a file (- = stdout, alone)");
  command.runs([a](const fs::path& home) { return app::step(*a, home); });
}

void add_validate(const Command& app) {
  const Command command = app.command("validate", "Compare with measured runs: the error table");
  auto* a = new app::ValidateArguments;
  command.option("cases", a->folder, "Folder with sets of measured runs, or the CSV of one",
                 {.required = true, .check = app::existing()});
  command.option("--tables", a->tables,
                 "Folder of kernel tables (default: `tables` in the same folder)",
                 {.check = app::existing()});
  command.option("--only", a->only, "Only cases with this in their case_id, of all sets");
  command.option("--steps", a->steps, "Step model to compare, the first is the main one",
                 {.repeated = true});
  command.option("--set", a->set,
                 "key=value of the main step model; of one kind of sets: engine.KEY, interval.KEY, "
                 "speculation.KEY, drafter.KEY, silicon.KEY",
                 {.repeated = true});
  command.option("--intervals", a->intervals,
                 "So many replicates per case from errors of tables and model: 90 % intervals",
                 {.check = app::whole(0, 1000)});
  command.option("--jobs", a->jobs, "Worker processes for cases", {.check = app::whole(1, 1024)});
  command.flag("--wide", a->wide, "Report every row of closed loops and of start-ups");
  command.option("--json", a->json, "Write the errors to a file (- = stdout, alone)");
  command.option("--html", a->html, "Write a page with plots");
  command.option("--record", a->record, "Write the tables of errors as Markdown");
  command.runs([a](const fs::path& home) { return app::validate(*a, home); });
}

void add_calibrate(const Command& app) {
  const Command command =
      app.command("calibrate", "Fit a scenario's parameters to your own measured runs");
  auto* a = new app::CalibrateArguments;
  command.option("scenario", a->scenario, "A scenario of kind serve", {.required = true});
  command.option(
      "--measured", a->measured,
      "Result of a benchmark tool (docs/CALIBRATING.md), a CSV of requests, or a log of an "
      "engine's steps; repeatable",
      {.required = true, .repeated = true});
  command.option("--params", a->params, "Key paths to fit: steps.host_step_s,frontend.base_s",
                 {.split = true});
  command.option("--objective", a->objective, "mean (default) or median of relative errors");
  command.option("--evaluations", a->evaluations, "Simulations per fit (150)",
                 {.check = app::whole(1, 1000000)});
  command.option("--jobs", a->jobs, "Worker processes for the fits without a part of the data",
                 {.check = app::whole(1, 1024)});
  command.flag("--quiet", a->quiet, "No progress bar");
  command.option("--set", a->set, "key=value of the scenario", {.repeated = true});
  command.option("--seed", a->seed, "Overrides the scenario's seed", {.check = seeds()});
  command.option("--json", a->json, "Write the result document to a file (- = stdout, alone)");
  command.runs([a](const fs::path& home) { return app::calibrate(*a, home); });
}

void add_data(const Command& app) {
  const Command command =
      app.command("data", "Kernel tables: list, describe, verify, import, compare, add, family");
  command.needs_command();
  auto* a = new app::DataArguments;
  const Command list = command.command("list", "GPUs and their tables");
  list.runs([](const fs::path& home) { return app::data_list(home); });
  const Command describe = command.command("describe", "One GPU, or a folder of tables");
  const Command verify = command.command("verify", "What is wrong with a folder of tables");
  const Command import = command.command("import", "Copy other people's tables into our layout");
  for (const Command& each : {describe, verify, import}) {
    const bool copies = each.name == "import";
    each.option("path", a->path, each.name == "describe" ? "GPU or folder" : "Folder",
                {.required = true});
    each.option("--layout", a->layout, "rooflua, infersim, blis or aic", {.required = copies});
    each.option("--gpu", a->gpu, "Which GPU of the folder", {.required = copies});
  }
  const Command compare = command.command(
      "compare", "What the tables of one GPU or folder say of the rows of another, and back");
  compare.option("path", a->path, "GPU or folder", {.required = true});
  compare.option("reference", a->reference, "GPU or folder", {.required = true});
  compare.option("--layout", a->layout, "Of folders: rooflua, infersim, blis or aic");
  compare.option("--gpu", a->gpu, "Which GPU of a folder of several");
  import.option("--to", a->to, "Folder that gets <gpu>/<table>.csv", {.required = true});
  import.option("--engine-version", a->engine_version,
                "Of the engine that has it, this version (the newest); layout aic");
  import.flag("--all-rows", a->all_rows,
              "Also files and rows that are known to be wrong; layout aic");
  import.option("--thin", a->thin_percent,
                "Leave out rows that follow from their neighbours within PERCENT (none)",
                {.check = between(0.01, 50)});
  const Command add = command.command(
      "add", "Check a folder that was measured, and install it as a GPU with a name");
  add.option("path", a->path, "Folder with hardware.toml and tables", {.required = true});
  add.option("--name", a->name, "Name of the GPU (that of hardware.toml, else of the folder)", {.check = app::given()});
  add.option("--to", a->to, "Folder of GPUs ($ROOFLUA_GPUS, else ~/.local/share/rooflua/gpus)",
             {.check = app::given()});
  add.option("--for", a->scenario,
             "A scenario: which of its kernels are not measured, and what each is worth",
             {.check = app::existing()});
  add.option("--set", a->set, "key=value of that scenario", {.repeated = true});
  add.flag("--dry-run", a->dry_run, "Check and report only; nothing is written");
  add.flag("--replace", a->replace, "Put an older folder of that name aside");
  add.option("--json", a->json, "Write the findings to a file (- = stdout, alone)");
  const Command family = command.command(
      "family", "Fit the constants of the kernel model to the rows of a folder");
  family.option("path", a->path, "Folder with hardware.toml and tables", {.required = true});
  family.flag("--write", a->write, "Write them to family.toml in the folder, which then answers");
  family.option("--json", a->json, "Write the findings to a file (- = stdout, alone)");
  const auto opens = [a](const Command& sub, auto function) {
    sub.runs([a, function](const fs::path& home) { return function(*a, home); });
  };
  opens(describe, app::data_describe);
  opens(verify, app::data_verify);
  opens(import, app::data_import);
  opens(compare, app::data_compare);
  opens(add, app::data_add);
  opens(family, app::data_family);
}

void add_check(const Command& app) {
  const Command check = app.command("check", "Find mistakes in scenarios without running them");
  auto* checked = new app::CheckArguments;
  check.option("scenario", checked->scenarios, "Lua files; or --from");
  check.option("--set", checked->set, "key=value, as in run", {.repeated = true});
  check.option("--engine", checked->engine, app::engine_help);
  app::add_command(check, checked->command, &checked->model);
  app::add_from(check, checked->from);
  check.option("--hardware", checked->hardware, "With --from, without a scenario: the GPU");
  check.option("--json", checked->json, "Write the findings to a file (- = stdout, alone)");
  check.runs([=](const fs::path& home) { return app::check(*checked, home); });
}

void add_repl(const Command& app) {
  const Command repl = app.command("repl", "Lua at the prompt, over a live simulation");
  auto* opened = new std::string;
  repl.option("scenario", *opened, "A Lua file that returns a scenario");
  repl.runs([=](const fs::path& home) { return app::repl(*opened, home); });
}

void add_diff(const Command& app) {
  const Command diff =
      app.command("diff", "Compare two result documents, files of requests, or schedules; exit 1 if they differ");
  auto* files = new std::pair<std::string, std::string>;
  auto* tolerance = new double(0.0);
  auto* schedule = new bool(false);
  diff.option("a", files->first, "A.json", {.required = true});
  diff.option("b", files->second, "B.json", {.required = true});
  diff.option("--tolerance", *tolerance, "Largest relative difference that is allowed",
              {.check = between(0, HUGE_VAL)});
  diff.flag("--schedule", *schedule,
            "Compare steps, token for token: files of run --trace, iteration.jsonl of SGLang's "
            "simulator, logs of vLLM's iterations",
            {.excludes = "--tolerance"});
  diff.runs([=](const fs::path& home) {
    return *schedule ? app::diff_schedules(files->first, files->second, home)
                     : app::diff(files->first, files->second, *tolerance, home);
  });
}

void add_lua(const Command& app) {
  const Command lua = app.command("lua", "Run a Lua file, trusted, with the library on its path");
  lua.takes_all_words();
  lua.runs([lua](const fs::path& home) { return app::lua(lua.words_left(), home); });
}

void add_list(const Command& app) {
  const Command list = app.command("list", "What can be named in a scenario");
  auto* kind = new std::string;
  list.option("kind", *kind,
              "models, hardware, engines or a kind of policies, such as schedulers; without one: "
              "all kinds");
  auto* flags = new app::ListFlags;
  list.flag("--aliases", flags->aliases, "Of models: every alias, and the format of its weights");
  list.flag("--age", flags->age,
            "Of engines: at which release each rule was last read, and the code that decides it");
  list.runs([=](const fs::path& home) { return app::list(*kind, *flags, home); });
}

void add_completion(const Command& app) {
  const Command command = app.command("completion", "Print the completion script of a shell");
  auto* shell = new std::string;
  command.option("shell", *shell, "bash, zsh or fish", {.required = true});
  command.runs([=](const fs::path&) {
    std::fputs(app::completion_script(*shell).c_str(), stdout);
    return 0;
  });
}

/// Where the library is, for the options that it declares; empty where the line asks for none.
fs::path home_of_options(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "plan" || word == "--man") return app::find_home(argv[0]);
  }
  return {};
}

/// Adds every command, in the order of the help.
void add_commands(const Command& app, const fs::path& home) {
  for (const auto add : {add_run, app::add_lab, app::add_emulate, add_step, app::add_capacity}) add(app);
  app::add_plan(app, home);
  app::add_advise(app);
  app::add_upgrade(app);
  app::add_trace(app);
  app::add_attach(app);
  for (const auto add : {add_calibrate, app::add_check_run, add_data, add_validate, add_check,
                         app::add_new, add_repl, add_diff, add_lua, add_list, add_completion,
                         app::add_help, app::add_results, app::add_files, app::add_campaign})
    add(app);
}

/// `rooflua __complete WORDS`: asked by the scripts of `completion`, before the line is parsed.
int complete(const Command& app, int argc, char** argv) {
  const std::vector<std::string> words(argv + 2, argv + argc);
  std::fputs(app::completions(app, words, app::find_home(argv[0])).c_str(), stdout);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const app::CommandLine line(
      "rooflua",
      "rooflua: what does a step of LLM inference cost, and what happens if you serve "
      "differently?");
  const Command app = line.program();
  app.needs_command();
  app.answer(
      "--version", [] { return std::string("rooflua ") + build_stamp(); },
      "Display program version information and exit");
  app.answer(
      "--python-path", [argv] { return (app::find_home(argv[0]) / "scripts" / "python").string(); },
      "Print the folder of the Python package, for PYTHONPATH");
  script::use_packed_library(script::packed_library());
  use_packed_documents(script::packed_documents());
  try {
    add_commands(app, home_of_options(argc, argv));
  } catch (const Error& error) {
    app::complain(error.what(), {});
    return 1;
  }
  if (argc >= 2 && std::string_view(argv[1]) == "__complete") return complete(app, argc, argv);
  if (argc < 2) {
    std::fputs(app::first_steps(app).c_str(), stdout);
    return 0;
  }
  app::Door door;
  try {
    app::check_command(app, argc, argv);
    door = line.parse(argc, argv);
  } catch (const Error& error) {
    std::fprintf(stderr, "rooflua: %s\n", error.what());
    return 2;
  } catch (const app::Misread& problem) {
    return app::refuse(app, problem);
  }
  fs::path home;
  try {
    home = app::find_home(argv[0]);
    script::read_published_tables(home);
    const int status = door(home);
    app::finish_output();
    return status;
  } catch (const app::Misused& error) {
    app::complain(error.what(), home);
    return 2;
  } catch (const Error& error) {
    app::complain(error.what(), home);
    const bool stopped = script::last_stop() == script::StopReason::interrupted;
    return stopped ? script::interrupted_status() : 1;
  } catch (const fs::filesystem_error& error) {  // a path or the disk is at fault
    app::complain(message_of(error), home);
    return 1;
  } catch (const std::bad_alloc& error) {
    app::complain(message_of(error), home);
    return 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rooflua: internal error: %s\n", error.what());
    return 70;
  }
}
