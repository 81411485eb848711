#pragma once
// What the variants gave, drawn: against the parameter that varies, or as a bar for each variant.

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "measure/html/chart/chart.h"
#include "measure/html/choice.h"
#include "measure/html/page.h"
#include "measure/html/parts.h"

namespace rooflua::html {

/// A metric of the scenario, and its unit: "s", "1" of a share, "" of none.
struct OwnUnit {
  std::string name, unit;
};

/// The limit of the SLO for a latency, in the unit of which a second has `per_s`; nothing without
/// one.
std::vector<Limit> slo_limits(std::string_view latency, const std::vector<Served>& variants,
                              double per_s);

/// Latencies, throughput, goodput and own metrics against the parameter that varies, if it is one
/// number. Otherwise nothing is added, and the answer is no.
/// @param parameters  [{path, unit}] of the scenario
bool add_trend(HtmlPage& page, const std::vector<Served>& variants, const Json& parameters,
               const std::vector<OwnUnit>& own);
/// The same as bars; nothing for a single variant.
void add_bars(HtmlPage& page, const std::vector<Served>& variants, const std::vector<OwnUnit>& own,
              Choice& choice);

}  // namespace rooflua::html
