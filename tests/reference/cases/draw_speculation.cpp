#include "tests/reference/cases/draw_speculation.h"

#include <algorithm>
#include <cstdio>

namespace rooflua::reference {

namespace {

/// Drafts, how they are accepted, and what a drafter asks of the cache.
void draw_speculation(std::uint64_t seed, VllmConfig& c) {
  Dice dice(seed * 0xD1342543DE82EF95ull + 11);
  c.drafts = dice.between(0, dice.chance(50) ? 3 : 7);
  if (dice.chance(30)) {
    c.crowd = dice.between(0, 8);
    c.crowd_drafts = dice.between(0, c.drafts);
  }
  c.mixed = dice.chance(30);
  c.lookahead = dice.chance(60) ? c.drafts : 0;
  c.drops_last_hit = dice.chance(40);
  c.acceptance_seed = seed;
  const int best = dice.chance(15) ? 100 : dice.between(0, 100);
  for (int j = 0; j < c.drafts; ++j)
    c.rates.push_back(dice.chance(15) ? 1.0 : 0.01 * dice.between(0, best));
  if (c.long_prefill_token_threshold > 0)
    c.long_prefill_token_threshold = std::max(c.long_prefill_token_threshold, 1 + c.drafts);
}

/// Else vLLM preempts a request that is alone for ever.
void make_room(const std::vector<Prompt>& prompts, VllmConfig& c) {
  for (const Prompt& prompt : prompts) {
    const int most = prompt.plain.prompt + prompt.plain.output + 2 * (1 + c.drafts) + c.lookahead;
    c.blocks = std::max(c.blocks, c.seat_blocks + (most + c.block_size - 1) / c.block_size);
  }
}

}  // namespace

ServingCase speculative(ServingCase question) {
  draw_speculation(question.seed, question.config);
  make_room(question.prompts, question.config);
  return question;
}

ClusterCase speculative(ClusterCase cluster) {
  const std::uint64_t seed = cluster.question.seed;
  Dice dice(seed * 15485863 + 7);
  for (std::size_t i = 0; i < cluster.replicas.size(); ++i) {
    if (dice.chance(25)) continue;
    VllmConfig& c = cluster.replicas[i].config;
    draw_speculation(seed + 1000003 * i, c);
    c.acceptance_seed = seed;  // a request has the same luck at every replica
    make_room(cluster.question.prompts, c);
  }
  return cluster;
}

void DraftsSeen::add(const History& history) {
  for (const Served& each : history.requests) {
    drafted += each.drafted;
    accepted += each.accepted;
  }
}

void DraftsSeen::print(const char* what) const {
  std::printf("%s: %lld of %lld drafts accepted\n", what, static_cast<long long>(accepted),
              static_cast<long long>(drafted));
}

}  // namespace rooflua::reference
