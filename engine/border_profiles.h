#pragma once
// What a profiler recorded, as Lua reads it, by the rules of the border (border.h).

#include <cstdint>

namespace rooflua {

using std::int32_t;

// [cdef

/// One kernel, call or range (measure/profile/profile.h). Names and shapes are numbers of texts; a
/// link is the number of the call that launched a kernel; -1: none.
typedef struct rooflua_profile_event {
  double start_ns, duration_ns, correlation;
  int32_t name, shape, lane, link;
  int32_t device, kind, in_graph;
} rooflua_profile_event;

// cdef]

}  // namespace rooflua
