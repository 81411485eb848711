#pragma once
// The hot border of serving: what a policy reads in place, and the leaf functions that a plan
// consists of. The mirror image is the cdef in scripts/lib/rooflua/border/views.lua. Every function
// is noexcept and calls no Lua; numbers cross as double, so that NaN and fractions are found here.

#include <cstddef>
#include <cstdint>

#include "serve/cluster.h"
#include "serve/plan.h"
#include "serve/policy.h"
#include "serve/request.h"

namespace rooflua {
class Replica;
}

namespace rooflua::script {

/// What is being asked right now. One per Lua state; the pointers are valid while `live` is not 0.
struct ServeBorder {
  const Request* requests = nullptr;
  const ReplicaView* view = nullptr;
  const PlanView* plan_view = nullptr;
  const Batch* batch = nullptr;  // the engine's own, for its slow paths
  const RouteView* route = nullptr;
  Plan* plan = nullptr;
  const Replica* replica = nullptr;
  std::int32_t slots = 0;
  std::int32_t live = 0;    // 0 nobody is asked; 1 a scheduler; 2 a router; 3 a look from outside
  std::int32_t change = 0;  // grows whenever lists may have changed: positions are stale
  std::int32_t batch_live = 0;
};
static_assert(sizeof(ServeBorder) == 72);

/// The border and, at a fixed place, the numbers of the batch being priced.
struct ServeState {
  ServeBorder border;
  Batch batch;
};

struct ServeTable {
  std::uint32_t version;
  std::uint32_t size;
  ServeBorder* border;
  const Batch* batch;
  std::int32_t (*decode_all)(ServeBorder*, double limit) noexcept;
  std::int32_t (*shed)(ServeBorder*, double slot) noexcept;
  std::int32_t (*decode)(ServeBorder*, double slot) noexcept;
  std::int32_t (*prefill)(ServeBorder*, double slot, double tokens) noexcept;
  std::int32_t (*admit)(ServeBorder*, double slot, double tokens, double hold_tokens,
                        double fit_tokens, double spare_blocks) noexcept;
  std::int32_t (*preempt)(ServeBorder*, double slot) noexcept;
  std::int32_t (*reject)(ServeBorder*, double slot) noexcept;
  std::int32_t (*wake_at)(ServeBorder*, double time_s) noexcept;
  const char* (*refusal)(ServeBorder*) noexcept;
  std::int32_t (*cached_tokens)(ServeBorder*, double slot) noexcept;
  std::int32_t (*route_cached_tokens)(ServeBorder*, double replica) noexcept;
  std::int32_t (*decode_context_max)(ServeBorder*) noexcept;
  const std::int32_t* (*decode_contexts)(ServeBorder*) noexcept;
  std::int32_t (*decode_blocks)(ServeBorder*) noexcept;
  std::int32_t (*shared_tokens)(ServeBorder*, double slot, double other) noexcept;
};
inline constexpr std::uint32_t serve_abi_version = 3;

static_assert(sizeof(Request) == 104 && offsetof(Request, next) == 84, "mirror it in serving.lua");
static_assert(offsetof(ReplicaView, requests) == 24 && sizeof(ReplicaView) == 128);
static_assert(offsetof(Batch, prefill_count) == 32 && sizeof(Batch) == 56);
static_assert(sizeof(PrefillWork) == 20 && sizeof(PlanView) == 40);
static_assert(sizeof(ReplicaSignals) == 56 && sizeof(RouteView) == 56);

/// The function table over a state that outlives it.
ServeTable serve_table(ServeState& state);

}  // namespace rooflua::script
