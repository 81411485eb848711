#include "serve/contract/segment.h"

#include <algorithm>

namespace rooflua {

std::int32_t shared_tokens(std::span<const Segment> a, std::span<const Segment> b) noexcept {
  std::int32_t tokens = 0;
  const std::size_t most = std::min(a.size(), b.size());
  for (std::size_t i = 0; i < most; ++i) {
    const Segment &one = a[i], &other = b[i];
    if (one.content == 0 || one.content != other.content) break;
    tokens += std::min(one.tokens, other.tokens);
    if (one.tokens != other.tokens) break;
  }
  return tokens;
}

}  // namespace rooflua
