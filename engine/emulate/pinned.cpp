#include "emulate/pinned.h"

#include <algorithm>

namespace rooflua::emulate {

std::int32_t Pinned::route(const Request& request, const RouteView& view) {
  const std::int32_t wanted = replica_of_.at(request.id);
  const std::int32_t* end = view.candidates + view.candidate_count;
  return std::find(view.candidates, end, wanted) == end ? refused : wanted;
}

}  // namespace rooflua::emulate
