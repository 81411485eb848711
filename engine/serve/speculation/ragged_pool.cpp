#include "serve/speculation/ragged_pool.h"

#include <algorithm>

#include "base/random.h"
#include "serve/cluster.h"
#include "serve/speculation/policy.h"

namespace rooflua {

RaggedPool::RaggedPool(Board& board, const ReplicaConfig& config)
    : board_(&board),
      block_size_(config.block_size),
      max_model_len_(config.max_model_len),
      lookahead_(config.lookahead),
      seed_(config.seed) {
  board.view.speculates = 1;
}

void RaggedPool::open(std::int32_t slot) {
  const Request& request = board_->request(slot);
  RaggedProgress& ragged = board_->requests->open_ragged(slot);
  ragged = RaggedProgress{};
  ragged.key = random_stream(seed_, acceptance_stream, static_cast<std::uint64_t>(request.id)).key;
  ragged.true_emitted = ragged.landed_tokens = request.emitted_tokens;
}

// --- members

void RaggedPool::join(std::int32_t slot, bool shares_output) {
  Request& request = board_->request(slot);
  request.phase = Phase::decoding;
  request.joined = 0;
  board_->ragged(slot).shares_output = shares_output;
  ReplicaView& view = board_->view;
  ++view.decodes;
  view.decode_context_tokens += request.context_tokens;
  view.decode_tokens += 1 + request.draft_tokens;
}

void RaggedPool::leave(std::int32_t slot) {
  const Request& request = board_->request(slot);
  ReplicaView& view = board_->view;
  --view.decodes;
  view.decode_context_tokens -= request.context_tokens;
  view.decode_tokens -= 1 + request.draft_tokens;
}

void RaggedPool::advance(std::int32_t slot, std::int32_t context, std::int32_t emitted) {
  Request& request = board_->request(slot);
  request.context_tokens += context;
  request.emitted_tokens += emitted;
  if (request.phase == Phase::decoding) board_->view.decode_context_tokens += context;
}

void RaggedPool::set_drafts(std::int32_t slot, std::int32_t drafts) {
  Request& request = board_->request(slot);
  if (request.phase == Phase::decoding) board_->view.decode_tokens += drafts - request.draft_tokens;
  request.draft_tokens = drafts;
}

// --- tokens and blocks

std::int32_t RaggedPool::optimistic(std::int32_t slot) const {
  const RaggedProgress& ragged = board_->ragged(slot);
  return board_->request(slot).context_tokens - ragged.flight_rows + ragged.flight_tokens;
}

std::int32_t RaggedPool::most_tokens(std::int32_t slot) const {
  const std::int32_t tokens = 1 + board_->request(slot).draft_tokens;
  if (max_model_len_ == 0) return tokens;
  return std::min(tokens, max_model_len_ - 1 - optimistic(slot));
}

std::int32_t RaggedPool::with_lookahead(std::int32_t tokens) const {
  const std::int32_t all = tokens + lookahead_;
  return max_model_len_ == 0 ? all : std::min(all, max_model_len_);
}

std::int32_t RaggedPool::blocks_needed(std::int32_t slot, std::int32_t tokens) const {
  // A product instead of a division: the blocks are there in most steps.
  const std::int32_t whole = with_lookahead(optimistic(slot) + tokens);
  const std::int32_t held = board_->progress(slot).held_blocks;
  if (whole <= std::int64_t{held} * block_size_) return 0;
  return blocks_for(whole, block_size_) - held;
}

RaggedPool::Demand RaggedPool::demand() const {
  Demand demand;
  for (std::int32_t slot = board_->view.running_head; slot >= 0;
       slot = board_->request(slot).next) {
    const Request& request = board_->request(slot);
    if (request.phase != Phase::decoding) continue;
    const std::int32_t tokens = most_tokens(slot);
    if (tokens <= 0) continue;
    demand.tokens += tokens;
    demand.blocks += blocks_needed(slot, tokens);
    const RaggedProgress& ragged = board_->ragged(slot);
    demand.fills |= ragged.shares_output && (request.context_tokens + 1) / block_size_ >
                                                ragged.content_tokens / block_size_;
  }
  return demand;
}

}  // namespace rooflua
