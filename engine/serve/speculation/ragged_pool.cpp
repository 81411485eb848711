#include "serve/speculation/ragged_pool.h"

#include <algorithm>
#include <limits>

#include "base/random.h"
#include "serve/cluster.h"
#include "serve/speculation/policy.h"

namespace rooflua {

RaggedPool::RaggedPool(Board& board, const ReplicaConfig& config)
    : board_(&board),
      block_size_(config.block_size),
      lookahead_(config.lookahead),
      most_context_(config.max_model_len > 0 ? config.max_model_len
                                             : std::numeric_limits<std::int32_t>::max()),
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
  return std::min(1 + board_->request(slot).draft_tokens, most_context_ - 1 - optimistic(slot));
}

std::int32_t RaggedPool::with_lookahead(std::int32_t tokens) const {
  return std::min(tokens + lookahead_, most_context_);
}

std::int32_t RaggedPool::blocks_needed(std::int32_t slot, std::int32_t tokens) const {
  // A product instead of a division: the blocks are there in most steps.
  const std::int32_t whole = with_lookahead(optimistic(slot) + tokens);
  const std::int32_t held = board_->progress(slot).held_blocks;
  if (whole <= std::int64_t{held} * block_size_) return 0;
  return blocks_for(whole, block_size_) - held;
}

Row RaggedPool::row_of(std::int32_t slot) const {
  const Request& request = board_->request(slot);
  Row row;
  row.slot = slot;
  row.id = request.id;
  row.context = board_->ragged(slot).true_context;
  row.known_context = request.context_tokens;
  return row;
}

RaggedPool::Demand RaggedPool::demand(std::vector<Row>& rows) const {
  Demand demand;
  rows.clear();
  rows.resize(static_cast<std::size_t>(board_->view.decodes));
  std::size_t count = 0;
  const Requests& all = *board_->requests;
  for (std::int32_t slot = board_->view.running_head; slot >= 0; slot = all[slot].next) {
    const Request& request = all[slot];
    if (request.phase != Phase::decoding) continue;
    const RaggedProgress& ragged = all.ragged(slot);
    // most_tokens() and blocks_needed(), with what both look up in common.
    const std::int32_t ahead = request.context_tokens - ragged.flight_rows + ragged.flight_tokens;
    const std::int32_t tokens = std::min(1 + request.draft_tokens, most_context_ - 1 - ahead);
    if (tokens <= 0) continue;
    const std::int32_t whole = with_lookahead(ahead + tokens);
    const std::int32_t held = all.progress(slot).held_blocks;
    Row& row = rows[count++];
    row.slot = slot;
    row.id = request.id;
    row.drafts = tokens - 1;
    row.context = ragged.true_context;
    row.known_context = request.context_tokens;
    if (whole > std::int64_t{held} * block_size_)
      row.blocks = blocks_for(whole, block_size_) - held;
    demand.tokens += tokens;
    demand.blocks += row.blocks;
    if (!ragged.shares_output || demand.fills) continue;
    demand.fills = (request.context_tokens + 1) / block_size_ > ragged.content_tokens / block_size_;
  }
  rows.resize(count);
  return demand;
}

RaggedPool::Demand RaggedPool::demand() const {
  std::vector<Row> rows;
  return demand(rows);
}

}  // namespace rooflua
