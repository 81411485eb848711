#pragma once
// A message on the blocks of one replica: MessagePack of [ts, events, data_parallel_rank].
// @source vllm/distributed/kv_events.py: KVEventBatch

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "emulate/kv/form.h"

namespace rooflua::emulate {

/// Blocks after each other in a prompt that are cached now.
struct KvStored {
  std::vector<std::uint64_t> names;    // of the blocks, from the left
  std::optional<std::uint64_t> front;  // the name of the block in front of them
  std::vector<std::int64_t> tokens;
};

class KvBatch {
 public:
  /// @param block_size  tokens of a block
  KvBatch(const KvForm& form, std::int32_t block_size) : form_(&form), block_size_(block_size) {}

  void stored(KvStored blocks) { events_.push_back({Kind::stored, std::move(blocks)}); }
  void removed(std::uint64_t name) { events_.push_back({Kind::removed, {{name}, {}, {}}}); }
  void cleared() { events_.push_back({Kind::cleared, {}}); }
  bool is_empty() const { return events_.empty(); }
  /// @param time_s  since 1970. @param rank  of the replica among those of one engine
  std::string bytes(double time_s, std::int32_t rank) const;

 private:
  enum class Kind { stored, removed, cleared };
  struct Event {
    Kind kind;
    KvStored blocks;
  };
  const KvForm* form_;
  std::int32_t block_size_;
  std::vector<Event> events_;
};

}  // namespace rooflua::emulate
