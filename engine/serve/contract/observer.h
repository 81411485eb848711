#pragma once
// What the simulation tells its listeners. Observers see everything and change nothing; every view
// is valid during the call only. Nothing is kept per finished request unless an observer does.

#include <cstdint>
#include <span>
#include <string>

#include "serve/contract/batch.h"
#include "serve/contract/clock.h"
#include "serve/contract/request.h"
#include "serve/contract/row_event.h"

namespace rooflua {

class Replica;

/// A request that reached its end. Times in ps; `never` where it did not get that far.
/// arrival <= queued <= scheduled <= first_token <= last_token, as the client sees them: token
/// times include the frontend's delay per token.
struct RequestDone {
  std::int32_t id = -1;
  std::int32_t replica = -1;          // where it ended; -1: never queued
  std::int32_t prefill_replica = -1;  // where its prompt was computed, with disaggregation; else -1
  Outcome outcome = Outcome::completed;
  Picoseconds now = 0;            // when the client knows
  Picoseconds arrival = 0;        // sent
  Picoseconds queued = never;     // at a replica
  Picoseconds scheduled = never;  // start of the plan that admitted it first
  Picoseconds first_token = never;
  Picoseconds last_token = never;  // not known of a request that was aborted
  std::int32_t prompt_tokens = 0;
  std::int32_t output_tokens = 0;  // that landed
  std::int32_t cached_tokens = 0;  // prefix hits at the first admission, in the GPU or in stores
  std::int32_t tier_tokens = 0;    // loaded from stores
  /// Of a request that was aborted: tokens of its prompt that steps computed, each of them once.
  std::int32_t computed_tokens = 0;
  Picoseconds load = 0;  // from the start of its last load to the end of it
  /// Of a prompt that a prefill replica computed: when that was; when blocks were taken for it at
  /// the decode replica, and when its KV was there (earlier is possible where KV is pushed); the
  /// blocks that the prefill replica kept until then; bytes of KV that set off.
  Picoseconds computed = never, room = never, arrived = never;
  std::int32_t kept_blocks = 0;
  double sent_bytes = 0;
  std::int32_t preemptions = 0;
  std::int32_t rounds = 0;  // decodes that landed, where it was speculated for; drafts of these
  std::int32_t drafted_tokens = 0, accepted_tokens = 0;
  std::int32_t priority = 0;
  std::int32_t klass = 0;
  std::int32_t session = -1;
  std::int32_t tenant = -1, program = -1;  // RequestSpec
  std::int32_t adapter = 0;                // 0: none
  /// Items of its prompt: all; those that encoder passes computed for it, or that it found computed.
  /// And its part, by tokens, of the time of these passes.
  std::int32_t items = 0, encoded_items = 0, found_items = 0;
  double encode_s = 0;
  std::span<const std::int32_t> item_kinds = {};  // EncoderModel::size(); only while it is told
  std::int32_t attempt = 0, origin = -1;          // RequestSpec
  Picoseconds held = 0;                           // how long a gate held it, after the frontend
  /// Its client sends it again: the workload is not told of this end.
  bool is_retried = false;
  bool keeps_output = false;        // and its output becomes the end of the next attempt's prompt
  std::int32_t carried_tokens = 0;  // at the end of its prompt, which earlier attempts gave
  std::uint64_t output_content = 0;
  std::int32_t row = -1;  // RequestSpec::row
};

/// A request of a play is about to be sent: on_arrival() follows.
struct RowSent {
  std::int32_t id = -1;
  std::int64_t play = 0;  // from 0, in the order in which plays begin
  std::int32_t row = 0;   // of the play, from 0
  bool warm = false;      // no metric counts it
};

/// Time of a play that the rows on its critical path took, in ps. They add up to its makespan.
struct PlayTimes {
  Picoseconds tool = 0;     // delays, and the time until the first row was sent
  Picoseconds queue = 0;    // sent to scheduled, without loads
  Picoseconds load = 0;     // of these, KV came from stores
  Picoseconds prefill = 0;  // scheduled to first token
  Picoseconds decode = 0;   // first token to last
  Picoseconds sum() const { return tool + queue + load + prefill + decode; }
};

/// A row on the critical path. The next one waited for `event` of it; of the last one it is `done`
/// or `failed`.
struct PlayStep {
  std::int32_t row = 0, id = -1;
  RowEvent event = RowEvent::done;
  Picoseconds sent = 0, until = 0;  // until: that event; of the last one, its end
  PlayTimes times;                  // sum() = until - the `until` of the step before
};

/// A play that is over: nothing of it runs, and nothing of it will be sent.
struct PlayDone {
  std::int64_t play = 0;
  const std::string* name = nullptr;
  /// Of a play with warm rows, since the first row that counts was sent.
  Picoseconds start = 0, end = 0;
  bool cut = false;  // the workload's end came first
  /// Rows that count: completed; ended in another way, those that the play cancelled apart; never
  /// sent.
  std::int32_t completed = 0, failed = 0, cancelled = 0, left_out = 0;
  PlayTimes times;
  std::span<const PlayStep> path;  // from the first row to the last
  /// Of its completed requests that count: prompt tokens, hits, and hits that a cache without end
  /// would have had (plays/seen_prompts.h).
  std::int64_t prompt_tokens = 0, cached_tokens = 0, ideal_tokens = 0;
};

/// A step that was planned and priced and is about to be committed. It ends later, as the StepDone
/// with the same replica and serial.
struct StepPriced {
  const Replica& replica;  // right after the plan, before contexts and phases advance
  std::int64_t serial = 0;
  Picoseconds planned = 0;
  const Batch& batch;  // decode_contexts() and decode_ids() are there
  const StepPrice& price;
  /// Where an observer wanted them (PriceDetail::operations); they add up to the price or are none.
  std::span<const OpTime> operations;
};

/// A step that just ended. Its tokens land now, at `end`.
struct StepDone {
  /// Whether the replica had no tokens, and other ranks of its group had some.
  bool empty() const { return batch->tokens == 0; }
  std::int32_t replica = 0;
  std::int64_t serial = 0;  // of the plan, from 0 per replica
  Picoseconds planned = 0, start = 0, end = 0;
  const Batch* batch = nullptr;  // contexts as before the step; decode_contexts() is gone by now
  const StepPrice* price = nullptr;
  std::int32_t waiting = 0, running = 0;  // right after the plan
  std::int32_t used_blocks = 0, total_blocks = 0;
  std::int32_t left_blocks = 0;  // in use right after the step
  /// The first request of the queue lacked KV blocks when the scheduler was asked last. Known where
  /// an observer reads it.
  bool lacks_blocks = false;
  /// Of the replica; 0: it has no limit.
  std::int32_t max_num_seqs = 0, max_num_batched_tokens = 0;
  /// Inter-token gaps of all tokens that land now and are not a request's first: `common_gaps`
  /// gaps of length `common_gap`, and the others one by one.
  Picoseconds common_gap = 0;
  std::int32_t common_gaps = 0;
  std::span<const Picoseconds> other_gaps;
  /// Decodes of requests that had ended when the step ran, because their end token was in flight
  /// when it was planned, or that were aborted since. They cost what the batch says, and no token
  /// of theirs lands. A prompt that was aborted since completes nothing (PrefillWork::completes).
  std::int32_t discarded = 0;
  std::int32_t tokens_landed() const { return batch->sampled - discarded + accepted - overshoot; }
  /// Where the replica speculates: the decodes, those that are discarded among them. The numbers
  /// are those of rows that land: drafts that they verified; drafts accepted; of these, drafts
  /// after the end of an answer; how many rows accepted draft 1, 2, ...
  bool speculates = false;
  std::span<const Row> rows;
  std::int32_t drafted = 0, accepted = 0, overshoot = 0;
  std::span<const std::int32_t> accepted_at;
  std::span<const PrefillWork> prefills;
  /// Ids of requests that decode and get no token here. With stages, requests whose token was in
  /// flight when the step was planned are among them. Empty where the step decodes nothing.
  std::span<const std::int32_t> skipped;
  std::span<const std::int32_t> finished;  // ids whose last token lands now, in admission order
  std::span<const Filled> filled;          // blocks of generated tokens that stores may get
};

/// A step that decodes the same requests as another one of its replica, and differs from it in
/// nothing but this, its serial and its contexts.
struct RepeatedStep {
  Picoseconds planned = 0, start = 0, end = 0;
  const StepPrice* price = nullptr;  // of a replica that steps alone: own_s is time_s
  std::int32_t used_blocks = 0, left_blocks = 0;
};

/// Steps of one replica that ended one right after the other, while nothing else happened.
struct StepsDone {
  StepDone first;
  /// All of them. Serials follow each other, and contexts grow by a token of each decode. A step
  /// starts where the one before it ends; the time between their ends is the common gap.
  std::span<const RepeatedStep> steps;
};

/// KV goes from one replica to another, or from a store or into it. `start`: when there was room
/// for it at `to`. Embeddings of an encoder have no `to`, as no replica is chosen yet.
struct TransferSeen {
  std::int32_t id = -1, from = -1, to = -1;
  Picoseconds start = 0, end = 0;
  double bytes = 0;
  /// Over links: when it would have ended alone, and the wires that it took (links/wires.h).
  Picoseconds alone_end = never;
  std::span<const std::int32_t> wires = {};
  /// Of a load from a store, or a write into one: which store, as declared; -1: between replicas.
  std::int32_t store = -1;
  bool is_load = false;
  /// KV between replicas that set off before its prompt was computed, or the rest of such a prompt.
  bool is_pushed = false;
};

/// Blocks of a replica that were taken or freed between steps: for KV that is to come, by KV that
/// has gone, by requests that were aborted.
struct BlocksChanged {
  std::int32_t replica = 0;
  Picoseconds now = 0;
  std::int32_t used_blocks = 0, total_blocks = 0;  // after it
};

/// A replica is in another state of its life from now on (replica/lifecycle.h).
struct ReplicaChanged {
  std::int32_t replica = 0;
  Lifecycle before = Lifecycle::ready, now = Lifecycle::ready;
  Picoseconds time = 0;
};

/// Wires of a link carry this part of their bytes/s from now on.
struct LinkChanged {
  std::int32_t link = 0;  // as declared
  std::int32_t wire = 0;  // links/wires.h
  double factor = 1;
  Picoseconds time = 0;
};

/// An autoscaler was asked.
struct ScaleAsked {
  std::int32_t pool = 0;
  Picoseconds time = 0;
  std::int32_t wanted = 0;                                         // within the bounds of its pool
  std::int32_t ready = 0, starting = 0, draining = 0, failed = 0;  // before it
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_arrival(const Request& request, Picoseconds now) { (void)request, (void)now; }
  /// The request waits at request.replica. Told again at its decode replica. With Phase::pending it
  /// waits in the common queue of ranks (Router::common_queue()); told again when it has its rank.
  virtual void on_queued(const Request& request, Picoseconds now) { (void)request, (void)now; }
  virtual void on_preempt(const Request& request, Picoseconds now) { (void)request, (void)now; }
  /// Whether wanted_detail() and on_priced() must be called. An observer that overrides neither of
  /// them says false, so that steps that repeat the one before cost less.
  virtual bool reads_prices() const { return true; }
  /// Whether StepDone::lacks_blocks must be known.
  virtual bool reads_waits() const { return false; }
  /// What this observer wants to know about the price of a step, asked before it is priced. The
  /// price itself is the same whatever is asked.
  virtual PriceDetail wanted_detail(const Batch& batch) const {
    (void)batch;
    return PriceDetail::time;
  }
  virtual void on_priced(const StepPriced& step) { (void)step; }
  virtual void on_step(const StepDone& step) { (void)step; }
  /// Several steps at once. An observer that does not override it gets on_step() for each.
  virtual void on_steps(const StepsDone& done);
  /// A step of this replica ends soon: what on_step() reads may be brought into the processor's
  /// cache. It need not happen, nor be told.
  virtual void expect_step(std::int32_t replica) const { (void)replica; }
  /// Told at its start where its end is known then, and at its end where it shares links.
  virtual void on_transfer(const TransferSeen& transfer) { (void)transfer; }
  /// A request waits aside from now on until its KV has come from stores; and it has come.
  virtual void on_load(const Request& request, Picoseconds now) { (void)request, (void)now; }
  virtual void on_loaded(const Request& request, Picoseconds now) { (void)request, (void)now; }
  /// The prompt of a request is computed whose KV is pushed: it waits for the rest of it; and all
  /// of it has come.
  virtual void on_computed(const Request& request, Picoseconds now) { (void)request, (void)now; }
  virtual void on_kv(const Request& request, Picoseconds now) { (void)request, (void)now; }
  /// A gate holds a request; and lets it go to its router.
  virtual void on_held(const Request& request, Picoseconds now) { (void)request, (void)now; }
  virtual void on_passed(const Request& request, Picoseconds now) { (void)request, (void)now; }
  /// The request that on_held() was just told of waits for a replica, not for a gate.
  virtual void on_no_replica(const Request& request) { (void)request; }
  virtual void on_replica(const ReplicaChanged& change) { (void)change; }
  virtual void on_link(const LinkChanged& change) { (void)change; }
  /// A transfer stood still for too long. `bytes`: those that were through, in vain.
  virtual void on_failed_transfer(const TransferSeen& transfer) { (void)transfer; }
  virtual void on_scale(const ScaleAsked& asked) { (void)asked; }
  virtual void on_blocks(const BlocksChanged& blocks) { (void)blocks; }
  virtual void on_done(const RequestDone& done) { (void)done; }
  virtual void on_row(const RowSent& row) { (void)row; }
  virtual void on_play(const PlayDone& play) { (void)play; }
};

}  // namespace rooflua
