#pragma once
// Items in the prompts of a random question: images of some tokens, which an encoder computes.

#include <algorithm>
#include <vector>

#include "serve/contract/items.h"
#include "tests/reference/cases/serving.h"

namespace rooflua::reference {

/// Contents from here on are items; an item's kind is the number of its tokens.
inline constexpr std::uint64_t first_item = 1ull << 40;

struct ItemCase {
  EncoderRules rules;
  Ps pass = 0, token = 0;  // of a pass, and of each of its tokens
};

/// The same question with items in most prompts, some of them in several. @param items  filled
ServingCase with_items(ServingCase question, ItemCase& items);

/// The price of passes for the engine.
class CaseEncoder : public EncoderModel {
 public:
  explicit CaseEncoder(const ItemCase& items) : items_(items) {}
  const EncoderRules& rules(std::int32_t) const override { return items_.rules; }
  const EncoderPool& pool() const override { return pool_; }
  const Pass& pass(std::int32_t, std::span<const std::int32_t> kinds) override {
    Ps time = items_.pass;
    for (const std::int32_t tokens : kinds) time += items_.token * tokens;
    pass_.time_s = seconds(time);
    return pass_;
  }

 private:
  const ItemCase& items_;
  EncoderPool pool_;
  Pass pass_;
};

}  // namespace rooflua::reference
