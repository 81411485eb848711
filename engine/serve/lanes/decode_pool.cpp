#include "serve/lanes/decode_pool.h"

#include <algorithm>
#include <utility>

#include "serve/kv/kv_cache.h"

namespace rooflua {

namespace {

// Lists of the wheel: a power of two; later entries share them. They become more where there are
// many requests, so that a step visits few entries that are not due.
constexpr std::size_t first_wheel_size = 256, lists_per_request = 8, largest_wheel = 8192;

}  // namespace

DecodePool::DecodePool(Board& board, BoundedContexts bounded)
    : board_(&board),
      block_size_(board.view.block_size),
      crossings_(static_cast<std::size_t>(board.view.block_size), 0),
      wheel_(first_wheel_size, -1),
      bounded_(std::move(bounded)) {}

// --- blocks

std::int32_t DecodePool::blocks_needed(std::int32_t slot) const {
  const std::int32_t context = context_tokens(board_->view, board_->request(slot));
  const bool at_edge = context % block_size_ == 0;
  return at_edge && context / block_size_ >= board_->progress(slot).held_blocks ? 1 : 0;
}

/// Moves a request between the counters of `crossings_`; -1 is none of them.
void DecodePool::count_crossing(Progress& progress, std::int32_t phase) {
  if (progress.crossing >= 0) --crossings_[static_cast<std::size_t>(progress.crossing)];
  progress.crossing = phase;
  if (phase >= 0) ++crossings_[static_cast<std::size_t>(phase)];
}

/// Moves a request between the lists of `fillers_`; -1 is none of them.
void DecodePool::count_filling(std::int32_t slot, std::int32_t phase) {
  Progress& progress = board_->progress(slot);
  if (fillers_.empty()) fillers_.resize(static_cast<std::size_t>(block_size_));
  if (progress.filling >= 0) std::erase(fillers_[static_cast<std::size_t>(progress.filling)], slot);
  progress.filling = phase;
  if (phase >= 0) fillers_[static_cast<std::size_t>(phase)].push_back(slot);
}

std::vector<std::int32_t> DecodePool::filling() const {
  if (fillers_.empty()) return {};
  std::vector<std::int32_t> slots = fillers_[at_phase()];
  std::sort(slots.begin(), slots.end(), [this](std::int32_t a, std::int32_t b) {
    return board_->progress(a).seat < board_->progress(b).seat;
  });
  return slots;
}

// --- the wheel

/// More lists. Entries of one index keep their order.
void DecodePool::grow_wheel() {
  const std::vector<std::int32_t> before = std::move(wheel_);
  wheel_.assign(2 * before.size(), -1);
  std::vector<std::int32_t> slots;
  for (const std::int32_t head : before) {
    slots.clear();
    for (std::int32_t slot = head; slot >= 0; slot = board_->progress(slot).wheel_next)
      slots.push_back(slot);
    for (; !slots.empty(); slots.pop_back()) link(slots.back());
  }
}

/// In front of the list of its index.
void DecodePool::link(std::int32_t slot) {
  Progress& progress = board_->progress(slot);
  std::int32_t& head = bucket(progress.event_at);
  progress.wheel_previous = -1;
  progress.wheel_next = head;
  if (head >= 0) board_->progress(head).wheel_previous = slot;
  head = slot;
}

/// The request's entry: where it ends, or where it uses up the blocks that it holds.
void DecodePool::put_on_wheel(std::int32_t slot) {
  Progress& progress = board_->progress(slot);
  const Request& r = board_->request(slot);
  progress.event_at = progress.finish_at;
  if (progress.crossing < 0) {
    const std::int64_t used_up = static_cast<std::int64_t>(r.joined) - r.context_tokens +
                                 std::int64_t{progress.held_blocks} * block_size_;
    progress.event_at = std::min(used_up, progress.finish_at);
  }
  link(slot);
}

void DecodePool::take_off_wheel(std::int32_t slot) {
  const Progress& progress = board_->progress(slot);
  const std::int32_t before = progress.wheel_previous, behind = progress.wheel_next;
  (before >= 0 ? board_->progress(before).wheel_next : bucket(progress.event_at)) = behind;
  if (behind >= 0) board_->progress(behind).wheel_previous = before;
}

/// Its blocks are full: from this index on it needs one every block_size tokens.
void DecodePool::use_up_blocks(std::int32_t slot) {
  take_off_wheel(slot);
  count_crossing(board_->progress(slot), phase_);
  put_on_wheel(slot);
}

/// What happens to a request at the index just reached. True: it ends there.
bool DecodePool::reach(std::int32_t slot) {
  const Progress& progress = board_->progress(slot);
  if (progress.event_at != index_) return false;
  if (progress.finish_at == index_) return true;
  use_up_blocks(slot);
  return false;
}

void DecodePool::prolong(std::int32_t slot, std::int32_t tokens) {
  Progress& progress = board_->progress(slot);
  take_off_wheel(slot);
  progress.finish_at += tokens;
  put_on_wheel(slot);
  if (progress.event_at == index_) use_up_blocks(slot);
}

// --- members

void DecodePool::join(std::int32_t slot, bool shares_output) {
  Request& request = board_->request(slot);
  Progress& progress = board_->progress(slot);
  request.phase = Phase::decoding;
  request.joined = static_cast<double>(index_);
  progress.finish_at = index_ + progress.stop_at - request.emitted_tokens;
  progress.token_from = index_;
  progress.crossing = -1;
  const std::int32_t offset = request.context_tokens % block_size_;
  if (progress.held_blocks <= blocks_for(request.context_tokens, block_size_)) {
    const std::int32_t phase = phase_ - offset;
    count_crossing(progress, phase < 0 ? phase + block_size_ : phase);
  }
  if (shares_output) count_filling(slot, (phase_ + block_size_ - 1 - offset) % block_size_);
  put_on_wheel(slot);
  newcomers_.push_back(slot);
  ++board_->view.decodes;
  const auto members = static_cast<std::size_t>(board_->view.decodes);
  if (wheel_.size() < largest_wheel && wheel_.size() < lists_per_request * members) grow_wheel();
  board_->view.decode_context_tokens += request.context_tokens;
  if (bounded_.used()) bounded_.add(request.context_tokens);
}

void DecodePool::leave(std::int32_t slot) {
  Request& request = board_->request(slot);
  Progress& progress = board_->progress(slot);
  take_off_wheel(slot);
  count_crossing(progress, -1);
  if (progress.filling >= 0) count_filling(slot, -1);
  if (!at_common_pace(slot)) std::erase(newcomers_, slot);
  const auto tokens = static_cast<std::int32_t>(index_ - static_cast<std::int64_t>(request.joined));
  request.context_tokens += tokens;
  request.emitted_tokens += tokens;
  request.joined = 0;
  progress.held_blocks =
      std::max(progress.held_blocks, blocks_for(request.context_tokens, block_size_));
  --board_->view.decodes;
  board_->view.decode_context_tokens -= request.context_tokens;
  if (bounded_.used()) bounded_.remove(request.context_tokens);
}

/// Moves a request by so many tokens against the others.
void DecodePool::shift(std::int32_t slot, std::int32_t tokens) {
  Request& request = board_->request(slot);
  Progress& progress = board_->progress(slot);
  take_off_wheel(slot);
  request.joined -= tokens;
  progress.finish_at -= tokens;
  progress.token_from = index_;
  const auto moved = [&](std::int32_t phase) {
    return (phase - tokens + block_size_) % block_size_;
  };
  if (progress.crossing >= 0) count_crossing(progress, moved(progress.crossing));
  if (progress.filling >= 0) count_filling(slot, moved(progress.filling));
  put_on_wheel(slot);
  board_->view.decode_context_tokens += tokens;
  if (bounded_.used()) {
    const std::int32_t context = context_tokens(board_->view, request);
    bounded_.remove(context - tokens);
    bounded_.add(context);
  }
}

// --- steps

std::span<const std::int32_t> DecodePool::advance(std::span<const std::int32_t> left_out) {
  static_assert(tokens_per_step == 1,
                "the wheel visits one index, and a request one block, a step");
  newcomers_.clear();
  advance_steadily();
  for (const std::int32_t slot : left_out) {
    shift(slot, -tokens_per_step);
    newcomers_.push_back(slot);
  }
  due_.clear();
  for (std::int32_t slot = bucket(index_); slot >= 0;) {
    const std::int32_t next = board_->progress(slot).wheel_next;
    if (reach(slot)) due_.push_back(slot);
    slot = next;
  }
  return due_;
}

/// Whether one of these requests, which are on the wheel's list of the next index, is due there.
bool DecodePool::any_due_next(std::int32_t slot) const {
  for (; slot >= 0; slot = board_->progress(slot).wheel_next) {
    if (board_->progress(slot).event_at == index_ + tokens_per_step) return true;
  }
  return false;
}

bool DecodePool::advance_alone(std::int32_t slot) {
  if (at_common_pace(slot)) newcomers_.push_back(slot);
  shift(slot, tokens_per_step);
  return reach(slot);
}

}  // namespace rooflua
