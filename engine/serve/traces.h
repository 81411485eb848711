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
//     mooncake       JSONL  timestamp (ms), input_length, output_length, hash_ids: one for every
//                           512 tokens of the prompt, and one for the rest
//     requests       CSV    the file of --requests, one row per request as it ends: arrival_s,
//                           prompt_tokens, output_tokens, ttft_s, ...; sorted by arrival here
//     plain          CSV or JSONL with any usual spelling of the three columns, arrival in s, ms or
//                    us by its suffix; optional: class, session, round, priority, prompt_id,
//                    prefix_group with prefix_length (a part of the prompt)
//
// Arrivals are seconds as the file has them; dates and Unix times (1e9 s or more) count from the
// first row.
// @source Azure: Splitwise, ISCA 2024; Mooncake: FAST 2025; BurstGPT: arXiv 2401.17644

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "serve/request.h"
#include "serve/workload.h"

namespace rooflua {

enum class TraceFormat { plain, requests, azure, burstgpt, mooncake, blis_v2, blis_training };

std::string_view name(TraceFormat format);
/// The inverse of name(). @throws Error at `where` that names the known ones
TraceFormat trace_format(std::string_view text, const std::string& where);

struct TraceRow {
  double arrival_s = 0;            // finite, >= 0, not before the row above
  std::int64_t prompt_tokens = 0;  // >= 1
  std::int64_t output_tokens = 0;  // >= 1
  std::int32_t line = 0;           // where in the file
  std::int32_t class_index = -1;   // into Trace::classes; -1: no row of the trace has a class
  std::int32_t session = -1;       // into Trace::sessions; -1: none
  std::int32_t round = 0;          // turn in that session
  std::int32_t priority = 0;
  std::uint32_t first_segment = 0, segments = 0;  // in Trace::segments
};

struct SkippedRows {
  std::int64_t count = 0;
  std::int32_t first_line = 0;  // where the first of them is
};

struct Trace {
  std::string file;
  TraceFormat format = TraceFormat::plain;
  std::vector<TraceRow> rows;
  std::vector<Segment> segments;
  std::vector<std::string> classes, sessions;  // names, in order of appearance; "(none)" last
  /// Rows that are not replayed, by reason: "failed when recorded" or "no output".
  std::map<std::string, SkippedRows> skipped;
  std::int64_t read = 0;  // rows that were read, skipped ones included

  /// What the prompt consists of, adding up to prompt_tokens (content 0: shared with no other);
  /// empty: no token is shared.
  std::span<const Segment> content(const TraceRow& row) const {
    return std::span(segments).subspan(row.first_segment, row.segments);
  }
};

struct TraceOptions {
  std::optional<TraceFormat> format;  // nothing: by the columns
  bool sort = false;                  // accept rows that are not in order of arrival, and sort them
                                      // (requests: always)
  std::size_t limit = 0;              // rows to read, the first to arrive; 0: all
  std::int64_t hash_block_tokens = 512;  // tokens that one id of hash_ids stands for
};

/// The skipped rows, for reports; nothing where all rows are replayed.
std::optional<Unsent> left_out(const Trace& trace);

/// An answer of no tokens is not replayed but counted in `skipped`.
/// @throws Error "file:row: what was found and what would be right": a missing column, a value that
///         is not a number, a negative or unsorted arrival, a prompt of no tokens, content that is
///         not that of its prompt, no request at all; a file that is compressed or not text
Trace read_trace(const std::filesystem::path& path, const TraceOptions& options = {});

/// The same from memory; `file` stands for it in messages.
Trace parse_trace(std::string_view text, const std::string& file, const TraceOptions& options = {});

}  // namespace rooflua
