#pragma once
// The columns of our own table files, from the declarations of the ops.

#include <vector>

#include "cost/ops/declaration.h"

namespace rooflua {

struct OwnColumn {
  const Field* field;
  std::size_t place;  // among the axes; 0 for the format of the KV cache
};

/// Columns in front of the latency, in the order of the file.
std::vector<OwnColumn> own_columns(const OpDeclaration& op);

}  // namespace rooflua
