#pragma once
// The policies and listeners of one simulation.

#include <vector>

#include "serve/contract/observer.h"
#include "serve/contract/policy.h"
#include "serve/contract/speculation.h"
#include "serve/contract/workload.h"

namespace rooflua {

class AdmissionPolicy;
class AutoscalerPolicy;
class ClientPolicy;
class EncoderModel;
class ExpertPolicy;
class FaultPolicy;

/// Nothing is owned; all must outlive the simulation.
struct Bindings {
  std::vector<SchedulerPolicy*> schedulers;  // one per replica
  std::vector<StepModel*> steps;             // one per replica
  Router* router = nullptr;                  // may be null where there is one candidate
  Workload* workload = nullptr;
  std::vector<Observer*> observers;  // told in this order
  /// One per replica, null where it does not speculate; both empty where none does.
  std::vector<SpeculatorPolicy*> speculators = {};
  std::vector<AcceptanceModel*> acceptances = {};
  /// Where the cluster has tiers: one per replica, null of a decode replica; and one per store,
  /// null where its order of eviction is no policy's.
  std::vector<TierPolicy*> tiers = {};
  std::vector<EvictionPolicy*> evictions = {};
  /// With SplitOrder::decode_first; null: every prompt goes to a prefill replica.
  Decider* decider = nullptr;
  AdmissionPolicy* admission = nullptr;  // null: every request passes
  ClientPolicy* client = nullptr;        // null: it waits for ever and sends nothing again
  std::vector<AutoscalerPolicy*> autoscalers = {};  // by pool, null where its size is constant
  FaultPolicy* faults = nullptr;                    // null: nothing fails
  ExpertPolicy* experts = nullptr;                  // null: no expert moves
  EncoderModel* encoder = nullptr;                  // null: no request has items

  /// Policies of parts of a run (core/part.h) as `others` has them.
  void take_parts(const Bindings& others) {
    tiers = others.tiers;
    evictions = others.evictions;
    decider = others.decider;
    admission = others.admission;
    client = others.client;
    autoscalers = others.autoscalers;
    faults = others.faults;
    experts = others.experts;
    encoder = others.encoder;
  }
};

}  // namespace rooflua
