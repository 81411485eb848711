#pragma once
// A result of `vllm bench serve --save-detailed` as recorded requests. Used by read.cpp only.
//
//     input_lens, output_lens, start_times (s), errors     lists with an entry per request
//
// A request that failed, or that has no output, is left out and counted. A file may hold several
// results, one below the other or in lists; TraceOptions::run names one. Without start_times the
// arrivals are known only where all requests were sent at once: request_rate is infinite, and there
// is no max_concurrency. SGLang's bench_serving writes the same lists without start_times.
// @source github.com/vllm-project/vllm, vllm/benchmarks/serve.py; github.com/sgl-project/sglang,
//         python/sglang/bench_serving.py

#include <string_view>

#include "serve/traces/trace.h"

namespace rooflua {

/// Whether a JSON text is such a result, by its keys.
bool is_bench(std::string_view text);

/// Fills a trace of format vllm_bench.
/// @throws Error "file: key: what was found and what would be right"
void read_bench(std::string_view text, Trace& trace, const TraceOptions& options);

}  // namespace rooflua
