#pragma once
// How many tokens a prompt has, and which of them it shares with others.
//
// A list of tokens is counted exactly. Text counts bytes / bytes_per_token, rounded up, at least 1:
// no vocabulary is at hand. Both are cut into blocks of `block_tokens`; a block is the same as
// another one where it and everything in front of it are the same, so that equal beginnings hit.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "emulate/items.h"
#include "serve/contract/request.h"

namespace rooflua::emulate {

struct PromptRules {
  double bytes_per_token = 4;      // of text; >= 1
  std::int32_t block_tokens = 16;  // of a block; >= 1
  ItemTokens item_tokens;          // empty: the model takes text alone
};

struct Prompt {
  std::int64_t tokens = 0;
  /// A number below 2^53 of each block, the last one may be shorter: hash_ids of a trace.
  std::vector<std::int64_t> blocks;
};

/// Of the texts that stand for the items of a request.
inline constexpr std::size_t most_item_bytes = 64 << 20;

/// Text that stands for an item in a prompt: it counts as many tokens, and is the same for the same
/// data.
/// @throws Refused where the model takes none of its kind, and for more than most_item_bytes
std::string item_text(const Item& item, const PromptRules& rules);

Prompt count_text(std::string_view text, const PromptRules& rules);
Prompt count_tokens(std::span<const std::int64_t> tokens, const PromptRules& rules);

/// The blocks as the simulation has them; as serve/traces reads hash_ids.
std::vector<Segment> segments_of(const Prompt& prompt, const PromptRules& rules);

/// Text in pieces of bytes_per_token as numbers: what /tokenize answers. text_of() is its inverse
/// where bytes_per_token is 4.
std::vector<std::int64_t> pieces_of(std::string_view text, const PromptRules& rules);
std::string text_of(std::span<const std::int64_t> pieces);

}  // namespace rooflua::emulate
