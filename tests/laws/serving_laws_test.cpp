// What holds for every shipped scheduler on any input.

#include <algorithm>
#include <cmath>

#include "tests/catch.h"
#include "tests/reference/chaos.h"
#include "tests/reference/engine_run.h"
#include "tests/reference/lua_policies.h"
#include "tests/reference/lua_trials.h"

namespace rooflua::reference {

namespace {

/// Counts what it is told, and notes the first thing that cannot be.
class Witness : public Observer {
 public:
  explicit Witness(const ServingCase& question) : question_(&question) {}

  void on_step(const StepDone& step) override {
    const Batch& batch = *step.batch;
    claim(step.end > step.start, "a step takes time");
    claim(step.start >= last_end_, "steps do not overlap");
    claim(step.planned <= step.start, "a step is planned before it runs");
    claim(batch.tokens >= 1, "no step is empty");
    const VllmConfig& c = question_->config;
    if (c.max_num_batched_tokens > 0)
      claim(batch.tokens <= c.max_num_batched_tokens, "the plan is within budget");
    if (c.max_num_seqs > 0) claim(step.running <= c.max_num_seqs, "nobody runs without a seat");
    claim(step.used_blocks >= 0 && step.used_blocks <= c.blocks, "blocks are not made");
    int prefill_tokens = 0, completed = 0;
    for (const PrefillWork& work : step.prefills) {
      prefill_tokens += work.new_tokens;
      completed += work.completes;
      claim(work.new_tokens >= 1, "a prefill computes something");
    }
    claim(batch.tokens == batch.decodes + prefill_tokens, "tokens = decodes + chunks");
    claim(batch.sampled == batch.decodes + completed, "sampled = decodes + completed prompts");
    claim(step.discarded >= 0 && step.discarded <= batch.decodes, "only decodes are discarded");
    claim(step.discarded == 0 || c.async_depth == 2, "one step in flight discards nothing");
    claim(batch.origin == nullptr && batch.bounds == nullptr, "a step that ended has no replica");
    claim_bounds(batch);
    sampled += batch.sampled;
    discarded += step.discarded;
    last_end_ = step.end;
  }

  /// What decodes read of their contexts: at least the new token, at most all, more under a wider
  /// cap, and the whole context under a cap that none outgrows.
  void claim_bounds(const Batch& batch) {
    const Tariff& tariff = question_->tariff;
    const double whole = batch.decode_context_tokens + batch.decodes;
    const int capacity = question_->config.blocks * question_->config.block_size;
    for (std::size_t i = 0; i < tariff.caps.size(); ++i) {
      const double bounded = batch.bounded_tokens[i];
      const int cap = tariff.caps[i];
      if (cap == 0) {
        claim(bounded == 0, "without a cap nothing is bounded");
        continue;
      }
      claim(bounded >= batch.decodes, "every decode reads its new token");
      claim(bounded <= whole, "no decode reads more than its context");
      claim(bounded <= 1.0 * cap * batch.decodes, "no decode reads more than the cap");
      claim(cap > 1 || bounded == batch.decodes, "under a cap of one it reads the new token alone");
      claim(cap < capacity || bounded == whole, "a cap that none outgrows is none");
      for (std::size_t k = 0; k < tariff.caps.size(); ++k)
        claim(tariff.caps[k] < cap || bounded <= batch.bounded_tokens[k], "a wider cap reads more");
      narrower += bounded < whole;
    }
    if (tariff.chunk == 0) return claim(batch.chunk_tokens == 0, "without a chunk nothing is cut");
    const double left_out = (whole - batch.chunk_tokens) / tariff.chunk;
    claim(batch.chunk_tokens >= batch.decodes, "a chunk has the new token");
    claim(left_out >= 0 && left_out == std::floor(left_out), "whole chunks are left out");
  }

  void on_done(const RequestDone& done) override {
    ++ended;
    if (done.outcome != Outcome::completed) {
      lost = true;
      return;
    }
    landed += done.output_tokens;
    claim(done.arrival <= done.queued && done.queued <= done.scheduled &&
              done.scheduled < done.first_token && done.first_token <= done.last_token &&
              done.last_token == done.now,
          "arrival <= queued <= scheduled < first token <= last token");
    const PlainRequest& asked = question_->prompts[static_cast<std::size_t>(done.id)].plain;
    const int room = question_->config.max_model_len - asked.prompt;
    claim(done.output_tokens == std::min(asked.output, room), "everybody gets all of its tokens");
    claim(done.cached_tokens < asked.prompt, "at least one token of a prompt is computed");
  }

  void claim(bool holds, const char* law) {
    if (!holds && broken.empty()) broken = law;
  }

  std::string broken;
  long long sampled = 0, discarded = 0, landed = 0, ended = 0;
  long long narrower = 0;  // caps of steps that left out a part of a context
  bool lost = false;

 private:
  const ServingCase* question_;
  Picoseconds last_end_ = 0;
};

/// Looks at the live simulation after every instant.
void check_instant(Simulation& simulation, Witness& witness, Picoseconds& before) {
  witness.claim(simulation.now() >= before, "the clock never goes back");
  before = simulation.now();
  const Totals& totals = simulation.totals();
  std::int64_t ended = 0;
  for (const std::int64_t count : totals.ended) ended += count;
  const Replica& replica = simulation.replica(0);
  const ReplicaView& view = replica.view();
  std::int64_t waiting = 0, seated = 0, released_early = 0;
  for (std::int32_t slot = 0; slot < simulation.requests().slots(); ++slot) {
    const rooflua::Request& request = simulation.requests()[slot];
    waiting += request.phase == Phase::waiting;
    seated += request.phase == Phase::prefilling || request.phase == Phase::decoding ||
              request.phase == Phase::finishing;
    released_early += request.phase == Phase::pending && request.id >= 0;
  }
  witness.claim(totals.arrived == ended + waiting + seated + released_early,
                "requests in = ended + waiting + running");
  witness.claim(waiting == view.waiting && seated == view.seats, "the replica counts right");
  witness.claim(replica.kv().used_blocks() + replica.kv().free_blocks() == view.total_blocks,
                "used + free = total");
  witness.claim(view.free_blocks == replica.kv().free_blocks(), "the view shows what is free");
  witness.claim(replica.kv().used_blocks() >= seated * view.seat_blocks,
                "every seat holds its blocks");
  witness.claim(view.seats > 0 || replica.kv().used_blocks() == 0, "nobody runs, nothing is used");
}

/// Empty if the laws hold. Adds to `narrower` the caps of steps that left out a part of a context.
std::string broken_law(const ServingCase& question, SchedulerPolicy& scheduler,
                       long long& narrower) {
  Witness witness(question);
  EngineRun run(question, scheduler, {&witness});
  Picoseconds before = 0;
  while (run.simulation().advance()) check_instant(run.simulation(), witness, before);
  witness.claim(witness.ended == static_cast<long long>(question.prompts.size()),
                "everybody who came has ended");
  witness.claim(witness.lost || witness.sampled == witness.landed + witness.discarded,
                "tokens that were sampled = tokens that landed, and those behind end tokens");
  witness.claim(run.simulation().replica(0).kv().used_blocks() == 0, "in the end all is free");
  narrower += witness.narrower;
  return witness.broken;
}

}  // namespace

TEST_CASE(
    "every shipped scheduler keeps the laws: nothing is lost, nothing is made, time goes on") {
  LuaPolicies lua;
  long long narrower = 0;
  for (const Trial& trial : trials()) {
    for (std::uint64_t seed = 5001; seed <= 5040; ++seed) {
      const ServingCase question = question_for(trial, seed);
      CAPTURE(trial.scheduler, seed);
      const auto scheduler = lua.make(trial.scheduler, trial.parameters(question));
      REQUIRE(broken_law(question, *scheduler, narrower) == "");
    }
  }
  CHECK(narrower > 10000);
}

TEST_CASE("a scheduler that throws dice cannot break the laws") {
  long long narrower = 0;
  for (std::uint64_t seed = 6001; seed <= 6200; ++seed) {
    const ServingCase question = draw_case(seed, Range{40, true, true, false, false});
    CAPTURE(seed);
    Chaos chaos(seed);
    REQUIRE(broken_law(question, chaos, narrower) == "");
  }
  CHECK(narrower > 10000);
}

}  // namespace rooflua::reference
