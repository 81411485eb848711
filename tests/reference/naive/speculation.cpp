// Drafts of the naive replica, one request at a time.

#include <algorithm>

#include "tests/reference/naive/replica.h"

namespace rooflua::reference {

int NaiveReplica::optimistic(const NaiveRequest& r) const {
  int tokens = r.computed - static_cast<int>(r.flight.size());
  for (const int row : r.flight) tokens += row;
  return tokens;
}

int NaiveReplica::most_tokens(const NaiveRequest& r) const {
  return std::min(1 + r.drafts, config_.max_model_len - 1 - optimistic(r));
}

/// Of a decode with so many tokens.
int NaiveReplica::missing_blocks(const NaiveRequest& r, int tokens) const {
  const int whole = std::min(optimistic(r) + tokens + config_.lookahead, config_.max_model_len);
  return std::max(0, ceil_blocks(whole) - static_cast<int>(r.blocks.size()));
}

/// All that sample in the plan at hand bring drafts to the next one.
void NaiveReplica::propose() {
  if (!speculates() || tokens_planned() == 0) return;
  Batch batch;
  for (const NaiveRequest* r : running_)
    batch.decodes += r->planned > 0 && r->phase == Phase::decoding;
  const int k = speculator_.drafts(batch, board_.view());
  for (NaiveRequest* r : running_) {
    if (r->planned == 0) {
      if (r->phase == Phase::decoding && config_.async_depth == 2) r->drafts = 0;
      continue;
    }
    const bool samples = r->phase == Phase::decoding || r->computed + r->planned == r->sequence();
    if (samples) r->drafts = speculator_.draft(arena_[r->slot], k);
  }
}

void NaiveReplica::resolve(NaiveRequest& r, Row& row) {
  if (row.prefill) {
    r.true_computed = r.computed;
    r.true_output += row.samples;
    RandomStream stream = random_stream(config_.acceptance_seed, "acceptance.curve",
                                        static_cast<std::uint64_t>(r.id));
    if (row.samples && !r.curve) r.curve = acceptance_.curve(arena_[r.slot], stream);
    return;
  }
  row.context = r.true_computed;
  row.drafts = row.tokens - 1;
  r.flight.push_back(row.tokens);
  const int left = stop_at(r) - r.true_output;
  row.landed = 0;
  if (left > 0) {
    Round round;
    round.drafted = row.drafts;
    round.emitted = r.true_output;
    round.index = r.rounds++;
    round.key =
        random_stream(config_.acceptance_seed, "acceptance", static_cast<std::uint64_t>(r.id)).key;
    row.accepted = acceptance_.accept(arena_[r.slot], round, *r.curve);
    row.landed = std::min(1 + row.accepted, left);
  }
  r.true_output += row.landed;
  r.true_computed += 1 + row.accepted;
}

/// A decode of several tokens is over.
void NaiveReplica::land(NaiveRequest& r, const Row& row) {
  r.flight.erase(r.flight.begin());
  r.output += row.landed - 1;
  r.landed += row.landed;
  ++r.rounds_landed;
  r.drafted += row.drafts;
  r.accepted += row.accepted;
  const bool is_seated = std::find(running_.begin(), running_.end(), &r) != running_.end();
  if (is_seated && r.landed < stop_at(r)) r.computed += row.accepted;
  if (r.phase == Phase::decoding && r.output >= longest_output(r)) r.phase = Phase::finishing;
}

}  // namespace rooflua::reference
