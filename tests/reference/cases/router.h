#pragma once
// Routers of random clusters (ClusterCase::router).

#include <cstdint>
#include <vector>

#include "serve/contract/policy.h"
#include "tests/reference/cases/cluster.h"

namespace rooflua::reference {

/// The candidate with the least of something; ties to the first.
class CaseRouter : public Router {
 public:
  explicit CaseRouter(const ClusterCase& cluster)
      : kind_(cluster.router), staleness_(cluster.staleness), dice_(cluster.question.seed) {}
  double staleness_s() const override { return seconds(staleness_); }
  std::int32_t route(const rooflua::Request& request, const RouteView& view) override;
  CommonQueue common_queue() const override;
  /// A rank with a seat and fewer requests than all would have if they had equally many, of these
  /// the one with the fewest tokens.
  std::int32_t place(const rooflua::Request& request, const RouteView& view) override;

 private:
  struct Load {
    int requests = 0, seats = 0;
    double tokens = 0;
  };
  double load(const ReplicaSignals& signals) const;
  void look_at_ranks(const RouteView& view);

  int kind_;
  Ps staleness_;
  Dice dice_;
  std::int32_t turn_ = 0;
  std::vector<Load> ranks_;  // with those that were placed together
  int most_ = 0;             // requests that a rank may have
};

}  // namespace rooflua::reference
