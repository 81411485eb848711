#pragma once
// Many runs. Files of results may have some of them already; the others run in worker processes,
// and the sweep's own file gets each as it ends. The outcome does not depend on jobs, order or
// interruptions.

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/json.h"
#include "measure/store/result_store.h"

namespace rooflua {

struct SweepRow {
  std::string name;
  Json parameters;
  std::int64_t seed = 0;
  // Where results are kept:
  std::string run_hash = {};
  std::int64_t position = 0;  // in its set
  bool here = true;           // else another process does it: it is taken from files, or missing
};

struct SweepOptions {
  int jobs = 1;
  std::string results;            // SQLite file that gets the runs; "" = none
  std::vector<std::string> also;  // files that are read besides
  bool takes_failures = false;    // a failure that a file tells of is not tried again
  bool tells_builds = true;       // whether a file whose runs are all of other builds is reported
  ResultSet set;                  // where results is given
  std::string build;              // of the program
  std::string title;              // of the progress bar
  bool quiet = false;
  const std::atomic<int>* stop = nullptr;
  std::function<void()> in_process, before_each;  // as in base/workers.h
  std::function<bool()> leave;
};

struct SweepOutcome {
  std::vector<Json> results;          // {document, report, drawing}; null: none
  std::vector<std::string> problems;  // "" where all went well
  std::int64_t reused = 0;            // rows that a file had
  std::int64_t missing = 0;           // rows that are not done here, and that no file has
  std::int64_t foreign = 0;           // runs of the sweep's own file that belong to something else
  bool interrupted = false;
};

/// @param run  gives {document, report} of one row, or an object without a document that says why
///             there is none (not kept as a run). It is called in another process. Of rows with the
///             same run_hash, it is called for one.
SweepOutcome run_sweep(const std::vector<SweepRow>& rows, const SweepOptions& options,
                       const std::function<Json(std::size_t)>& run);

}  // namespace rooflua
