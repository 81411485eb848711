// Every command, its options, and the function of app/commands.h that it calls.

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdio>

#include "app/campaign/campaign.h"
#include "app/commands.h"
#include "app/options.h"
#include "app/output.h"
#include "app/quote.h"
#include "app/results/options.h"
#include "app/shell/completion.h"
#include "app/usage.h"
#include "base/build_stamp.h"
#include "base/error.h"
#include "base/log.h"
#include "script/packed_library.h"
#include "script/published_reader.h"
#include "script/vm/compiled_chunks.h"
#include "script/vm/interrupt.h"

namespace {

using namespace rooflua;
using app::between;
using app::Door;
using app::seeds;
namespace fs = std::filesystem;

void add_run(CLI::App& app, Door& door) {
  auto* command = app.add_subcommand("run", "Run a scenario and print its report");
  auto* a = new app::RunArguments;  // lives as long as the program: the options point into it
  command->add_option("scenario", a->scenario, "A Lua file that returns a scenario")->required();
  command
      ->add_option("--set", a->set, "key=value: any declared parameter (steps.prefill_divisor=2.0)")
      ->allow_extra_args(false);
  command->add_option("--engine", a->engine, app::engine_help);
  app::add_command(command, a->command, &a->model);
  command->add_option("--seed", a->seed, "Overrides the scenario's seed")->check(seeds());
  command
      ->add_option("--jobs", a->jobs, "Worker processes for variants, or for the replicas of one")
      ->check(app::whole(1, 1024));
  command
      ->add_option("--results", a->results,
                   "Keep every run in this SQLite file; a second time only missing ones are "
                   "run. A folder (DIR/) "
                   "is read as a whole")
      ->check(app::given());
  command
      ->add_option("--shard", a->shard,
                   "Do part I (from 0) of N of the runs, and keep them in the folder of "
                   "--results; auto/N: which, the engine of the cluster says")
      ->check(app::given());
  command
      ->add_option("--round", a->round,
                   "Of a search or plan, with --shard: do the own part of its next round only; "
                   "FILE has the runs of the rounds before")
      ->check(app::given());
  command->add_option("--json", a->json, "Write the result document to a file (- = stdout, alone)");
  command->add_option(
      "--requests", a->requests,
      "One row per request as CSV; to F.json, the result file of vLLM's serving benchmark");
  command->add_option("--trace", a->trace, "Write a Chrome/Perfetto trace");
  command->add_option("--html", a->html, "Write a report as one self-contained page");
  command
      ->add_option("--write", a->write,
                   "FORMAT=FILE, the run as a file of another tool: aiperf, guidellm, inferencex, "
                   "llm-d, otlp")
      ->allow_extra_args(false);
  command
      ->add_option("--why", a->why,
                   "Say where the time of request N went (from 0, by arrival), or of the slowest: "
                   "slowest, slowest_ttft, slowest_tpot; or of a play: play:N (from 1), "
                   "play:slowest, play:p50, play:NAME")
      ->check(app::request_word());
  command->add_flag("--explain", a->explain, "Print the price of a step operation by operation");
  app::add_intervals(command, a->intervals);
  command
      ->add_option("--strict", a->strict_percent,
                   "Exit 1 if more than PERCENT of the time is extrapolated, stand_in or assumed")
      ->expected(0, 1)
      ->check(between(0, 100))
      ->default_str("0");
  command->add_flag("--trusted", a->trusted, "Give the scenario the full standard library");
  command
      ->add_option("--timeout", a->timeout_s,
                   "CPU seconds (of each variant with --jobs) after which it is stopped; what is "
                   "known is reported; 0 = never")
      ->check(between(0, 1e9));
  command->add_flag("--jit-log", a->jit_log, "Report Lua lines that could not be compiled");
  command->add_flag("--no-jit", a->no_jit, "Interpret all scripts: the same bytes, slower");
  command->add_flag("--quiet", a->quiet, "No progress, no notes");
  command->add_flag("--wide", a->wide, "All columns of tables, whatever the terminal's width");
  command->callback(
      [a, &door] { door = [a](const fs::path& home) { return app::run(*a, home); }; });
}

void add_step(CLI::App& app, Door& door) {
  auto* command = app.add_subcommand("step", "Price one step of a batch");
  auto* a = new app::StepArguments;
  command->add_option("--model", a->model,
                      "A shipped model, config.json or .toml; with --command in place of its own");
  app::add_ignore(command, a->ignore);
  command->add_option("--hardware", a->hardware, "A shipped GPU or hardware.toml")->required();
  command->add_option("--engine", a->engine, app::engine_help);
  app::add_command(command, a->command, nullptr);
  command->add_option("--tp", a->tp, "Tensor parallel degree")->check(app::bounds_of("tp"));
  command->add_option("--weights", a->weights,
                      "Format of the weights, or a release of the model (list models)");
  command->add_option("--kv", a->kv, "Format of the KV cache");
  command->add_option("--steps", a->steps, "Step model NAME[:PRESET]");
  command->add_option("--set", a->set, "key=value of the step model, or of the deployment (ep=8)")
      ->allow_extra_args(false);
  command->add_option("--prefill", a->prefill, "CTX+NEW,...: prefill chunks")->delimiter(',');
  command->add_option("--decode", a->decode, "CTXxCOUNT,...: decodes")->delimiter(',');
  command->add_flag("--explain", a->explain, "Operation by operation");
  app::add_intervals(command, a->intervals);
  command->add_flag("--wide", a->wide, "All columns of tables, whatever the terminal's width");
  command->add_option("--json", a->json, "Write the result document to a file (- = stdout, alone)");
  command->callback(
      [a, &door] { door = [a](const fs::path& home) { return app::step(*a, home); }; });
}

void add_validate(CLI::App& app, Door& door) {
  auto* command = app.add_subcommand("validate", "Compare with measured runs: the error table");
  auto* a = new app::ValidateArguments;
  command->add_option("cases", a->folder, "Folder with sets of measured runs, or the CSV of one")
      ->required()
      ->check(app::existing());
  command
      ->add_option("--tables", a->tables,
                   "Folder of kernel tables (default: `tables` in the same folder)")
      ->check(app::existing());
  command->add_option("--only", a->only, "Only cases with this in their case_id, of all sets");
  command->add_option("--steps", a->steps, "Step model to compare, the first is the main one")
      ->allow_extra_args(false);
  command
      ->add_option(
          "--set", a->set,
          "key=value of the main step model; of one kind of sets: engine.KEY, interval.KEY, "
          "speculation.KEY, drafter.KEY, silicon.KEY")
      ->allow_extra_args(false);
  command
      ->add_option("--intervals", a->intervals,
                   "So many replicates per case from errors of tables and model: 90 % intervals")
      ->check(app::whole(0, 1000));
  command->add_option("--jobs", a->jobs, "Worker processes for cases")->check(app::whole(1, 1024));
  command->add_flag("--wide", a->wide, "Report every row of closed loops and of start-ups");
  command->add_option("--json", a->json, "Write the errors to a file (- = stdout, alone)");
  command->add_option("--html", a->html, "Write a page with plots");
  command->add_option("--record", a->record, "Write the tables of errors as Markdown");
  command->callback(
      [a, &door] { door = [a](const fs::path& home) { return app::validate(*a, home); }; });
}

void add_calibrate(CLI::App& app, Door& door) {
  auto* command =
      app.add_subcommand("calibrate", "Fit a scenario's parameters to your own measured runs");
  auto* a = new app::CalibrateArguments;
  command->add_option("scenario", a->scenario, "A scenario of kind serve")->required();
  command
      ->add_option(
          "--measured", a->measured,
          "Result of a benchmark tool (docs/CALIBRATING.md), a CSV of requests, or a log of an "
          "engine's steps; repeatable")
      ->required()
      ->allow_extra_args(false);
  command->add_option("--params", a->params, "Key paths to fit: steps.host_step_s,frontend.base_s")
      ->delimiter(',');
  command->add_option("--objective", a->objective, "mean (default) or median of relative errors");
  command->add_option("--evaluations", a->evaluations, "Simulations per fit (150)")
      ->check(app::whole(1, 1000000));
  command->add_option("--jobs", a->jobs, "Worker processes for the fits without a part of the data")
      ->check(app::whole(1, 1024));
  command->add_flag("--quiet", a->quiet, "No progress bar");
  command->add_option("--set", a->set, "key=value of the scenario")->allow_extra_args(false);
  command->add_option("--seed", a->seed, "Overrides the scenario's seed")->check(seeds());
  command->add_option("--json", a->json, "Write the result document to a file (- = stdout, alone)");
  command->callback(
      [a, &door] { door = [a](const fs::path& home) { return app::calibrate(*a, home); }; });
}

void add_data(CLI::App& app, Door& door) {
  auto* command =
      app.add_subcommand("data", "Kernel tables: list, describe, verify, import, compare, add");
  command->require_subcommand(1);
  auto* a = new app::DataArguments;
  auto* list = command->add_subcommand("list", "GPUs and their tables");
  list->callback([&door] { door = [](const fs::path& home) { return app::data_list(home); }; });
  auto* describe = command->add_subcommand("describe", "One GPU, or a folder of tables");
  auto* verify = command->add_subcommand("verify", "What is wrong with a folder of tables");
  auto* import = command->add_subcommand("import", "Copy other people's tables into our layout");
  for (auto* each : {describe, verify, import}) {
    each->add_option("path", a->path, each == describe ? "GPU or folder" : "Folder")->required();
    auto* layout = each->add_option("--layout", a->layout, "rooflua, infersim, blis or aic");
    auto* gpu = each->add_option("--gpu", a->gpu, "Which GPU of the folder");
    if (each == import) {
      layout->required();
      gpu->required();
    }
  }
  auto* compare = command->add_subcommand(
      "compare", "What the tables of one GPU or folder say of the rows of another, and back");
  compare->add_option("path", a->path, "GPU or folder")->required();
  compare->add_option("reference", a->reference, "GPU or folder")->required();
  compare->add_option("--layout", a->layout, "Of folders: rooflua, infersim, blis or aic");
  compare->add_option("--gpu", a->gpu, "Which GPU of a folder of several");
  import->add_option("--to", a->to, "Folder that gets <gpu>/<table>.csv")->required();
  import->add_option("--engine-version", a->engine_version,
                     "Of the engine that has it, this version (the newest); layout aic");
  import->add_flag("--all-rows", a->all_rows,
                   "Also files and rows that are known to be wrong; layout aic");
  import
      ->add_option("--thin", a->thin_percent,
                   "Leave out rows that follow from their neighbours within PERCENT (none)")
      ->check(between(0.01, 50));
  auto* add = command->add_subcommand(
      "add", "Check a folder that was measured, and install it as a GPU with a name");
  add->add_option("path", a->path, "Folder with hardware.toml and tables")->required();
  add->add_option("--name", a->name, "Name of the GPU (that of the folder)")->check(app::given());
  add->add_option("--to", a->to, "Folder of GPUs ($ROOFLUA_GPUS, else ~/.local/share/rooflua/gpus)")
      ->check(app::given());
  add->add_option("--for", a->scenario,
                  "A scenario: which of its kernels are not measured, and what each is worth")
      ->check(app::existing());
  add->add_option("--set", a->set, "key=value of that scenario")->allow_extra_args(false);
  add->add_flag("--dry-run", a->dry_run, "Check and report only; nothing is written");
  add->add_flag("--replace", a->replace, "Put an older folder of that name aside");
  add->add_option("--json", a->json, "Write the findings to a file (- = stdout, alone)");
  const auto opens = [a, &door](auto* sub, auto function) {
    sub->callback([a, &door, function] {
      door = [a, function](const fs::path& home) { return function(*a, home); };
    });
  };
  opens(describe, app::data_describe);
  opens(verify, app::data_verify);
  opens(import, app::data_import);
  opens(compare, app::data_compare);
  opens(add, app::data_add);
}

void add_check(CLI::App& app, Door& door) {
  auto* check = app.add_subcommand("check", "Find mistakes in scenarios without running them");
  auto* checked = new app::CheckArguments;
  check->add_option("scenario", checked->scenarios, "Lua files")->required();
  check->add_option("--set", checked->set, "key=value, as in run")->allow_extra_args(false);
  check->add_option("--engine", checked->engine, app::engine_help);
  app::add_command(check, checked->command, &checked->model);
  check->add_option("--json", checked->json, "Write the findings to a file (- = stdout, alone)");
  check->callback(
      [=, &door] { door = [=](const fs::path& home) { return app::check(*checked, home); }; });
}

void add_repl(CLI::App& app, Door& door) {
  auto* repl = app.add_subcommand("repl", "Lua at the prompt, over a live simulation");
  auto* opened = new std::string;
  repl->add_option("scenario", *opened, "A Lua file that returns a scenario");
  repl->callback(
      [=, &door] { door = [=](const fs::path& home) { return app::repl(*opened, home); }; });
}

void add_diff(CLI::App& app, Door& door) {
  auto* diff = app.add_subcommand(
      "diff", "Compare two result documents, or schedules; exit 1 if they differ");
  auto* files = new std::pair<std::string, std::string>;
  auto* tolerance = new double(0.0);
  auto* schedule = new bool(false);
  diff->add_option("a", files->first, "A.json")->required();
  diff->add_option("b", files->second, "B.json")->required();
  auto* allowed =
      diff->add_option("--tolerance", *tolerance, "Largest relative difference that is allowed")
          ->check(between(0, HUGE_VAL));
  diff->add_flag(
          "--schedule", *schedule,
          "Compare steps, token for token: files of run --trace, iteration.jsonl of SGLang's "
          "simulator, logs of vLLM's iterations")
      ->excludes(allowed);
  diff->callback([=, &door] {
    door = [=](const fs::path& home) {
      return *schedule ? app::diff_schedules(files->first, files->second, home)
                       : app::diff(files->first, files->second, *tolerance);
    };
  });
}

void add_lua(CLI::App& app, Door& door) {
  auto* lua = app.add_subcommand("lua", "Run a Lua file, trusted, with the library on its path");
  lua->prefix_command();
  lua->callback([lua, &door] {
    door = [lua](const fs::path& home) { return app::lua(lua->remaining(), home); };
  });
}

void add_list(CLI::App& app, Door& door) {
  auto* list = app.add_subcommand("list", "What can be named in a scenario");
  auto* kind = new std::string;
  list->add_option(
      "kind", *kind,
      "models, hardware, engines or a kind of policies, such as schedulers; without one: all kinds");
  auto* aliases = new bool(false);
  list->add_flag("--aliases", *aliases, "Of models: every alias, and the format of its weights");
  list->callback([=, &door] {
    door = [=](const fs::path& home) { return app::list(*kind, *aliases, home); };
  });
}

void add_completion(CLI::App& app, Door& door) {
  auto* command = app.add_subcommand("completion", "Print the completion script of a shell");
  auto* shell = new std::string;
  command->add_option("shell", *shell, "bash, zsh or fish")->required();
  command->callback([=, &door] {
    door = [=](const fs::path&) {
      std::fputs(app::completion_script(*shell).c_str(), stdout);
      return 0;
    };
  });
}

/// `rooflua __complete WORDS`: asked by the scripts of `completion`, before the line is parsed.
int complete(const CLI::App& app, int argc, char** argv) {
  const std::vector<std::string> words(argv + 2, argv + argc);
  std::fputs(app::completions(app, words, app::find_home(argv[0])).c_str(), stdout);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "rooflua: what does a step of LLM inference cost, and what happens if you serve "
      "differently?");
  app.name("rooflua");
  app.require_subcommand(1);
  app.set_version_flag("--version", std::string("rooflua ") + build_stamp());
  app.add_flag_callback(
      "--python-path",
      [argv] {
        throw CLI::CallForVersion((app::find_home(argv[0]) / "scripts" / "python").string(), 0);
      },
      "Print the folder of the Python package, for PYTHONPATH");
  Door door;
  for (const auto add :
       {add_run, app::add_emulate, add_step, app::add_capacity, app::add_plan, add_calibrate,
        add_data, add_validate, add_check, app::add_new, add_repl, add_diff, add_lua, add_list,
        add_completion, app::add_help, app::add_results, app::add_campaign}) {
    add(app, door);
  }
  if (argc >= 2 && std::string_view(argv[1]) == "__complete") return complete(app, argc, argv);
  if (argc < 2) {
    std::fputs(app::first_steps(app).c_str(), stdout);
    return 0;
  }
  try {
    app::check_command(app, argc, argv);
    app.parse(argc, argv);
  } catch (const Error& error) {
    std::fprintf(stderr, "rooflua: %s\n", error.what());
    return 2;
  } catch (const CLI::ParseError& problem) {
    return app::refuse(app, problem);
  }
  fs::path home;
  try {
    home = app::find_home(argv[0]);
    script::use_packed_library(script::packed_library());
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
