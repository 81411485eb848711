#pragma once
// The sections of a report in HTML (measure/html/report.h), one function each.

#include <array>
#include <string>
#include <vector>

#include "base/json.h"
#include "measure/html/drawing.h"
#include "measure/html/page.h"
#include "measure/record/summary.h"
#include "measure/write/run_columns.h"

namespace rooflua::html {

class Choice;

/// Of more variants than this the first are drawn, and with a script those that a reader chooses.
inline constexpr std::size_t most_drawn = 10;
/// Longer tables of variants are folded away.
inline constexpr std::size_t most_listed = 24;

struct Served {
  std::string name;
  const Json* parameters;
  Summary summary;
  const VariantDrawing* drawing;  // may be null
};

/// The lines that begin with `---` at the top of a scenario: the question, and its labelled parts.
void add_header(HtmlPage& page, const std::string& source);
/// The columns of the summary of these runs: only what says something of them.
std::vector<RunColumn> summary_columns(const std::vector<const Summary*>& runs);
void add_summary(HtmlPage& page, const std::vector<Served>& variants, Choice& choice);
/// Classes, tenants and parts of variants that have them, and which part of the requests quantiles
/// are of.
void add_parts(HtmlPage& page, const std::vector<Served>& variants);
/// "run" where there is one without a name.
std::string name_of(const Served& variant);
/// Differences of every variant to the first; nothing for a single one.
void add_differences(HtmlPage& page, const std::vector<Served>& variants);
void add_latencies(HtmlPage& page, const std::vector<Served>& variants, Choice& choice);
void add_timeline(HtmlPage& page, const std::vector<Served>& variants, Choice& choice);
void add_breakdown(HtmlPage& page, const std::vector<Served>& variants, Choice& choice);
/// The requests of single plays over time; nothing where there are no plays.
void add_single_plays(HtmlPage& page, const std::vector<Served>& variants);
/// How far figures of runs or times of batches may be off; nothing where no document says it.
void add_intervals(HtmlPage& page, const Json& variants);
/// What the time of each variant's runs rests on.
void add_evidence(HtmlPage& page, const Json& variants);
/// Kind "price": batches op by op.
void add_prices(HtmlPage& page, const Json& variants);
/// Kind "static": every figure of every variant.
void add_static(HtmlPage& page, const Json& variants);

/// Bars of the evidence that the time of several runs or batches rests on.
std::string evidence_bars(const std::vector<std::string>& names,
                          const std::vector<EvidenceShares>& shares);

}  // namespace rooflua::html
