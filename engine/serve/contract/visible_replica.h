#pragma once
// What a scheduler reads of its replica. The engine (replica/replica.h) and the naive simulator of
// tests/reference implement it, so that the same scheduler runs on both.

#include <cstdint>

#include "border.h"
#include "serve/contract/request.h"

namespace rooflua {

/// Which waiting requests can have tokens in the KV cache already.
enum class CacheHits : std::int32_t {
  none,          // no request: prefix caching is off
  of_preempted,  // requests that were preempted: requests share no tokens
  of_any,        // every request
};

/// The numbers of a replica that policies read (border.h). Counts hold at the time of reading,
/// inside a plan too.
using ReplicaView = rooflua_replica_view;

/// Context and output of a request now: stored for most, implied for decoding requests.
inline std::int32_t context_tokens(const ReplicaView& view, const Request& r) {
  return r.context_tokens +
         (r.phase == Phase::decoding ? static_cast<std::int32_t>(view.decode_index - r.joined) : 0);
}
inline std::int32_t emitted_tokens(const ReplicaView& view, const Request& r) {
  return r.emitted_tokens +
         (r.phase == Phase::decoding ? static_cast<std::int32_t>(view.decode_index - r.joined) : 0);
}
/// Tokens of a step in which every decoding request gets all that it may have: one each, and the
/// drafts that it brings.
inline std::int32_t decode_tokens(const ReplicaView& view) {
  return view.speculates != 0 ? view.decode_tokens : view.decodes;
}
/// Tokens of the sequence without KV: prompt + emitted - context; 1 while decoding, 0 while
/// finishing or in flight.
inline std::int32_t pending_tokens(const ReplicaView& view, const Request& r) {
  if (r.phase >= Phase::finishing) return 0;
  return r.prompt_tokens + emitted_tokens(view, r) - context_tokens(view, r);
}

/// The numbers of one replica and the requests that they are about. The parts of a replica
/// (replica/waiting_queue.h, replica/seats.h, lanes/decode_pool.h) each keep their share of the
/// numbers true.
struct Board {
  ReplicaView view;
  Requests* requests = nullptr;

  Request& request(std::int32_t slot) const { return (*requests)[slot]; }
  Progress& progress(std::int32_t slot) const { return requests->progress(slot); }
  RaggedProgress& ragged(std::int32_t slot) const { return requests->ragged(slot); }
};

class VisibleReplica {
 public:
  virtual ~VisibleReplica() = default;

  const ReplicaView& view() const { return board_.view; }
  const Request& request(std::int32_t slot) const { return board_.request(slot); }
  /// Of a request; 0: none.
  std::int32_t adapter(std::int32_t slot) const noexcept { return board_.progress(slot).adapter; }

  /// Tokens of a waiting request that need not be computed: prefix hits, or KV that another replica
  /// sent.
  virtual std::int32_t cached_tokens(std::int32_t slot) const noexcept = 0;
  /// Tokens of a waiting request whose KV is cached in the layers that grow. It is more than
  /// cached_tokens() where no recurrent state was kept behind them.
  virtual std::int32_t growing_tokens(std::int32_t slot) const noexcept = 0;
  /// Tokens at the left that the prompts of two requests have in common, cached or not.
  virtual std::int32_t shared_tokens(std::int32_t slot, std::int32_t other) const noexcept = 0;
  /// Names the first full block of a sequence that is to be computed here, by its content and all
  /// in front of it: requests with the same number would compute the same block. What is cached,
  /// stored or computed elsewhere is not. 0: there is none, or no other request can have it.
  virtual double new_block(std::int32_t slot) const noexcept = 0;
  /// Blocks that decode_all() would take now, in a plan without decodes so far.
  virtual std::int32_t decode_blocks() const noexcept = 0;

 protected:
  explicit VisibleReplica(const Board& board) : board_(board) {}
  VisibleReplica(const VisibleReplica&) = default;
  VisibleReplica& operator=(const VisibleReplica&) = default;

  Board board_;
};

}  // namespace rooflua
