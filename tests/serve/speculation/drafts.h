#pragma once
// Speculation in C++, for tests that are about something else.

#include <memory>
#include <utility>
#include <vector>

#include "serve/contract/speculation.h"

namespace rooflua::test {

/// k drafts for each request, and the batches that it was asked with.
class FixedDrafts : public SpeculatorPolicy {
 public:
  explicit FixedDrafts(int k) : k_(k) {}
  int depth() const override { return k_; }
  int drafts(const Batch& batch, const ReplicaView&) override {
    asked.push_back(batch);
    return k_;
  }
  std::vector<Batch> asked;  // pointers in it are stale

 private:
  int k_;
};

/// The same probabilities for each request.
class Chances : public AcceptanceModel {
 public:
  explicit Chances(std::vector<double> accepted)
      : curve_(std::make_shared<Curve>(Curve{std::move(accepted), {}})) {}
  std::shared_ptr<const Curve> curve(const Request&, RandomStream&) override { return curve_; }

 private:
  std::shared_ptr<const Curve> curve_;
};

}  // namespace rooflua::test
