#pragma once
// The requests of one replica that were admitted and are not over: its running list, and within it
// the requests whose sequence is not complete.
//
// Invariant: the linked list from view.running_head to view.running_tail holds the seated requests
// in admission order (by Progress::seat), view.seats of them. The list from view.prefilling_head to
// view.prefilling_tail holds those in phase prefilling, in the same order, view.prefilling of them.
// view.finishing counts those in phase finishing.

#include <cstdint>

#include "serve/contract/visible_replica.h"

namespace rooflua {

/// Whether a request in this phase has a seat.
constexpr bool seated(Phase phase) {
  return phase >= Phase::prefilling;
}

class Seats {
 public:
  explicit Seats(Board& board) : board_(&board) {}
  /// The same seats on a copied board.
  void rebind(Board& board) { board_ = &board; }

  /// The request takes the last seat and prefills.
  void take(std::int32_t slot);
  /// Its sequence is complete: it prefills no longer and keeps its seat. The caller sets its phase.
  void end_prefill(std::int32_t slot);
  /// Its last token is in flight. @pre it left the decode pool
  void finish(std::int32_t slot);
  /// It gives up its seat, in whatever phase. @pre it left the decode pool
  void leave(std::int32_t slot);

  bool any_free() const {
    return board_->view.max_num_seqs == 0 || board_->view.seats < board_->view.max_num_seqs;
  }
  /// Blocks that the sequences of prefilling requests need and do not hold yet.
  std::int32_t missing_blocks() const noexcept;

 private:
  Board* board_;
  std::int64_t given_ = 0;
};

}  // namespace rooflua
