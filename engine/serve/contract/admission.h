#pragma once
// The gate in front of the router: which requests pass, wait or are refused. The queue of those
// that wait is the engine's; a policy declares its order, or chooses among its flows.

#include <cstdint>
#include <span>
#include <vector>

#include "border_gates.h"
#include "serve/contract/request.h"

namespace rooflua {

using GateView = rooflua_gate_view;
using GateBand = rooflua_gate_band;
using GateFlow = rooflua_gate_flow;

/// Which held requests belong together.
enum class FlowKey : std::int32_t { tenant, program, session, klass, request };
/// Which flow of a band goes next: `global`: the one with the first request; `round_robin`: the one
/// that went the longest ago; `vtc`: the one with the least service, where a flow that had nothing
/// to send is lifted to the least of those that had; `las`: the one with the least service.
/// @source vtc: Sheng et al., "Fairness in serving large language models", arXiv 2401.00588,
/// algorithm 2; the others: llm-d/llm-d-router pkg/epp/framework/plugins/flowcontrol/fairness
enum class FairRule : std::int32_t { global, round_robin, vtc, las };
/// Which request of a flow goes first: by arrival at the gate, or by deadline and then by that.
enum class FlowOrder : std::int32_t { fcfs, edf };
/// When output counts as service: as it is generated; when the request passes, by an estimate that
/// its end corrects; or at its end, together with its prompt.
enum class ServiceCount : std::int32_t { generated, estimate, end };

/// The queue of a gate. A band has the requests of one priority; the lowest number goes first.
struct QueueRules {
  FlowKey flow = FlowKey::tenant;
  FairRule fair = FairRule::global;
  FlowOrder order = FlowOrder::fcfs;
  ServiceCount count = ServiceCount::generated;
  double prompt_weight = 1, output_weight = 2;  // service = sum of weights x tokens
  double estimate_tokens = 0;  // of an output, where neither client nor predictor tells
  double half_life_s = 0;      // all service so far is halved at its multiples; 0: never
  std::int64_t max_held = 0, max_held_tokens = 0;  // of a band; 0: no limit. A full one refuses
};

struct GateRules {
  QueueRules queue;
  /// How old signals may be: they are taken at 0, s, 2s, ... and hold in between. 0: always fresh.
  double staleness_s = 0;
  /// Whether what passed since the signals were taken counts as waiting where it was sent.
  bool credit = false;
  /// next() is asked when a request comes, and at multiples of this if what it reads has changed.
  /// 0: at every instant at which that has changed.
  double interval_s = 0;
  std::int32_t most = 0;  // requests that go at one instant, whenever next() is asked; 0: all
  double queue_threshold = 5, kv_threshold = 0.8;  // GateView::saturation
  bool expire_queued = false;  // whether a deadline ends requests that wait at a replica, too
  /// Of requests that say none, from when they were sent: by class, and of all others. 0: none.
  std::vector<double> class_deadline_s = {};
  double deadline_s = 0;
};

enum class Verdict : std::int32_t { pass, hold, reject };

/// One instance per run.
class AdmissionPolicy {
 public:
  virtual ~AdmissionPolicy() = default;
  virtual GateRules rules() const { return {}; }
  /// A request has come.
  virtual Verdict admit(const Request& request, const GateView& view) = 0;
  struct Next {
    bool passes = false;
    double again_s = -1;  // when to ask again at the latest, if it does not pass; < 0: no time
  };
  /// Whether the held request that goes next by the rules of the queue passes now.
  virtual Next next(const Request& request, const GateView& view) = 0;
  /// Whether choose() is asked in place of QueueRules::fair.
  virtual bool chooses() const { return false; }
  /// Which of the flows of the highest band goes next. @returns a place
  virtual std::int32_t choose(std::span<const GateFlow> flows, const GateView& view) {
    (void)flows, (void)view;
    return 0;
  }
};

}  // namespace rooflua
