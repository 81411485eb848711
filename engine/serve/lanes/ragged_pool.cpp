#include "serve/lanes/ragged_pool.h"

#include <algorithm>
#include <limits>

#include "base/random.h"
#include "serve/contract/speculation.h"
#include "serve/replica/cluster.h"

namespace rooflua {

RaggedPool::RaggedPool(Board& board, const ReplicaConfig& config)
    : board_(&board),
      block_size_(config.block_size),
      lookahead_(config.lookahead),
      most_context_(config.max_model_len ? *config.max_model_len
                                             : std::numeric_limits<std::int32_t>::max()),
      seed_(config.seed) {
  board.view.speculates = 1;
}

void RaggedPool::open(std::int32_t slot) {
  const Request& request = board_->request(slot);
  RaggedProgress& ragged = board_->requests->open_ragged(slot);
  ragged = RaggedProgress{};
  ragged.key = random_stream(seed_, acceptance_stream, static_cast<std::uint64_t>(request.id)).key;
  ragged.true_emitted = request.emitted_tokens;
  ragged.known_tokens = request.prompt_tokens + request.emitted_tokens;
}

// --- members

void RaggedPool::join(std::int32_t slot, bool shares_output) {
  Request& request = board_->request(slot);
  const Progress& progress = board_->progress(slot);
  RaggedProgress& ragged = board_->ragged(slot);
  request.phase = Phase::decoding;
  request.joined = 0;
  ragged.decodes = true;
  ragged.drafts = static_cast<std::uint16_t>(request.draft_tokens);
  ragged.true_context = ragged.ahead = request.context_tokens;
  note_blocks(slot);
  ragged.stop_at = progress.stop_at;
  ragged.limit = progress.limit;
  ragged.last_token = progress.last_token;
  ragged.fills_at = shares_output ? (ragged.content_tokens / block_size_ + 1) * block_size_
                                  : RaggedProgress::never_fills;
  sharing_ += shares_output;
  const auto behind = std::upper_bound(members_.begin(), members_.end(), progress.seat,
                                       [this](std::int64_t seat, std::int32_t other) {
                                         return seat < board_->progress(other).seat;
                                       });
  members_.insert(behind, slot);
  unusual_ += ragged.drafts != usual_drafts_;
  true_contexts_ += ragged.true_context;
  ReplicaView& view = board_->view;
  ++view.decodes;
  view.decode_context_tokens += request.context_tokens;
  view.decode_tokens += 1 + request.draft_tokens;
}

void RaggedPool::leave(std::int32_t slot) {
  const Request& request = board_->request(slot);
  Progress& progress = board_->progress(slot);
  RaggedProgress& ragged = board_->ragged(slot);
  ragged.decodes = false;
  progress.last_token = ragged.last_token;
  sharing_ -= ragged.fills_at != RaggedProgress::never_fills;
  members_.erase(std::lower_bound(members_.begin(), members_.end(), progress.seat,
                                  [this](std::int32_t other, std::int64_t seat) {
                                    return board_->progress(other).seat < seat;
                                  }));
  unusual_ -= ragged.drafts != usual_drafts_;
  true_contexts_ -= ragged.true_context;
  ReplicaView& view = board_->view;
  --view.decodes;
  view.decode_context_tokens -= request.context_tokens;
  view.decode_tokens -= 1 + request.draft_tokens;
}

void RaggedPool::set_drafts(std::int32_t slot, std::int32_t drafts) {
  Request& request = board_->request(slot);
  RaggedProgress& ragged = board_->ragged(slot);
  if (ragged.decodes) {
    board_->view.decode_tokens += drafts - request.draft_tokens;
    unusual_ += (drafts != usual_drafts_) - (ragged.drafts != usual_drafts_);
  }
  request.draft_tokens = drafts;
  ragged.drafts = static_cast<std::uint16_t>(drafts);
}

void RaggedPool::note_drafts_of_all(std::int32_t drafts) {
  usual_drafts_ = drafts;
  unusual_ = 0;
  board_->view.decode_tokens = board_->view.decodes * (1 + drafts);
}

void RaggedPool::note_blocks(std::int32_t slot) {
  const std::int32_t room = board_->progress(slot).held_blocks * block_size_;
  board_->ragged(slot).calm_until = std::min(room - lookahead_, most_context_ - 1);
}

void RaggedPool::know(std::int32_t slot, std::int32_t tokens) {
  RaggedProgress& ragged = board_->ragged(slot);
  ragged.content_tokens = tokens;
  if (ragged.fills_at != RaggedProgress::never_fills)
    ragged.fills_at = (tokens / block_size_ + 1) * block_size_;
}

// --- tokens and blocks

std::int32_t RaggedPool::most_tokens(std::int32_t slot) const {
  const RaggedProgress& ragged = board_->ragged(slot);
  return std::min<std::int32_t>(1 + ragged.drafts, most_context_ - 1 - ragged.ahead);
}

std::int32_t RaggedPool::with_lookahead(std::int32_t tokens) const {
  return std::min(tokens + lookahead_, most_context_);
}

std::int32_t RaggedPool::blocks_needed(std::int32_t slot, std::int32_t tokens) const {
  // A product instead of a division: the blocks are there in most steps.
  const std::int32_t whole = with_lookahead(board_->ragged(slot).ahead + tokens);
  const std::int32_t held = board_->progress(slot).held_blocks;
  if (whole <= std::int64_t{held} * block_size_) return 0;
  return blocks_for(whole, block_size_) - held;
}

RaggedPool::Demand RaggedPool::demand(std::vector<Taker>& takers) const {
  Demand demand;
  takers.clear();
  if (members_.empty()) return demand;
  demand.tokens = board_->view.decode_tokens;
  demand.width = unusual_ == 0 ? 1 + usual_drafts_ : 0;
  const RaggedProgress* const all = &board_->ragged(0);
  for (const std::int32_t slot : members_) {
    const RaggedProgress& ragged = all[slot];
    const bool calm = ragged.ahead + 1 + ragged.drafts <= ragged.calm_until;
    if (calm && ragged.known_tokens < ragged.fills_at) continue;
    ask_apart(slot, demand, takers);
  }
  return demand;
}

/// Of a member that takes blocks, fills one, or comes to max_model_len.
void RaggedPool::ask_apart(std::int32_t slot, Demand& demand, std::vector<Taker>& takers) const {
  const RaggedProgress& ragged = board_->ragged(slot);
  const std::int32_t brings = 1 + ragged.drafts, gets = std::max(0, most_tokens(slot));
  demand.tokens += gets - brings;
  demand.cut = demand.cut || gets < brings;
  if (gets == 0) return;
  const std::int32_t blocks = blocks_needed(slot, gets);
  demand.blocks += blocks;
  if (blocks > 0 || ragged.known_tokens >= ragged.fills_at) takers.push_back({slot, blocks});
}

RaggedPool::Demand RaggedPool::demand() const {
  std::vector<Taker> takers;
  return demand(takers);
}

bool RaggedPool::any_fills() const {
  return sharing_ > 0 && std::any_of(members_.begin(), members_.end(), [this](std::int32_t slot) {
           return board_->request(slot).context_tokens + 1 >= board_->ragged(slot).fills_at &&
                  most_tokens(slot) > 0;
         });
}

// --- rows

void RaggedPool::write_rows(std::vector<Row>& rows) const {
  rows.clear();
  for (const std::int32_t slot : members_) {
    const std::int32_t tokens = most_tokens(slot);
    if (tokens <= 0) continue;
    Row row;
    row.slot = slot;
    row.id = board_->request(slot).id;
    row.drafts = tokens - 1;
    rows.push_back(row);
  }
}

namespace {

void add_row(std::int64_t tokens, std::int64_t context, std::int64_t known, RowSums& sums) {
  const std::int64_t of_each_other = tokens * (tokens + 1) / 2;
  sums.tokens += tokens;
  sums.contexts += context;
  sums.pairs += tokens * context + of_each_other;
  sums.known_contexts += known;
  sums.known_pairs += tokens * known + of_each_other;
}

}  // namespace

RowSums RaggedPool::sum_of(std::span<const Row> rows) const {
  RowSums sums;
  for (const Row& row : rows) {
    add_row(row.tokens(), board_->ragged(row.slot).true_context,
            board_->request(row.slot).context_tokens, sums);
  }
  return sums;
}

RowSums RaggedPool::sum_of_all(std::int32_t width) const {
  RowSums sums;
  if (width == 0) {
    for (const std::int32_t slot : members_) {
      const RaggedProgress& ragged = board_->ragged(slot);
      add_row(1 + ragged.drafts, ragged.true_context, board_->request(slot).context_tokens, sums);
    }
    return sums;
  }
  const auto rows = static_cast<std::int64_t>(members_.size());
  const std::int64_t of_each_other = rows * (std::int64_t{width} * (width + 1) / 2);
  sums.tokens = rows * width;
  sums.contexts = true_contexts_;
  sums.pairs = width * sums.contexts + of_each_other;
  sums.known_contexts = static_cast<std::int64_t>(board_->view.decode_context_tokens);
  sums.known_pairs = width * sums.known_contexts + of_each_other;
  return sums;
}

}  // namespace rooflua
