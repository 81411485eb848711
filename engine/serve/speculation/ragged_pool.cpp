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

RowSums sum_of(std::span<const Row> rows) {
  RowSums sums;
  for (const Row& row : rows) {
    const std::int64_t tokens = row.tokens(), of_each_other = tokens * (tokens + 1) / 2;
    sums.tokens += tokens;
    sums.contexts += row.context;
    sums.pairs += tokens * row.context + of_each_other;
    sums.known_contexts += row.known_context;
    sums.known_pairs += tokens * row.known_context + of_each_other;
  }
  return sums;
}

namespace {

/// Where all rows have as many tokens.
void add_pairs(std::int64_t rows, std::int64_t tokens, RowSums& sums) {
  const std::int64_t of_each_other = rows * (tokens * (tokens + 1) / 2);
  sums.pairs = tokens * sums.contexts + of_each_other;
  sums.known_pairs = tokens * sums.known_contexts + of_each_other;
}

}  // namespace

RaggedPool::Demand RaggedPool::demand(std::vector<Row>& rows) const {
  Demand demand;
  rows.clear();
  const std::int32_t decodes = board_->view.decodes;
  if (decodes == 0) return demand;
  rows.resize(static_cast<std::size_t>(decodes));
  Row* row = rows.data();
  const Request* const requests = &board_->request(0);
  const Progress* const all_progress = &board_->progress(0);
  const RaggedProgress* const all_ragged = &board_->ragged(0);
  const std::int32_t block_size = block_size_, lookahead = lookahead_, most = most_context_;
  std::int32_t all_tokens = 0, all_blocks = 0, first_tokens = 0, differ = 0;
  std::int64_t contexts = 0, known_contexts = 0;
  bool fills = false;
  for (std::int32_t slot = board_->view.running_head; slot >= 0; slot = requests[slot].next) {
    const Request& request = requests[slot];
    if (request.phase != Phase::decoding) continue;
    const RaggedProgress& ragged = all_ragged[slot];
    // most_tokens() and blocks_needed(), with what both look up in common.
    const std::int32_t context = request.context_tokens;
    const std::int32_t ahead = context - ragged.flight_rows + ragged.flight_tokens;
    const std::int32_t tokens = std::min(1 + request.draft_tokens, most - 1 - ahead);
    if (tokens <= 0) continue;
    row->slot = slot;
    row->id = request.id;
    row->drafts = tokens - 1;
    row->context = ragged.true_context;
    row->known_context = context;
    contexts += row->context;
    known_contexts += context;
    all_tokens += tokens;
    if (all_tokens == tokens) first_tokens = tokens;
    differ |= tokens ^ first_tokens;
    const std::int32_t whole = std::min(ahead + tokens + lookahead, most);
    const std::int32_t held = all_progress[slot].held_blocks;
    const std::int32_t known = std::min(context + 1, request.prompt_tokens + ragged.landed_tokens);
    row->grants = known > ragged.content_tokens;
    if (whole > std::int64_t{held} * block_size) {
      row->blocks = blocks_for(whole, block_size) - held;
      row->grants = true;
      all_blocks += row->blocks;
    }
    ++row;
    if (!ragged.shares_output || fills) continue;
    fills = (context + 1) / block_size > ragged.content_tokens / block_size;
  }
  rows.resize(static_cast<std::size_t>(row - rows.data()));
  demand.tokens = all_tokens;
  demand.blocks = all_blocks;
  demand.fills = fills;
  if (differ != 0) {
    demand.sums = sum_of(rows);
  } else {
    demand.sums.tokens = all_tokens;
    demand.sums.contexts = contexts;
    demand.sums.known_contexts = known_contexts;
    add_pairs(static_cast<std::int64_t>(rows.size()), first_tokens, demand.sums);
  }
  return demand;
}

RaggedPool::Demand RaggedPool::demand() const {
  std::vector<Row> rows;
  return demand(rows);
}

}  // namespace rooflua
