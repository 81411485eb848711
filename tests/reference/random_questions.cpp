#include "tests/reference/random_questions.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

namespace rooflua::reference {

std::pair<std::uint64_t, std::uint64_t> seeds(std::uint64_t first, std::uint64_t last) {
  unsigned long long from = first, to = last;
  const char* asked = std::getenv("ROOFLUA_SEEDS");
  if (asked != nullptr && std::sscanf(asked, "%llu-%llu", &from, &to) != 2)
    throw std::invalid_argument("ROOFLUA_SEEDS: expected FIRST-LAST");
  return {from, to};
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

}  // namespace rooflua::reference
