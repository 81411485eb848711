#include "serve/batch.h"

#include <algorithm>
#include <cmath>

#include "serve/replica.h"

namespace rooflua {

const std::int32_t* decode_contexts(const Batch& batch) noexcept {
  if (batch.contexts != nullptr || batch.origin == nullptr) return batch.contexts;
  return batch.origin->planned_decode_contexts();
}

std::vector<std::int32_t> decode_ids(const Batch& batch) {
  if (batch.origin == nullptr) return {};
  return batch.origin->planned_decode_ids();
}

std::int32_t decode_context_max(const Batch& batch) noexcept {
  if (batch.decodes == 0) return 0;
  const std::int32_t* contexts = decode_contexts(batch);
  if (contexts != nullptr) return *std::max_element(contexts, contexts + batch.decodes);
  return static_cast<std::int32_t>(std::ceil(batch.decode_context_tokens / batch.decodes));
}

}  // namespace rooflua
