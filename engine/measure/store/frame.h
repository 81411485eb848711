#pragma once
// Runs of a file of results as a table: a row per run, a column per parameter and per metric. The
// columns of metrics are named as everywhere (ttft_s_p99): as pandas' json_normalize(sep="_") names
// them in the summary.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "measure/store/result_store.h"

namespace rooflua {

/// Which runs of a file.
struct FrameChoice {
  std::string set;    // the beginning of a set's hash; "" = all runs
  std::string build;  // "" = all builds
};

/// A run as it stands in a file, and its name there.
struct NamedRun {
  ResultRow row;
  ResultSet set;  // the first that contains it; without hash: none
  std::string name;
  std::int64_t position = 0;
};

/// The sets that a choice names. @throws Error, with the known ones, if it names none
std::vector<ResultSet> chosen_sets(const ResultStore& store, const std::string& set);

/// Visits the chosen runs in order of sets and positions, each once; then, where no set is chosen,
/// those of no set. Altered rows are left out.
void each_chosen(const ResultStore& store, const FrameChoice& choice,
                 const std::function<void(const NamedRun&)>& visit);

struct Cell {
  std::string column;
  Json value;  // a number, a text, a boolean or null
};

/// The cells of a run: run_hash, build, seed, name, its parameters, and what its document holds,
/// its lists aside.
std::vector<Cell> cells(const NamedRun& run);

/// All chosen runs as CSV. A run without a metric has an empty cell.
/// @param select  metrics to keep, all if empty
/// @throws Error for a metric that no run has, with similar names
std::string csv_of(const ResultStore& store, const FrameChoice& choice,
                   const std::vector<std::string>& select);

/// All chosen runs as a document like that of `rooflua run --json`: {schema, build, scenario,
/// title, variants: [{name, parameters, summary, ..., run_hash, seed}]}.
Json document_of(const ResultStore& store, const FrameChoice& choice);

}  // namespace rooflua
