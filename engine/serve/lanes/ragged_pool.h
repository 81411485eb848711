#pragma once
// The decoding requests of a replica that speculates. They advance by different numbers, so each of
// them is visited in every step, in admission order.
//
// A scheduler plans a step before the one in front of it has landed. It then counts as if every
// draft in flight were accepted:
//
//     o = context that landed + tokens of rows in flight     (RaggedProgress::ahead)
//
// Positions, blocks and the test of max_model_len use o. Blocks are asked for min(o + tokens +
// lookahead, max_model_len) tokens, and are not given back when drafts are refused.
//
// Invariants: view.decodes, view.decode_context_tokens and view.decode_tokens are sums over the
// members; their `joined` is 0.   @source vLLM v1/core/sched/scheduler.py, async_scheduler.py

#include <cstdint>
#include <span>
#include <vector>

#include "serve/contract/row.h"
#include "serve/contract/visible_replica.h"

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

  /// The members, in admission order.
  std::span<const std::int32_t> members() const { return members_; }

  /// Tokens that it may get in the next step; 0 or less: none before its rows in flight land.
  std::int32_t most_tokens(std::int32_t slot) const;
  /// Blocks that it needs for so many.
  std::int32_t blocks_needed(std::int32_t slot, std::int32_t tokens) const;
  /// Tokens that blocks are asked for where a sequence grows to `tokens`.
  std::int32_t with_lookahead(std::int32_t tokens) const;

  /// A member that takes blocks, or fills one that others may ask for.
  struct Taker {
    std::int32_t slot = -1, blocks = 0;
  };
  /// What decode_all() without a limit would take now.
  struct Demand {
    std::int32_t tokens = 0, blocks = 0;
    std::int32_t width = 0;  // tokens of each row; 0: they differ
    bool cut = false;        // max_model_len leaves some members fewer tokens than they bring
  };
  Demand demand(std::vector<Taker>& takers) const;
  Demand demand() const;
  /// Whether a decode of the next plan fills a block that others may ask for.
  bool any_fills() const;
  /// Whether others may ask for what some member generates.
  bool any_shares() const { return sharing_ > 0; }

  /// The rows of all members with all that each may have.
  void write_rows(std::vector<Row>& rows) const;
  RowSums sum_of(std::span<const Row> rows) const;
  /// The same of all members with all the drafts that they bring. `width`: as Demand.
  RowSums sum_of_all(std::int32_t width) const;

  void set_drafts(std::int32_t slot, std::int32_t drafts);
  /// All members bring as many.
  void note_drafts_of_all(std::int32_t drafts);
  /// It holds more blocks.
  void note_blocks(std::int32_t slot);
  /// Members advanced by so many tokens, as they will land.
  void advance(std::int64_t tokens) { true_contexts_ += tokens; }
  /// The content of a member grew to that.
  void know(std::int32_t slot, std::int32_t tokens);

 private:
  void ask_apart(std::int32_t slot, Demand& demand, std::vector<Taker>& takers) const;

  Board* board_;
  std::int32_t block_size_, lookahead_;
  std::int32_t most_context_;  // max_model_len, or more than any context
  std::uint64_t seed_;
  std::vector<std::int32_t> members_;
  std::int64_t true_contexts_ = 0;  // sum over the members
  std::int32_t sharing_ = 0;        // members whose output others may ask for
  std::int32_t usual_drafts_ = 0;   // that most members bring
  std::int32_t unusual_ = 0;        // members that bring another number
};

}  // namespace rooflua
