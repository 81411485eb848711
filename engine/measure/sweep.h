#pragma once
// Many runs. A results file may have some of them already; the others run in worker processes, and
// the file gets each as it ends. The outcome does not depend on jobs, order or interruptions.

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "measure/write/result_store.h"

namespace rooflua {

struct SweepRow {
  std::string name;
  Json parameters;
  std::int64_t seed = 0;
};

struct SweepOptions {
  int jobs = 1;
  std::string results;  // SQLite file; "" = none
  ResultSet set;        // where results is given
  std::string title;    // of the progress bar
  bool quiet = false;
  const std::atomic<int>* stop = nullptr;
  std::function<void()> in_process, before_each;  // as in base/workers.h
  std::function<bool()> leave;
};

struct SweepOutcome {
  std::vector<Json> results;          // {document, report, drawing}; null: none
  std::vector<std::string> problems;  // "" where all went well
  std::int64_t reused = 0;            // rows that the file had
  std::int64_t foreign = 0;           // rows of the file that belong to something else
  bool interrupted = false;
};

/// @param run  gives {document, report} of one row, or an object without a document that says why
///             there is none (not kept in the file). It is called in another process.
SweepOutcome run_sweep(const std::vector<SweepRow>& rows, const SweepOptions& options,
                       const std::function<Json(std::size_t)>& run);

}  // namespace rooflua
