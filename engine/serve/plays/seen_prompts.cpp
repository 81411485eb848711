#include "serve/plays/seen_prompts.h"

#include <algorithm>

namespace rooflua {

std::size_t SeenPrompts::Hash::operator()(const Edge& edge) const {
  std::uint64_t mixed = edge.content * 0x9E3779B97F4A7C15ull;
  mixed ^= (std::uint64_t{static_cast<std::uint32_t>(edge.node)} << 32) ^
           static_cast<std::uint32_t>(edge.tokens);
  mixed = (mixed ^ (mixed >> 29)) * 0xBF58476D1CE4E5B9ull;
  return static_cast<std::size_t>(mixed ^ (mixed >> 32));
}

SeenPrompts::Step SeenPrompts::add(std::int32_t node, const Segment& segment) {
  Step out;
  std::int32_t& most = edges_.try_emplace({node, 0, segment.content}, 0).first->second;
  out.shared = std::min(most, segment.tokens);
  most = std::max(most, segment.tokens);
  const auto [behind, is_new] = edges_.try_emplace({node, segment.tokens, segment.content}, nodes_);
  out.whole = !is_new;
  nodes_ += is_new ? 1 : 0;
  out.node = behind->second;
  return out;
}

std::int64_t SeenPrompts::see(std::span<const Segment> prompt, Mark& mark,
                              std::uint64_t output_content, std::int32_t output_tokens) {
  if (static_cast<std::size_t>(mark.segments) > prompt.size()) mark = {};
  std::int64_t shared = mark.tokens;
  bool shares = true;
  for (std::size_t i = static_cast<std::size_t>(mark.segments); i < prompt.size(); ++i) {
    if (prompt[i].content == 0) return shared;
    const Step step = add(mark.node, prompt[i]);
    if (shares) shared += step.shared;
    shares = shares && step.whole;
    mark = {mark.segments + 1, step.node, mark.tokens + prompt[i].tokens};
  }
  if (!prompt.empty() && output_content != 0) add(mark.node, {output_content, output_tokens});
  return shared;
}

std::int64_t SeenPrompts::ideal_tokens(std::int64_t shared, std::int32_t prompt_tokens,
                                       std::int32_t block_size) {
  const std::int64_t most = std::min<std::int64_t>(shared, prompt_tokens - 1);
  return most / block_size * block_size;
}

}  // namespace rooflua
