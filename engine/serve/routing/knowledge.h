#pragma once
// What a router knows besides the load of the replicas, each kind with an age of its own:
//
//   sent prompts    which blocks it sent where (routed_index.h): current, and wrong in both
//                   directions where replicas evict them, or keep more than that
//   KV events       which blocks replicas said that they have (event_index.h): lag_s old, and wrong
//                   for as long as an event that was lost is not corrected by a later one
//   in flight       what it counts itself (in_flight.h): never stale
//
// Nothing is kept of what its RouterIndex does not ask for.

#include <optional>
#include <span>
#include <vector>

#include "serve/contract/policy.h"
#include "serve/contract/request.h"
#include "serve/routing/event_index.h"
#include "serve/routing/in_flight.h"
#include "serve/routing/routed_index.h"

namespace rooflua {

class RouterKnowledge {
 public:
  /// @param block_sizes  of the caches, by replica
  RouterKnowledge(const RouterIndex& rules, std::vector<std::int32_t> block_sizes);

  const RouterIndex& rules() const { return rules_; }
  bool hears() const { return rules_.kind == RouterIndex::Kind::told; }
  bool counts() const { return in_flight_.has_value(); }
  /// What caches report; @pre hears()
  KvEvents& events() { return told_index_.events(); }

  /// The router is asked about this request from now on.
  void ask(const Request& request, const Progress& progress, Picoseconds now);
  /// Leading tokens of its prompt that were sent to the replica.
  std::int32_t sent_tokens(std::int32_t replica) const;
  /// Blocks of all prompts that are remembered of what was sent to the replica.
  double sent_blocks(std::int32_t replica) const {
    return hears() ? 0 : static_cast<double>(index_.blocks(replica));
  }
  /// Leading tokens of its prompt that the replica said to have. @pre hears()
  std::int32_t told_tokens(std::int32_t replica) const;
  /// Replicas that were sent some of it, or said to have some of it, by index.
  std::span<const std::int32_t> holders() const { return holders_; }
  double prefill_tokens(std::int32_t replica) const {
    return in_flight_ ? in_flight_->prefill_tokens(replica) : 0;
  }
  double blocks(std::int32_t replica) const { return in_flight_ ? in_flight_->blocks(replica) : 0; }
  std::int32_t shared_blocks(std::int32_t replica) const {
    return in_flight_ ? in_flight_->shared_blocks(replica, prompt_.hashes) : 0;
  }

  /// The request goes there. @param tokens  of its prompt, that are believed not to be cached
  void send(const Request& request, const Progress& progress, std::int32_t slot,
            std::int32_t replica, std::int32_t tokens, Picoseconds now);
  /// The decode replica that a request was sent to computes so many tokens of its prompt.
  void expect(std::int32_t slot, std::int32_t replica, std::int32_t tokens) {
    if (in_flight_) in_flight_->expect(slot, replica, tokens);
  }
  void compute(std::int32_t slot, std::int32_t replica) {
    if (in_flight_) in_flight_->compute(slot, replica);
  }
  void end(const Request& request, const Progress& progress, std::int32_t slot,
           std::int32_t replica);
  /// The replica is gone: nothing that was sent there is believed to be there.
  void lose(std::int32_t replica) { index_.lose(replica); }

 private:
  PromptBlocks blocks_of(const Request& request, const Progress& progress) const;
  void speculate(const Request& request, const Progress& progress, std::int32_t replica,
                 Picoseconds now);
  void find_told(const Request& request, const Progress& progress, Picoseconds now);

  RouterIndex rules_;
  std::vector<std::int32_t> block_sizes_;  // by replica
  std::vector<std::int32_t> sizes_;        // each once
  RoutedIndex index_;
  EventIndex told_index_;
  std::optional<PromptsInFlight> in_flight_;
  // the question
  PromptBlocks prompt_;
  std::vector<std::int32_t> told_;  // by replica; 0 where it is not a holder
  std::vector<std::int32_t> holders_;
};

}  // namespace rooflua
