#include "measure/sweep.h"

#include <memory>
#include <set>

#include "base/error.h"
#include "base/log.h"
#include "base/workers.h"
#include "measure/write/progress.h"

namespace rooflua {

namespace {

ResultRow stored(const SweepRow& row, std::size_t position, const Json& result) {
  ResultRow out;
  out.position = static_cast<std::int64_t>(position);
  out.seed = row.seed;
  out.name = row.name;
  out.parameters = dump_json(row.parameters);
  out.document = dump_json(*result.find("document"));
  out.report = result.find("report")->text();
  if (const Json* drawing = result.find("drawing")) out.drawing = dump_json(*drawing);
  return out;
}

/// Whether a result may be kept in the file: not one of a run that was stopped, nor one without a
/// document.
bool is_whole(const Json& result) {
  const Json* document = result.find("document");
  return document != nullptr && document->find("partial") == nullptr;
}

/// Takes the results that the file has. A row that was altered is told and not taken: its run is
/// done again. @returns the positions of these. @throws Error if a row of it is another run
std::set<std::int64_t> take_over(const ResultStore& store, const std::string& file,
                                 const std::vector<SweepRow>& rows, SweepOutcome& outcome) {
  std::set<std::int64_t> altered;
  std::vector<ResultRow> unsound;
  const auto sound = store.rows(unsound);
  for (const ResultRow& row : unsound) {
    log::warn(
        file + ": row " + std::to_string(row.position) +
        " was altered after it was written (its checksum does not fit); its run is done again");
    altered.insert(row.position);
  }
  for (const auto& [position, row] : sound) {
    const auto at = static_cast<std::size_t>(position);
    if (at >= rows.size() || row.parameters != dump_json(rows[at].parameters) ||
        row.seed != rows[at].seed) {
      throw Error(file, "row " + std::to_string(position) + " (" + row.name +
                            ") is not the run of this scenario at that place; name another file");
    }
    Json result = Json::object();
    result["document"] = parse_json(row.document, file);
    result["report"] = row.report;
    if (!row.drawing.empty()) result["drawing"] = parse_json(row.drawing, file);
    outcome.results[at] = std::move(result);
    ++outcome.reused;
  }
  outcome.foreign = store.foreign_rows();
  return altered;
}

}  // namespace

SweepOutcome run_sweep(const std::vector<SweepRow>& rows, const SweepOptions& options,
                       const std::function<Json(std::size_t)>& run) {
  SweepOutcome outcome;
  outcome.results.resize(rows.size());
  outcome.problems.resize(rows.size());
  const auto open = [&] { return std::make_unique<ResultStore>(options.results, options.set); };
  // Closed before the first fork: SQLite forbids to carry a connection into another process.
  std::set<std::int64_t> altered;
  if (!options.results.empty()) altered = take_over(*open(), options.results, rows, outcome);
  std::vector<std::size_t> missing;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (outcome.results[i].is_null()) missing.push_back(i);
  }
  std::unique_ptr<ResultStore> store;
  ProgressBar bar(options.title, static_cast<std::int64_t>(rows.size()), options.quiet);
  std::int64_t there = outcome.reused;
  bar.begin(there);
  WorkOptions work;
  work.jobs = options.jobs;
  work.stop = options.stop;
  work.in_process = options.in_process;
  work.before_each = options.before_each;
  work.leave = options.leave;
  const bool finished = in_workers(
      missing.size(), work, [&](std::size_t piece) { return run(missing[piece]); },
      [&](WorkDone&& done) {
        const std::size_t at = missing[done.piece];
        outcome.problems[at] = done.problem;
        if (done.problem.empty()) {
          outcome.results[at] = std::move(done.document);
          if (!options.results.empty() && is_whole(outcome.results[at])) {
            if (store == nullptr) store = open();
            const ResultRow row = stored(rows[at], at, outcome.results[at]);
            altered.contains(row.position) ? store->repair(row) : store->add(row);
          }
        }
        bar.show(++there);
      });
  outcome.interrupted = !finished;
  return outcome;
}

}  // namespace rooflua
