#pragma once
// Speculation written for tests: numbers of drafts, acceptance, and a ledger of what must balance.

#include <memory>
#include <utility>
#include <vector>

#include "tests/catch.h"
#include "tests/serve/native_policies.h"
#include "tests/serve/random_case.h"

namespace rooflua::test {

/// k for everybody, or what `other` says of each request.
class Fixed : public SpeculatorPolicy {
 public:
  explicit Fixed(int k, bool mixed = false) : k_(k), mixed_(mixed) {}
  int depth() const override { return k_; }
  int drafts(const Batch& batch, const ReplicaView& view) override {
    asked.push_back(batch.decode_context_tokens + 1e-3 * batch.decode_tokens + view.free_blocks);
    return k_;
  }
  bool has_draft() const override { return mixed_; }
  int draft(const Request& request, int k) override { return k == 0 ? 0 : request.id % (k + 1); }
  void landed(const SpecSeen& seen) override { rows += seen.rows; }
  std::int64_t rows = 0;
  std::vector<double> asked;

 private:
  int k_;
  bool mixed_;
};

class Rates : public AcceptanceModel {
 public:
  explicit Rates(std::vector<double> accepted, bool per_step = false)
      : curve_(std::make_shared<Curve>(Curve{std::move(accepted), {}})), per_step_(per_step) {}
  std::shared_ptr<const Curve> curve(const Request&, RandomStream&) override {
    ++curves;
    return curve_;
  }
  bool per_step() const override { return per_step_; }
  std::int64_t curves = 0;

 private:
  std::shared_ptr<const Curve> curve_;
  bool per_step_;
};

/// Adds up what must balance, step by step.
class Ledger : public Recorder {
 public:
  std::int64_t rows = 0, drafted = 0, accepted = 0, overshoot = 0, landed = 0, verified = 0;
  std::int64_t discarded_rows = 0, output_tokens = 0, landed_of_rows = 0;
  std::int32_t budget = 0;
  void on_step(const StepDone& step) override {
    Recorder::on_step(step);
    if (!step.speculates) return;
    std::int32_t tokens = 0, drafts = 0, taken = 0, cut = 0, all = 0, gone = 0;
    for (const Row& row : step.rows) {
      tokens += row.tokens();
      CHECK((row.accepted >= 0 && row.accepted <= row.drafts));
      gone += row.discarded;
      if (row.discarded) continue;
      ++all;
      CHECK((row.landed >= 1 && row.landed <= 1 + row.accepted));
      landed_of_rows += row.landed;
      drafts += row.drafts;
      taken += row.accepted;
      cut += 1 + row.accepted - row.landed;
    }
    CHECK(tokens == step.batch->decode_tokens);
    CHECK(static_cast<std::int32_t>(step.rows.size()) == step.batch->decodes);
    CHECK(gone == step.discarded);
    CHECK((drafts == step.drafted && taken == step.accepted && cut == step.overshoot));
    if (budget > 0) CHECK(step.batch->tokens <= budget);
    std::int32_t completed = 0;
    for (const PrefillWork& work : step.prefills) completed += work.completes;
    CHECK(step.tokens_landed() == all + taken - cut + completed);
    CHECK((step.used_blocks >= 0 && step.used_blocks <= step.total_blocks));
    rows += all, drafted += drafts, accepted += taken, overshoot += cut, discarded_rows += gone;
    landed += step.tokens_landed();
    verified += tokens;
  }
  void on_done(const RequestDone& request) override {
    Recorder::on_done(request);
    output_tokens += request.output_tokens;
    if (request.outcome != Outcome::completed) return;
    CHECK(request.rounds <= request.output_tokens);
  }
};

class InTurn : public Router {
 public:
  std::int32_t route(const Request&, const RouteView& view) override {
    return view.candidates[turn_++ % view.candidate_count];
  }

 private:
  std::int32_t turn_ = 0;
};

struct Answer {
  Totals totals;
  Ledger ledger;
  std::vector<double> asked;
};

inline Answer serve(ClusterConfig cluster, SchedulerPolicy& scheduler,
                    std::vector<RequestSpec> specs, SpeculatorPolicy* speculator,
                    AcceptanceModel* acceptance, double per_token = 0, Router* router = nullptr) {
  Answer out;
  LinearSteps model(1, per_token);
  ListedWorkload workload(std::move(specs));
  Bindings bindings;
  bindings.schedulers.assign(cluster.replicas.size(), &scheduler);
  bindings.steps.assign(cluster.replicas.size(), &model);
  bindings.workload = &workload;
  bindings.router = router;
  bindings.observers = {&out.ledger};
  out.ledger.budget = cluster.replicas.front().max_num_batched_tokens;
  if (speculator != nullptr) {
    bindings.speculators.assign(cluster.replicas.size(), speculator);
    bindings.acceptances.assign(cluster.replicas.size(), acceptance);
  }
  out.totals = simulate(cluster, bindings);
  return out;
}

inline ClusterConfig roomy(std::int32_t depth = 1) {
  ReplicaConfig replica;
  replica.kv_blocks = 100000;
  replica.async_depth = depth;
  replica.seed = 7;
  ClusterConfig cluster;
  cluster.replicas = {replica};
  return cluster;
}

}  // namespace rooflua::test
