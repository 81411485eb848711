#pragma once
// Stored runs for tools that know nothing of rooflua.

#include <string>

#include "base/json.h"
#include "measure/store/frame.h"

namespace rooflua {

/// The chosen runs as Prometheus' text format, with the labels run, build and name. Names that vLLM
/// has are vLLM's (vllm:time_to_first_token_seconds, as summaries); other metrics are gauges,
/// rooflua_NAME.
/// @source vLLM, docs/design/metrics; Prometheus, exposition formats 0.0.4
std::string prometheus_of(const ResultStore& store, const FrameChoice& choice);

/// A run as llm-d's benchmark report 0.2. Its tool is "rooflua (simulated)", its uid the name of
/// the run by content, its eid that of the sweep.
/// @source llm-d-benchmark, schema_v0_2
/// @throws Error for a run without requests
Json llm_d_report(const NamedRun& run);

}  // namespace rooflua
