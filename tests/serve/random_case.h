#pragma once
// Random cases for the laws: workloads, tight caches, both depths, end tokens.

#include <algorithm>
#include <vector>

#include "tests/serve/native_policies.h"

namespace rooflua::test {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ull + 1) {}
  std::int32_t upto(std::int32_t low, std::int32_t high) {
    state_ = state_ * 6364136223846793005ull + 1442695040888963407ull;
    return low +
           static_cast<std::int32_t>((state_ >> 33) % static_cast<std::uint64_t>(high - low + 1));
  }

 private:
  std::uint64_t state_;
};

struct Case {
  ClusterConfig cluster;
  Fcfs scheduler;
  std::vector<RequestSpec> specs;
  std::vector<std::vector<Segment>> segments;
};

/// Caps and a chunk near the contexts that occur; some replicas have none.
inline void draw_bounds(std::uint64_t seed, ReplicaConfig& replica) {
  Dice dice(seed + 77);
  if (dice.upto(0, 4) == 0) return;
  for (std::int32_t& cap : replica.context_caps)
    cap = dice.upto(0, 3) == 0 ? 0 : dice.upto(1, dice.upto(1, 600));
  replica.context_chunk = dice.upto(0, 3) == 0 ? 0 : dice.upto(1, 200);
}

/// What a request holds besides its tokens, in some cases; and more blocks for it.
inline void draw_seat_blocks(std::uint64_t seed, ReplicaConfig& replica) {
  Dice dice(seed + 177);
  if (dice.upto(0, 2) > 0) return;
  replica.seat_blocks = dice.upto(1, 6);
  replica.kv_blocks += replica.seat_blocks * dice.upto(1, 4);
}

/// When KV is pushed, which replica is chosen first, and leases.
inline void draw_disaggregation(std::uint64_t seed, ClusterConfig& cluster) {
  Dice dice(seed + 31);
  Disaggregation& split = cluster.disaggregation;
  split.push = static_cast<Push>(dice.upto(0, 2));
  if (dice.upto(0, 1) == 1) split.order = SplitOrder::decode_first;
  if (dice.upto(0, 2) == 0) split.lease_s = 0.25 * dice.upto(1, 20);
  for (const ReplicaConfig& each : cluster.replicas)
    if (each.stages.several() && split.push == Push::layers) split.push = Push::chunks;
}

inline Case random_case(std::uint64_t seed, bool shared) {
  Dice dice(seed);
  Case made;
  ReplicaConfig replica;
  replica.block_size = dice.upto(0, 2) == 0 ? dice.upto(1, 20) : 16;
  replica.kv_blocks = dice.upto(4, 60);
  replica.max_num_seqs = dice.upto(0, 3) == 0 ? 0 : dice.upto(1, 30);
  replica.max_num_batched_tokens = dice.upto(1, 200);
  replica.async_depth = dice.upto(1, 2);
  replica.prefix_caching = dice.upto(0, 3) != 0;
  replica.content_from = static_cast<ContentFrom>(seed / 2 % 3);
  replica.partial_reuse = seed % 4 < 2;
  if (dice.upto(0, 5) == 0) replica.max_model_len = dice.upto(20, 400);
  draw_bounds(seed, replica);
  made.cluster.replicas = {replica};
  made.scheduler.chunk = dice.upto(0, 2) == 0 ? dice.upto(1, 100) : 0;
  made.scheduler.full_must_fit = dice.upto(0, 1) == 0;
  made.scheduler.watermark = dice.upto(0, 3) == 0 ? dice.upto(0, 3) : 0;
  made.scheduler.hold_prompt = dice.upto(0, 5) == 0;
  made.scheduler.hold_all = dice.upto(0, 9) == 0;
  double now = 0;
  const std::int32_t capacity = replica.kv_blocks * replica.block_size;
  const std::int32_t requests = dice.upto(1, 60);
  made.segments.resize(static_cast<std::size_t>(requests));
  for (std::int32_t i = 0; i < requests; ++i) {
    now += 0.25 * dice.upto(0, 8);
    RequestSpec s = spec(now, dice.upto(1, std::max(2, capacity / 3)), dice.upto(1, 60));
    if (dice.upto(0, 2) == 0) s.max_output_tokens += dice.upto(1, 20);  // its end token comes first
    if (shared && dice.upto(0, 3) > 0) {
      const std::int32_t common = dice.upto(1, s.prompt_tokens);
      auto& segments = made.segments[static_cast<std::size_t>(i)];
      segments = {{static_cast<std::uint64_t>(dice.upto(1, 4)), common}};
      if (common < s.prompt_tokens) segments.push_back({0, s.prompt_tokens - common});
      s.segments = segments;
    }
    made.specs.push_back(s);
  }
  draw_seat_blocks(seed, made.cluster.replicas.front());
  return made;
}

}  // namespace rooflua::test
