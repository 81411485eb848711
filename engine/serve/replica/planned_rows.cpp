// Decodes of a plan where the replica speculates: rows of a token and its drafts.

#include <algorithm>
#include <limits>

#include "serve/contract/policy.h"
#include "serve/replica/replica_state.h"
#include "serve/replica/step_plan.h"

namespace rooflua {

std::int32_t StepPlan::budget_left() const noexcept {
  const std::int32_t budget = on_->view().max_num_batched_tokens;
  return budget > 0 ? budget - view_.tokens : std::numeric_limits<std::int32_t>::max();
}

/// Decodes in admission order from the cursor on. The tokens of the request at hand are fixed
/// before others lose their seats for it.
std::int32_t StepPlan::walk_rows() noexcept {
  const RaggedPool& pool = on_->ragged();
  while (cursor_ >= 0) {
    const std::int32_t slot = cursor_;
    const Request& request = on_->request(slot);
    if (request.phase != Phase::decoding || on_->progress(slot).planned == serial_) {
      cursor_ = request.next;
      continue;
    }
    if (at_hand_tokens_ == 0) {
      const std::int32_t wish = pool.most_tokens(slot);
      if (wish <= 0) {
        cursor_ = request.next;
        continue;
      }
      std::int32_t left = budget_left();
      if (limit_ != no_limit) left = std::min(left, limit_ - walk_tokens_);
      cut_ = cut_ || left < wish;
      if (left <= 0) break;
      at_hand_tokens_ = std::min(wish, left);
    }
    const std::int32_t blocks = pool.blocks_needed(slot, at_hand_tokens_);
    if (blocks > on_->kv().free_blocks()) {
      if (policy_->has_victim()) {
        needs_victim_ = true;
        return asks_victim;
      }
      const std::int32_t victim = on_->view().running_tail;
      if (victim == slot) cursor_ = -1;
      withdraw(victim);
      continue;
    }
    walk_tokens_ += at_hand_tokens_;
    add_row(slot, at_hand_tokens_, blocks);
    at_hand_tokens_ = 0;
    cursor_ = request.next;
  }
  at_hand_tokens_ = 0;
  return view_.decodes - static_cast<std::int32_t>(singles_.size());
}

void StepPlan::add_row(std::int32_t slot, std::int32_t tokens, std::int32_t blocks) noexcept {
  Row row;
  row.slot = slot;
  row.id = on_->request(slot).id;
  row.drafts = tokens - 1;
  on_->grant_row(slot, blocks);
  on_->progress(slot).planned = serial_;
  rows_.push_back(row);
  summed_ = false;
  view_.tokens += tokens;
  ++view_.decodes;
}

/// All decodes with all of their drafts, where budget and blocks suffice. False: they do not, and
/// nothing happened.
bool StepPlan::take_all_rows() noexcept {
  const RaggedPool::Demand demand = on_->ragged().demand(takers_);
  if (demand.tokens > budget_left() || demand.blocks > on_->kv().free_blocks()) return false;
  add_all_rows(demand, takers_);
  return true;
}

void StepPlan::add_all_rows(const RaggedPool::Demand& demand,
                            std::span<const RaggedPool::Taker> takers) noexcept {
  const RaggedPool& pool = on_->ragged();
  implied_ = !demand.cut;
  if (implied_) {
    row_sums_ = pool.sum_of_all(demand.width);
    view_.decodes = on_->view().decodes;
  } else {
    pool.write_rows(rows_);
    row_sums_ = pool.sum_of(rows_);
    view_.decodes = static_cast<std::int32_t>(rows_.size());
  }
  summed_ = true;
  on_->grant_rows(takers, demand.blocks);
  view_.tokens += demand.tokens;
  walk_tokens_ = demand.tokens;
  everyone_ = view_.decodes == on_->view().decodes;
  if (implied_) return;
  for (const Row& row : rows_) {
    on_->know_row(row.slot);
    if (!everyone_) on_->progress(row.slot).planned = serial_;
  }
}

void StepPlan::write_rows() {
  if (implied_) on_->ragged().write_rows(rows_);
  implied_ = false;
}

std::int32_t StepPlan::decode_row(std::int32_t slot, std::int32_t tokens) noexcept {
  const std::int32_t left = budget_left();
  if (left < std::max(tokens, 1)) return refuse("decode", Refusal::over_budget, slot);
  std::int32_t most = std::min(on_->ragged().most_tokens(slot), left);
  if (tokens != all_tokens) most = std::min(most, tokens);
  if (most <= 0) return 1;
  const std::int32_t blocks = on_->ragged().blocks_needed(slot, most);
  if (blocks > on_->kv().free_blocks()) return 0;
  add_row(slot, most, blocks);
  singles_.push_back(slot);
  return 1;
}

/// The blocks of the row are among those that the request holds.
void StepPlan::withdraw_row(std::int32_t slot) noexcept {
  write_rows();
  on_->know_row(slot);
  const auto row =
      std::find_if(rows_.begin(), rows_.end(), [slot](const Row& r) { return r.slot == slot; });
  view_.tokens -= row->tokens();
  --view_.decodes;
  const auto single = std::find(singles_.begin(), singles_.end(), slot);
  if (single != singles_.end()) {
    singles_.erase(single);
  } else {
    walk_tokens_ -= row->tokens();
  }
  rows_.erase(row);
  summed_ = false;
}

const RowSums& StepPlan::row_sums() {
  if (!summed_) row_sums_ = on_->ragged().sum_of(rows_);
  summed_ = true;
  return row_sums_;
}

}  // namespace rooflua
