// Blocks of the vLLM V1 engine, their content, and which request loses them.

#include <algorithm>
#include <tuple>

#include "tests/reference/engines/vllm_v1_engine.h"

namespace rooflua::reference {

// --- A1.3

bool VllmV1::allocate(VllmRequest& r, int tokens, const std::vector<int>& hits, bool is_waiting) {
  const int hit_blocks = static_cast<int>(hits.size());
  const auto idle_hits = static_cast<int>(std::count_if(
      hits.begin(), hits.end(), [&](int block) { return pool_.references(block) == 0; }));
  const int held = static_cast<int>(r.blocks.size());
  const int lookahead = is_waiting ? 0 : config_.lookahead;
  const int whole_tokens = std::min(
      r.computed + hit_blocks * config_.block_size + tokens + lookahead, config_.max_model_len);
  const int fresh = std::max(0, ceil_blocks(whole_tokens) - held - hit_blocks);
  int watermark = 0;
  if (is_waiting && !running_.empty())
    watermark = static_cast<int>(config_.watermark * config_.blocks);
  const int seat = is_waiting ? config_.seat_blocks : 0;
  if (is_waiting && config_.reserve_full_isl) {
    const int whole = ceil_blocks(r.num_tokens()) - hit_blocks;
    if (whole + idle_hits + seat + watermark > pool_.free_blocks()) return false;
  }
  if (fresh + idle_hits + seat + watermark > pool_.free_blocks()) return false;

  for (int block : hits) {
    pool_.touch(block);
    r.blocks.push_back(block);
  }
  r.hashed += hit_blocks;
  for (int k = 0; k < fresh; ++k) r.blocks.push_back(pool_.pop());
  for (int k = 0; k < seat; ++k) r.seat.push_back(pool_.pop());
  return true;
}

// --- A1.4

VllmRequest* VllmV1::pick_victim() {
  if (!config_.by_priority) return running_.back();
  return *std::max_element(running_.begin(), running_.end(), [](VllmRequest* a, VllmRequest* b) {
    return std::tie(a->given->priority, a->given->arrival) <
           std::tie(b->given->priority, b->given->arrival);
  });
}

void VllmV1::preempt(VllmRequest& r) {
  free_blocks(r);
  r.computed = 0;
  r.prefilling = false;
  r.drafts = 0;
  r.status = VllmStatus::preempted;
  const int in_flight = r.output + r.flight;
  const bool done_anyway =
      in_flight >= r.given->max_new || r.given->prompt + in_flight >= config_.max_model_len;
  r.preemptions += 1;
  preempted_somebody_ = true;
  if (done_anyway && config_.stages.several()) return;  // its last token lands without a seat
  waiting_.push_front(&r);
  sort_waiting();
}

/// A heap on (priority, arrival); first come first served is the order of the deque.
void VllmV1::sort_waiting() {
  if (!config_.by_priority) return;
  std::sort(waiting_.begin(), waiting_.end(), [](VllmRequest* a, VllmRequest* b) {
    return std::tie(a->given->priority, a->given->arrival, a->id) <
           std::tie(b->given->priority, b->given->arrival, b->id);
  });
}

// --- A1.5

void VllmV1::know_hashes(VllmRequest& r) {
  const int size = config_.block_size;
  while ((static_cast<int>(r.hashes.size()) + 1) * size <= r.num_tokens()) {
    const auto from = r.given->tokens.begin() + static_cast<std::ptrdiff_t>(r.hashes.size()) * size;
    const int parent = r.hashes.empty() ? -1 - r.given->adapter : r.hashes.back();
    r.hashes.push_back(pool_.hash(parent, std::vector<Token>(from, from + size)));
  }
}

/// The longest cached prefix, from the left until the first miss, at most num_tokens - 1 tokens.
std::vector<int> VllmV1::lookup(VllmRequest& r) {
  std::vector<int> hits;
  if (!config_.prefix_caching) return hits;
  know_hashes(r);
  const auto most = static_cast<std::size_t>((r.num_tokens() - 1) / config_.block_size);
  for (std::size_t j = 0; j < most; ++j) {
    const int block = pool_.find(r.hashes[j]);
    if (block < 0) break;
    hits.push_back(block);
  }
  if (config_.drops_last_hit && !hits.empty()) hits.pop_back();
  return hits;
}

/// The blocks that are full with the first `tokens` tokens carry their content from now on.
void VllmV1::cache_blocks(VllmRequest& r, int tokens) {
  if (!config_.prefix_caching) return;
  know_hashes(r);
  for (; (r.hashed + 1) * config_.block_size <= tokens; ++r.hashed) {
    const auto j = static_cast<std::size_t>(r.hashed);
    pool_.set_hash(r.blocks[j], r.hashes[j]);
  }
}

void VllmV1::free_blocks(VllmRequest& r) {
  pool_.free_all(r.blocks);
  pool_.free_all(r.seat);
  r.blocks.clear();
  r.seat.clear();
  r.hashed = 0;
}

}  // namespace rooflua::reference
