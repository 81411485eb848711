#pragma once
// One engine: what it holds (replica_state.h), and the life of its steps. The scheduler decides
// which requests run, acting through a Plan; the simulation decides when things happen.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "serve/contract/observer.h"
#include "serve/contract/speculation.h"
#include "serve/replica/priced_run.h"
#include "serve/replica/replica_state.h"
#include "serve/replica/step_plan.h"

namespace rooflua {

class Replica final : public ReplicaState {
 public:
  Replica(std::int32_t index, const ReplicaConfig& config, PrefixIndex prefixes, Requests& requests)
      : ReplicaState(index, config, prefixes, requests) {}
  Replica(const Replica&) = default;

  /// The same state over another arena (a copied simulation).
  void rebind(Requests& requests);
  /// The speculator from now on; null: requests bring no drafts.
  void speculate_by(SpeculatorPolicy* speculator, AcceptanceModel* acceptance);

  // --- the life of a step, in this order

  /// Whether StepDone::lacks_blocks is known of steps that are planned from now on.
  void watch_waits(bool watches) { watches_waits_ = watches; }
  /// Whether the scheduler must be asked (else the last plan, decode_all(), is repeated).
  bool must_ask(const SchedulerPolicy& policy, Picoseconds now) const;
  /// Fills a plan by asking, or by repeating. @throws Error as the policy or Plan does
  StepPlan& make_plan(SchedulerPolicy& policy, Picoseconds now);
  StepPlan& repeat_plan(Picoseconds now);
  /// The plan at hand: the one made last.
  const StepPlan& plan() const { return plan_; }
  /// Its batch, without drafts for the step after it. Valid until commit, as planned_batch().
  const Batch& batch_of_plan();
  Batch& planned_batch() { return batch_; }
  /// Where it speculates: every request that samples in the planned batch brings drafts to the next
  /// one. To be called when the batch is complete otherwise. @throws Error as the speculator does
  void ask_for_drafts();
  /// Contexts and phases advance; the step joins the pipeline. Its tokens are in flight. A plan
  /// without tokens becomes an empty step, beside those of other ranks.
  void commit(const StepPrice& price, Picoseconds now);
  void start_front(Picoseconds now, Picoseconds end) { pipeline_.start(now, end); }
  /// With stages: the front step is the next one that is under way. False: there is none.
  bool bring_forward();
  /// @pre has_stages()
  bool has_room() const;
  /// Steps that are planned and not over.
  std::int32_t planned_steps() const;
  /// When a step that is planned now begins at the earliest.
  Picoseconds next_start(Picoseconds now) const;
  /// It begins so much later. @pre has_stages()
  void hold_stages(Picoseconds now, double wait_s);
  /// The running step is over: tokens land, finished requests give back seat and blocks (blocks
  /// only if not `keep_blocks`: release_kept does that). `gaps` gets the gaps that are not common,
  /// `ended` the slots of those requests, in admission order.
  StepDone land(Picoseconds now, bool keep_blocks, std::vector<Picoseconds>& gaps,
                std::vector<std::int32_t>& ended);

  // --- requests that leave before their end (landing.cpp)

  /// What steps that are planned and not over have of a request.
  struct InFlight {
    bool any = false;         // a chunk of its prompt, or a token
    std::int32_t tokens = 0;  // as the request counts them (Request::emitted_tokens)
  };
  InFlight in_flight(std::int32_t slot);
  /// Nothing of the request lands any more: the rows of it that are in flight are discarded.
  void discard(std::int32_t slot);
  /// evict() of a request whose rows in flight are discarded: no step names it any more.
  /// @param keeps_blocks  leave_with_blocks() in place of evict()
  void leave(std::int32_t slot, std::int32_t unknown_tokens, bool keeps_blocks = false);

  /// Steps that are planned and not over never end, and what was known of the last plan is
  /// forgotten. @pre no request is here but such that leave() is called for next
  void lose_steps();

  // --- the life of a step that repeats the one before it (repeats.cpp)

  /// Whether the step that ends now only lands decodes, and the next plan is the same again, after
  /// which nothing changes but contexts.
  bool repeats(Picoseconds now) const;
  /// The price of the next plan, if `run` has it. @pre repeats()
  const StepPrice* price_of_repeat(PricedRun& run);
  /// land() of such a step.
  StepDone land_plain(Picoseconds now);
  /// repeat_plan() and commit() after it.
  void repeat(const StepPrice& price, Picoseconds now);

  // --- the same for several such steps

  /// Plans a step at the end of each one that ends in front of `before`, at most so many.
  /// @param steps  gets those that end, and after them those that are planned then
  /// @returns how many end
  std::size_t repeat_until(Picoseconds before, std::size_t most, const PricedRun& run,
                           std::vector<RepeatedStep>& steps);
  /// What repeat_until() began is over: so many of `steps` have ended.
  void settle_repeats(std::span<const RepeatedStep> steps, std::size_t ended, PricedRun& run);
  /// The first of those that end, before they are settled.
  StepDone first_repeat(const RepeatedStep& step) const;

  /// Bring what the end of a step reads into the processor's cache: first the replica itself, then
  /// what it points to, then the requests that are listed there.
  void prefetch() const;
  void prefetch_parts() const;
  void prefetch_requests() const;

  const Pipeline& pipeline() const { return pipeline_; }
  Picoseconds wake() const { return wake_; }
  void wake_at(Picoseconds time) { wake_ = time; }

  // --- for the batch of the plan at hand (contract/batch.h)

  const std::int32_t* planned_decode_contexts() const;
  std::vector<std::int32_t> planned_decode_ids() const;
  const std::int32_t* planned_decode_widths() const;

 private:
  void look_at_queue();
  void describe(Step& step, const StepPrice& price, Picoseconds now);
  void by_admission(std::vector<std::int32_t>& slots) const;
  void sum_adapters();
  // drafts.cpp
  bool must_ask_ragged() const;
  void sum_rows();
  std::int32_t checked_drafts(int found, int most, const char* where) const;
  void ask_for_each(int k);
  std::span<const std::int32_t> planned_slots() const;
  void advance_rows(Step& step);
  bool advance_members(Step& step);
  bool advance_each(Step& step);
  void resolve(Row& row, double step_u, Step& step);
  bool has_fates(RaggedProgress& ragged) const;
  std::int32_t accepted_of(const Row& row, RaggedProgress& ragged, double step_u) const;
  void leave_out_decodes(Step& step);
  double step_draw(const Step& step) const;
  void first_drafts(const Step& step);
  // landing.cpp
  template <class See>
  void each_step(See see);
  Pipeline::CommonGap land_rows(const Step& step, Picoseconds now, std::vector<Picoseconds>& gaps);
  Picoseconds land_apart(const Row& row, Picoseconds now);
  void know_landed(std::int32_t slot);
  std::span<const std::int32_t> land_fills(std::span<const std::int32_t> fills, std::int64_t seat);
  Picoseconds last_token(std::int32_t slot) const;
  static std::int32_t landed_rows(const Step& step);
  std::span<const std::int32_t> accepted_at(const Step& step) const;
  void land_known_prompts(const Step& step);
  void end_ragged(std::int32_t slot);
  void tell_landed(Step& step, Picoseconds now);

  void advance_all(Step& step);
  void advance_singles(Step& step);
  void advance_prefills(Step& step);
  void plan_last_token(std::int32_t slot, Step& step);
  void finish(std::int32_t slot);
  void end(std::int32_t slot, bool keep_blocks);
  void discard_row(std::int32_t slot);
  StepDone describe(const Step& step, Pipeline::CommonGap common) const;
  bool repeats_on(const PricedRun& run) const;

  // with stages (landing.cpp)
  void send_off(const StepPrice& price, Picoseconds now);
  void depart_decodes(Step& step);
  void depart_prefills(Step& step);
  void depart(std::int32_t slot, Step& step);
  void come_back(const Step& step);

  StepPlan plan_;
  Batch batch_;  // of the plan at hand
  std::int64_t plans_ = 0;
  bool repeatable_ = false;  // the last plan was exactly decode_all()
  bool watches_waits_ = false, lacks_blocks_ = false;
  Picoseconds wake_ = never;
  std::vector<std::int32_t> finished_ids_;
  mutable std::vector<std::int32_t> contexts_, widths_;

  SpeculatorPolicy* speculator_ = nullptr;
  AcceptanceModel* acceptance_ = nullptr;
  std::int32_t widest_ = 0;                  // the most drafts that a speculator here may ask for
  std::int32_t asked_tokens_ = 0;            // of the last plan that the scheduler made
  std::int32_t next_drafts_ = 0;             // of the decodes of the plan at hand, where all bring
                                             // as many
  std::vector<std::int32_t> prompt_drafts_;  // next drafts of the prefills of the plan at hand
  mutable RaggedPool::Demand wish_;          // of all decodes, when must_ask() looked last
  mutable std::vector<RaggedPool::Taker> takers_;  // of the same
  mutable std::vector<std::int32_t> slots_;
  bool as_known_ = false;  // contexts of the batch: as the scheduler knows them
};

}  // namespace rooflua
