#pragma once
// Prompts that one replica computes and another one decodes, as a part of a run (core/hand_over.h).

#include <deque>
#include <memory>
#include <vector>

#include "serve/core/part.h"

namespace rooflua {

class SplitPart final : public Part,
                        public OnTime,
                        public OnRequest,
                        public OnStep,
                        public OnFlow,
                        public OnKv,
                        public PairSource {
 public:
  SplitPart(Core& core, Loop& loop, std::deque<Lease> leases)
      : core_(core), loop_(loop), leases_(std::move(leases)) {}

  std::unique_ptr<Part> copy(Core& core, Loop& loop) const override {
    return std::make_unique<SplitPart>(core, loop, leases_);
  }
  std::string obstacle() const override { return "prefill and decode are split"; }

  Picoseconds earliest() override { return leases_.empty() ? never : leases_.front().time; }
  Picoseconds due(Picoseconds other) override;
  void pass(Moment moment) override;

  void sent(std::int32_t slot, const RowSent* row) override;
  bool takes(std::int32_t slot) override;
  void finished(std::int32_t slot) override;
  void fills(std::int32_t slot, RequestDone& done) const override;

  void planned(Replica& replica) override;
  void started(const Replica& replica) override;
  void landed(const StepDone& done) override;
  bool completed(std::int32_t slot, std::int32_t replica) override;
  void preempted(std::int32_t slot) override { cancel_reserved(slot); }

  void moved(std::vector<FlowEnded>&) override { failed_.clear(); }
  void delivered(std::int32_t slot) override { end_flow(slot); }
  bool arrived(const FlowEnded& flow) override;
  bool describes(const FlowRequest& what, TransferSeen& seen) const override;
  bool failed(const FlowRequest& what) override;
  void stopped(std::int32_t slot) override;

  void let_go(std::int32_t slot) override;
  void cancel_reserved(std::int32_t slot) override;
  void leave_promise(std::int32_t slot) override;
  void end_left(std::int32_t slot) override;

  PairMember member(const PairView& view, std::int32_t place) const noexcept override;

 private:
  // handover.cpp
  void hand_over(std::int32_t slot, std::int32_t from);
  void end_without_decoder(std::int32_t slot, std::int32_t from);
  void pull(const StepPlan::Pulled& pulled);
  void send_kv(std::int32_t slot, std::int32_t tokens, Picoseconds not_before = 0);
  void end_flow(std::int32_t slot);
  void arrive(std::int32_t slot);

  // pushing.cpp
  bool reserve(std::int32_t slot);
  void push_computed(std::span<const PrefillWork> prefills);
  void push_layers(const Replica& replica);

  // replicas.cpp
  void promise(std::int32_t slot, std::int32_t to);
  void route_to_decode(std::int32_t slot);
  bool wants_split(std::int32_t slot, std::int32_t to);
  Picoseconds next_lease();
  void end_leases();

  void fail_hand_over(std::int32_t slot);

  Core& core_;
  Loop& loop_;
  std::deque<Lease> leases_;          // by time; also of prompts that were asked for since
  std::vector<std::int32_t> failed_;  // slots whose KV has failed at this instant
};

}  // namespace rooflua
