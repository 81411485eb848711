#pragma once
// What speculation adds to a step that is kept in order to price it again.

#include <cstdint>
#include <vector>

#include "serve/contract/batch.h"

namespace rooflua {

struct DraftWork {
  std::vector<std::int32_t> widths;  // tokens of every decode, in the order of their contexts
  std::int32_t rows = 0, tokens = 0, passes = 0;  // of the drafts for the next step

  /// Of a batch whose widths are still known. Empty where no decode brings or gets drafts.
  static DraftWork of(const Batch& batch);
  bool empty() const { return widths.empty() && passes == 0; }
};

}  // namespace rooflua
