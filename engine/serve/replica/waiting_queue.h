#pragma once
// The waiting requests of one replica.
//
// Order: requests that hold blocks (their KV was sent here) stand before all others. Within each
// group the order is by key, then by id, where the scheduler has keys; else first come first
// served, and a preempted request goes to the front of its group.
//
// Invariant: the linked list from view.waiting_head to view.waiting_tail is in that order;
// view.waiting is its length and view.waiting_tokens the sum of prompt + emitted over it.

#include <cstdint>
#include <map>
#include <tuple>

#include "serve/contract/policy.h"
#include "serve/contract/visible_replica.h"

namespace rooflua {

class WaitingQueue {
 public:
  explicit WaitingQueue(Board& board) : board_(&board) {}
  /// The same queue on a copied board.
  void rebind(Board& board) { board_ = &board; }

  /// A request comes: it is given its key and its place.
  /// @throws Error if the key is not a number
  void join(std::int32_t slot, SchedulerPolicy& policy);
  /// A preempted request comes back, with the key that it has.
  void rejoin(std::int32_t slot) { insert(slot, true); }
  /// @pre the request's blocks and tokens are as they were when it came
  void leave(std::int32_t slot);
  /// New keys for all, after the scheduler was swapped. Nothing changes where a key is an error.
  void rekey(SchedulerPolicy& policy);

 private:
  using Place = std::tuple<bool, double, std::int32_t>;  // holds no blocks, key, id

  bool holds_blocks(std::int32_t slot) const { return board_->progress(slot).held_blocks > 0; }
  Place place(std::int32_t slot) const;
  void insert(std::int32_t slot, bool front);

  Board* board_;
  std::map<Place, std::int32_t> by_key_;  // -> slot; empty without keys
  std::int32_t last_holder_ = -1;         // without keys: the last request that holds blocks
  bool keyed_ = false;
};

}  // namespace rooflua
