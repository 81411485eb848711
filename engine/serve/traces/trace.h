#pragma once
// A recorded workload in memory: its rows, and what was read and skipped.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "serve/contract/request.h"
#include "serve/contract/workload.h"

namespace rooflua {

enum class TraceFormat {
  plain,
  requests,
  azure,
  burstgpt,
  mooncake,
  blis_v2,
  blis_training,
  aiperf,
  otlp,
  vllm_bench
};

std::string_view name(TraceFormat format);
/// The inverse of name(). @throws Error at `where` that names the known ones
TraceFormat trace_format(std::string_view text, const std::string& where);

inline constexpr double never_cancelled = std::numeric_limits<double>::infinity();

struct TraceRow {
  double arrival_s = 0;            // finite, >= 0, not before the row above
  std::int64_t prompt_tokens = 0;  // >= 1
  std::int64_t output_tokens = 0;  // >= 1
  std::int32_t line = 0;           // where in the file
  std::int32_t class_index = -1;   // into Trace::classes; -1: no row of the trace has a class
  std::int32_t session = -1;       // into Trace::sessions; -1: none
  std::int32_t round = 0;          // turn in that session
  std::int32_t priority = 0;
  std::int32_t tenant = -1;                       // RequestSpec::tenant
  std::int32_t adapter = -1;                      // RequestSpec::adapter
  std::int32_t max_output_tokens = 0;             // the limit that the client declared; 0: none
  double cancelled_s = never_cancelled;           // when its client left, on the clock of arrivals
  std::uint32_t first_segment = 0, segments = 0;  // in Trace::segments
  std::int32_t items = -1;                        // in Trace::items
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
  std::vector<Json> items;  // {images, audio_s, video}: lists, as workloads write them
  std::vector<std::string> classes, sessions;  // names, in order of appearance; "(none)" last
  /// Rows that are not replayed, by reason: "failed when recorded", "no output" or
  /// "warm-up".
  std::map<std::string, SkippedRows> skipped;
  std::int64_t read = 0;  // rows that were read, skipped ones included
  /// Sentences for every output: the unit of time where it was inferred, or gives an odd rate.
  std::vector<std::string> notes;

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
  /// The unit of arrivals, 1000 for ms; nothing: by the name of their column, else inferred from
  /// the stamps (time_unit.h).
  std::optional<double> units_per_s;
  std::string run;  // which result of a file of several: its number or name (vllm_bench)
};

/// The skipped rows, for reports; nothing where all rows are replayed.
std::optional<Unsent> left_out(const Trace& trace);

}  // namespace rooflua
