#pragma once
// The hot border of serving: what a policy reads in place, and the leaf functions that a plan
// consists of. The mirror image is the cdef in scripts/lib/rooflua/border/views.lua. Every function
// is noexcept and calls no Lua; numbers cross as double, so that NaN and fractions are found here.

#include "border.h"
#include "serve/contract/plan.h"
#include "serve/contract/policy.h"
#include "serve/contract/request.h"
#include "serve/contract/visible_replica.h"
#include "serve/replica/cluster.h"

namespace rooflua::script {

using ServeBorder = rooflua_serve_border;
using ServeTable = rooflua_serve_table;

/// What is asked now: the border and, at fixed places, what questions and answers are written to.
struct ServeState {
  ServeBorder border;
  rooflua_step_run run;
  rooflua_follow_up follow_up;
};

/// The function table over a state that outlives it.
ServeTable serve_table(ServeState& state);

}  // namespace rooflua::script
