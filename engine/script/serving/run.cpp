#include "script/serving/run.h"

#include <algorithm>
#include <utility>

#include "base/error.h"
#include "measure/record/cap_watch.h"
#include "measure/record/growth.h"
#include "measure/record/journal.h"
#include "measure/record/quantile_watch.h"
#include "measure/record/sketch.h"
#include "measure/record/why.h"
#include "measure/record/why_play.h"
#include "measure/write/progress.h"
#include "measure/write/requests.h"
#include "measure/write/timeline.h"
#include "script/serving/config.h"
#include "script/serving/record.h"
#include "serve/contract/items.h"

namespace rooflua::script {

namespace {

/// The file of that path; null if none is given.
RunOutput* open_output(Run& run, const std::optional<std::string>& path) {
  if (!path) return nullptr;
  auto output = std::make_unique<RunOutput>();
  output->file.open(*path, std::ios::binary);
  if (!output->file) throw Error(*path, "cannot be written");
  run.outputs.push_back(std::move(output));
  return run.outputs.back().get();
}

/// What says the sizes of items; nothing where requests have none.
std::function<Json(std::int32_t)> sizes_of_items(Run& run) {
  if (!run.surroundings.has("encoder")) return {};
  Bindings own;
  run.surroundings.bind(own);
  return [encoder = own.encoder](std::int32_t kind) { return encoder->size(kind); };
}

void write_csv(Run& run, RunOutput& output, const std::string& path, bool adapters) {
  const bool gated = run.surroundings.has("admission");
  const bool waits =
      gated || run.surroundings.has("faults") || run.surroundings.has("autoscalers");
  auto* csv = run.listen(std::make_unique<RequestsCsv>(
      output.file, path,
      RequestsCsvOptions{run.classes, run.speculates(), !run.tiers.policies.empty(),
                         run.surroundings.has("client"), gated, waits, adapters,
                         sizes_of_items(run)}));
  output.listener = csv;
  output.finish = [csv] { csv->finish(); };
}

/// vLLM's result file where the name ends in .json, else our CSV.
void open_requests(Run& run, const ListenerOptions& options, const ClusterConfig& cluster) {
  RunOutput* output = open_output(run, options.requests_path);
  if (output == nullptr) return;
  const std::string& path = *options.requests_path;
  if (!path.ends_with(".json")) return write_csv(run, *output, path, cluster.adapters.count > 0);
  auto* bench = run.listen(std::make_unique<VllmBench>(prefill_replicas(cluster)));
  output->listener = bench;
  output->finish = [bench, &run, output, traffic = options.bench] {
    Json document = bench->result(run.summary->summary(), traffic);
    if (!run.partial.is_null()) document["partial"] = run.partial;
    output->file << dump_json(document) << "\n";
    if (!output->file) throw Error("--requests", "could not be written");
  };
}

/// The same requests once more, from which files of other tools are made.
void open_rows(Run& run, const ListenerOptions& options, const ClusterConfig& cluster) {
  if (RunOutput* output = open_output(run, options.rows_path); output != nullptr)
    write_csv(run, *output, *options.rows_path, cluster.adapters.count > 0);
}

void open_timeline(Run& run, const ListenerOptions& options) {
  RunOutput* output = open_output(run, options.trace_path);
  if (output == nullptr) return;
  auto* timeline = run.listen(std::make_unique<Timeline>(
      output->file, *options.trace_path,
      TimelineOptions{.classes = run.classes, .replicas = run.replica_names}));
  output->listener = timeline;
  output->finish = [timeline, &run] {
    if (!run.partial.is_null()) timeline->partial(run.partial);
    timeline->finish();
  };
}

}  // namespace

void Run::open_listeners(const ListenerOptions& asked, const ClusterConfig& cluster) {
  open_requests(*this, asked, cluster);
  open_rows(*this, asked, cluster);
  open_timeline(*this, asked);
  if (asked.progress)
    listen(std::make_unique<ProgressBar>(*asked.progress,
                                         asked.expected_requests.value_or(trace_requests)));
  if (asked.why) listen(std::make_unique<WhyObserver>(*asked.why));
  if (asked.why_play) listen(std::make_unique<WhyPlayObserver>(*asked.why_play));
  if (asked.plays) listen(std::make_unique<PlayList>());
  if (asked.record) listen(std::make_unique<ScheduleRecord>());
  if (asked.journal) listen(std::make_unique<Journal>());
  if (asked.sketch) listen(std::make_unique<Sketch>(asked.why_play, asked.pools));
  if (asked.keep_requests) listen(std::make_unique<KeptRequests>());
  if (asked.caps) listen(std::make_unique<CapWatch>());
  if (asked.growth) listen(std::make_unique<GrowthWatch>());
  if (asked.limits) listen(std::make_unique<QuantileWatch>(*asked.limits));
}

void Run::stop(const Json& why) {
  partial = why;
  for (const RequestDone& each : simulation->unfinished()) {
    for (const auto& output : outputs) output->listener->on_done(each);
  }
}

void Run::finish_outputs() {
  for (const auto& output : outputs) {
    if (std::exchange(output->finished, true)) continue;
    output->finish();
    output->file.close();
  }
}

bool Run::speculates() const {
  return std::any_of(speculations.begin(), speculations.end(),
                     [](const LuaSpeculation& each) { return each.speculator != nullptr; });
}

Bindings Run::bindings() const {
  Bindings out;
  for (const auto& each : schedulers) out.schedulers.push_back(each.get());
  for (const auto& each : steps) out.steps.push_back(each.get());
  out.router = router.get();
  surroundings.bind(out);
  for (const LuaSpeculation& each : speculations) {
    out.speculators.push_back(each.speculator.get());
    out.acceptances.push_back(each.acceptance.get());
  }
  for (const auto& each : tiers.policies) out.tiers.push_back(each.get());
  for (const auto& each : tiers.evictions) out.evictions.push_back(each.get());
  out.workload = workload.get();
  for (const auto& each : listeners) out.observers.push_back(each.get());
  return out;
}

}  // namespace rooflua::script
