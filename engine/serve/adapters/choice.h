#pragma once
// The adapter of each request: what its workload says, or a draw.

#include <cstdint>
#include <optional>

#include "base/random.h"
#include "serve/adapters/config.h"
#include "serve/contract/request.h"

namespace rooflua {

class AdapterDraws {
 public:
  explicit AdapterDraws(const AdapterChoice& choice);

  bool none() const { return count_ == 0; }
  /// From 0, which is none. @param ordinal  of the request, from 0
  /// @throws Error if the workload says one that there is not
  std::int32_t of(const RequestSpec& spec, std::int64_t ordinal) const;

 private:
  std::int32_t count_ = 0;
  std::uint64_t seed_ = 0;
  std::optional<Empirical> popularity_;  // where there are adapters
};

}  // namespace rooflua
