#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>

#include "app/commands.h"
#include "app/output.h"
#include "app/quote.h"
#include "app/shard.h"
#include "app/variants.h"
#include "app/written.h"
#include "base/error.h"
#include "base/json_text.h"
#include "base/log.h"
#include "measure/html/report.h"
#include "measure/write/left_out.h"
#include "measure/write/notes.h"
#include "measure/write/report.h"
#include "measure/write/result.h"
#include "script/scenario.h"
#include "script/vm/interrupt.h"
#include "script/vm/vm.h"

namespace rooflua::app {

namespace {

script::VmOptions vm_options(const RunArguments& arguments, const std::filesystem::path& home) {
  script::VmOptions options;
  options.home = home;
  options.trusted = arguments.trusted;
  options.timeout_s = arguments.timeout_s;
  options.jit = !arguments.no_jit;
  options.jit_log = arguments.jit_log;
  options.print_to_stderr = arguments.json == "-";
  return options;
}

/// Whether the text lists the operations of a step: on request, or for a single priced variant.
bool op_by_op(const script::Scenario& scenario, const RunArguments& arguments) {
  return arguments.explain || (scenario.kind() == "price" && scenario.total() == 1);
}

script::VariantResult run_variant(script::Scenario& scenario, std::size_t variant,
                                  const RunArguments& arguments, const Keeping& keeping) {
  script::RunOutputs outputs;
  const std::int64_t position = scenario.variants()[variant].position;
  outputs.requests = numbered(arguments.requests, position, scenario.total());
  outputs.why = arguments.why;
  outputs.trace = numbered(arguments.trace, position, scenario.total());
  outputs.sketch = !arguments.html.empty();
  if (!arguments.quiet && arguments.jobs == 1) outputs.progress = scenario.variants()[variant].name;
  if (outputs.progress.empty() && !arguments.quiet && arguments.jobs == 1) outputs.progress = "run";
  if (scenario.kind() == "search" || scenario.kind() == "plan") {
    outputs.jobs = arguments.jobs;
    outputs.results = keeping.file;
    outputs.also = keeping.also;
    if (!arguments.quiet) outputs.progress = "runs";
  }
  return scenario.run(variant, op_by_op(scenario, arguments), outputs);
}

/// The table with one line per variant, for a scenario that varies something.
std::string compare_variants(const std::vector<script::VariantResult>& results,
                             const std::string& file) {
  std::vector<Variant> variants;
  for (const script::VariantResult& each : results) {
    if (!each.known()) continue;
    Variant variant;
    variant.name = each.document.find("name")->text();
    if (each.partial() != nullptr) variant.name += " (partial)";
    variant.summary = script::summary_of(each, file);
    variants.push_back(std::move(variant));
  }
  return comparison(variants);
}

/// "max_num_seqs=4: 12 failed (exceeds_kv_cache)" for every variant with failures.
void print_failures(const std::vector<script::VariantResult>& results) {
  for (const script::VariantResult& each : results) {
    if (!each.known()) continue;
    const Json* failed = each.document.find("summary")->find("failed");
    if (failed == nullptr || !failed->is_object()) continue;
    for (const Json::Member& reason : failed->members()) {
      std::printf("%s: %lld failed (%s)\n", each.document.find("name")->text().c_str(),
                  static_cast<long long>(reason.value.integer()), reason.key.c_str());
    }
  }
}

bool is_partial(const std::vector<script::VariantResult>& results) {
  return std::any_of(results.begin(), results.end(), [](const script::VariantResult& each) {
    return !each.known() || each.partial() != nullptr;
  });
}

/// Whether these are the variants of one shard of several.
bool is_part(const script::Scenario& scenario) {
  return static_cast<std::int64_t>(scenario.variants().size()) < scenario.total();
}

/// One line for every variant that failed, was stopped or was not started.
void print_partial(const script::Scenario& scenario,
                   const std::vector<script::VariantResult>& results) {
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string& name = scenario.variants()[i].name;
    const Json* partial = results[i].partial();
    if (!results[i].problem.empty()) {
      std::printf("%s: FAILED\n", name.c_str());
    } else if (!results[i].known()) {
      std::printf("%s: PARTIAL: not run\n", name.c_str());
    }
    if (partial == nullptr) continue;
    std::printf("%s: %s\n", name.c_str(), script::partial_line(*partial).c_str());
  }
}

/// One line per source of requests that was not sent completely and per note, whatever the number
/// of variants.
void print_notes(const std::vector<script::VariantResult>& results) {
  std::vector<const Json*> documents;
  for (const script::VariantResult& each : results) {
    if (each.known()) documents.push_back(&each.document);
  }
  for (const std::string& line : left_out_lines(documents)) std::printf("%s\n", line.c_str());
  for (const std::string& line : notes_of(documents)) std::printf("%s\n", line.c_str());
}

void print_report(script::Scenario& scenario, const std::vector<script::VariantResult>& results,
                  const RunArguments& arguments) {
  if (!scenario.title().empty()) std::printf("%s\n\n", scenario.title().c_str());
  const bool partial = is_partial(results) || is_part(scenario);
  // A scenario's own report expects the complete results of all variants.
  const std::string own = partial ? "" : scenario.report(results);
  if (scenario.kind() == "serve" && results.size() > 1) {
    std::fputs(compare_variants(results, arguments.scenario).c_str(), stdout);
    print_failures(results);
    print_partial(scenario, results);
    for (const script::VariantResult& each : results) {
      if (each.details.empty()) continue;
      std::printf("\n== %s\n%s", text_of(each.document, "name").c_str(), each.details.c_str());
    }
    const std::string differences = partial ? "" : scenario.over_seeds(results);
    if (!differences.empty()) std::printf("\n%s\n", differences.c_str());
  } else if (own.empty() || results.size() == 1 || arguments.explain ||
             scenario.kind() == "search" || scenario.kind() == "plan") {
    for (const script::VariantResult& each : results) {
      if (each.known()) std::printf("%s\n", each.text.c_str());
    }
    if (results.size() > 1) print_partial(scenario, results);
  }
  if (!own.empty()) std::printf("\n%s\n", own.c_str());
  if (!arguments.quiet) print_notes(results);
}

void write_page(script::Scenario& scenario, const std::vector<script::VariantResult>& results,
                const RunArguments& arguments) {
  HtmlReport report;
  report.document = scenario.document(results);
  for (const script::VariantResult& each : results) {
    if (!each.known()) continue;
    report.drawings.push_back(each.drawing);
    report.summaries.push_back(each.summary);
  }
  if (!is_partial(results) && !is_part(scenario)) report.own_text = scenario.report(results);
  if (script::last_stop() == script::StopReason::none) {
    const Json explored = scenario.explored(results);
    report.explored = *explored.find("sections");
    report.has_baseline = explored.find("has_baseline")->boolean();
  }
  std::ifstream in(arguments.scenario, std::ios::binary);
  report.source.assign(std::istreambuf_iterator<char>(in), {});
  report.set = arguments.set;
  report.parameters = scenario.parameters();
  write_text(html_report(report), arguments.html);
}

/// Prints on stderr which variants failed and, with a results file, how to run the missing ones.
void tell_missing(const script::Scenario& scenario,
                  const std::vector<script::VariantResult>& results, const RunArguments& arguments,
                  const std::filesystem::path& home) {
  long long missing = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const script::VariantResult& each = results[i];
    if (!each.known() || each.partial() != nullptr) ++missing;
    if (each.problem.empty()) continue;
    std::fprintf(stderr, "rooflua: %s: %s\n%s", scenario.variants()[i].name.c_str(),
                 printable(each.problem).c_str(), quoted_line(each.problem, home).c_str());
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

/// --strict: reports the variants in which too large a share of time is extrapolated, stand_in or
/// assumed.
bool too_doubtful(const std::vector<script::VariantResult>& results,
                  const RunArguments& arguments) {
  if (!arguments.strict_percent) return false;
  bool failed = false;
  for (const script::VariantResult& each : results) {
    const std::string name = text_of(each.document, "name");
    const std::string of = name.empty() ? "" : " of " + name;
    if (std::all_of(each.evidence.begin(), each.evidence.end(), [](double s) { return s == 0; })) {
      std::fprintf(stderr,
                   "rooflua: --strict: nothing is known of what the time%s rests on: its step "
                   "model priced nothing from tables or by the library's own formulas\n",
                   of.c_str());
      failed = true;
      continue;
    }
    const double percent = script::doubtful_percent(each);
    if (percent <= *arguments.strict_percent) continue;
    std::fprintf(stderr, "rooflua: --strict: %.2f %% of the time%s is %s%s (allowed: %g %%)\n",
                 percent, of.c_str(), unsupported_names().c_str(),
                 each.noted_frac > 0 ? ", or notes of the model touch it" : "",
                 *arguments.strict_percent);
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
  const std::string why = "kind \"" + kind + "\" has no requests to tell of; only \"serve\" has";
  if (!arguments.requests.empty()) throw Misused("--requests", why);
  if (!arguments.trace.empty()) throw Misused("--trace", why);
  if (!arguments.write.empty()) throw Misused("--write", why);
  if (arguments.why) throw Misused("--why", why);
  if (arguments.explain && kind != "price")
    throw Misused("--explain",
                  "kind \"" + kind + "\" has no step to explain; \"serve\" and \"price\" have");
}

/// The part of the runs that --shard asks for.
std::optional<Shard> shard_of(const RunArguments& arguments) {
  if (arguments.shard.empty()) return std::nullopt;
  std::string told;
  const Shard shard = parse_shard(arguments.shard, std::getenv, &told);
  if (!told.empty()) std::fprintf(stderr, "rooflua: %s\n", told.c_str());
  return shard;
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
  if (arguments.shard.empty() || arguments.quiet) return;
  std::fprintf(stderr, "rooflua: %zu of %lld runs are those of shard %s\n",
               scenario.variants().size(), static_cast<long long>(scenario.total()),
               arguments.shard.c_str());
}

int run_all(const RunArguments& arguments, const std::filesystem::path& home) {
  for (const std::string& path :
       {arguments.json, arguments.requests, arguments.trace, arguments.html})
    check_folder(path);
  if (arguments.shard.empty() && !is_results_folder(arguments.results))
    check_folder(arguments.results);
  if (arguments.why && !arguments.results.empty())
    throw Misused("--why", "follows a run as it goes; leave out --results");
  log::set_quiet(arguments.quiet);
  script::ScenarioOptions options;
  options.shard = shard_of(arguments);
  Keeping keeping = keeping_of(arguments, options.shard);
  script::Vm vm(vm_options(arguments, home));
  const std::vector<WrittenFile> written = written_files(vm, arguments.write);
  script::stop_on_terminate();
  options.set = arguments.set;
  options.seed = arguments.seed;
  script::Scenario scenario(vm, std::filesystem::path(arguments.scenario), options);
  refuse_options(arguments, scenario.kind());
  tell_part(scenario, arguments);
  if (arguments.explain && !arguments.results.empty() && scenario.kind() == "serve")
    throw Misused("--explain", "looks at a run as it goes; leave out --results");
  keeping.explained = op_by_op(scenario, arguments);
  const std::vector<script::VariantResult> results = run_variants(
      vm, scenario, arguments, keeping,
      [&](std::size_t variant) { return run_variant(scenario, variant, arguments, keeping); });
  for (const std::string& line : vm.jit_log()) std::fprintf(stderr, "rooflua: %s\n", line.c_str());
  if (arguments.json != "-") print_report(scenario, results, arguments);
  if (!arguments.json.empty()) {
    Json document = scenario.document(results);
    if (!arguments.shard.empty()) document["shard"] = shard_json(*options.shard, scenario);
    write_document(document, arguments.json);
  }
  if (!arguments.html.empty()) write_page(scenario, results, arguments);
  write_formats(vm, scenario, results, arguments.scenario, written);
  if (is_partial(results)) {
    tell_where(results);
    tell_missing(scenario, results, arguments, home);
    return script::last_stop() == script::StopReason::interrupted ? script::interrupted_status()
                                                                  : 1;
  }
  if (scenario.kind() == "serve" && !results.empty() && nothing_completed(results)) {
    std::fprintf(stderr, "rooflua: no request was completed\n");
    return 1;
  }
  const bool missing = files_missing(scenario, arguments, results);
  return too_doubtful(results, arguments) || missing ? 1 : 0;
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
