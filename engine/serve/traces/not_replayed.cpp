#include "serve/traces/not_replayed.h"

#include <algorithm>
#include <cmath>

#include "base/csv.h"
#include "serve/traces/columns.h"

namespace rooflua {

namespace {

/// A number above 0; 0 for every other text.
std::int64_t counted(std::string_view text) {
  const auto number = parse_number(text);
  return number && *number >= 1 && *number < 1e15 ? static_cast<std::int64_t>(*number) : 0;
}

std::string rows(std::int64_t count) {
  return std::to_string(count) + (count == 1 ? " row " : " rows ");
}

}  // namespace

void NotReplayed::add(const RawTraceRow& raw, const TraceRow& row, bool has_content) {
  prompt_tokens_ += row.prompt_tokens;
  if (counted(raw[TraceRole::attempt]) > 0) ++retries_;
  const bool is_later = row.session >= 0 && (!sessions_.insert(row.session).second || row.round > 0);
  if (has_content) return;
  if (is_later) ++later_turns_;
  const std::int64_t hits = std::min(counted(raw[TraceRole::cached]), row.prompt_tokens);
  if (hits == 0) return;
  ++hit_rows_;
  hit_tokens_ += hits;
}

std::vector<std::string> NotReplayed::notes(const std::string& file) const {
  std::vector<std::string> out;
  if (hit_rows_ > 0) {
    out.push_back(file + ": " + rows(hit_rows_) + "had cached tokens, " + std::to_string(hit_tokens_) +
                  " of all " + std::to_string(prompt_tokens_) +
                  " prompt tokens. The file does not say which prompts are alike: these hits are "
                  "not replayed, and these prompts are computed whole");
  }
  if (later_turns_ > 0) {
    out.push_back(file + ": " + rows(later_turns_) +
                  "continue a session. The file does not say which part of a prompt is history: "
                  "they share no token with earlier rows");
  }
  if (retries_ > 0) {
    out.push_back(file + ": " + rows(retries_) +
                  "were sent again by their clients: each is replayed as a request of its own");
  }
  return out;
}

}  // namespace rooflua
