#include "serve/contract/request.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "base/error.h"

namespace rooflua {

namespace {

void check(const RequestSpec& spec, const std::string& where) {
  const auto positive = [&](std::int32_t value, const char* key) {
    if (value < 1)
      throw Error(where, std::string(key) + ": found " + std::to_string(value) +
                             "; at least one token is needed");
  };
  positive(spec.prompt_tokens, "prompt_tokens");
  positive(spec.output_tokens, "output_tokens");
  if (spec.max_output_tokens < 0)
    throw Error(where, "max_output_tokens: found " + std::to_string(spec.max_output_tokens) +
                           "; 0 (no limit) or more is right");
  if (std::int64_t{spec.prompt_tokens} + spec.output_tokens > 2147480000)
    throw Error(where, "prompt and output together exceed 2^31 tokens");
  if (!(spec.deadline_s >= 0))
    throw Error(where, "deadline_s: found " + std::to_string(spec.deadline_s) +
                           "; 0 (none) or more is right");
  if (spec.segments.empty()) return;
  std::int64_t sum = 0;
  for (const Segment& segment : spec.segments) {
    if (segment.tokens < 1) throw Error(where, "segments: every segment has at least one token");
    sum += segment.tokens;
  }
  if (sum != spec.prompt_tokens)
    throw Error(where, "segments: they add up to " + std::to_string(sum) +
                           " tokens; the prompt has " + std::to_string(spec.prompt_tokens));
}

/// Of a request with an adapter another one: clients name it in place of the model.
std::uint32_t prefix_label(const RequestSpec& spec) {
  if (spec.segments.empty() || spec.segments.front().content == 0) return 0;
  std::uint64_t mixed = spec.segments.front().content * 0x9E3779B97F4A7C15ull;
  if (spec.adapter > 0)
    mixed = (mixed ^ static_cast<std::uint64_t>(spec.adapter)) * 0x94D049BB133111EBull;
  const auto label = static_cast<std::uint32_t>(mixed >> 32);
  return label == 0 ? 1 : label;
}

}  // namespace

std::int32_t Requests::open(const RequestSpec& spec, std::int64_t ordinal) {
  const bool plain = spec.prompt_tokens >= 1 && spec.output_tokens >= 1 &&
                     spec.max_output_tokens >= 0 && spec.prompt_tokens < (1 << 29) &&
                     spec.output_tokens < (1 << 29) && spec.deadline_s == 0;
  if (!plain || !spec.segments.empty())
    check(spec, "workload: request " + std::to_string(ordinal + 1));
  const Picoseconds arrival = picoseconds(spec.arrival_s, "workload: arrival_s");
  std::int32_t slot = 0;
  if (free_.empty()) {
    slot = slots();
    requests_.emplace_back();
    progress_.emplace_back();
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  Request& request = (*this)[slot];
  const std::uint32_t epoch = request.epoch + 1;
  request = blank_;
  request.epoch = epoch;
  request.phase = Phase::pending;
  request.arrival_s = seconds(arrival);
  request.prompt_tokens = spec.prompt_tokens;
  request.max_output_tokens = spec.max_output_tokens;
  request.predicted_output_tokens = spec.predicted_output_tokens;
  request.priority = spec.priority;
  request.klass = spec.klass;
  request.session = spec.session;
  request.tenant = spec.tenant;
  request.program = spec.program;
  request.attempt = spec.attempt;
  request.prefix = prefix_label(spec);

  Progress& progress = this->progress(slot);
  static_cast<ProgressNumbers&>(progress) = blank_progress_;
  for (BlockHashes& each : progress.block_hashes) each.hashes.clear();
  if (!spec.segments.empty() || !progress.segments.empty())
    progress.segments.assign(spec.segments.begin(), spec.segments.end());
  progress.arrival = arrival;
  progress.output_tokens = spec.output_tokens;
  progress.output_content = spec.output_content;
  progress.row = spec.row;
  progress.origin = spec.origin;
  progress.adapter = std::max(spec.adapter, 0);
  if (!spec.segments.empty())
    session_hashes_.give({spec.session, progress.adapter, progress.segments},
                         progress.block_hashes);
  if (spec.deadline_s > 0)
    progress.deadline = after(arrival, spec.deadline_s, "workload: deadline_s");
  ++alive_;
  return slot;
}

std::int32_t shared_tokens(const Progress& a, const Progress& b) noexcept {
  if (a.adapter != b.adapter) return 0;
  return shared_tokens(a.segments, b.segments);
}

void Requests::close(std::int32_t slot) {
  Request& request = (*this)[slot];
  ROOFLUA_ASSERT(request.phase != Phase::absent);
  if (Progress& progress = this->progress(slot); !progress.segments.empty())
    session_hashes_.keep({request.session, progress.adapter, progress.segments},
                         progress.block_hashes);
  request.phase = Phase::absent;
  request.id = -1;
  ++request.epoch;
  free_.push_back(slot);
  --alive_;
}

}  // namespace rooflua
