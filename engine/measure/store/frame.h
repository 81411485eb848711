#pragma once
// Runs of a file of results as a table: a row per run, a column per parameter and per metric. The
// columns of metrics are named as everywhere (ttft_s_p99): as pandas' json_normalize(sep="_") names
// them in the summary.

#include <functional>
#include <optional>
#include <string>
#include <vector>

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

/// The builds that a choice names. @throws Error, with the known ones, if no run is of it
std::vector<std::string> chosen_builds(const ResultStore& store, const std::string& build);

/// Visits the chosen runs in order of sets and positions, each once; then, where no set is chosen,
/// those of no set. Altered rows are left out, and reported on stderr.
void each_chosen(const ResultStore& store, const FrameChoice& choice,
                 const std::function<void(const NamedRun&)>& visit);

/// All chosen runs as CSV: run_hash, build, seed, name, parameters, and what documents hold, their
/// lists aside. A run without a metric has an empty cell.
/// @param select  metrics to keep, all if empty
/// @throws Error for a metric that no run has, with similar names
std::string csv_of(const ResultStore& store, const FrameChoice& choice,
                   const std::vector<std::string>& select);

/// All chosen runs as a document like that of `rooflua run --json`: {schema, build, scenario,
/// title, variants: [{name, parameters, summary, ..., run_hash, build, seed}]}, a line each.
std::string document_of(const ResultStore& store, const FrameChoice& choice);

}  // namespace rooflua
