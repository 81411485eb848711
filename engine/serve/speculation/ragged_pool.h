#pragma once
// The decoding requests of a replica that speculates. They advance by different numbers, so each of
// them is visited in every step, in admission order.
//
// A scheduler plans a step before the one in front of it has landed. It then counts as if every
// draft in flight were accepted:
//
//     o = context that landed + tokens of rows in flight
//
// Positions, blocks and the test of max_model_len use o. Blocks are asked for min(o + tokens +
// lookahead, max_model_len) tokens, and are not given back when drafts are refused.
//
// Invariants: view.decodes, view.decode_context_tokens and view.decode_tokens are sums over the
// members; their `joined` is 0.   @source vLLM v1/core/sched/scheduler.py, async_scheduler.py

#include <cstdint>
#include <vector>

#include "serve/speculation/row.h"
#include "serve/visible_replica.h"

namespace rooflua {

struct ReplicaConfig;

class RaggedPool {
 public:
  RaggedPool(Board& board, const ReplicaConfig& config);
  /// The same pool on a copied board.
  void rebind(Board& board) { board_ = &board; }

  /// The request is queued here: nothing of it is in flight.
  void open(std::int32_t slot);
  /// Its sequence is complete: it decodes from now on.
  void join(std::int32_t slot, bool shares_output);
  /// It decodes no longer. The caller sets its phase.
  void leave(std::int32_t slot);

  /// Tokens that it may get in the next step; 0 or less: none before its rows in flight land.
  std::int32_t most_tokens(std::int32_t slot) const;
  /// Blocks that it needs for so many.
  std::int32_t blocks_needed(std::int32_t slot, std::int32_t tokens) const;
  /// Tokens that blocks are asked for where a sequence grows to `tokens`.
  std::int32_t with_lookahead(std::int32_t tokens) const;

  /// The next decode of a request, without its drafts.
  Row row_of(std::int32_t slot) const;

  /// What decode_all() without a limit would take now, and for which rows.
  struct Demand {
    std::int32_t tokens = 0, blocks = 0;
    bool fills = false;  // a block that others may ask for
    RowSums sums;
  };
  Demand demand(std::vector<Row>& rows) const;
  Demand demand() const;

  void set_drafts(std::int32_t slot, std::int32_t drafts);

 private:
  std::int32_t optimistic(std::int32_t slot) const;

  Board* board_;
  std::int32_t block_size_, lookahead_;
  std::int32_t most_context_;  // max_model_len, or more than any context
  std::uint64_t seed_;
};

}  // namespace rooflua
