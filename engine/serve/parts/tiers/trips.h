#pragma once
// KV that goes into stores outside the GPUs and comes from them (stores/tiers.h).
//
//   computed   a step lands that computed part of a prompt. The policy says which stores get it.
//              The blocks stay taken until the writes end, even if the request ends before
//   load       a request is admitted whose beginning stores have, and its policy loads it. Blocks
//              are taken, and the request waits aside (or runs layer by layer) until all has come
//
// A request that waits aside does not hold up those after it.
// @source vllm-project/vllm vllm/distributed/kv_transfer/kv_connector/v1/offloading/scheduler.py

#include <vector>

#include "serve/core/part.h"
#include "serve/stores/tiers.h"

namespace rooflua {

class Parts;

/// Null: the run has none, or there is no run.
const Tiers* tiers_of(const Parts* parts);

class TiersPart final : public Part, public OnRequest, public OnStep, public OnFlow {
 public:
  TiersPart(Core& core, Loop& loop, const Tiers& tiers);
  const Tiers& tiers() const { return tiers_; }

  std::unique_ptr<Part> copy(Core& core, Loop& loop) const override {
    return std::make_unique<TiersPart>(core, loop, tiers_);
  }
  void rebind(const Bindings& before) override;
  std::string obstacle() const override { return "stores are shared"; }
  std::optional<double> fact(std::int32_t slot, std::int32_t replica,
                             RouterFact what) const override;

  void entered(std::int32_t slot) override;
  bool is_filling(std::int32_t slot) const override { return tiers_.is_loading(slot); }
  void fills(std::int32_t slot, RequestDone& done) const override;

  void planned(Replica& replica) override;
  void waits(Replica& replica, StepPrice& price, std::vector<OpTime>& operations) override;
  void landed(const StepDone& done) override;
  bool completed(std::int32_t slot, std::int32_t) override { return store_answer(slot, 1), false; }
  void preempted(std::int32_t slot) override { store_answer(slot, 2); }

  void moved(std::vector<FlowEnded>& ended) override;
  bool arrived(const FlowEnded& flow) override;
  bool describes(const FlowRequest& what, TransferSeen& seen) const override;
  bool failed(const FlowRequest& what) override;
  void stopped(std::int32_t slot) override;
  void lost(std::int32_t replica) override;
  void emptied(std::int32_t replica) override;

 private:
  void bind();
  void send_trips(Errand errand, std::int32_t slot);

  // loads.cpp
  void note_admissions(const Replica& replica);
  void load(std::int32_t slot);
  void end_load(std::int32_t ticket);
  void receive_loaded(std::int32_t slot);
  void ring(std::int32_t slot, double after_s);
  void lose_patience(const FlowEnded& alarm);
  void ask_again();
  double load_wait_s(const Replica& replica, Picoseconds start, double time_s) const;

  // writes.cpp
  void store_answer(std::int32_t slot, std::int32_t why);
  void send_writes(std::int32_t slot, bool flushes);
  void write_back(Replica& replica);
  void end_write(std::int32_t ticket);

  // failing.cpp
  void fail_load(std::int32_t ticket);
  void fail_write(std::int32_t ticket);
  std::int32_t cut_load(std::int32_t slot);
  void cut_foreign(std::int32_t ticket);

  Core& core_;
  Loop& loop_;
  Tiers tiers_;
  std::vector<Tiers::Trip> trips_;  // of the load or writes at hand
};

}  // namespace rooflua
