#pragma once
// What routers, deciders and policies of KV tiers read, by the rules of the border (border.h).

#include <cstdint>

namespace rooflua {

class RouteSource;
class PairSource;
enum class Role : std::int32_t;

using std::int32_t;

#define BORDER_INIT(value) = value
#define BORDER_ENUM(type) type
#define BORDER_CLASS(type) type

// [cdef

// Routers -----------------------------------------------------------------------------------------

/// Load of one replica as a router may see it.
typedef struct rooflua_signals {
  double waiting_tokens BORDER_INIT(0);  // prompt + emitted over waiting requests
  double context_tokens BORDER_INIT(0);  // KV of decoding requests
  double kv_used_frac BORDER_INIT(0);
  int32_t waiting BORDER_INIT(0), running BORDER_INIT(0), decodes BORDER_INIT(0),
      prefilling BORDER_INIT(0);
  int32_t landing_prompts BORDER_INIT(0);  // whose first token a planned step computes
  int32_t free_blocks BORDER_INIT(0), total_blocks BORDER_INIT(0);
  int32_t outstanding
      BORDER_INIT(0);  // routed to it and not done; never stale: the router counts itself
  BORDER_ENUM(Role) role BORDER_INIT({});
  int32_t group BORDER_INIT(0);  // of ranks that step together; a replica alone has one of its own
} rooflua_signals;

/// What a router sees.
typedef struct rooflua_route_view {
  double now_s BORDER_INIT(0);
  double signals_s BORDER_INIT(0);                      // when the signals were taken
  const rooflua_signals* signals BORDER_INIT(nullptr);  // by replica
  const int32_t* candidates BORDER_INIT(nullptr);       // replicas that may take this request
  int32_t replica_count BORDER_INIT(0), candidate_count BORDER_INIT(0);
  int32_t slot BORDER_INIT(-1);         // of the request
  int32_t decode_stage BORDER_INIT(0);  // 1: where to send KV; 0: a new request
  // Of requests that get ranks of their engine together: how many, and how many of them have one.
  int32_t together BORDER_INIT(0), placed BORDER_INIT(0);
  const BORDER_CLASS(RouteSource) * source BORDER_INIT(nullptr);  // the requests and cached tokens
} rooflua_route_view;

// Deciders ----------------------------------------------------------------------------------------

/// A request and the decode replica that was chosen for it, for the decider: whether a prefill
/// replica computes its prompt.
typedef struct rooflua_pair_view {
  rooflua_route_view pool;               // of the prefill replicas; its candidates are those
  int32_t decode BORDER_INIT(-1);        // the chosen replica
  int32_t cached_tokens BORDER_INIT(0);  // of the prompt, at that replica now
  const BORDER_CLASS(PairSource) * source BORDER_INIT(nullptr);
} rooflua_pair_view;

/// One of the prefill replicas, as it is now.
typedef struct rooflua_pair_member {
  double queued_tokens BORDER_INIT(0);  // of prompts there that are not computed yet
  double budget_tokens BORDER_INIT(0);  // that a step of it computes at most; 0: no limit
  double transfer_s BORDER_INIT(0);     // of the prompt's KV from there, at the share that is free
} rooflua_pair_member;

// KV tiers ----------------------------------------------------------------------------------------

/// Where KV of a prompt can be loaded from: a store, or another replica's instance of it.
typedef struct rooflua_tier_source {
  double bytes BORDER_INIT(0);
  double wait_s BORDER_INIT(0);  // of these bytes, at the share of the links that is free now
  int32_t store BORDER_INIT(0);  // in the order of declaration
  int32_t tokens BORDER_INIT(0);
  int32_t peer BORDER_INIT(0);  // 1: of another instance
} rooflua_tier_source;

/// What is found of a waiting request's prompt.
typedef struct rooflua_tier_found {
  const rooflua_tier_source* sources BORDER_INIT(nullptr);
  int32_t source_count BORDER_INIT(0);
  int32_t slot BORDER_INIT(-1);
  int32_t gpu_tokens BORDER_INIT(0);      // cached in the GPU
  int32_t tokens BORDER_INIT(0);          // after them, that can be loaded
  int32_t pending_tokens BORDER_INIT(0);  // after those, that arrive in a store now
  int32_t prompt_tokens BORDER_INIT(0);   // of the sequence: with what was emitted
  int32_t waiting BORDER_INIT(0);         // other requests that wait there
  int32_t chunk_tokens BORDER_INIT(0);    // of the first store that it looks into
  int32_t policy BORDER_INIT(-1);  // of the replica, in Lua's registry; -1: it is none of Lua's
} rooflua_tier_found;

/// KV that may be stored: `why` 0 computed, 1 the request ended, 2 was preempted, 3 it left the GPU
/// (`slot` -1: it is of no request).
typedef struct rooflua_tier_run {
  double bytes BORDER_INIT(0);
  int32_t slot BORDER_INIT(-1);
  int32_t why BORDER_INIT(0);
  int32_t first_token BORDER_INIT(0), last_token BORDER_INIT(0);  // [first, last)
  int32_t prompt BORDER_INIT(1);                                  // 1: of the prompt; 0: generated
  int32_t uses BORDER_INIT(0);  // requests that asked for it, this one included
} rooflua_tier_run;

/// One store as a policy sees it.
typedef struct rooflua_store_view {
  double capacity_bytes BORDER_INIT(0), used_bytes BORDER_INIT(0), evictable_bytes BORDER_INIT(0),
      queued_bytes BORDER_INIT(0);
} rooflua_store_view;

/// A chunk of a store, for the key of an order of eviction.
typedef struct rooflua_stored_block {
  double now_s BORDER_INIT(0), put_s BORDER_INIT(0), used_s BORDER_INIT(0), bytes BORDER_INIT(0);
  int32_t depth_tokens BORDER_INIT(0), uses BORDER_INIT(0);
  int32_t klass BORDER_INIT(0), session BORDER_INIT(-1), priority BORDER_INIT(0);
} rooflua_stored_block;

// cdef]

#undef BORDER_INIT
#undef BORDER_ENUM
#undef BORDER_CLASS

}  // namespace rooflua
