// What blocks of a naive replica contain, and the states of recurrent layers.

#include <algorithm>

#include "tests/reference/naive/replica.h"

namespace rooflua::reference {

void NaiveReplica::know_hashes(NaiveRequest& r) {
  const int size = config_.block_size;
  while ((static_cast<int>(r.hashes.size()) + 1) * size <= r.sequence()) {
    const auto from =
        r.given->plain.tokens.begin() + static_cast<std::ptrdiff_t>(r.hashes.size()) * size;
    const int parent = r.hashes.empty() ? -1 - r.given->plain.adapter : r.hashes.back();
    r.hashes.push_back(pool_.hash(parent, std::vector<Token>(from, from + size)));
  }
}

std::vector<int> NaiveReplica::lookup(NaiveRequest& r) {
  std::vector<int> hits = growing_hits(r);
  if (config_.state_blocks == 0) return hits;
  while (!hits.empty() && !has_state(r, static_cast<int>(hits.size()))) hits.pop_back();
  return hits;
}

std::vector<int> NaiveReplica::growing_hits(NaiveRequest& r) {
  std::vector<int> hits;
  if (!config_.prefix_caching) return hits;
  know_hashes(r);
  for (int j = 0; j < (r.sequence() - 1) / config_.block_size; ++j) {
    const int block = pool_.find(r.hashes[static_cast<std::size_t>(j)]);
    if (block < 0) break;
    hits.push_back(block);
  }
  if (config_.drops_last_hit && !hits.empty()) hits.pop_back();
  return hits;
}

/// Of a request without a seat: whole blocks, and what the one after them has in common with a
/// cached one.
int NaiveReplica::hit_tokens(NaiveRequest& r) {
  const auto hits = static_cast<int>(lookup(r).size());
  const int whole = hits * config_.block_size;
  if (!config_.partial_reuse || !config_.prefix_caching || config_.state_blocks > 0) return whole;
  const int end = std::min(whole + config_.block_size, r.sequence() - 1);
  const std::vector<Token>& tokens = r.given->plain.tokens;
  const int parent =
      hits == 0 ? -1 - r.given->plain.adapter : r.hashes[static_cast<std::size_t>(hits) - 1];
  return whole +
         pool_.common(parent, std::vector<Token>(tokens.begin() + whole, tokens.begin() + end));
}

void NaiveReplica::plan_chunk(NaiveRequest& r, int tokens) {
  r.chunks_end = tokens;
  if (config_.content_from == 0) {
    r.landed_end = tokens;
    cache_blocks(r, tokens);
  }
}

/// Its tokens are content now, unless it lost its seat.
void NaiveReplica::land_chunk(const Row& row) {
  NaiveRequest& r = requests_[static_cast<std::size_t>(row.id)];
  const int end = row.context + row.tokens;
  const bool is_here = std::find(running_.begin(), running_.end(), &r) != running_.end();
  if (!is_here || end > r.chunks_end) return;
  r.landed_end = std::max(r.landed_end, end);
  if (config_.content_from == 1 || row.samples) cache_blocks(r, end);
}

/// The block after the full ones keeps what it has of the first `tokens` tokens, unless others hold
/// it.
void NaiveReplica::cache_rest(NaiveRequest& r, int tokens) {
  const int size = config_.block_size, full = tokens / size;
  if (!config_.partial_reuse || !config_.prefix_caching || tokens % size == 0) return;
  if (pool_.references(r.blocks[static_cast<std::size_t>(full)]) > 1) return;
  const auto from = r.given->plain.tokens.begin() + full * size;
  const int parent =
      full == 0 ? -1 - r.given->plain.adapter : r.hashes[static_cast<std::size_t>(full) - 1];
  pool_.set_hash(r.blocks[static_cast<std::size_t>(full)],
                 pool_.hash(parent, std::vector<Token>(from, from + tokens % size)));
}

/// The blocks that are full with the first `tokens` tokens carry content, if those are known.
void NaiveReplica::cache_blocks(NaiveRequest& r, int tokens) {
  if (!config_.prefix_caching) return;
  know_hashes(r);
  tokens = std::min(tokens, r.given->plain.prompt + r.landed);
  const int before = r.hashed;
  for (; (r.hashed + 1) * config_.block_size <= tokens; ++r.hashed) {
    const auto j = static_cast<std::size_t>(r.hashed);
    pool_.set_hash(r.blocks[j], r.hashes[j]);
  }
  if (r.hashed == before) return;
  if (!states_wait_) return keep_state(r, r.hashed);
  late_states_.emplace_back(&r, r.hashed);
}

/// All blocks go back; those of a chunk that is withdrawn, or not over, carry nothing.
void NaiveReplica::release(NaiveRequest& r, bool returns) {
  int content = r.computed;
  if (r.landed_end < r.chunks_end) content = std::min(content, r.landed_end);
  if (!returns)
    keep_state(r, std::min<int>(content / config_.block_size, static_cast<int>(r.hashes.size())));
  if (config_.content_from > 0) cache_blocks(r, content);
  for (auto j = static_cast<std::size_t>(content / config_.block_size); j < r.blocks.size(); ++j)
    if (pool_.references(r.blocks[j]) == 1) pool_.drop_hash(r.blocks[j]);
  cache_rest(r, content);
  pool_.free_all(r.blocks);
  pool_.free_all(r.seat);
  r.blocks.clear();
  r.seat.clear();
  r.hashed = r.chunks_end = r.landed_end = r.state_at = 0;
}

// --- states of recurrent layers
//
// A state is content of its own: it gets blocks from the head of the free queue and goes to its
// tail at once. The last block of a chunk has one, each block that a decode fills, and the last
// full one of a request that ends. A hit moves it to the tail again.

/// What its blocks contain: the state after the first `full` blocks of the sequence.
std::vector<int> NaiveReplica::state_of(const NaiveRequest& r, int full) {
  std::vector<int> out;
  for (int i = 0; i < config_.state_blocks; ++i)
    out.push_back(pool_.hash(r.hashes[static_cast<std::size_t>(full) - 1],
                             {Token{~static_cast<std::uint64_t>(6 + i)}}));
  return out;
}

bool NaiveReplica::has_state(const NaiveRequest& r, int full) {
  const std::vector<int> state = state_of(r, full);
  return std::all_of(state.begin(), state.end(), [&](int hash) { return pool_.find(hash) >= 0; });
}

void NaiveReplica::keep_state(NaiveRequest& r, int full) {
  if (config_.state_blocks == 0 || !config_.prefix_caching || full <= r.state_at) return;
  r.state_at = full;
  if (pool_.free_blocks() < config_.state_blocks) return;
  std::vector<int> blocks;
  for (int i = 0; i < config_.state_blocks; ++i) blocks.push_back(pool_.pop());
  const std::vector<int> state = state_of(r, full);
  for (std::size_t i = 0; i < blocks.size(); ++i) pool_.set_hash(blocks[i], state[i]);
  pool_.free_all(blocks);
}

void NaiveReplica::use_state(const NaiveRequest& r, int full) {
  if (config_.state_blocks == 0 || full == 0) return;
  std::vector<int> blocks;
  for (const int hash : state_of(r, full)) blocks.push_back(pool_.find(hash));
  for (const int block : blocks) pool_.touch(block);
  pool_.free_all(blocks);
}

}  // namespace rooflua::reference
