#pragma once
// A result as a page: what was asked, the summary, how variants differ, latencies, the engine over
// time, where the time of a step goes, what it rests on, and every parameter. One file, the same
// bytes for the same result.

#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "measure/html/drawing.h"
#include "measure/html/page.h"
#include "measure/record/summary.h"

namespace rooflua {

struct HtmlReport {
  Json document;  // of --json: {scenario, title, kind, seed, variants: [...]}
  std::vector<VariantDrawing> drawings;                   // one per variant, or none
  std::vector<std::shared_ptr<const Summary>> summaries;  // one per variant: null, or no list:
                                                          // it is read from the document
  std::string own_text;                                   // the scenario's own report
  std::string source;                                     // text of the scenario file
  std::vector<std::string> options;                       // others, as "--engine vllm 0.19"
  std::vector<std::string> set;                           // "key=value" of the command line
  Json parameters;           // [{path, value, unit, note}] of the scenario
  Json explored;             // what a script says of many runs: sections of measure/html/sections.h
  Json own_units;            // [{name, unit}] of the scenario's own metrics
  bool has_baseline = true;  // single runs are compared with the first one
};

std::string html_report(const HtmlReport& report);
/// The same, of which sections can be taken.
HtmlPage html_page(const HtmlReport& report);
/// What served variants gave against the parameter that varies, else a bar for each; and what a
/// script says of them. Nothing else of a report.
HtmlPage html_trend(const HtmlReport& report);

}  // namespace rooflua
