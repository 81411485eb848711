#include "tests/reference/cases/random_questions.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace rooflua::reference {

std::pair<std::uint64_t, std::uint64_t> seeds(std::uint64_t first, std::uint64_t last) {
  constexpr std::uint64_t few = 150;
  unsigned long long from = first, to = last;
  const char* asked = std::getenv("ROOFLUA_SEEDS");
  if (asked == nullptr)
    return {first, std::min(last, first - 1 + std::max(few, (last - first + 1) / 3))};
  if (std::string_view(asked) == "all") return {first, last};
  if (std::sscanf(asked, "%llu-%llu", &from, &to) != 2)
    throw std::invalid_argument("ROOFLUA_SEEDS: expected FIRST-LAST, or all");
  return {from, to};
}

int enough(int of_all) {
  const char* asked = std::getenv("ROOFLUA_SEEDS");
  return asked != nullptr && std::string_view(asked) == "all" ? of_all : of_all / 8;
}

SglangConfig sglang_config(const ServingCase& question) {
  SglangConfig config;
  Dice dice(question.seed + 77);
  config.max_running_requests = question.config.max_num_seqs;
  config.pool_tokens = question.config.blocks;
  config.seat_tokens = question.config.seat_blocks;
  config.chunked_prefill_size = dice.between(16, 512);
  config.max_prefill_tokens = dice.between(64, 1024);
  config.schedule_conservativeness = 0.1 * dice.between(0, dice.chance(70) ? 3 : 15);
  config.async_depth = question.config.async_depth;
  return config;
}

ServingCase for_sglang(ServingCase question) {
  VllmConfig& c = question.config;
  int longest = 0;
  for (const Prompt& prompt : question.prompts)
    longest = std::max(longest, prompt.plain.prompt + prompt.plain.max_new);
  c.blocks = longest + 2 + static_cast<int>(question.seed % 8) * longest / 4;
  c.blocks += c.seat_blocks * (1 + static_cast<int>(question.seed % 5));
  c.block_size = 1;
  c.prefix_caching = false;
  c.max_num_batched_tokens = 0;
  c.max_model_len = VllmConfig{}.max_model_len;
  return question;
}

Stages draw_stages(std::uint64_t seed) {
  Dice dice(seed * 2685821657736338717ull + 11);
  Stages stages;
  const int count = dice.between(2, 4);
  const bool equal = dice.chance(50), near = dice.chance(30);
  int total = 0;
  std::vector<int> parts;
  for (int s = 0; s < count; ++s) total += parts.emplace_back(equal ? 1 : dice.between(1, 9));
  for (int s = 0; s < count; ++s) {
    stages.shares.push_back(static_cast<double>(parts[static_cast<std::size_t>(s)]) / total);
    if (s == 0) continue;
    stages.latency.push_back(near ? 0 : dice.between(0, 400));
    stages.per_token.push_back(near ? 0 : dice.between(0, 20));
  }
  stages.batches = dice.chance(70) ? count : dice.between(1, count + 2);
  return stages;
}

ServingCase in_stages(ServingCase question) {
  Dice dice(question.seed * 4101842887655102017ull + 13);
  VllmConfig& c = question.config;
  c.stages = draw_stages(question.seed);
  // Small budgets make several lanes.
  if (c.chunked_prefill && dice.chance(50)) c.max_num_batched_tokens = dice.between(16, 80);
  return question;
}

}  // namespace rooflua::reference
