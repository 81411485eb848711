#pragma once
// What routers see, and what is kept for them.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "serve/core/core.h"
#include "serve/parts/list.h"
#include "serve/routing/knowledge.h"
#include "serve/routing/prefix_holders.h"

namespace rooflua {

class Routing {
 public:
  Routing(Core& core, const Parts& parts) : core_(core), parts_(parts) {}
  /// For a copy of the simulation, which binds it.
  Routing(const Routing& other, Core& core, const Parts& parts)
      : core_(core), parts_(parts), holders_(other.holders_), knowledge_(other.knowledge_) {}

  /// To the router of the bindings. @throws Error if there is none, and several replicas
  void bind();
  /// The caches of several replicas report which prompts they begin.
  void bind_holders();
  void publish(KvEvents& events);

  // As RouteSource says:
  std::int32_t cached_tokens(std::int32_t slot, std::int32_t replica) const noexcept;
  std::span<const std::int32_t> prefix_holders(const RouteView& view) const noexcept;
  std::span<const std::int32_t> sent_holders(const RouteView& view) const noexcept;
  double fact(const RouteView& view, std::int32_t replica, RouterFact what) const noexcept;

  /// Whether caches report at the time of each step; whether prompts in flight are counted.
  bool hears() const { return knowledge_ && knowledge_->hears(); }
  bool counts() const { return knowledge_ && knowledge_->counts(); }
  /// The router is asked about the request, and has chosen.
  void ask(std::int32_t slot);
  void note_sent(std::int32_t slot, std::int32_t replica, Stage stage);
  /// The decode replica computes the prompt itself.
  void computes_itself(std::int32_t slot, std::int32_t replica);
  /// A step has ended. @pre counts()
  void landed(const StepDone& done);
  /// A request is no longer at that replica.
  void leave_replica(std::int32_t slot, std::int32_t replica);
  /// The replica has nothing cached.
  void forget_content(std::int32_t replica);

 private:
  void bind_knowledge();
  std::int32_t believed_uncached(std::int32_t slot, std::int32_t replica) const;
  std::span<const std::int32_t> places_of_known(const RouteView& view) const noexcept;
  void add_place(std::int32_t holder, const RouteView& view) const;

  Core& core_;
  const Parts& parts_;
  PrefixHolders holders_;
  std::optional<RouterKnowledge> knowledge_;          // where the router keeps any
  std::vector<std::int32_t> of_each_block_size_;      // a replica for each
  mutable std::vector<std::int32_t> holding_places_;  // that were returned last
};

}  // namespace rooflua
