#pragma once
// One random question to all simulators: a configuration, a workload, a price.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/reference/engines/vllm_v1.h"
#include "tests/reference/plain.h"

namespace rooflua::reference {

/// splitmix64: seeds print, and mean the same everywhere.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits();
  /// Any whole number of [low, high].
  int between(int low, int high);
  bool chance(int percent) { return between(1, 100) <= percent; }

 private:
  std::uint64_t state_;
};

/// What a step costs: whole picoseconds, linear in what a step model can see.
struct Tariff {
  Ps step = 1, token = 0, decode_context = 0, prefill_pair = 0, request = 0, sampled = 0;
  std::array<int, 4> caps{};    // of contexts that a decode reads in part; 0: none
  int chunk = 0;                // a decode reads from the last multiple of it; 0: none
  std::array<Ps, 4> bounded{};  // per token under each cap
  Ps chunked = 0;               // per token of a chunk
  Ps group_token = 0, group_max_token = 0, group_prefill = 0;  // over the ranks that step together
  Ps operator()(const Rows& rows) const { return (*this)(rows, {rows}); }
  /// Of a rank whose group has these rows, its own among them.
  Ps operator()(const Rows& rows, const std::vector<Rows>& group) const;
};

/// A request as the generator knows it: runs of tokens that others may share.
struct Prompt {
  PlainRequest plain;
  std::vector<std::pair<std::uint64_t, int>> segments;  // empty: private
  std::uint64_t output_content = 0;
  int follows = -1;  // the request whose prompt and output it repeats
};

struct ServingCase {
  std::uint64_t seed = 0;
  VllmConfig config;
  Tariff tariff;
  std::vector<Prompt> prompts;

  /// Tokens follow from segments; call after every change of lengths.
  void spell_tokens();
  std::vector<PlainRequest> requests() const;
  bool shares() const;
  /// Makes all arrivals different. Among equal requests vLLM's victim is the first in the running
  /// list, so that two prompts cut to chunks can take each other's blocks for ever.
  void part_arrivals();
  /// Whether every turn came after the end of what it repeats.
  bool in_order(const History& history) const;
};

/// What the generator may draw.
struct Range {
  int most_requests = 60;
  bool sharing = true;     // prompts may have prefixes in common
  bool sessions = true;    // and repeat what an earlier request generated
  bool priorities = true;  // and preemption by priority
  bool thresholds = true;  // chunk limits, no chunking, watermark, partial admission
};
ServingCase draw_case(std::uint64_t seed, const Range& range);
std::string text(const ServingCase& question);

/// Empty if both histories are the same: per request, and per step what a step model sees.
/// Otherwise the first difference, in words.
std::string difference(const History& expected, const History& found);

}  // namespace rooflua::reference
