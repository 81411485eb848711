#pragma once
// The decoding requests of one replica. They are not walked: they advance together, at O(1) a step.
//
// `index` counts the tokens that each of them was planned to get since the replica started. A
// request remembers the index at which it joined, and what it had then: its context now is
// context_tokens + (index - joined). The pool keeps the number of requests, the sum of their
// contexts, how many of them need a block at each index modulo the block size, and a wheel: for
// each index the requests that end there or use up the blocks that they hold. A request that is
// left out of a step, or decodes alone, is shifted against the others.
//
// Requests at the common pace got their last token in the same step, so the gap to their next one
// is the same for all. A newcomer is a request that is not at the common pace: it joined, was left
// out or decoded alone since the last common step. It is at the common pace from its next one on.
//
// Invariants: view.decodes and view.decode_context_tokens are the number and the sum over the
// requests in the pool, and bounded() has their sums under caps; blocks_needed() is the sum of
// blocks_needed(slot) over them; each of them has one entry on the wheel, not before index + 1.

#include <cstdint>
#include <span>
#include <vector>

#include "serve/contract/visible_replica.h"
#include "serve/lanes/bounded_contexts.h"

namespace rooflua {

class DecodePool {
 public:
  /// Tokens that a decoding request gets in a step. The wheel and the block counters below hold for
  /// requests that advance by one; where they advance by different numbers, RaggedPool keeps them.
  static constexpr std::int32_t tokens_per_step = 1;

  /// @param board    of a replica whose block size is set
  /// @param bounded  empty; it gets the contexts of the members
  explicit DecodePool(Board& board, BoundedContexts bounded = {});
  /// The same pool on a copied board.
  void rebind(Board& board) { board_ = &board; }

  std::int64_t index() const { return index_; }
  /// Tokens of a step in which so many requests decode.
  static constexpr std::int32_t tokens_of(std::int32_t requests) {
    return requests * tokens_per_step;
  }

  /// A request whose sequence is complete decodes from now on. The caller sets no number of it.
  /// @param shares_output  others may ask for the blocks that it fills (KvCache::shares_output)
  void join(std::int32_t slot, bool shares_output);
  /// It decodes no longer: context, output and held blocks are plain numbers again. The caller sets
  /// its phase.
  void leave(std::int32_t slot);

  /// Blocks that all of them together, or one of them, need for their tokens of the next step.
  std::int32_t blocks_needed() const { return crossings_[static_cast<std::size_t>(phase_)]; }
  std::int32_t blocks_needed(std::int32_t slot) const;
  /// The requests whose next token fills a block that others may ask for, in admission order.
  std::vector<std::int32_t> filling() const;
  bool any_filling() const { return !fillers_.empty() && !fillers_[at_phase()].empty(); }
  bool is_filling(std::int32_t slot) const { return board_->progress(slot).filling == phase_; }

  /// Their contexts under the caps of the replica.
  const BoundedContexts& bounded() const { return bounded_; }

  bool at_common_pace(std::int32_t slot) const {
    return board_->progress(slot).token_from < index_;
  }
  std::span<const std::int32_t> newcomers() const { return newcomers_; }
  /// Whether a step of all requests changes nothing but their contexts, and takes blocks that
  /// carry no content: no request ends, uses up its blocks, or is at another pace.
  bool is_steady() const {
    if (!newcomers_.empty() || any_filling()) return false;
    const std::int32_t slot = due_next();
    return slot < 0 || !any_due_next(slot);
  }
  /// Where requests come and go with every step, there is no common pace to be away from.
  void forget_newcomers() { newcomers_.clear(); }
  /// A request that may end at the next index, or use up its blocks; -1: there is none.
  std::int32_t due_next() const {
    return wheel_[static_cast<std::size_t>(index_ + 1) & (wheel_.size() - 1)];
  }
  /// Brings what the next step reads into the processor's cache.
  void prefetch() const {
    __builtin_prefetch(&wheel_[static_cast<std::size_t>(index_ + 1) & (wheel_.size() - 1)]);
    __builtin_prefetch(&crossings_[at_phase()]);
    __builtin_prefetch(newcomers_.data());
  }

  /// A step of all requests but `left_out`, which become newcomers.
  /// @returns the requests that reach Progress::finish_at; valid until the next step
  std::span<const std::int32_t> advance(std::span<const std::int32_t> left_out);
  /// A step of all requests that changes nothing but contexts. @pre is_steady()
  void advance_steadily() {
    ReplicaView& view = board_->view;
    view.decode_context_tokens += tokens_of(view.decodes);
    if (bounded_.used()) bounded_.advance();
    index_ += tokens_per_step;
    view.decode_index = static_cast<double>(index_);
    phase_ += tokens_per_step;
    if (phase_ == block_size_) phase_ = 0;
  }
  /// A step of one request. @returns whether it reaches Progress::finish_at
  bool advance_alone(std::int32_t slot);
  /// It goes on for so many tokens after Progress::finish_at.
  void prolong(std::int32_t slot, std::int32_t tokens);

 private:
  std::size_t at_phase() const { return static_cast<std::size_t>(phase_); }
  std::int32_t& bucket(std::int64_t index) {
    return wheel_[static_cast<std::size_t>(index) & (wheel_.size() - 1)];
  }
  bool any_due_next(std::int32_t slot) const;
  void put_on_wheel(std::int32_t slot);
  void grow_wheel();
  void link(std::int32_t slot);
  void take_off_wheel(std::int32_t slot);
  bool reach(std::int32_t slot);
  void use_up_blocks(std::int32_t slot);
  void shift(std::int32_t slot, std::int32_t tokens);
  void count_crossing(Progress& progress, std::int32_t phase);
  void count_filling(std::int32_t slot, std::int32_t phase);

  // What every step reads stands first, and prefetch() brings it all.
  Board* board_;
  std::int32_t block_size_;
  std::int64_t index_ = 0;
  std::int32_t phase_ = 0;                          // index modulo block size
  std::vector<std::int32_t> crossings_;             // requests that need a block, by that phase
  std::vector<std::vector<std::int32_t>> fillers_;  // slots by Progress::filling; empty until used
  std::vector<std::int32_t> wheel_;                 // heads of lists, by index modulo its size
  std::vector<std::int32_t> newcomers_, due_;
  BoundedContexts bounded_;
};

}  // namespace rooflua
