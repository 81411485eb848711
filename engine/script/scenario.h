#pragma once
// A scenario that is open: checked, with its variants, which can be run. The Lua side of it is
// scripts/lib/rooflua/program/scenarios.lua.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "measure/store/result_store.h"
#include "measure/store/shards.h"
#include "script/variant_result.h"
#include "script/vm/vm.h"

namespace rooflua::script {

/// A launch command of an engine, or files of its start, whose model, engine and deployment replace
/// those of a scenario.
struct LaunchCommand {
  std::string text;    // empty: none
  std::string engine;  // "vllm 0.19": its release; empty: the newest
  std::string model;   // in place of the model that it names
  std::vector<std::string> from = {};  // files in place of the text

  bool is_given() const { return !text.empty() || !from.empty(); }

  /// What runs/opening.lua takes. A null value without a command.
  Json json() const;
};

struct ScenarioOptions {
  std::vector<std::string> set;  // "key=value"
  std::optional<long> seed;
  std::optional<Shard> shard;  // only the variants of this shard
  LaunchCommand command = {};
};

/// What a run writes and keeps as it goes; an empty path writes nothing.
struct RunOutputs {
  std::string requests, trace;
  std::string rows;                      // the requests again, as CSV: for files of other tools
  std::string progress;                  // title of a progress bar
  bool sketch = false;                   // what a report in HTML draws
  bool operations = true;                // of each batch of kind "price", for the document
  std::string as;                        // the benchmark tool whose table is the text
  std::string why;                       // a request to follow: its id, or "slowest"
  std::string results;                   // SQLite file of a search
  std::vector<std::string> also;         // files of results that it reads besides
  int jobs = 1;                          // of a search, or of the replicas of a served variant
  std::optional<double> strict_percent;  // of a plan: deployments that rest on less do not count
  /// Of a search: only this part of its next round is run (VariantResult::waits).
  std::optional<Shard> round;
  /// What clients send is served in place of the workload: the options of serving/emulated.lua.
  Json emulate;
};

/// The names of a scenario's runs in files of results.
struct RunNames {
  ResultSet set;
  std::vector<std::string> run_hashes;  // one per variant
};

/// What the function `report` of a scenario gave.
struct OwnReport {
  std::string text;
  Json rows;  // the cells of its table, or of several; null where it gave text
  std::string figures;  // the text with the digits of a page

  /// The rows, else the text; null without a report: the key `report` of a document.
  Json json() const;
};

class Scenario {
 public:
  /// @throws Error or LuaError with file and key path
  Scenario(Vm& vm, const std::filesystem::path& file, const ScenarioOptions& options = {});

  /// The same for a table, as `rooflua step` makes one. Its policies are names ("kernels:preset").
  /// @param called  what errors and the document call it
  Scenario(Vm& vm, const Json& table, const ScenarioOptions& options = {},
           const char* called = "step");

  /// One that scripts have opened: what a function such as program/scenarios.lua's open told.
  static Scenario told(Vm& vm, const Json& opened);

  const std::string& kind() const { return kind_; }  // "price", "static", "serve", "search", "plan"
  const std::string& title() const { return title_; }
  std::int64_t seed() const { return seed_; }
  const std::vector<ScenarioVariant>& variants() const { return variants_; }
  /// Variants of all shards.
  std::int64_t total() const { return total_; }

  /// Whether the text of its one variant lists operations although no option asks for it.
  bool lists_operations() const { return lists_operations_; }
  /// Whether it has a report of its own, which reads the documents.
  bool has_report() const { return has_report_; }

  /// Everything that can be found out without running. @throws Error or LuaError
  void check();
  /// Names of the runs by everything that they depend on: the scenario, the Lua files, tables and
  /// traces that it uses. `explain` as for run(), `sketch` as in RunOutputs: both change what is
  /// kept.
  RunNames names(bool explain, bool sketch);
  /// Runs one variant. `explain` puts the operations of kind "price" into the text.
  VariantResult run(std::size_t variant, bool explain, const RunOutputs& outputs = {});
  /// The result of a variant from what program/kinds.lua, or a function like its run, returned
  /// last.
  VariantResult result(std::size_t variant, const Json& returned, bool explain) const;
  /// What a served variant says of its machine and load (serving/facts.lua), for files of other
  /// tools.
  Json facts(std::size_t variant);
  /// The scenario's own report of all results; empty if it has none.
  OwnReport report(const std::vector<VariantResult>& results);
  /// What files of a start say beside what is computed (serving/believed.lua); null without them.
  Json startup();
  /// Everything that was given and every declared parameter: [{path, value, unit, note}].
  Json parameters();
  /// Differences from the first variant, with confidence intervals, where variants were run with
  /// several seeds; else "".
  std::string over_seeds(const std::vector<VariantResult>& results);
  /// What a page says of the runs of a sweep or a search: {sections, has_baseline, own}
  /// of measure/html/report.h.
  Json explored(const std::vector<VariantResult>& results);
  /// What a function of scripts/lib/rooflua/lab/questions.lua says of this scenario.
  Json laboratory(const char* function, const std::vector<Json>& arguments = {});
  /// {schema, scenario, title, kind, seed, variants: [...]}; what was set from outside, also
  /// set: ["key=value"]; if variants failed, also
  /// failed: [{name, problem}]; if the run was stopped, also
  /// partial: {stopped_by, not_run: [names of variants that were not begun]}
  Json document(const std::vector<VariantResult>& results) const;

 private:
  explicit Scenario(Vm& vm) : vm_(&vm) {}
  void adopt(const Json& opened);

  /// Calls a function of program/scenarios.lua with this scenario's number and further arguments.
  Json ask(const char* name, std::vector<Json> arguments = {});

  Vm* vm_;
  Json number_;  // by which program/scenarios.lua knows it
  Json set_;     // texts of `--set`
  std::string file_, kind_, title_;
  std::int64_t seed_ = 0, total_ = 0;
  bool has_report_ = false, has_startup_ = false, lists_operations_ = false;
  std::vector<ScenarioVariant> variants_;
};

}  // namespace rooflua::script
