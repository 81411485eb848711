#include <algorithm>
#include <chrono>
#include <cstdio>
#include <utility>

#include "app/commands.h"
#include "app/deployment/started.h"
#include "app/options.h"
#include "app/output.h"
#include "app/quote.h"
#include "app/run_report.h"
#include "app/shard.h"
#include "app/variants.h"
#include "app/written.h"
#include "base/error.h"
#include "base/json_text.h"
#include "base/log.h"
#include "measure/html/report.h"
#include "measure/write/evidence_text.h"
#include "measure/write/notes.h"
#include "measure/write/progress.h"
#include "script/run_documents.h"
#include "script/scenario.h"
#include "script/vm/interrupt.h"
#include "script/vm/vm.h"

namespace rooflua::app {

namespace {

/// Whether the text lists the operations of a step.
bool op_by_op(const script::Scenario& scenario, const RunArguments& arguments) {
  return arguments.explain || scenario.lists_operations();
}

/// Whether anything reads the operations of priced batches.
bool needs_operations(const script::Scenario& scenario, const RunArguments& arguments) {
  return op_by_op(scenario, arguments) || scenario.has_report() || !arguments.json.empty() ||
         !arguments.html.empty() || !arguments.results.empty();
}

/// Says that operations are not listed, where a shorter list would have them.
void tell_unlisted(const script::Scenario& scenario, const RunArguments& arguments) {
  if (scenario.kind() != "price" || scenario.total() != 1 || op_by_op(scenario, arguments)) return;
  std::fprintf(stderr,
               "rooflua: so many batches and prompts are not listed by operation; --explain lists "
               "them\n");
}

/// "run", or "3 of 12: tp=2 (1:20 min left)" for a variant of several.
std::string progress_title(const script::Scenario& scenario, std::size_t variant, double passed_s) {
  const std::size_t count = scenario.variants().size();
  if (count == 1) return "run";
  const std::string left = ProgressBar::time_left(passed_s, static_cast<std::int64_t>(variant),
                                                  static_cast<std::int64_t>(count));
  return std::to_string(variant + 1) + " of " + std::to_string(count) + ": " +
         scenario.variants()[variant].name + (left.empty() ? "" : " (" + left + ")");
}

/// @param passed_s  time since the first variant began
script::VariantResult run_variant(script::Scenario& scenario, std::size_t variant,
                                  const RunArguments& arguments, const Keeping& keeping,
                                  double passed_s) {
  script::RunOutputs outputs;
  const std::int64_t position = scenario.variants()[variant].position;
  outputs.requests = numbered(arguments.requests, position, scenario.total());
  if (keeping.written != nullptr) outputs.rows = keeping.written->rows(position, scenario.total());
  outputs.as = arguments.as;
  outputs.why = arguments.why;
  outputs.trace = numbered(arguments.trace, position, scenario.total());
  outputs.sketch = !arguments.html.empty();
  outputs.operations = needs_operations(scenario, arguments);
  if (arguments.tells_progress() && arguments.jobs == 1)
    outputs.progress = progress_title(scenario, variant, passed_s);
  if (scenario.kind() == "search" || scenario.kind() == "plan") {
    outputs.jobs = arguments.jobs;
    outputs.results = keeping.file;
    outputs.also = keeping.also;
    outputs.round = keeping.round;
    outputs.strict_percent = arguments.strict_percent;
    if (arguments.tells_progress()) outputs.progress = "runs";
  }
  if (scenario.kind() == "serve" && scenario.total() == 1) outputs.jobs = arguments.jobs;
  script::VariantResult result = scenario.run(variant, op_by_op(scenario, arguments), outputs);
  if (!result.undivided.empty() && !arguments.quiet)
    std::fprintf(stderr, "rooflua: --jobs %d: one process simulated all replicas: %s\n",
                 arguments.jobs, result.undivided.c_str());
  return result;
}

/// Prints on stderr which variants failed and, with a results file, how to run the missing ones.
void tell_missing(const script::Scenario& scenario,
                  const std::vector<script::VariantResult>& results, const RunArguments& arguments,
                  const std::filesystem::path& home) {
  long long missing = 0;
  std::vector<std::pair<std::string, std::vector<std::string>>> problems;  // in order of variants
  for (std::size_t i = 0; i < results.size(); ++i) {
    const script::VariantResult& each = results[i];
    if (!each.known() || each.partial() != nullptr) ++missing;
    if (each.problem.empty()) continue;
    auto told = std::find_if(problems.begin(), problems.end(),
                             [&](const auto& other) { return other.first == each.problem; });
    if (told == problems.end()) told = problems.insert(problems.end(), {each.problem, {}});
    told->second.push_back(scenario.variants()[i].name);
  }
  for (const auto& [problem, names] : problems) {
    std::fprintf(stderr, "rooflua: %s: %s\n%s", several(names).c_str(), printable(problem).c_str(),
                 quoted_line(problem, home).c_str());
  }
  if (arguments.results.empty()) return;
  std::fprintf(stderr, "rooflua: %lld of %zu runs are missing; the same command runs only those\n",
               missing, results.size());
}

/// Prints on stderr the line of the script that a signal stopped.
void tell_where(const std::vector<script::VariantResult>& results) {
  for (const script::VariantResult& each : results) {
    const Json* message = each.partial() != nullptr ? each.partial()->find("message") : nullptr;
    if (message != nullptr) std::fprintf(stderr, "rooflua: %s\n", message->text().c_str());
  }
}

/// --strict: reports variants of which too much is unsupported; of plans, those with no other.
bool too_doubtful(const std::vector<script::VariantResult>& results,
                  const RunArguments& arguments) {
  if (!arguments.strict_percent) return false;
  bool failed = false;
  for (const script::VariantResult& each : results) {
    const std::string name = text_of(each.document, "name");
    const Json* plan = each.document.find("plan");
    const std::string problem =
        plan != nullptr ? strict_of_plan(*plan)
                        : strict_problem(each.evidence, each.noted_frac, *arguments.strict_percent,
                                         name.empty() ? "" : " of " + name);
    if (problem.empty()) continue;
    std::fprintf(stderr, "rooflua: --strict: %s\n", printable(problem).c_str());
    failed = true;
  }
  return failed;
}

bool nothing_completed(const std::vector<script::VariantResult>& results) {
  for (const script::VariantResult& each : results) {
    if (!each.known()) continue;
    const Json* completed = each.document.find("summary")->find("completed");
    if (completed != nullptr && completed->integer() > 0) return false;
  }
  return true;
}

/// The notes of runs on stderr: of a run that failed they have the cause.
void tell_notes(const std::vector<script::VariantResult>& results) {
  std::vector<const Json*> documents;
  for (const script::VariantResult& each : results) {
    if (each.known()) documents.push_back(&each.document);
  }
  for (const std::string& line : notes_of(documents)) std::fprintf(stderr, "  %s\n", line.c_str());
}

/// Reports files of --requests and --trace that were not written, because the results file already
/// had the runs.
bool files_missing(const script::Scenario& scenario, const RunArguments& arguments,
                   const std::vector<script::VariantResult>& results) {
  if (arguments.results.empty()) return false;
  bool missing = false;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].known()) continue;
    for (const std::string& path : {arguments.requests, arguments.trace}) {
      const std::string file = numbered(path, scenario.variants()[i].position, scenario.total());
      if (file.empty() || std::filesystem::exists(file)) continue;
      missing = true;
      std::fprintf(stderr,
                   "rooflua: %s was not written: its run was in %s already, and is not run again; "
                   "name another file for --results\n",
                   file.c_str(), arguments.results.c_str());
    }
  }
  return missing;
}

/// @throws Misused for an option about requests or steps if the scenario's kind has none
void refuse_options(const RunArguments& arguments, const std::string& kind) {
  if (kind == "serve") return;
  const std::string why = "kind \"" + kind + "\" has no requests; only \"serve\" has";
  for (const auto& [option, value] : {std::pair{"--requests", &arguments.requests},
                                      {"--trace", &arguments.trace}, {"--why", &arguments.why},
                                      {"--as", &arguments.as}})
    if (!value->empty()) throw Misused(option, why);
  if (!arguments.write.empty()) throw Misused("--write", why);
  if (arguments.explain && kind != "price")
    throw Misused("--explain",
                  "kind \"" + kind + "\" has no step to explain; \"serve\" and \"price\" have");
}

Json shard_json(const Shard& shard, const script::Scenario& scenario) {
  Json out = Json::object();
  out["index"] = shard.index;
  out["count"] = shard.count;
  out["total"] = scenario.total();
  return out;
}

/// Prints on stderr how many of the runs are those of this shard.
void tell_part(const script::Scenario& scenario, const RunArguments& arguments) {
  if (arguments.shard.empty() || !arguments.round.empty() || arguments.quiet) return;
  std::fprintf(stderr, "rooflua: %zu of %lld runs are those of shard %s\n",
               scenario.variants().size(), static_cast<long long>(scenario.total()),
               arguments.shard.c_str());
}

/// Makes the shard a part of each round, where --round asks for it.
void divide_round(const RunArguments& arguments, script::ScenarioOptions& options,
                  Keeping& keeping) {
  if (arguments.round.empty()) return;
  if (!options.shard) throw Misused("--round", "needs --shard I/N: whose part of the round");
  if (!arguments.json.empty() || !arguments.html.empty())
    throw Misused("--round", "gives no report; leave out --json and --html");
  if (std::filesystem::exists(arguments.round)) keeping.also.push_back(arguments.round);
  keeping.round = std::exchange(options.shard, std::nullopt);
}

/// What a shard prints of its part of a round. @return the exit status
int end_round(const script::Scenario& scenario, const std::vector<script::VariantResult>& results,
              const RunArguments& arguments, const std::filesystem::path& home) {
  const auto waiting =
      std::count_if(results.begin(), results.end(), [](const auto& each) { return each.waits; });
  std::fprintf(stderr,
               "rooflua: %lld of %zu %s need runs of other shards; the others are at "
               "their end\n",
               static_cast<long long>(waiting), results.size(),
               scenario.kind() == "plan" ? "plans" : "searches");
  const bool failed = std::any_of(results.begin(), results.end(), [](const auto& each) {
    return !each.waits && (!each.known() || each.partial() != nullptr);
  });
  if (failed) tell_missing(scenario, results, arguments, home);
  if (script::last_stop() == script::StopReason::interrupted) return script::interrupted_status();
  return failed ? 1 : 0;
}

/// Checks where outputs go before a long run begins.
void check_outputs(const RunArguments& arguments) {
  std::vector<std::string> written{arguments.json, arguments.requests, arguments.trace,
                                   arguments.html, arguments.progress};
  for (const std::string& each : arguments.write)
    written.push_back(each.substr(each.find('=') + 1));
  check_files(written, {arguments.scenario, arguments.model, arguments.round});
  if (arguments.shard.empty() && !is_results_folder(arguments.results))
    check_folder(arguments.results);
  if (!arguments.why.empty() && !arguments.results.empty())
    throw Misused("--why", "follows a run as it goes; leave out --results");
  if (!arguments.as.empty() && !arguments.results.empty())
    throw Misused("--as", "is of a run that is made now; leave out --results");
}

script::ScenarioOptions scenario_options(const RunArguments& arguments) {
  script::ScenarioOptions options;
  options.command =
      launch_command(arguments.command, arguments.engine, arguments.model, arguments.from);
  options.set = with_engine(options.command.is_given() ? "" : arguments.engine, arguments.set);
  set_load(arguments.users, arguments.bench, options.set);
  set_intervals(arguments.intervals, options.set);
  options.seed = arguments.seed;
  options.shard = shard_of(arguments);
  return options;
}

/// Checks that the scenario has what the options ask for.
void check_asked(script::Scenario& scenario, const RunArguments& arguments, const Keeping& keeping,
                 WrittenFiles& written) {
  refuse_options(arguments, scenario.kind());
  if (!arguments.as.empty() && scenario.total() != 1)
    throw Misused("--as", "is the table of one run, and here are several; --set keeps one of them");
  written.check(scenario);
  if (keeping.round && scenario.kind() != "search" && scenario.kind() != "plan") {
    throw Misused("--round", "is for searches and plans; the runs of kind \"" + scenario.kind() +
                                 "\" are known before, and --shard alone divides them");
  }
  if (arguments.explain && !arguments.results.empty() && scenario.kind() == "serve")
    throw Misused("--explain", "looks at a run as it goes; leave out --results");
}

std::vector<script::VariantResult> results_of(script::Vm& vm, script::Scenario& scenario,
                                              const RunArguments& arguments,
                                              const Keeping& keeping) {
  const auto began = std::chrono::steady_clock::now();
  return run_variants(vm, scenario, arguments, keeping, [&](std::size_t variant) {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began;
    return run_variant(scenario, variant, arguments, keeping, passed.count());
  });
}

/// The report, the document and the page.
void write_outputs(script::Scenario& scenario, const std::vector<script::VariantResult>& results,
                   const RunArguments& arguments, const std::optional<Shard>& shard) {
  // A scenario's own report expects the complete results of all variants.
  const bool partial = is_partial(results) || is_part(scenario);
  const script::OwnReport own = partial ? script::OwnReport() : scenario.report(results);
  if (arguments.json != "-")
    print_report(report_text(scenario, results, own.text, arguments), arguments.wide,
                 named_metrics(results));
  if (!arguments.json.empty()) {
    const Json part = shard ? shard_json(*shard, scenario) : Json();
    write_document(script::run_document(scenario, results, own, part), arguments.json);
  }
  if (arguments.html.empty()) return;
  const script::PageSource source{arguments.scenario, stated_options(arguments), arguments.set};
  write_text(html_report(script::run_page(scenario, results, own, source)), arguments.html);
}

/// The exit status; what is not as it should be is printed on stderr.
/// @param all_written  whether --write has all of its files
int status_of(const script::Scenario& scenario, const std::vector<script::VariantResult>& results,
              const RunArguments& arguments, const std::filesystem::path& home, bool all_written) {
  if (is_partial(results)) {
    tell_where(results);
    tell_missing(scenario, results, arguments, home);
    return script::last_stop() == script::StopReason::interrupted ? script::interrupted_status()
                                                                  : 1;
  }
  if (scenario.kind() == "serve" && !results.empty() && nothing_completed(results)) {
    std::fprintf(stderr, "rooflua: no request was completed\n");
    if (arguments.quiet) tell_notes(results);
    return 1;
  }
  const bool missing = files_missing(scenario, arguments, results);
  return too_doubtful(results, arguments) || missing || !all_written ? 1 : 0;
}

int run_all(const RunArguments& given, const std::filesystem::path& home) {
  const RunArguments arguments = sorted(given);
  check_outputs(arguments);
  log::set_quiet(arguments.quiet);
  if (!arguments.progress.empty()) ProgressBar::write_to(arguments.progress);
  script::ScenarioOptions options = scenario_options(arguments);
  Keeping keeping = keeping_of(arguments, options.shard);
  divide_round(arguments, options, keeping);
  script::Vm vm({.home = home,
                 .trusted = arguments.trusted,
                 .timeout_s = arguments.timeout_s,
                 .jit = !arguments.no_jit,
                 .jit_log = arguments.jit_log,
                 .print_to_stderr = arguments.json == "-"});
  WrittenFiles written(vm, arguments.write);
  keeping.written = &written;
  script::stop_on_terminate();
  script::Scenario scenario = opened(vm, arguments, options);
  check_asked(scenario, arguments, keeping, written);
  tell_part(scenario, arguments);
  keeping.explained = op_by_op(scenario, arguments);
  if (!arguments.quiet) tell_unlisted(scenario, arguments);
  const auto results = results_of(vm, scenario, arguments, keeping);
  if (keeping.round) return end_round(scenario, results, arguments, home);
  for (const std::string& line : vm.jit_log()) std::fprintf(stderr, "rooflua: %s\n", line.c_str());
  write_outputs(scenario, results, arguments, options.shard);
  const bool all_written = written.write(scenario, results, arguments.scenario);
  return status_of(scenario, results, arguments, home, all_written);
}

}  // namespace

int run(const RunArguments& arguments, const std::filesystem::path& home) {
  try {
    return run_all(arguments, home);
  } catch (const Error& error) {
    if (script::last_stop() != script::StopReason::interrupted) throw;
    std::fprintf(stderr, "rooflua: %s\n", error.what());
    return script::interrupted_status();
  }
}

}  // namespace rooflua::app
