#pragma once
// A scenario as the program sees it: opened and checked, its variants, and what running one gives.
// The reading itself is scripts/lib/rooflua/scenario/reader.lua.

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "cost/evidence.h"
#include "measure/html/report.h"
#include "measure/record/summary.h"
#include "script/vm/vm.h"

namespace rooflua::script {

struct ScenarioOptions {
  std::vector<std::string> set;  // "key=value"
  std::optional<long> seed;
};

struct ScenarioVariant {
  std::string name;  // "steps.prefill_divisor=1.8"; "" where nothing varies
  Json parameters;
  std::int64_t seed = 0;
};

/// What came of one variant.
struct VariantResult {
  Json document;        // {name, parameters, summary: {evidence}, price: [...] or static: {...}}
  std::string text;     // for people
  std::string details;  // the part of it that --why and --explain of a served run asked for
  EvidenceShares evidence{};               // shares of time; all 0 where there is no time
  VariantDrawing drawing;                  // where RunOutputs::sketch asked for it
  std::shared_ptr<const Summary> summary;  // of a run of this process; else null
  std::string problem;                     // why it failed; then it is not known()

  bool known() const { return document.is_object(); }  // else it failed, or was never begun
  /// What a stopped run knows: the document's `partial` {stopped_by, clock_s, finished, sent}; null
  /// where it went to its end.
  const Json* partial() const { return known() ? document.find("partial") : nullptr; }
};

/// The summary of a served variant: the run's own, or read from the document of another process.
/// @param file  stands for the document in messages
Summary summary_of(const VariantResult& result, const std::string& file);

/// "PARTIAL: stopped by --timeout when the clock stood at 12.3 s; 20 of 45 requests sent had
/// finished"
std::string partial_line(const Json& partial);
/// The same of a document that was written down: exact, because numbers in documents are.
VariantResult variant_result(const Json& document, const std::string& text);

/// Files that a run of kind "serve" writes as it goes; empty = none.
struct RunOutputs {
  std::string requests, trace;
  std::string progress;     // title of a progress bar
  bool sketch = false;      // what a report in HTML draws
  std::optional<long> why;  // a request to follow
  std::string results;      // SQLite file of a search
  int jobs = 1;             // of a search
};

class Scenario {
 public:
  /// @throws Error or LuaError with file and key path
  Scenario(Vm& vm, const std::filesystem::path& file, const ScenarioOptions& options = {});

  /// The same of a table, as the command line makes one. Its policies are names ("kernels:preset").
  Scenario(Vm& vm, const Json& table, const ScenarioOptions& options = {});

  const std::string& kind() const { return kind_; }  // "price", "static", "serve", "search"
  const std::string& title() const { return title_; }
  std::int64_t seed() const { return seed_; }
  const std::vector<ScenarioVariant>& variants() const { return variants_; }

  /// Everything that can be found out without running. @throws Error or LuaError
  void check();
  /// A hash of everything that results depend on: the scenario, the Lua files, tables and traces
  /// that it uses, and options.
  std::string fingerprint();
  /// Runs one variant. `explain` puts the operations of kind "price" into the text.
  VariantResult run(std::size_t variant, bool explain, const RunOutputs& outputs = {});
  /// The scenario's own report of all results; "" if it has none.
  std::string report(const std::vector<VariantResult>& results);
  /// Everything that was given and every declared parameter: [{path, value, unit, note}].
  Json parameters();
  /// Where variants were run with several seeds: differences from the first, with confidence
  /// intervals; else "".
  std::string over_seeds(const std::vector<VariantResult>& results);
  /// What a page says of many runs, a sweep's or a search's: {sections, has_baseline} of
  /// measure/html/report.h.
  Json explored(const std::vector<VariantResult>& results);
  /// {schema, scenario, title, kind, seed, variants: [...]}; where variants failed also
  /// failed: [{name, problem}]; of a run that was stopped also
  /// partial: {stopped_by, not_run: [names of variants that were not begun]}
  Json document(const std::vector<VariantResult>& results) const;

 private:
  void adopt(const Json& opened);

  Vm* vm_;
  std::string file_, kind_, title_;
  std::int64_t seed_ = 0;
  bool has_report_ = false;
  std::vector<ScenarioVariant> variants_;
};

/// The table of `step --explain` of one priced batch: {time_s, rows, evidence}.
std::string price_text(const Json& priced);

/// Share of the time, in percent, that is extrapolated, a stand-in or assumed: what --strict
/// bounds.
double doubtful_percent(const EvidenceShares& shares);

}  // namespace rooflua::script
