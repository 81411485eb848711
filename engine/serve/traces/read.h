#pragma once
// Recorded requests: when each arrived, and how long its prompt and its answer were.
//
// A trace is a CSV or JSONL file in one of these formats, told apart by the names of its columns
// unless the caller says which it is:
//
//     blis_v2        CSV    BLIS TraceV2: arrival_time_us, input_tokens, output_tokens, ... As BLIS
//                           replays it: a row with a prefix_group has a prompt of prefix_length +
//                           input_tokens; without one, server_input_tokens counts where recorded.
//                           Rows arrive at arrival_time_us; BLIS takes send_time_us where there is
//                           one, and replays rows whose status is error or timeout, too
//     blis_training  CSV    arrival_us, input_tokens, output_tokens_true, prompt_id
//     azure          CSV    TIMESTAMP (date and time), ContextTokens, GeneratedTokens
//     burstgpt       CSV    Timestamp, Request tokens, Response tokens; response 0 is a failure
//     mooncake       JSONL  timestamp, input_length, output_length, hash_ids: one for every
//                           512 tokens of the prompt, and one for the rest (Mooncake: ms and 512;
//                           qwen-bailian has the same keys: s and 16)
//     requests       CSV    the file of --requests, one row per request as it ends: arrival_s,
//                           prompt_tokens, output_tokens, ttft_s, ...; sorted by arrival here
//     aiperf         JSONL  profile_export.jsonl of AIPerf: metadata.request_start_ns,
//                           metrics.input_sequence_length, metrics.output_sequence_length; sorted
//     otlp           JSON   spans llm_request that vLLM exports to OpenTelemetry, a batch per line
//                           or one document; sorted
//     vllm_bench     JSON   a result of vllm bench serve --save-detailed: serve/traces/bench.h
//     plain          CSV or JSONL with any usual spelling of the three columns, arrival in s, ms,
//                    us or ns by its suffix; optional: class, session, round, priority, adapter,
//                    prompt_id, prefix_group with prefix_length (a part of the prompt)
//
// A column of arrivals whose name does not state its unit is in the unit that the caller states,
// else in that of its stamps (serve/traces/time_unit.h), and a note says so. Dates and Unix
// times (1e9 s or more) count from the first row. Files may be in any encoding that
// base/user/text.h reads, and packed with gzip.
// @source Azure: Splitwise, ISCA 2024; Mooncake: FAST 2025; BurstGPT: arXiv 2401.17644;
//         AIPerf and OTLP: serve/traces/nested.h

#include <filesystem>
#include <string>
#include <string_view>

#include "serve/traces/trace.h"

namespace rooflua {

/// An answer of no tokens is not replayed but counted in `skipped`.
/// @throws Error "file:row: what was found and what would be right": a missing column, a value that
///         is not a number, a negative or unsorted arrival, a prompt of no tokens, content that is
///         not that of its prompt, no request at all; a file that is not text
Trace read_trace(const std::filesystem::path& path, const TraceOptions& options = {});

/// The same from memory; `file` stands for it in messages.
Trace parse_trace(std::string_view text, const std::string& file, const TraceOptions& options = {});

}  // namespace rooflua
