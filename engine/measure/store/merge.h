#pragma once
// The union of files of results. It does not depend on the order of the files, nor on how often one
// is given: merging merged files gives what merging all at once gives.

#include <string>
#include <vector>

#include "measure/store/result_store.h"

namespace rooflua {

struct MergeOutcome {
  std::int64_t files = 0;            // that were read
  std::int64_t added = 0, same = 0;  // runs that the result did not have, and had
  std::int64_t altered = 0;          // rows that do not fit their checksum, left out
  std::int64_t total = 0;            // runs of the result
  /// Of one run computed twice: machines may differ in the last digit of a logarithm.
  std::int64_t differing = 0;
  double largest_difference = 0;  // relative
  std::vector<std::string> builds;
};

/// Adds to `out` what the others hold. Each is a file of results, a folder of them, lines of
/// `results export --format jsonl`, or a log with such lines between marks. Of a run that is there
/// twice the one with the smaller checksum stays.
///
/// @param strict   any difference between two results of one run is an error
/// @throws Error   for a file that is something else, and if two results of one run differ by more
///                 than 1e-9: nothing is changed then
MergeOutcome merge(const std::string& out, const std::vector<std::string>& others, bool strict);

/// The same into a file that is open.
MergeOutcome merge_into(ResultStore& out, const std::vector<std::string>& others, bool strict);

/// Opens results to look at them: a file of results as it is; anything else that can be merged (a
/// folder, lines) as its union, in memory.
std::unique_ptr<ResultStore> open_results(const std::string& path);

/// Whether the first bytes are those of an SQLite file.
bool is_sqlite(const std::string& file);

}  // namespace rooflua
