#pragma once
// What prompts consist of.

#include <cstdint>
#include <span>

namespace rooflua {

/// A run of tokens with an identity: token i of `content` is the same token wherever it occurs.
/// Two prompts share a prefix exactly as far as their segments agree from the left.
struct Segment {
  std::uint64_t content = 0;  // 0 = shared with no other request
  std::int32_t tokens = 0;
  /// An image, a sound or a video: which of the kinds of items that an encoder pass prices
  /// (contract/items.h), from 1; 0: text.
  std::int32_t item = 0;
};

/// Tokens at the left that two prompts have in common; of private ones none.
std::int32_t shared_tokens(std::span<const Segment> a, std::span<const Segment> b) noexcept;

}  // namespace rooflua
