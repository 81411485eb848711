#pragma once
// What running one variant of a scenario gives: a document for files, a text for people.

#include <filesystem>
#include <memory>
#include <string>

#include "base/json.h"
#include "cost/price/evidence.h"
#include "measure/html/report.h"
#include "measure/record/summary.h"

namespace rooflua::script {

struct ScenarioVariant {
  std::string name;  // "steps.prefill_divisor=1.8"; "" where nothing varies
  Json parameters;
  std::int64_t seed = 0;
  std::int64_t position = 0;  // among the variants of all shards, from 0
};

struct VariantResult {
  Json document;        // {name, parameters, summary: {evidence}, price: [...] or static: {...}}
  std::string text;     // for people
  std::string details;  // the part of the text that --why and --explain of a served run asked for
  EvidenceShares evidence{};               // shares of time; all 0 where there is no time
  double noted_frac = 0;                   // share of supported time that notes of a model touch
  VariantDrawing drawing;                  // where RunOutputs::sketch asked for it
  std::shared_ptr<const Summary> summary;  // of a served run of this process; else null
  std::string problem;                     // why it failed; then it is not known()
  std::string undivided;  // why one process simulated all replicas, where several were wanted
  bool waits = false;     // a search that needs runs of other shards; not known()

  bool known() const { return document.is_object(); }  // else it failed, or was never begun
  /// What a stopped run knows: the document's `partial` {stopped_by, clock_s, finished, sent}; null
  /// where the run went to its end.
  const Json* partial() const { return known() ? document.find("partial") : nullptr; }
};

/// The result of one variant from what program/kinds.lua returned for it.
///
/// @param kind     "price", "static", "serve", "search" or "plan"
/// @param served   the summary of kind "serve"; else null
/// @param explain  whether the operations of kind "price" are in the text
/// @param file     the scenario, for errors
VariantResult variant_result(const std::string& kind, const ScenarioVariant& variant,
                             const Json& returned, std::shared_ptr<const Summary> served,
                             bool explain, const std::string& file);

/// The result again from a document and a text that were written down. It is exact, because
/// numbers in documents are.
VariantResult variant_result(const Json& document, const std::string& text);

/// The summary of a served variant: the run's own, or read from the document of another process.
/// @param file  stands for the document in messages
Summary summary_of(const VariantResult& result, const std::string& file);

/// "PARTIAL: stopped by --timeout when the clock stood at 12.3 s; 20 of 45 requests sent had
/// finished"
std::string partial_line(const Json& partial);

/// The table of `step --explain` of one priced batch: {time_s, rows, evidence}.
std::string price_text(const Json& priced);

/// One priced batch {time_s, evidence, rows, noted_frac} as documents have it.
Json price_document(const Json& priced);

/// Share of the time, in percent, that is extrapolated, a stand-in or assumed.
double doubtful_percent(const EvidenceShares& shares);

}  // namespace rooflua::script
