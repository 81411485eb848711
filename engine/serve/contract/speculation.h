#pragma once
// Speculation: a decoding request brings k drafts to a step, the step verifies them, and one token
// more than were accepted lands. The seams: how many drafts, and which of them are accepted.
//
//     a_j = P(draft j is accepted | those before it were)     T = accepted + 1 tokens land
//
// @source Leviathan, Kalman, Matias. "Fast inference from transformers via speculative decoding",
//         ICML 2023; vLLM v1/core/sched/scheduler.py

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/random.h"
#include "serve/contract/batch.h"
#include "serve/contract/request.h"
#include "serve/contract/visible_replica.h"

namespace rooflua {

/// Random streams of a request: its draws, and what its curve may depend on.
inline constexpr const char* acceptance_stream = "acceptance";
inline constexpr const char* curve_stream = "acceptance.curve";

/// What landed of one step, as a speculator may learn from it.
struct SpecSeen {
  double now_s = 0;
  std::int32_t rows = 0;                      // decodes that landed
  std::int32_t drafted = 0, accepted = 0;     // of these rows
  std::span<const std::int32_t> accepted_at;  // rows that accepted draft 1, 2, ...
  std::int32_t decodes = 0;                   // decoding requests now
};

/// How many drafts requests bring to their next step. One instance per replica.
class SpeculatorPolicy {
 public:
  virtual ~SpeculatorPolicy() = default;

  /// The most drafts that it ever asks for; fixed.
  virtual int depth() const = 0;

  /// Drafts of every request that samples in the planned step, for the step after: 0 to depth().
  /// The batch is complete but for the numbers of drafts. Its contexts are those that the scheduler
  /// knows, so that nothing in it depends on what is accepted in flight.
  virtual int drafts(const Batch& batch, const ReplicaView& view) = 0;

  /// Of one of these requests, where has_draft(): `k` is what drafts() said.
  virtual bool has_draft() const { return false; }
  virtual int draft(const Request& request, int k) { return (void)request, k; }

  /// Rows landed.
  virtual void landed(const SpecSeen& seen) { (void)seen; }
};

/// The acceptance of one request's drafts. Exactly one list is used.
struct Curve {
  std::vector<double> accepted;      // a_1, a_2, ...; 0 after the end
  std::vector<std::int32_t> rounds;  // tokens per round, in a circle, instead of draws
};

/// One row that is verified.
struct Round {
  std::int32_t drafted = 0;  // k
  std::int32_t emitted = 0;  // output tokens before it: draft j stands for position emitted + j - 1
  std::int32_t index = 0;    // of the request's rounds, from 0
  std::uint64_t key = 0;     // of the request's acceptance_stream
  double step_u = 0;         // the draw of the step, where per_step()
};

/// Which drafts are accepted.
///
/// The draft that stands for output position p is accepted iff u(p) < a_j, looked at from the left
/// until the first refusal; u(p) is draw number p of the request's stream. The refused position is
/// filled by the model's own token and the next round starts after it, so each u is looked at at
/// most once: acceptances are independent with the given probabilities, and a request meets the
/// same luck under every policy, schedule and replica.
class AcceptanceModel {
 public:
  virtual ~AcceptanceModel() = default;

  /// Asked once per request, when it first samples. `stream` is the request's own.
  virtual std::shared_ptr<const Curve> curve(const Request& request, RandomStream& stream) = 0;

  /// One draw decides all rows of a step, as engines that simulate acceptance do it.
  virtual bool per_step() const { return false; }

  /// How many of the first drafts are accepted, 0 to round.drafted. Where has_accept(); else the
  /// engine draws by the rule above.
  virtual bool has_accept() const { return false; }
  virtual std::int32_t accept(const Request& request, const Round& round, const Curve& curve);

  /// Whether the rule above is all there is, for curves without rounds.
  bool draws_only() const { return !per_step() && !has_accept(); }
};

/// The rule, draw by draw.
std::int32_t accepted_by_draws(const Round& round, const Curve& curve);
/// The rule, where the curve is one of rounds, or the step has one draw.
std::int32_t accepted_by_rounds(const Round& round, const Curve& curve);
std::int32_t accepted_by_step(const Round& round, const Curve& curve);

}  // namespace rooflua
