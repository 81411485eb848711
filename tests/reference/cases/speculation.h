#pragma once
// The speculation of a question, through the engine's seams.

#include <memory>

#include "serve/contract/speculation.h"
#include "tests/reference/engines/vllm_v1.h"

namespace rooflua::reference {

class CaseSpeculator : public SpeculatorPolicy {
 public:
  explicit CaseSpeculator(const VllmConfig& config) : config_(config) {}
  int depth() const override { return config_.drafts; }
  int drafts(const Batch& batch, const ReplicaView&) override {
    decodes_ = batch.decodes;
    return batch.decodes > config_.crowd ? config_.crowd_drafts : config_.drafts;
  }
  bool has_draft() const override { return config_.mixed; }
  int draft(const rooflua::Request& request, int) override {
    return config_.next_drafts(request.id, decodes_);
  }

 private:
  VllmConfig config_;
  int decodes_ = 0;
};

class CaseAcceptance : public AcceptanceModel {
 public:
  explicit CaseAcceptance(const VllmConfig& config) : config_(config) {}
  std::shared_ptr<const Curve> curve(const rooflua::Request& request, RandomStream&) override {
    auto curve = std::make_shared<Curve>();
    curve->accepted = config_.curve_of(request.id);
    return curve;
  }

 private:
  VllmConfig config_;
};

}  // namespace rooflua::reference
