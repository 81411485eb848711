#pragma once
// Sums of bounded contexts the slow way: request by request, from their definition.

#include <cstdint>
#include <string>
#include <vector>

#include "serve/contract/batch.h"

namespace rooflua::test {

/// Sum of min(context + 1, cap); 0 without a cap.
inline double walked_bounded_tokens(const std::vector<std::int32_t>& contexts, std::int32_t cap) {
  double sum = 0;
  for (const std::int32_t context : contexts) sum += context < cap ? context + 1 : cap;
  return sum;
}

/// Sum of context % chunk + 1; 0 without a chunk.
inline double walked_chunk_tokens(const std::vector<std::int32_t>& contexts, std::int32_t chunk) {
  double sum = 0;
  for (const std::int32_t context : contexts) sum += chunk > 0 ? context % chunk + 1 : 0;
  return sum;
}

struct WalkedBounds {
  const std::int32_t* caps;  // four
  std::int32_t chunk;
};

/// Empty if the sums of the batch are those of its contexts, else the first that is not.
inline std::string wrong_bounds(const Batch& batch, const WalkedBounds& bounds) {
  std::vector<std::int32_t> contexts;
  if (const std::int32_t* each = decode_contexts(batch))
    contexts.assign(each, each + batch.decodes);
  const auto differs = [](const std::string& what, double found, double right) {
    return what + ": " + std::to_string(found) + " instead of " + std::to_string(right);
  };
  for (int i = 0; i < 4; ++i) {
    const double right = walked_bounded_tokens(contexts, bounds.caps[i]);
    if (batch.bounded_tokens[i] != right)
      return differs("cap " + std::to_string(bounds.caps[i]), batch.bounded_tokens[i], right);
  }
  const double right = walked_chunk_tokens(contexts, bounds.chunk);
  if (batch.chunk_tokens != right)
    return differs("chunk " + std::to_string(bounds.chunk), batch.chunk_tokens, right);
  return "";
}

}  // namespace rooflua::test
