#pragma once
// What the columns of recorded requests mean, format by format.

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "serve/traces/trace.h"

namespace rooflua {

/// What a column of a trace can mean.
enum class TraceRole {
  none,
  arrival,
  prompt,
  output,
  request_class,
  session,
  round,
  priority,
  prompt_id,
  prefix_group,
  prefix_length,
  server_prompt,
  hash_ids,
  failure,
  limit,
  cancelled,
  adapter,
  tenant,
  attempt,
  cached,  // prompt tokens that were in a prefix cache, in every format
  images,  // items of a prompt, a list in JSON each
  audio_s,
  video,
};
inline constexpr int trace_role_count = 23;

/// One row as text, by role; empty where the file has no such column or the cell is empty.
struct RawTraceRow {
  int line = 0;
  std::array<std::string_view, trace_role_count> text;
  std::string_view& operator[](TraceRole role) { return text[static_cast<std::size_t>(role)]; }
  std::string_view operator[](TraceRole role) const { return text[static_cast<std::size_t>(role)]; }
};

/// What a column means, and for an arrival its unit.
struct TraceColumn {
  TraceRole role = TraceRole::none;
  double units_per_s = 0;     // 1000 for milliseconds; 0: the name does not say it
  bool documented_s = false;  // the name does not say it, the source of the format says seconds
};

/// What the column means in that format; none where the format does not read it.
/// @param column  in plain_spelling
TraceColumn trace_column(TraceFormat format, std::string_view column);

/// Lower case, with _ for every other character between words: "Elapsed time (s)" is
/// "elapsed_time_s".
std::string plain_spelling(std::string_view column);

/// All names of such a column in that format, for messages: "arrival_s, arrival".
std::string spellings_of(TraceFormat format, TraceRole role);

/// The format whose columns these are, in plain_spelling; plain where it is no other.
TraceFormat detect_format(const std::vector<std::string>& columns);

}  // namespace rooflua
