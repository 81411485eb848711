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
#include "measure/write/progress.h"
#include "measure/write/requests.h"
#include "measure/write/timeline.h"
#include "script/serving/config.h"
#include "script/serving/record.h"

namespace rooflua::script {

namespace {

bool asked(const Json& given, const char* key) {
  const Json* found = given.find(key);
  return found != nullptr && found->is_boolean() && found->boolean();
}

/// The file that given[key] names; null if it names none.
RunOutput* open_output(Run& run, const Json& given, const char* key) {
  const Json* path = given.find(key);
  if (path == nullptr || !path->is_text()) return nullptr;
  auto output = std::make_unique<RunOutput>();
  output->file.open(path->text(), std::ios::binary);
  if (!output->file) throw Error(path->text(), "cannot be written");
  run.outputs.push_back(std::move(output));
  return run.outputs.back().get();
}

void write_csv(Run& run, RunOutput& output, const std::string& path) {
  auto* csv = run.listen(std::make_unique<RequestsCsv>(
      output.file, path, RequestsCsvOptions{run.classes, run.speculates()}));
  output.listener = csv;
  output.finish = [csv] { csv->finish(); };
}

/// vLLM's result file where the name ends in .json, else our CSV.
void open_requests(Run& run, const Json& given) {
  RunOutput* output = open_output(run, given, "requests_path");
  if (output == nullptr) return;
  const std::string& path = given.find("requests_path")->text();
  if (!path.ends_with(".json")) return write_csv(run, *output, path);
  auto* bench = run.listen(std::make_unique<VllmBench>());
  output->listener = bench;
  output->finish = [bench, &run, output, traffic = traffic_of(given)] {
    Json document = bench->result(run.summary->summary(), traffic);
    if (!run.partial.is_null()) document["partial"] = run.partial;
    output->file << dump_json(document) << "\n";
    if (!output->file) throw Error("--requests", "could not be written");
  };
}

/// The same requests once more, from which files of other tools are made.
void open_rows(Run& run, const Json& given) {
  if (RunOutput* output = open_output(run, given, "rows_path"); output != nullptr)
    write_csv(run, *output, given.find("rows_path")->text());
}

void open_timeline(Run& run, const Json& given) {
  RunOutput* output = open_output(run, given, "trace_path");
  if (output == nullptr) return;
  TimelineOptions options;
  options.classes = run.classes;
  options.replicas = replica_names(given);
  const std::string& path = given.find("trace_path")->text();
  auto* timeline = run.listen(std::make_unique<Timeline>(output->file, path, options));
  output->listener = timeline;
  output->finish = [timeline, &run] {
    if (!run.partial.is_null()) timeline->partial(run.partial);
    timeline->finish();
  };
}

/// How many requests the run will have, where its workload says it; 0: not known.
std::int64_t expected_requests(const Json& given, const Run& run) {
  const Json* stated = given.find("expected_requests");
  return stated != nullptr && stated->is_number() ? stated->integer() : run.trace_requests;
}

/// {{metric = "ttft", limit_s, most_above}...}, as the library writes them.
std::vector<QuantileLimit> quantile_limits(const Json& given) {
  using enum QuantileLimit::Metric;
  std::vector<QuantileLimit> out;
  for (const Json& each : given.items()) {
    const std::string& name = each.find("metric")->text();
    out.push_back({name == "ttft"   ? ttft
                   : name == "tpot" ? tpot
                                    : e2e,
                   each.find("limit_s")->number(), each.find("most_above")->integer()});
  }
  return out;
}

}  // namespace

void Run::open_listeners(const Json& given) {
  open_requests(*this, given);
  open_rows(*this, given);
  open_timeline(*this, given);
  if (const Json* title = given.find("progress"); title != nullptr && title->is_text())
    listen(std::make_unique<ProgressBar>(title->text(), expected_requests(given, *this)));
  if (const Json* why = given.find("why"); why != nullptr && why->is_number())
    listen(std::make_unique<WhyObserver>(static_cast<std::int32_t>(why->integer())));
  if (asked(given, "record")) listen(std::make_unique<ScheduleRecord>());
  if (asked(given, "journal")) listen(std::make_unique<Journal>());
  if (asked(given, "sketch")) listen(std::make_unique<Sketch>());
  if (asked(given, "keep_requests")) listen(std::make_unique<KeptRequests>());
  if (asked(given, "caps")) listen(std::make_unique<CapWatch>());
  if (asked(given, "growth")) listen(std::make_unique<GrowthWatch>());
  if (const Json* limits = given.find("limits"); limits != nullptr && limits->is_array())
    listen(std::make_unique<QuantileWatch>(quantile_limits(*limits)));
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
  for (const LuaSpeculation& each : speculations) {
    out.speculators.push_back(each.speculator.get());
    out.acceptances.push_back(each.acceptance.get());
  }
  out.workload = workload.get();
  for (const auto& each : listeners) out.observers.push_back(each.get());
  return out;
}

}  // namespace rooflua::script
