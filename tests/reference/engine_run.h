#pragma once
// The fast engine, asked a random question.

#include <optional>

#include "serve/loop/simulation.h"
#include "tests/reference/cases/items.h"
#include "tests/reference/cases/serving.h"
#include "tests/reference/cases/speculation.h"
#include "tests/reference/engines/adapter_worker.h"

namespace rooflua::reference {

/// The tariff as a step model. It walks the contexts of every batch beside their sums.
class TariffSteps : public StepModel {
 public:
  explicit TariffSteps(const Tariff& tariff) : tariff_(tariff) {}
  void price_adapters(Ps each, Ps token) { adapter_ = each, adapter_token_ = token; }
  void price_experts(Ps token) { expert_token_ = token; }
  void price(const Batch& batch, StepPrice& price) override;
  /// Sums only: contexts of a run cannot be walked.
  std::int32_t price_run(const Batch& first, const BatchGrowth& growth,
                         std::span<StepPrice> prices) override;

 private:
  double time_s(const Batch& batch) const;

  Tariff tariff_;
  Ps adapter_ = 0, adapter_token_ = 0, expert_token_ = 0;
  int runs_ = 0;
};

/// Writes a History. The decodes of a step are one row, because the engine tells only their number
/// and the sum of their contexts.
class Scribe : public Observer {
 public:
  explicit Scribe(std::size_t requests) { history.requests.resize(requests); }
  bool reads_prices() const override { return false; }
  void on_step(const StepDone& step) override;
  void on_transfer(const TransferSeen& transfer) override;
  void on_done(const RequestDone& done) override;

  History history;
};

/// A prompt as the engine and routers read it; its segments live in `segments`.
RequestSpec spec_of(const Prompt& prompt, std::vector<Segment>& segments);

/// A question in the engine's terms: its requests (their segments live in `segments`), its replica.
std::vector<RequestSpec> specs_of(const ServingCase& question,
                                  std::vector<std::vector<Segment>>& segments);
ReplicaConfig replica_config(const VllmConfig& config, const Tariff& tariff, bool real_blocks);

/// A simulation of a question, with its policies; one replica.
class EngineRun {
 public:
  EngineRun(const ServingCase& question, SchedulerPolicy& scheduler,
            std::vector<Observer*> listeners = {}, const AdapterCase* adapters = nullptr,
            const ItemCase* items = nullptr);
  Simulation& simulation() { return *simulation_; }
  const History& history() const { return scribe_.history; }

 private:
  std::vector<std::vector<Segment>> segments_;
  std::unique_ptr<ListedWorkload> workload_;
  TariffSteps steps_;
  std::optional<CaseEncoder> encoder_;
  CaseSpeculator speculator_;
  CaseAcceptance acceptance_;
  Scribe scribe_;
  std::unique_ptr<Simulation> simulation_;
};

/// The engine's answer with this scheduler.
History run_engine(const ServingCase& question, SchedulerPolicy& scheduler);

}  // namespace rooflua::reference
