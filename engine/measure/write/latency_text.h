#pragma once
// Parts of latencies (record/latency_parts.h) as documents and text.

#include <string>

#include "base/json.h"
#include "measure/record/latency_parts.h"

namespace rooflua {

struct Summary;

/// {seat, budget, ...} in s, those that are not 0.
Json parts_json(const PartSeconds& parts);
/// "prefill 61.2 %, seat 38.8 %", the largest first; "" where all are 0.
std::string parts_shares(const PartSeconds& parts);
/// Where TTFT and TPOT go, for all requests and for the slowest: a line each.
std::string latency_lines(const Summary& summary);

}  // namespace rooflua
