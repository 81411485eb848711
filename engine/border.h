#pragma once
// The memory that C++ and Lua share: plain C structs and tables of functions. C++ includes this
// file. The part between the two marks is also text of the program (engine/script/CMakeLists.txt),
// which scripts/lib/rooflua/border/abi.lua hands to ffi.cdef. A field is therefore declared once,
// here.
//
// Rules for what stands between the marks:
//   - plain C, without preprocessor lines; BORDER_INIT, BORDER_ENUM and BORDER_CLASS below are the
//     only macros, and CMake takes them out of the text;
//   - functions are noexcept, call no Lua and return a status;
//   - numbers from Lua cross as double, so that the C++ side finds a NaN or a fraction instead of
//     reading it as an integer.

#include <cstdint>

#include "border_policies.h"

namespace rooflua {

class Plan;
class Replica;
class VisibleReplica;
enum class CacheHits : std::int32_t;
enum class Phase : std::int32_t;
enum class Refusal : std::int32_t;
namespace script {
struct Context;
}

using std::int32_t, std::uint32_t, std::uint64_t, std::uint8_t;

#define BORDER_INIT(value) = value
#define BORDER_ENUM(type) type
#define BORDER_CLASS(type) type

// [cdef

// Costs ---------------------------------------------------------------------------------------

enum { rooflua_evidence_count = 6 };

/// What a leaf function of the cost table returns.
enum {
  abi_ok = 0,
  abi_failed = 1,    // message() says why
  abi_needs_lua = 2  // a user's lookup must run first: natives.retry, outside FFI
};

/// An answer of the database and the work behind it.
typedef struct rooflua_estimate {
  double latency_s;
  double mfu;  // NaN: none
  double distance;
  double flop, bytes;
  double mfu_up, mfu_down;
  int32_t evidence;
  int32_t rows;
  int32_t selected_row;
  int32_t bound;
} rooflua_estimate;

/// A question of any op, for db:lookup: the numbers of its fields, in the order of its declaration
/// (cost/ops/declaration.h; max_fields of them).
typedef struct rooflua_query {
  double op, dtype, kv_dtype;
  double values[16];
} rooflua_query;

/// Latencies whose axes are 1, 2, 3 and then four points an octave, by row: a row for every point
/// of x, in it a column for y = 0 and one for every point of y.
typedef struct rooflua_octave_grid {
  double most_x, most_y;  // the last points
  const double* latency_s;
  const uint8_t* evidence;
  int32_t width;
} rooflua_octave_grid;

/// The four points of such a grid around a place: few and many x, then few and many y.
typedef struct rooflua_grid_cell {
  double x, next_x, y, next_y;  // numbers of these points
  double u, v;                  // part of the way to next_x and to next_y
  double few_few, few_many, many_few, many_many;
  int32_t evidence;
} rooflua_grid_cell;

/// The leaf functions behind db:gemm, db:prefill, db:decode, db:lookup and cost.*.
typedef struct rooflua_cost_table {
  uint32_t size;  // of this struct
  BORDER_CLASS(script::Context) * context;
  const char* (*message)(BORDER_CLASS(script::Context) *);
  int32_t (*gemm)(BORDER_CLASS(script::Context) *, const void* database, double m, double k,
                  double n, double dtype, rooflua_estimate* out);
  int32_t (*prefill)(BORDER_CLASS(script::Context) *, const void* database, double heads,
                     double kv_heads, double head_dim, double new_tokens, double context_tokens,
                     double tp, double kv_dtype, rooflua_estimate* out);
  int32_t (*decode)(BORDER_CLASS(script::Context) *, const void* database, double heads,
                    double kv_heads, double head_dim, double batch, double context_tokens,
                    double tp, double kv_dtype, rooflua_estimate* out);
  int32_t (*lookup)(BORDER_CLASS(script::Context) *, const void* database,
                    const rooflua_query* query, rooflua_estimate* out);
  int32_t (*all_reduce)(BORDER_CLASS(script::Context) *, const void* database, double bytes,
                        double ranks, double eager, rooflua_estimate* out);
  /// kind 0: all-reduce, 1: all-to-all; from the link bandwidth alone
  int32_t (*collective)(BORDER_CLASS(script::Context) *, const void* hardware, double bytes,
                        double ranks, double kind, rooflua_estimate* out);
  /// `prepared`: a PreparedQuestions; writes one number per question to each list
  int32_t (*prepared)(BORDER_CLASS(script::Context) *, const void* prepared, double first,
                      double second, double* mfu, double* latency_s, double* evidence);
  void (*find_cell)(const rooflua_octave_grid*, double x, double y, rooflua_grid_cell* out);
} rooflua_cost_table;

/// The account of a step: seconds per evidence. Lua adds to it in place. listening is 0 or 1,
/// corrected 0 or the number of the list of corrections in force.
typedef struct rooflua_ledger {
  double seconds[rooflua_evidence_count];
  int32_t listening, corrected;
} rooflua_ledger;

// Random streams --------------------------------------------------------------------------------

typedef struct rooflua_random_stream {
  uint64_t key BORDER_INIT(0);
  uint64_t counter BORDER_INIT(0);       // of the next block of two draws
  uint64_t buffered BORDER_INIT(0);      // second draw of the last block
  uint64_t has_buffered BORDER_INIT(0);  // 2: with its quantile in `normal`
  double normal BORDER_INIT(0);          // of the standard normal distribution
} rooflua_random_stream;

/// A stream, and values that it gives next (base/random/ahead.h) of a Distribution; 0: none.
typedef struct rooflua_draws {
  rooflua_random_stream stream, behind;  // in front of the values, and after them
  int32_t distribution BORDER_INIT(0), taken BORDER_INIT(0), count BORDER_INIT(0);
  double first BORDER_INIT(0), second BORDER_INIT(0), values[32];  // parameters, and values
} rooflua_draws;

/// NaN: a parameter is outside its range.
typedef struct rooflua_random_table {
  uint32_t size;  // of this struct
  double (*draw)(rooflua_draws*, double distribution, double, double);
  double (*gamma)(rooflua_draws*, double, double), (*integer)(rooflua_draws*, double, double);
  double (*poisson)(rooflua_draws*, double);
  double (*uniform_at)(const rooflua_draws*, double i);  // i: a whole number to 2^53
} rooflua_random_table;

// Serving: what a policy reads in place ---------------------------------------------------------

/// What policies and routers may read of a request.
///
/// A decoding request advances with its replica: its true context is
/// `context_tokens + (view.decode_index - joined)`, and emitted_tokens grows the same way; see the
/// functions in serve/contract/visible_replica.h. In every other phase the stored values are the
/// true ones.
typedef struct rooflua_request {
  double arrival_s BORDER_INIT(0);
  double key BORDER_INIT(0);  // the scheduler's key (lower first), 0 without one; fixed when queued
  double joined BORDER_INIT(0);  // decode index of the replica to which context and emitted refer
  int32_t id BORDER_INIT(-1);    // 0, 1, 2, ... in order of arrival
  uint32_t epoch BORDER_INIT(0);
  BORDER_ENUM(Phase) phase BORDER_INIT({});
  int32_t replica BORDER_INIT(-1);
  int32_t prompt_tokens BORDER_INIT(0);
  int32_t max_output_tokens BORDER_INIT(0);         // declared limit, 0 = none
  int32_t predicted_output_tokens BORDER_INIT(-1);  // -1 = none
  int32_t cached_tokens BORDER_INIT(0);   // seated: hits at admission; waiting: ask the replica
  int32_t context_tokens BORDER_INIT(0);  // KV that exists or is in flight
  int32_t emitted_tokens BORDER_INIT(0);  // landed or in flight; kept on preemption
  int32_t preemptions BORDER_INIT(0);
  int32_t priority BORDER_INIT(0);
  int32_t klass BORDER_INIT(0);
  int32_t session BORDER_INIT(-1);
  uint32_t prefix BORDER_INIT(0);  // label of the first prompt segment; 0 = private
  int32_t next BORDER_INIT(-1), previous BORDER_INIT(-1);  // in the waiting or running list
  int32_t next_prefilling BORDER_INIT(-1), previous_prefilling BORDER_INIT(-1);
  // Where the replica speculates (serve/contract/speculation.h), else 0:
  int32_t draft_tokens BORDER_INIT(0);    // that it brings to the next plan
  int32_t drafted_tokens BORDER_INIT(0);  // of rounds that landed
  int32_t accepted_tokens BORDER_INIT(0);
  int32_t rounds BORDER_INIT(0);    // that landed
  int32_t tenant BORDER_INIT(-1);   // that sent it; -1: unknown
  int32_t program BORDER_INIT(-1);  // that it is a part of; -1: of none
  int32_t attempt BORDER_INIT(0);   // 0, or which retry of its client it is. The last of 128 bytes:
                                    // a slot's place is found by a shift
} rooflua_request;

/// What a scheduler may read of the ranks that step together: before the plans of this instant, so
/// that all of them see the same.
typedef struct rooflua_group_view {
  double steps BORDER_INIT(0);  // of the group, planned so far
  int32_t ranks BORDER_INIT(1);
  int32_t prompt_ranks BORDER_INIT(0);  // with a prompt that waits or is not finished
  int32_t decode_ranks BORDER_INIT(0);  // with a decoding request
  int32_t open_ranks BORDER_INIT(0);    // with a free seat
  int32_t tokens BORDER_INIT(0);        // of the step planned last, over all ranks
  int32_t max_tokens BORDER_INIT(0);    // of its fullest rank
} rooflua_group_view;

/// Everything a scheduler may read of its replica. Lists are linked slots of `requests`; -1 ends
/// them. Counts refer to now, inside a plan too.
typedef struct rooflua_replica_view {
  double now_s BORDER_INIT(0);
  double decode_index BORDER_INIT(0);           // decode steps so far; decodes advance with it
  double decode_context_tokens BORDER_INIT(0);  // sum over decoding requests
  const rooflua_request* requests BORDER_INIT(nullptr);
  int32_t slots BORDER_INIT(0);
  int32_t index BORDER_INIT(0);  // of the replica
  int32_t waiting BORDER_INIT(0), waiting_head BORDER_INIT(-1),
      waiting_tail BORDER_INIT(-1);  // in queue order
  int32_t seats BORDER_INIT(0), running_head BORDER_INIT(-1),
      running_tail BORDER_INIT(-1);  // taken seats, in admission order
  int32_t prefilling BORDER_INIT(0), prefilling_head BORDER_INIT(-1),
      prefilling_tail BORDER_INIT(-1);  // in admission order
  int32_t decodes BORDER_INIT(0);       // decoding requests
  int32_t finishing BORDER_INIT(0);     // seated, but their last token is in flight
  int32_t total_blocks BORDER_INIT(0), free_blocks BORDER_INIT(0), block_size BORDER_INIT(16);
  int32_t max_num_seqs BORDER_INIT(0);            // seats; 0 = no limit
  int32_t max_num_batched_tokens BORDER_INIT(0);  // per step; 0 = no limit
  int32_t max_model_len BORDER_INIT(0);           // 0 = no limit
  int32_t async_depth BORDER_INIT(1);
  double waiting_tokens BORDER_INIT(0);                   // prompt + emitted over waiting requests
  BORDER_ENUM(CacheHits) hits BORDER_INIT(CacheHits{2});  // which requests can have cached tokens
  int32_t seat_blocks BORDER_INIT(0);  // that a request holds besides the blocks of its tokens
  double lane_steps BORDER_INIT(0);    // decode steps planned so far: stages, drafts
  int32_t in_flight BORDER_INIT(0);    // seated; they decode again when their token lands (stages)
  const rooflua_group_view* group BORDER_INIT(nullptr);  // null: the replica steps alone
  int32_t speculates BORDER_INIT(0);  // 1: decoding requests advance by different numbers, and
                                      // their stored context and emitted tokens are the true ones
  int32_t decode_tokens BORDER_INIT(0);  // where it speculates, sum over decoding requests of
                                         // 1 + draft_tokens; else 0 (decode_tokens(view))
} rooflua_replica_view;

/// Numbers of the plan so far.
typedef struct rooflua_plan_view {
  double wake_s BORDER_INIT(-1);  // ask again at this time even if nothing changes; < 0 = no
  int32_t tokens BORDER_INIT(0);  // scheduled so far
  int32_t decodes BORDER_INIT(0);
  int32_t prefills BORDER_INIT(0);  // admitted ones included
  int32_t admitted BORDER_INIT(0);
  int32_t preempted BORDER_INIT(0);  // requests that lost their seat in this plan
  int32_t rejected BORDER_INIT(0);
  int32_t refused_request BORDER_INIT(-1);  // slot, with the refusal
  BORDER_ENUM(Refusal) refusal BORDER_INIT({});
  int32_t held_for BORDER_INIT(0);  // why the last admission was declined: 1 for its adapter, which
                                    // says nothing of the requests after it; 0 for another reason
} rooflua_plan_view;

/// One prefill of a step. `context_tokens` is the KV that was there before the step.
typedef struct rooflua_prefill_work {
  int32_t new_tokens BORDER_INIT(0);
  int32_t context_tokens BORDER_INIT(0);
  int32_t completes BORDER_INIT(0);  // 1: its sequence is complete now, so it samples a token
  int32_t slot BORDER_INIT(-1);
  int32_t id BORDER_INIT(-1);
  int32_t left_tokens BORDER_INIT(0);  // of its sequence after this chunk
} rooflua_prefill_work;

/// Bounds of contexts, in tokens, under which a replica keeps sums over its decodes; 0 = unused.
typedef struct rooflua_context_bounds {
  int32_t caps[4] BORDER_INIT({});
  int32_t chunk BORDER_INIT(0);
} rooflua_context_bounds;

/// What a step model prices: O(1) numbers, and the list of prefills.
typedef struct rooflua_batch {
  double decode_context_tokens BORDER_INIT(0);  // sum over decodes, the new token excluded
  const rooflua_prefill_work* prefills BORDER_INIT(nullptr);
  const BORDER_CLASS(Replica) * origin BORDER_INIT(nullptr);  // null: built by hand
  const int32_t* contexts BORDER_INIT(nullptr);  // per decode, where built by hand or asked for
  int32_t prefill_count BORDER_INIT(0);
  int32_t decodes BORDER_INIT(0);
  int32_t tokens BORDER_INIT(0);    // decode_tokens + new tokens of prefills
  int32_t requests BORDER_INIT(0);  // decodes + prefills
  int32_t sampled BORDER_INIT(0);   // decodes + prefills that complete now
  int32_t replica BORDER_INIT(0);
  const rooflua_context_bounds* bounds BORDER_INIT(nullptr);  // of the sums; null: there are none
  double bounded_tokens[4] BORDER_INIT({});  // per cap: sum over decodes of min(context + 1, cap)
  double chunk_tokens BORDER_INIT(0);        // sum over decodes of context % chunk + 1; both of the
                                             // first token of a row of several
  int32_t group_ranks BORDER_INIT(1);        // whose tokens the next three count, this one included
  int32_t group_tokens BORDER_INIT(0);       // sum over the ranks that step together
  int32_t group_max_tokens BORDER_INIT(0);   // of the rank with most
  int32_t group_prefills BORDER_INIT(0);     // ranks that prefill
  // Speculation. A decode is a row of 1 + k tokens: its pending token and k drafts to verify.
  // Without speculation decode_tokens is decodes, and the numbers of drafts are 0.
  int32_t decode_tokens BORDER_INIT(0);        // sum over decodes of 1 + k
  int32_t draft_rows BORDER_INIT(0);           // requests that get drafts for the next plan
  int32_t draft_tokens BORDER_INIT(0);         // how many drafts they get together
  int32_t draft_passes BORDER_INIT(0);         // most drafts of one request
  double decode_pairs BORDER_INIT(0);          // (query, key) pairs: sum of (1+k) c + (1+k)(2+k)/2
  const int32_t* widths BORDER_INIT(nullptr);  // 1 + k per decode, as contexts
  // Low-rank adapters; 0 without them.
  double adapter_load_s BORDER_INIT(0);   // what copies into slots take that began with this plan
  int32_t adapters BORDER_INIT(0);        // different ones of the requests of the step
  int32_t adapter_tokens BORDER_INIT(0);  // of requests that have one
  int32_t adapter_loads BORDER_INIT(0);   // these copies
  int32_t adapter_held BORDER_INIT(0);    // requests held for their adapter for the first time
  // Experts that move; 0 without them (serve/contract/experts.h).
  double expert_load BORDER_INIT(0);         // tokens of the fullest rank over a balanced one's
  double expert_stall_s BORDER_INIT(0);      // that the step waits for experts that move
  double expert_moved_bytes BORDER_INIT(0);  // of the engine, as the next
  int32_t expert_rebalanced BORDER_INIT(0);  // 1: experts were placed anew
} rooflua_batch;

/// A priced step. Evidence shares are seconds and add up to time_s. Where ranks step together,
/// time_s and the shares are those of the slowest rank and the synchronisation
/// (serve/core/group.h).
typedef struct rooflua_step_price {
  double time_s BORDER_INIT(0);
  double evidence_s[rooflua_evidence_count] BORDER_INIT({});
  // Of time_s, the rank's own work; the rest waits for the ranks of its group, or moves activations
  // from stage to stage.
  double own_s BORDER_INIT(0);
  double draft_s BORDER_INIT(0);  // of it, what drafts the tokens of the next step
  int32_t bound BORDER_INIT(0);   // what dominated: 0 unknown, 1 compute, 2 memory, 3 link
  int32_t stages BORDER_INIT(1);  // that the step passes in turn (serve/events/stage_clock.h)
} rooflua_step_price;

/// Steps that are priced in one call: each context is longer by one token from each to the next.
/// And the answer for the step at hand, where it is priced alone.
typedef struct rooflua_step_run {
  double time_s BORDER_INIT(-1);  // of the step at hand; -1: not answered
  double draft_s BORDER_INIT(0);  // the drafter's part of it
  /// Of a run: the time of each step (-1: it has none), and its account (rooflua_ledger).
  rooflua_step_price* out BORDER_INIT(nullptr);
  int32_t steps BORDER_INIT(0);  // to be priced; 0: the step at hand is priced alone
} rooflua_step_run;

/// A question to the workload, and its answer: the next request of its stream, or the request that
/// follows the end of another one.
typedef struct rooflua_follow_up {
  double now_s BORDER_INIT(0);  // of the end, with the next four
  int32_t session BORDER_INIT(-1);
  int32_t klass BORDER_INIT(0);
  int32_t completed BORDER_INIT(0);
  int32_t landed_tokens BORDER_INIT(0);  // output tokens of the request that ended
  int32_t answer BORDER_INIT(0);         // 0: no request; 1: these three numbers; 2: on Lua's stack
  double arrival_s BORDER_INIT(0), prompt_tokens BORDER_INIT(0), output_tokens BORDER_INIT(0);
} rooflua_follow_up;

/// What is being asked now. One per Lua state; the pointers are valid while `live` is not 0.
typedef struct rooflua_serve_border {
  const rooflua_request* requests BORDER_INIT(nullptr);
  const rooflua_replica_view* view BORDER_INIT(nullptr);
  const rooflua_plan_view* plan_view BORDER_INIT(nullptr);
  const rooflua_batch* batch BORDER_INIT(nullptr);  // that is priced, while batch_live is not 0
  const rooflua_route_view* route BORDER_INIT(nullptr);
  BORDER_CLASS(Plan) * plan BORDER_INIT(nullptr);
  const BORDER_CLASS(VisibleReplica) * replica BORDER_INIT(nullptr);
  int32_t slots BORDER_INIT(0);
  int32_t live BORDER_INIT(0);  // 0: no call; 1 a scheduler's; 2 a router's; 3 a look from outside
  int32_t change BORDER_INIT(0);       // grows whenever lists may have changed: positions are stale
  uint32_t batch_live BORDER_INIT(0);  // epoch of the batch that is priced; 0: none
  const int32_t* holders BORDER_INIT(nullptr);  // places in route->candidates, once asked for
  int32_t holder_count BORDER_INIT(-1);         // -1: not asked for in this call
  int32_t holders_sent BORDER_INIT(0);          // 1: they are those of find_sent_holders()
  double segment_content BORDER_INIT(0);        // of the segment that route_segment() told last
} rooflua_serve_border;

/// The leaf functions that a plan consists of.
typedef struct rooflua_serve_table {
  uint32_t size;  // of this struct
  rooflua_serve_border* border;
  rooflua_step_run* run;
  rooflua_follow_up* follow_up;
  int32_t (*decode_all)(rooflua_serve_border*, double limit);
  int32_t (*shed)(rooflua_serve_border*, double slot);
  int32_t (*decode)(rooflua_serve_border*, double slot, double tokens);  // -1: all that it may have
  int32_t (*prefill)(rooflua_serve_border*, double slot, double tokens);
  int32_t (*admit)(rooflua_serve_border*, int32_t slot, uint32_t epoch, double tokens,
                   double hold_tokens, double fit_tokens, double spare_blocks);
  int32_t (*preempt)(rooflua_serve_border*, double slot);
  int32_t (*encodable)(rooflua_serve_border*, double slot, double tokens);
  int32_t (*reject)(rooflua_serve_border*, double slot);
  int32_t (*wake_at)(rooflua_serve_border*, double time_s);
  const rooflua_tier_found* (*found)(rooflua_serve_border*);  // after an admission that says -3
  int32_t (*answer_load)(rooflua_serve_border*, double tokens, double patience_s);
  const char* (*refusal)(rooflua_serve_border*);
  int32_t (*cached_tokens)(rooflua_serve_border*, double slot);
  int32_t (*route_cached_tokens)(rooflua_serve_border*, double replica);
  int32_t (*decode_context_max)(rooflua_serve_border*);
  const int32_t* (*decode_contexts)(rooflua_serve_border*);
  const int32_t* (*decode_widths)(rooflua_serve_border*);
  int32_t (*decode_blocks)(rooflua_serve_border*);
  int32_t (*adapter)(rooflua_serve_border*, double slot);  // of a request; 0: none
  int32_t (*growing_tokens)(rooflua_serve_border*, double slot);
  int32_t (*shared_tokens)(rooflua_serve_border*, double slot, double other);
  double (*new_block)(rooflua_serve_border*, double slot);
  int32_t (*least_outstanding)(rooflua_serve_border*);  // a place in route->candidates, as below
  int32_t (*find_holders)(rooflua_serve_border*);       // sets holders and holder_count
  int32_t (*find_sent_holders)(rooflua_serve_border*);  // the same
  double (*route_fact)(rooflua_serve_border*, double replica, int32_t what);  // a RouterFact
  int32_t (*route_segment)(rooflua_serve_border*, double number);  // sets segment_content
  // For a decider, whose `route` is the pool of a rooflua_pair_view. 0: there is no such place
  int32_t (*pair_member)(rooflua_serve_border*, double place, rooflua_pair_member* out);
} rooflua_serve_table;
// cdef]

#undef BORDER_INIT
#undef BORDER_ENUM
#undef BORDER_CLASS
}  // namespace rooflua
