#pragma once
// What the rows of a trace state and their replay does not have. Used by builder.cpp only.

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

namespace rooflua {

struct RawTraceRow;
struct TraceRow;

class NotReplayed {
 public:
  /// A row that is replayed. Hits of a prefix cache and earlier turns are had again where the file
  /// says what a prompt consists of.
  /// @param has_content  whether the file says it of this row
  void add(const RawTraceRow& raw, const TraceRow& row, bool has_content);
  /// A sentence for each kind; none where all of it is replayed.
  std::vector<std::string> notes(const std::string& file) const;

 private:
  std::int64_t hit_rows_ = 0, hit_tokens_ = 0, prompt_tokens_ = 0, later_turns_ = 0, retries_ = 0;
  std::unordered_set<std::int32_t> sessions_;  // looked up only
};

}  // namespace rooflua
