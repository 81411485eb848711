#include "tests/reference/cases/items.h"

namespace rooflua::reference {

ServingCase with_items(ServingCase question, ItemCase& items) {
  Dice dice(question.seed * 2862933555777941757ull + 29);
  items.pass = dice.between(0, 5000);
  items.token = dice.between(0, 40);
  items.rules.whole = dice.chance(25);
  items.rules.pins = dice.chance(70);
  items.rules.shares = dice.chance(70);
  items.rules.splits = dice.chance(70);
  const int largest = dice.between(1, 60);
  items.rules.budget_tokens = dice.chance(30) ? 0 : dice.between(largest / 2, 3 * largest);
  items.rules.cache_tokens = dice.between(largest / 2, 6 * largest);
  const int distinct = dice.between(1, 12);
  for (Prompt& prompt : question.prompts) {
    if (prompt.follows >= 0 || dice.chance(20)) continue;
    if (prompt.segments.empty()) prompt.segments = {{0, prompt.plain.prompt}};
    for (int left = dice.between(1, 4); left > 0; --left) {
      const auto which = static_cast<std::uint64_t>(dice.between(1, distinct));
      const int tokens = 1 + static_cast<int>(which * 7919 % static_cast<unsigned>(largest));
      const auto at = dice.between(0, static_cast<int>(prompt.segments.size()));
      prompt.segments.insert(prompt.segments.begin() + at, {first_item + which, tokens});
      prompt.plain.prompt += tokens;
    }
  }
  question.spell_tokens();
  VllmConfig& config = question.config;  // longer prompts need room
  config.chunked_prefill = true;
  for (const Prompt& prompt : question.prompts) {
    const int longest = prompt.plain.prompt + prompt.plain.max_new + config.lookahead;
    config.max_model_len = std::max(config.max_model_len, longest + 1);
    config.blocks = std::max(config.blocks, longest / config.block_size + 2 + config.seat_blocks);
  }
  return question;
}

}  // namespace rooflua::reference
