#pragma once
// The router's own count of the prompts that it sent and that are under way: never stale, and as
// wrong as what it believed to be cached.
//
// A router sees the first token of an answer: the prompt is computed then. It sees the end: nothing
// holds the prompt's blocks then. Blocks that several prompts in flight have in common count once.
// @source ai-dynamo/dynamo lib/llm/src/kv_router/sequence.rs (ActiveSequences); llm-d-router 0.9
// inflightload/producer.go (prompt tokens that are not cached, until the first chunk of the answer)

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "serve/kv/hash_map.h"

namespace rooflua {

/// The blocks of a prompt: those with a hash (kv/block_hashes.h), and so many after them that no
/// other prompt can have.
struct PromptBlocks {
  std::span<const std::uint64_t> hashes;
  std::int32_t others = 0;
};

class PromptsInFlight {
 public:
  explicit PromptsInFlight(std::size_t replicas) : sums_(replicas) {}

  /// @param tokens  of the prompt, that are believed not to be cached there
  void send(std::int32_t slot, std::int32_t replica, const PromptBlocks& blocks,
            std::int32_t tokens);
  /// So many tokens of the prompt are to be computed there after all.
  void expect(std::int32_t slot, std::int32_t replica, std::int32_t tokens);
  /// The prompt in this slot is computed at this replica.
  void compute(std::int32_t slot, std::int32_t replica);
  /// It ended there, or its KV has left. @param blocks  the same as when it was sent
  void end(std::int32_t slot, std::int32_t replica, const PromptBlocks& blocks);

  double prefill_tokens(std::int32_t replica) const { return sum(replica).tokens; }
  double blocks(std::int32_t replica) const { return sum(replica).blocks; }
  /// Leading blocks that prompts in flight at this replica have.
  std::int32_t shared_blocks(std::int32_t replica, std::span<const std::uint64_t> hashes) const;

 private:
  struct Sum {
    double tokens = 0, blocks = 0;
  };
  struct Sent {
    std::int32_t replica = -1, tokens = 0;
  };
  /// A request is at two replicas at most: the one that computed its prompt keeps its blocks until
  /// its KV has left.
  using Places = std::array<Sent, 2>;
  Sum& sum(std::int32_t replica) { return sums_[static_cast<std::size_t>(replica)]; }
  const Sum& sum(std::int32_t replica) const { return sums_[static_cast<std::size_t>(replica)]; }
  Sent* find(std::int32_t slot, std::int32_t replica);

  std::vector<Sum> sums_;     // by replica
  std::vector<Places> sent_;  // by slot
  HashMap prompts_;           // by block and replica: how many prompts have it
};

}  // namespace rooflua
