#pragma once
// Random batches, as the C interface and as scenarios have them.

#include <algorithm>
#include <random>
#include <vector>

#include "base/json.h"
#include "library/rooflua.h"

namespace rooflua::test {

/// A batch with the arrays that it points to.
struct OwnBatch {
  std::vector<rooflua_prefill> prefills;
  std::vector<std::int32_t> contexts, widths;
  ::rooflua_batch batch{};

  /// The batch, whose pointers are those of this object.
  const ::rooflua_batch* c() {
    batch.size = sizeof batch;
    batch.prefill_count = static_cast<std::int32_t>(prefills.size());
    batch.prefills = prefills.empty() ? nullptr : prefills.data();
    batch.decode_contexts = contexts.empty() ? nullptr : contexts.data();
    batch.decode_widths = widths.empty() ? nullptr : widths.data();
    return &batch;
  }
};

class Dice {
 public:
  explicit Dice(unsigned seed) : engine_(seed) {}
  std::int32_t from(std::int32_t least, std::int32_t most) {
    return std::uniform_int_distribution<std::int32_t>(least, most)(engine_);
  }
  bool once_in(int times) { return from(1, times) == 1; }

 private:
  std::mt19937 engine_;
};

/// Prompts alone, decodes alone, or both; contexts or their sum; sometimes drafts and ranks.
inline OwnBatch random_batch(Dice& dice) {
  OwnBatch out;
  const int kind = dice.from(0, 2);
  const int prompts = kind == 1 ? 0 : dice.from(1, 4), decodes = kind == 0 ? 0 : dice.from(1, 200);
  std::int32_t tokens = 0;
  for (int i = 0; i < prompts; ++i) {
    out.prefills.push_back(
        {dice.from(1, 4096), dice.once_in(2) ? 0 : dice.from(1, 60000), dice.once_in(4) ? 1 : 0});
    tokens += out.prefills.back().new_tokens;
  }
  out.batch.decodes = decodes;
  if (decodes > 0 && dice.once_in(2)) {
    for (int i = 0; i < decodes; ++i) out.contexts.push_back(dice.from(0, 30000));
  } else if (decodes > 0) {
    out.batch.decode_context_tokens =
        std::int64_t{decodes} * dice.from(1, 30000) + dice.from(0, 99);
    if (dice.once_in(2))  // at least the mean, at most the sum
      out.batch.decode_context_max =
          std::min<std::int64_t>(131072, out.batch.decode_context_tokens);
  }
  std::int32_t rows = decodes;
  if (decodes > 0 && dice.once_in(4)) {
    rows = 0;
    for (int i = 0; i < decodes; ++i) rows += out.widths.emplace_back(dice.from(1, 5));
    out.batch.draft_rows = decodes;
    out.batch.draft_tokens = 3 * decodes;
    out.batch.draft_passes = 3;
  } else if (decodes > 0 && dice.once_in(4)) {
    out.batch.decode_tokens = rows = decodes + dice.from(0, 2 * decodes);
  }
  tokens += rows;
  if (dice.once_in(5)) {
    out.batch.ranks = dice.from(1, 8);
    out.batch.ranks_max_tokens = tokens + (out.batch.ranks > 1 ? dice.from(0, 300) : 0);
    out.batch.ranks_tokens = tokens + (out.batch.ranks > 1 ? out.batch.ranks_max_tokens : 0);
    out.batch.ranks_prefills = prompts > 0 ? 1 : 0;
  }
  return out;
}

/// An entry of the key `price` of a scenario.
inline Json as_scenario(const OwnBatch& own) {
  Json out = Json::object();
  for (const rooflua_prefill& each : own.prefills) {
    Json prefill = Json::object();
    prefill["new_tokens"] = each.new_tokens;
    prefill["context_tokens"] = each.context_tokens;
    prefill["completes"] = each.unfinished == 0;
    out["prefills"].push_back(std::move(prefill));
  }
  for (const std::int32_t each : own.contexts) out["decode_contexts"].push_back(each);
  for (const std::int32_t each : own.widths) out["decode_widths"].push_back(each);
  const ::rooflua_batch& batch = own.batch;
  if (own.contexts.empty() && batch.decodes > 0) {
    out["decodes"] = batch.decodes;
    out["decode_context_tokens"] = batch.decode_context_tokens;
    if (batch.decode_context_max > 0) out["decode_context_max"] = batch.decode_context_max;
  }
  if (batch.decode_tokens > 0) out["decode_tokens"] = batch.decode_tokens;
  if (batch.draft_rows > 0) {
    out["draft_rows"] = batch.draft_rows;
    out["draft_tokens"] = batch.draft_tokens;
    out["draft_passes"] = batch.draft_passes;
  }
  if (batch.ranks > 0) {
    Json& group = out["group"];
    group["ranks"] = batch.ranks;
    group["tokens"] = batch.ranks_tokens;
    group["max_tokens"] = batch.ranks_max_tokens;
    group["prefills"] = batch.ranks_prefills;
  }
  return out;
}

}  // namespace rooflua::test
