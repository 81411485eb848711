#pragma once
// Why one request took as long as it did: every picosecond between its arrival and its last token,
// under one heading.

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/json.h"
#include "cost/ledger.h"
#include "serve/observer.h"

namespace rooflua {

/// Where a request was at a time. The headings add up to its end-to-end latency exactly.
enum class Whereabouts : std::int32_t {
  frontend,         // before its replica knew of it, and after its last step
  queue_idle,       // waiting, and the replica ran nothing
  queue_prefill,    // waiting while a step with prefills (of others) ran
  queue_decode,     // waiting while a step of decodes only ran
  prefill,          // a step with a chunk of it ran
  prefill_stalled,  // seated, not yet decoding, and the step had no chunk of it
  decode,           // a step of decodes gave it a token
  decode_mixed,     // a step gave it a token, and prefilled others besides
  decode_stalled,   // decoding, but the step gave it no token
  preempted,        // had lost its seat and waited for another
  recompute,        // a step computed again what a preemption had lost
  transfer,         // its KV moved to another replica
};
inline constexpr int whereabouts_count = 12;
/// "queue behind prefill", "decode", ...
std::string_view name(Whereabouts whereabouts);

struct Why {
  RequestDone done;
  std::array<Picoseconds, whereabouts_count> time{};    // sums to last token - arrival
  std::array<std::int64_t, whereabouts_count> steps{};  // that ended under that heading
  EvidenceSeconds evidence;                             // of the steps that worked for it
  std::array<double, 4> bound_s{};                      // likewise: unknown, compute, memory, link
};

/// Follows one request through a run.
class WhyObserver : public Observer {
 public:
  explicit WhyObserver(std::int32_t request) : request_(request) {}

  void on_arrival(const Request& request, Picoseconds now) override;
  void on_queued(const Request& request, Picoseconds now) override;
  void on_preempt(const Request& request, Picoseconds now) override;
  void on_step(const StepSeen& step) override;
  void on_transfer(const TransferSeen& transfer) override;
  void on_done(const RequestDone& done) override;

  /// Nothing until the request has ended.
  const std::optional<Why>& why() const { return answer_; }

 private:
  enum class Phase { away, waiting, seated, decoding, preempted };

  Whereabouts during(const StepSeen& step) const;
  void pass(Whereabouts whereabouts, Picoseconds until);

  std::int32_t request_;
  std::int32_t replica_ = -1;
  Phase phase_ = Phase::away;
  std::int32_t reached_ = 0;  // KV of so many of its tokens was computed once
  Picoseconds since_ = 0;     // accounted for up to here
  Why why_;
  std::optional<Why> answer_;
};

/// A dozen lines: the headings with time, share of the latency and steps; bound and evidence.
std::string report(const Why& why);
Json to_json(const Why& why);

}  // namespace rooflua
