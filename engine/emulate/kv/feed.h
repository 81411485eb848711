#pragma once
// Events of the KV caches: the blocks of prompts that were given as tokens, as they get into
// the caches of replicas and leave them. Blocks of text have no tokens to name them by; neither
// have blocks with generated tokens. They have no events.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "emulate/kv/batch.h"
#include "emulate/kv/hashes.h"
#include "emulate/kv/rules.h"
#include "serve/loop/simulation.h"

namespace rooflua::emulate {

class KvFeed {
 public:
  /// A message that is complete. @param replica  which it is of
  using Send = std::function<void(std::int32_t replica, std::string bytes)>;

  /// @pre nothing is cached. It must live as long as the simulation runs
  KvFeed(Simulation& simulation, const KvRules& rules, Send send);

  /// A request comes whose prompt is a list of tokens. To be called before it is served.
  /// @param segments  of the prompt, block_tokens each, as the simulation has them
  void sent(std::int32_t id, std::span<const std::int64_t> tokens,
            std::span<const Segment> segments);
  void ended(std::int32_t id) { ended_.push_back(id); }
  /// Sends what has happened since the last call: a message for each instant and replica.
  /// @param time_s  since 1970
  void flush(double time_s);

  /// Names of blocks that are known, because a request is under way or they are cached.
  std::size_t known() const { return blocks_.size(); }

 private:
  struct Block {
    std::uint64_t name = 0, front = 0;
    bool is_first = false;
    std::vector<std::int64_t> tokens;
    std::int32_t requests = 0;          // under way
    std::vector<std::int32_t> holders;  // replicas that have it, by the events sent
  };
  using Blocks = std::unordered_map<std::uint64_t, Block>;
  void add(const KvEvents::Event& event);
  void keep(const KvEvents::Event& event, KvBatch& out);
  void lose(const KvEvents::Event& event, KvBatch& out);
  void send_batches(double time_s);
  void forget_ended();
  void forget_unused(Blocks::iterator block);

  Simulation& simulation_;
  KvRules rules_;
  Send send_;
  BlockNames names_;
  KvEvents events_;
  Blocks blocks_;  // by their hash in the simulation; never walked
  std::unordered_map<std::int32_t, std::vector<std::uint64_t>> requests_;  // by id
  std::vector<std::int32_t> ended_;
  std::vector<KvBatch> batches_;       // of this instant, by replica
  std::vector<std::int64_t> told_;     // blocks that each replica has, by the events sent
  std::vector<std::int32_t> touched_;  // replicas with a batch
};

}  // namespace rooflua::emulate
