#pragma once
// The numbers of an answer, as a page shows them.

#include <vector>

#include "base/json.h"
#include "script/scenario.h"

namespace rooflua::lab {

/// What the summary of a page has, then every other number of a run: [{name, label, unit, group,
/// better, help, shown, values, texts, intervals}], the last three with one entry for each variant
/// that is known.
Json columns_of(const std::vector<script::VariantResult>& results);

/// Adds to {columns} what scripts say of an answer beside the metrics of a page: columns, facts
/// (lab/figures.lua). Nothing for a run that was stopped, or that serves nothing.
void add_figures(script::Scenario& scenario, const std::vector<script::VariantResult>& results,
                 Json& out);

/// columns_of, with those of add_figures.
Json all_columns(script::Scenario& scenario, const std::vector<script::VariantResult>& results);

}  // namespace rooflua::lab
