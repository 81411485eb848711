#include "app/variants.h"

#include <cstdio>

#include "app/workers.h"
#include "measure/sweep.h"
#include "script/interrupt.h"
#include "script/vm.h"

namespace rooflua::app {

namespace {

Json to_document(script::VariantResult&& result) {
  Json out = Json::object();
  out["document"] = std::move(result.document);
  out["report"] = std::move(result.text);
  if (!result.drawing.sketch.is_null()) {
    out["drawing"]["sketch"] = std::move(result.drawing.sketch);
    out["drawing"]["breakdown"] = std::move(result.drawing.breakdown);
  }
  return out;
}

script::VariantResult from_document(const Json& done) {
  script::VariantResult out =
      script::variant_result(*done.find("document"), done.find("report")->text());
  if (const Json* drawing = done.find("drawing"))
    out.drawing = {*drawing->find("sketch"), *drawing->find("breakdown")};
  return out;
}

/// Says on stderr what a results file contributed.
void tell(const SweepOutcome& outcome, const RunArguments& arguments, std::size_t count) {
  if (arguments.quiet) return;
  if (outcome.reused > 0) {
    std::fprintf(stderr, "rooflua: %lld of %zu runs were in %s already\n",
                 static_cast<long long>(outcome.reused), count, arguments.results.c_str());
  }
  if (outcome.foreign > 0) {
    std::fprintf(stderr,
                 "rooflua: %s also holds %lld rows of other files, options or versions; they are "
                 "kept and not used\n",
                 arguments.results.c_str(), static_cast<long long>(outcome.foreign));
  }
}

}  // namespace

Ran run_variants(script::Vm& vm, script::Scenario& scenario, const RunArguments& arguments,
                 const std::function<script::VariantResult(std::size_t)>& run) {
  const std::size_t count = scenario.variants().size();
  Ran ran;
  // A search decides as it goes what to run: its runs are kept one by one, by itself.
  if (arguments.results.empty() || scenario.kind() == "search") {
    ran.results = in_workers(count, arguments.jobs, run);
    return ran;
  }
  std::vector<SweepRow> rows;
  for (const script::ScenarioVariant& each : scenario.variants())
    rows.push_back({each.name, each.parameters, each.seed});
  SweepOptions options;
  options.jobs = arguments.jobs;
  options.title = "runs";
  options.quiet = arguments.quiet;
  options.stop = &script::stop_requested();
  options.in_process = script::continue_in_worker;
  options.before_each = script::restart_time_limit;
  options.leave = [] { return script::last_stop() != script::StopReason::none; };
  options.results = arguments.results;
  options.set = {scenario.fingerprint(), ROOFLUA_VERSION, arguments.scenario};
  const SweepOutcome outcome =
      run_sweep(rows, options, [&](std::size_t variant) { return to_document(run(variant)); });
  tell(outcome, arguments, count);
  if (outcome.interrupted) vm.clear_interrupt();
  ran.results.resize(count);
  for (std::size_t variant = 0; variant < count; ++variant) {
    const Json& result = outcome.results[variant];
    if (!result.is_null()) {
      ran.results[variant] = from_document(result);
    } else if (!outcome.problems[variant].empty()) {
      ran.failures.push_back({rows[variant].name, outcome.problems[variant]});
    }
  }
  return ran;
}

}  // namespace rooflua::app
