#pragma once
// What a run leaves: the document of --json and the page of --html, from the results of all
// variants. The same results give the same bytes, whichever command asks.

#include <string>
#include <vector>

#include "base/json.h"
#include "measure/html/report.h"
#include "script/scenario.h"

namespace rooflua::script {

/// Scenario::document() with what only the whole scenario says: `report`, `shard`, `startup`.
/// @param own    of Scenario::report(); empty where variants are missing
/// @param shard  which part of the runs it is; null: all of them
Json run_document(Scenario& scenario, const std::vector<VariantResult>& results,
                  const OwnReport& own, const Json& shard = {});

/// How the page names what was asked.
struct PageSource {
  std::string file;                  // of the scenario, whose text the page shows; "" = none
  std::vector<std::string> options;  // others, as "--engine vllm 0.19"
  std::vector<std::string> set;      // "key=value" of the command line
};

HtmlReport run_page(Scenario& scenario, const std::vector<VariantResult>& results,
                    const OwnReport& own, const PageSource& source);

/// Whether a variant failed, was stopped or was not started.
bool is_partial(const std::vector<VariantResult>& results);

}  // namespace rooflua::script
