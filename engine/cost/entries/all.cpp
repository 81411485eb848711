// Which ops there are. Alone in its file, so that a test can put its own list in its place.

#include "cost/ops/declaration.h"

namespace rooflua {

std::span<const OpDeclaration> declared_ops() {
  return standard_ops();
}

}  // namespace rooflua
