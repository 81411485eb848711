#include "script/run_documents.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <utility>

#include "script/vm/interrupt.h"

namespace rooflua::script {

bool is_partial(const std::vector<VariantResult>& results) {
  return std::any_of(results.begin(), results.end(), [](const VariantResult& each) {
    return !each.known() || each.partial() != nullptr;
  });
}

Json run_document(Scenario& scenario, const std::vector<VariantResult>& results,
                  const OwnReport& own, const Json& shard) {
  Json document = scenario.document(results);
  if (Json told = own.json(); !told.is_null()) document["report"] = std::move(told);
  if (!shard.is_null()) document["shard"] = shard;
  if (Json start = scenario.startup(); !start.is_null()) document["startup"] = std::move(start);
  return document;
}

HtmlReport run_page(Scenario& scenario, const std::vector<VariantResult>& results,
                    const OwnReport& own, const PageSource& source) {
  HtmlReport report;
  report.document = scenario.document(results);
  for (const VariantResult& each : results) {
    if (!each.known()) continue;
    report.drawings.push_back(each.drawing);
    report.summaries.push_back(each.summary);
  }
  report.own_text = own.figures;
  if (last_stop() == StopReason::none) {
    const Json explored = scenario.explored(results);
    report.explored = *explored.find("sections");
    report.own_units = *explored.find("own");
    report.has_baseline = explored.find("has_baseline")->boolean();
  }
  std::ifstream in(source.file, std::ios::binary);
  report.source.assign(std::istreambuf_iterator<char>(in), {});
  report.options = source.options;
  report.set = source.set;
  report.parameters = scenario.parameters();
  return report;
}

}  // namespace rooflua::script
