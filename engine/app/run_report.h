#pragma once
// What `rooflua run` prints of its results: the scenario's title, a table of variants or the report
// of the only one, the scenario's own report, what is missing, and notes.

#include <string>
#include <vector>

#include "app/commands.h"
#include "measure/write/fitted.h"
#include "script/run_documents.h"
#include "script/scenario.h"

namespace rooflua::app {

using script::is_partial;

/// Whether these are the variants of one shard of several.
bool is_part(const script::Scenario& scenario);

/// The text of the report.
/// @param own        the text of the scenario's own report; "" without one, or of partial results
/// @param arguments  decide about notes and operations
std::string report_text(script::Scenario& scenario,
                        const std::vector<script::VariantResult>& results, const std::string& own,
                        const RunArguments& arguments);

/// The metrics that searches and sensitivities were asked for by name.
NamedColumns named_metrics(const std::vector<script::VariantResult>& results);

/// Why a plan (plan.json) under --strict has no deployment: the best of those that do not count;
/// empty where a deployment counts, and where none rests on too little.
std::string strict_of_plan(const Json& plan);

/// Names of variants with the same fate as one text: up to three names, of more the first and how
/// many others: "tp=1 and 11 others".
std::string several(const std::vector<std::string>& names);

}  // namespace rooflua::app
