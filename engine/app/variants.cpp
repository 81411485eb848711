#include "app/variants.h"

#include <cstdio>

#include "base/build_stamp.h"
#include "base/error.h"
#include "base/json_text.h"
#include "measure/sweep.h"
#include "script/vm/interrupt.h"
#include "script/vm/vm.h"

namespace rooflua::app {

namespace {

/// The answer of a worker for a variant: {document, report, details, drawing}; or the reason why it
/// has no result, {failed} or {stopped}.
Json answer(const std::function<script::VariantResult(std::size_t)>& run, std::size_t variant) {
  Json out = Json::object();
  try {
    script::VariantResult result = run(variant);
    if (result.waits) {
      out["waits"] = true;
      return out;
    }
    out["document"] = std::move(result.document);
    out["report"] = std::move(result.text);
    if (!result.details.empty()) out["details"] = std::move(result.details);
    if (!result.drawing.sketch.is_null()) {
      out["drawing"]["sketch"] = std::move(result.drawing.sketch);
      out["drawing"]["breakdown"] = std::move(result.drawing.breakdown);
    }
    if (!result.drawing.plan.is_null()) out["drawing"]["plan"] = std::move(result.drawing.plan);
  } catch (const std::exception& error) {
    const bool stopped = script::last_stop() != script::StopReason::none;
    out[stopped ? "stopped" : "failed"] = message_of(error);
  }
  return out;
}

Json part_of(const Json& drawing, const char* name) {
  const Json* found = drawing.find(name);
  return found == nullptr ? Json() : *found;
}

script::VariantResult from_answer(const Json& done) {
  script::VariantResult out =
      script::variant_result(*done.find("document"), done.find("report")->text());
  out.details = text_of(done, "details");
  if (const Json* drawing = done.find("drawing"))
    out.drawing = {part_of(*drawing, "sketch"), part_of(*drawing, "breakdown"),
                   part_of(*drawing, "plan")};
  return out;
}

/// A problem without its place in the run, " (scheduler, at 0.3 s, replica 1)".
std::string essence(const std::string& problem) {
  return problem.substr(0, problem.rfind(" ("));
}

/// Throws the problem once if all variants failed for the same reason.
void throw_if_common(const std::vector<script::VariantResult>& results) {
  for (const script::VariantResult& each : results) {
    if (each.problem.empty() || essence(each.problem) != essence(results.front().problem)) return;
  }
  if (!results.empty()) throw Error("", results.front().problem);
}

/// Runs the variants in this process, until a signal or the time limit stops it.
std::vector<script::VariantResult> run_here(
    std::size_t count, const std::function<script::VariantResult(std::size_t)>& run) {
  std::vector<script::VariantResult> results(count);
  const auto stopped = [] { return script::last_stop() != script::StopReason::none; };
  for (std::size_t variant = 0; variant < count && !stopped(); ++variant) {
    try {
      results[variant] = run(variant);
    } catch (const Error& error) {
      if (!stopped()) {
        results[variant].problem = error.what();
      } else if (variant == 0) {
        throw;
      }
    }
  }
  return results;
}

/// Prints on stderr how many results came from the results file, and how many rows it did not use.
void tell(const SweepOutcome& outcome, const RunArguments& arguments, std::size_t count) {
  if (arguments.quiet) return;
  if (outcome.reused > 0) {
    std::fprintf(stderr, "rooflua: %lld of %zu runs were in %s already\n",
                 static_cast<long long>(outcome.reused), count, arguments.results.c_str());
    if (arguments.trusted) {
      std::fprintf(stderr,
                   "rooflua: files that trusted scripts read while they load have not changed "
                   "since; files that they read during a run, or by commands, are not compared\n");
    }
  }
  if (outcome.foreign > 0) {
    std::fprintf(stderr,
                 "rooflua: %s also holds %lld rows of other scenarios, options or builds; they are "
                 "kept and not used\n",
                 arguments.results.c_str(), static_cast<long long>(outcome.foreign));
  }
}

SweepOptions sweep_options(const RunArguments& arguments) {
  SweepOptions options;
  options.jobs = arguments.jobs;
  options.title = "runs";
  options.quiet = !arguments.tells_progress();
  options.stop = &script::stop_requested();
  options.in_process = script::continue_in_worker;
  options.before_each = script::restart_time_limit;
  options.leave = [] { return script::last_stop() != script::StopReason::none; };
  return options;
}

/// @throws Error if a stop left nothing to report
std::vector<script::VariantResult> collect(const SweepOutcome& outcome) {
  std::vector<script::VariantResult> results(outcome.results.size());
  std::string stopped;
  bool anything = false;
  for (std::size_t variant = 0; variant < results.size(); ++variant) {
    const Json& answered = outcome.results[variant];
    script::VariantResult& result = results[variant];
    if (!outcome.problems[variant].empty()) {
      result.problem = outcome.problems[variant];
    } else if (answered.is_null()) {
      continue;
    } else if (const Json* problem = answered.find("failed")) {
      result.problem = problem->text();
    } else if (const Json* why = answered.find("stopped")) {
      if (stopped.empty()) stopped = why->text();
    } else if (answered.find("waits") != nullptr) {
      result.waits = true;
    } else {
      result = from_answer(answered);
    }
    anything |= result.known() || result.waits || !result.problem.empty();
  }
  if (!anything && !stopped.empty()) throw Error("", stopped);
  return results;
}

/// Runs the variants in worker processes. @param keeping  without a file, none keeps them
std::vector<script::VariantResult> run_apart(
    script::Vm& vm, script::Scenario& scenario, const RunArguments& arguments,
    const Keeping& keeping, const std::function<script::VariantResult(std::size_t)>& run) {
  std::vector<SweepRow> rows;
  for (const script::ScenarioVariant& each : scenario.variants())
    rows.push_back({each.name, each.parameters, each.seed, "", each.position});
  SweepOptions options = sweep_options(arguments);
  if (!keeping.file.empty()) {
    options.results = keeping.file;
    options.also = keeping.also;
    options.build = build_stamp();
    const script::RunNames names = scenario.names(keeping.explained, !arguments.html.empty());
    options.set = names.set;
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i].run_hash = names.run_hashes[i];
  }
  const SweepOutcome outcome =
      run_sweep(rows, options, [&](std::size_t variant) { return answer(run, variant); });
  tell(outcome, arguments, rows.size());
  if (outcome.interrupted) vm.clear_interrupt();
  return collect(outcome);
}

}  // namespace

std::vector<script::VariantResult> run_variants(
    script::Vm& vm, script::Scenario& scenario, const RunArguments& arguments,
    const Keeping& keeping, const std::function<script::VariantResult(std::size_t)>& run) {
  const std::size_t count = scenario.variants().size();
  // A search chooses its runs one after another, so the search itself keeps them in the file.
  const bool keep =
      !keeping.file.empty() && scenario.kind() != "search" && scenario.kind() != "plan";
  const bool here = !keep && (arguments.jobs <= 1 || count <= 1);
  std::vector<script::VariantResult> results =
      here ? run_here(count, run)
           : run_apart(vm, scenario, arguments, keep ? keeping : Keeping{}, run);
  throw_if_common(results);
  return results;
}

}  // namespace rooflua::app
