#include "emulate/prompt.h"

#include <algorithm>
#include <cmath>

#include "http/refused.h"
#include "serve/traces/identity.h"

namespace rooflua::emulate {

namespace {

constexpr std::uint64_t below_2_53 = (std::uint64_t{1} << 53) - 1;

std::int64_t tokens_of(std::size_t bytes, double bytes_per_token) {
  return std::max<std::int64_t>(
      1, static_cast<std::int64_t>(std::ceil(static_cast<double>(bytes) / bytes_per_token)));
}

/// The number of a block after another one.
std::uint64_t chained(std::uint64_t before, std::string_view content) {
  return spread(before * 0x100000001B3u ^ identity("block", content));
}

/// Cuts `bytes` at the ends of blocks of `bytes_per_block`.
void add_blocks(std::string_view bytes, double bytes_per_block, Prompt& out) {
  std::uint64_t hash = 0;
  std::size_t from = 0;
  for (std::size_t i = 1; from < bytes.size() || out.blocks.empty(); ++i) {
    const auto end =
        static_cast<std::size_t>(std::llround(static_cast<double>(i) * bytes_per_block));
    const std::size_t to = std::min(std::max(end, from + 1), bytes.size());
    hash = chained(hash, bytes.substr(from, to - from));
    out.blocks.push_back(static_cast<std::int64_t>(hash & below_2_53));
    from = to;
  }
}

}  // namespace

std::string item_text(const Item& item, const PromptRules& rules) {
  if (!rules.item_tokens)
    throw http::Refused(400, "this model takes text alone, and the request has an image or a sound",
                        "messages");
  const double bytes = static_cast<double>(rules.item_tokens(item)) * rules.bytes_per_token;
  if (!(bytes >= 0 && bytes <= most_item_bytes))
    throw http::Refused(400, "an image or a sound of more than 64 MiB of text", "messages");
  std::string out(static_cast<std::size_t>(std::llround(bytes)), ' ');
  std::uint64_t content = item.content;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (i % 16 == 0) content = spread(content);
    out[i] = static_cast<char>('a' + (content >> (4 * (i % 16)) & 15));
  }
  return out;
}

Prompt count_text(std::string_view text, const PromptRules& rules) {
  Prompt out;
  out.tokens = tokens_of(text.size(), rules.bytes_per_token);
  add_blocks(text, rules.bytes_per_token * rules.block_tokens, out);
  // Blocks are cut at whole bytes: fractions of a byte may make one too many, or too few.
  const auto count =
      static_cast<std::size_t>((out.tokens + rules.block_tokens - 1) / rules.block_tokens);
  while (out.blocks.size() < count) out.blocks.push_back(out.blocks.back());
  out.blocks.resize(count);
  return out;
}

Prompt count_tokens(std::span<const std::int64_t> tokens, const PromptRules& rules) {
  Prompt out;
  out.tokens = static_cast<std::int64_t>(tokens.size());
  const std::string_view bytes(reinterpret_cast<const char*>(tokens.data()), tokens.size_bytes());
  add_blocks(bytes, static_cast<double>(sizeof(std::int64_t)) * rules.block_tokens, out);
  return out;
}

std::vector<Segment> segments_of(const Prompt& prompt, const PromptRules& rules) {
  std::vector<Segment> out;
  out.reserve(prompt.blocks.size());
  std::int64_t left = prompt.tokens;
  for (const std::int64_t block : prompt.blocks) {
    const std::int64_t tokens = std::min<std::int64_t>(left, rules.block_tokens);
    out.push_back({spread(static_cast<std::uint64_t>(block)), static_cast<std::int32_t>(tokens)});
    left -= tokens;
  }
  return out;
}

std::vector<std::int64_t> pieces_of(std::string_view text, const PromptRules& rules) {
  std::vector<std::int64_t> out;
  const std::int64_t count = tokens_of(text.size(), rules.bytes_per_token);
  std::size_t from = 0;
  for (std::int64_t i = 1; i <= count; ++i) {
    const auto end =
        static_cast<std::size_t>(std::llround(static_cast<double>(i) * rules.bytes_per_token));
    const std::size_t to = i == count ? text.size() : std::min(std::max(end, from), text.size());
    std::int64_t piece = 0;
    for (std::size_t at = from; at < to; ++at)
      piece |= static_cast<std::int64_t>(static_cast<unsigned char>(text[at]))
               << (8 * ((at - from) % 6));
    out.push_back(piece);
    from = to;
  }
  return out;
}

std::string text_of(std::span<const std::int64_t> pieces) {
  std::string out;
  for (std::int64_t piece : pieces) {
    for (; piece > 0; piece >>= 8) out.push_back(static_cast<char>(piece & 0xFF));
  }
  return out;
}

}  // namespace rooflua::emulate
