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

}  // namespace rooflua
