#pragma once
// What policies of a gate read, by the rules of the border (border.h).

#include <cstdint>

#include "border_policies.h"

namespace rooflua {

#define BORDER_INIT(value) = value
#define BORDER_ENUM(type) type
#define BORDER_CLASS(type) type

// [cdef

// Gates -------------------------------------------------------------------------------------------

/// The held requests of one priority.
typedef struct rooflua_gate_band {
  double held_tokens BORDER_INIT(0);  // of their prompts
  int32_t priority BORDER_INIT(0);
  int32_t held BORDER_INIT(0);
} rooflua_gate_band;

/// Requests of one band that belong together: of a tenant, of a program.
typedef struct rooflua_gate_flow {
  double held_tokens BORDER_INIT(0);
  double oldest_s BORDER_INIT(0);     // since when the one that it would let go first is held
  double deadline_s BORDER_INIT(-1);  // until when that one must be answered; -1: it may be late
  double served_prompt_tokens BORDER_INIT(0), served_output_tokens BORDER_INIT(0);
  double service BORDER_INIT(0);  // by which fair queues choose, as it is now
  int32_t id BORDER_INIT(-1);     // of the tenant, the program, ..; -1: unknown
  int32_t priority BORDER_INIT(0);
  int32_t held BORDER_INIT(0);
  int32_t granted BORDER_INIT(0);  // requests that passed
  int32_t slot BORDER_INIT(-1);    // of the request that it would let go first
} rooflua_gate_flow;

/// What a gate's policy sees. `pool.slot` is the request that it is asked about.
typedef struct rooflua_gate_view {
  rooflua_route_view pool;  // signals as old as the gate's, of replicas for prompts
  double held_tokens BORDER_INIT(0);
  double in_flight_tokens BORDER_INIT(0);  // prompts of requests that passed and have not ended,
                                           // and the limits that their clients declared
  double saturation BORDER_INIT(0);
  double held_s BORDER_INIT(0);                         // so long the request is held
  double deadline_s BORDER_INIT(-1);                    // of the request; -1: none
  const rooflua_gate_band* bands BORDER_INIT(nullptr);  // with held requests, the highest first
  const int32_t* held_by_class BORDER_INIT(nullptr);
  const rooflua_gate_flow* flows BORDER_INIT(nullptr);  // of choose()
  int32_t flow_count BORDER_INIT(0);
  int32_t band_count BORDER_INIT(0), class_count BORDER_INIT(0);
  int32_t held BORDER_INIT(0);
  int32_t in_flight BORDER_INIT(0);
  int32_t ready BORDER_INIT(0);  // replicas
} rooflua_gate_view;

// cdef]

#undef BORDER_INIT
#undef BORDER_ENUM
#undef BORDER_CLASS

}  // namespace rooflua
