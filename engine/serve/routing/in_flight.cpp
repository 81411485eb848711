#include "serve/routing/in_flight.h"

#include "base/error.h"

namespace rooflua {

namespace {

/// A block at a replica.
std::uint64_t key_of(std::uint64_t hash, std::int32_t replica) {
  return hash ^ (static_cast<std::uint64_t>(replica) + 1) * 0xD6E8FEB86659FD93ull;
}

}  // namespace

PromptsInFlight::Sent* PromptsInFlight::find(std::int32_t slot, std::int32_t replica) {
  if (static_cast<std::size_t>(slot) >= sent_.size()) return nullptr;
  for (Sent& each : sent_[static_cast<std::size_t>(slot)]) {
    if (each.replica == replica) return &each;
  }
  return nullptr;
}

void PromptsInFlight::send(std::int32_t slot, std::int32_t replica, const PromptBlocks& blocks,
                           std::int32_t tokens) {
  if (static_cast<std::size_t>(slot) >= sent_.size())
    sent_.resize(static_cast<std::size_t>(slot) + 1);
  Sent* free = find(slot, -1);
  ROOFLUA_ASSERT(free != nullptr);
  *free = {replica, tokens};
  Sum& own = sum(replica);
  own.tokens += tokens;
  own.blocks += blocks.others;
  for (const std::uint64_t hash : blocks.hashes) {
    const std::uint64_t key = key_of(hash, replica);
    const std::int32_t prompts = prompts_.find(key);
    if (prompts < 0) own.blocks += 1;
    prompts_.set(key, prompts < 0 ? 1 : prompts + 1);
  }
}

void PromptsInFlight::expect(std::int32_t slot, std::int32_t replica, std::int32_t tokens) {
  Sent* sent = find(slot, replica);
  if (sent == nullptr) return;
  sum(replica).tokens += tokens - sent->tokens;
  sent->tokens = tokens;
}

void PromptsInFlight::compute(std::int32_t slot, std::int32_t replica) {
  Sent* sent = find(slot, replica);
  if (sent == nullptr) return;
  sum(replica).tokens -= sent->tokens;
  sent->tokens = 0;
}

void PromptsInFlight::end(std::int32_t slot, std::int32_t replica, const PromptBlocks& blocks) {
  Sent* sent = find(slot, replica);
  if (sent == nullptr) return;
  Sum& own = sum(replica);
  own.tokens -= sent->tokens;
  *sent = {};
  own.blocks -= blocks.others;
  for (const std::uint64_t hash : blocks.hashes) {
    const std::uint64_t key = key_of(hash, replica);
    const std::int32_t prompts = prompts_.find(key);
    ROOFLUA_ASSERT(prompts >= 1);
    if (prompts > 1) {
      prompts_.set(key, prompts - 1);
      continue;
    }
    prompts_.erase(key);
    own.blocks -= 1;
  }
}

std::int32_t PromptsInFlight::shared_blocks(std::int32_t replica,
                                            std::span<const std::uint64_t> hashes) const {
  std::int32_t count = 0;
  for (const std::uint64_t hash : hashes) {
    if (prompts_.find(key_of(hash, replica)) < 0) break;
    ++count;
  }
  return count;
}

}  // namespace rooflua
