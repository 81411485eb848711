#pragma once
// Recorded requests whose fields lie in objects within objects: AIPerf's records and OTLP's spans.
// Used by read.cpp only.
//
//     aiperf   a request per line; the prompt of a first turn is the text of its conversation_id,
//              so requests of the same conversation share it; later turns share nothing, because
//              the file does not say how much of a prompt is history. Requests of the warm-up are
//              left out and counted
//     otlp     spans called llm_request; other spans are no requests. Two spans of one
//              gen_ai.request.id are one request, whose prefill and decode ran in two engines: the
//              earlier start and the longer answer count
//
// Stamps are nanoseconds since 1970. They are subtracted as whole numbers, so that arrivals are
// exact to a nanosecond: a double at 1.8e18 is exact to 256.
// @source github.com/ai-dynamo/aiperf, common/models/record_models.py; github.com/vllm-project/vllm
//         vllm/tracing; OTLP 1.0, JSON encoding (opentelemetry.io)

#include <string_view>

#include "serve/traces/trace.h"

namespace rooflua {

bool is_nested(TraceFormat format);

/// aiperf or otlp by the keys at the beginning of a JSON text; plain where it is neither.
TraceFormat nested_format(std::string_view text);

/// Fills a trace of format aiperf or otlp.
/// @throws Error "file:line: key: what was found and what would be right"
void read_nested(std::string_view text, Trace& trace, const TraceOptions& options);

}  // namespace rooflua
