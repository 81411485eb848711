#pragma once
// Why one request took as long as it did: every picosecond between its arrival and its last token,
// under one heading; what worked for it, operation by operation; what it waited for, and behind
// whom. All of it adds up exactly.

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "base/json.h"
#include "cost/ledger.h"
#include "cost/work/roofline.h"
#include "serve/observer.h"
#include "serve/policy.h"

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

/// What kept it out of a step that ran while it waited. The first that holds, judged right after
/// the plan of that step, counts.
enum class Held : std::int32_t {
  pipeline,    // the step was planned before it came
  seats,       // every seat was taken
  budget,      // the step had max_num_batched_tokens already
  preempting,  // the step took somebody's seat away; its scheduler admitted nobody
  cache,       // its whole sequence did not fit the free KV blocks
  order,       // others stood before it in the queue
  choice,      // none of these: the scheduler's own rule
};
inline constexpr int held_count = 7;
std::string_view name(Held held);

/// Seconds of one operation in a step, all its repetitions together.
struct OpTime {
  std::string name;
  Evidence evidence = Evidence::assumed;
  double time_s = 0;
};

struct Why {
  /// Heading (of those that worked for it), operation, evidence.
  using Op = std::tuple<Whereabouts, std::string, Evidence>;
  static constexpr std::int32_t anybody = -1;  // a holder whose name is not known

  RequestDone done;
  std::array<Picoseconds, whereabouts_count> time{};           // sums to last token - arrival
  std::array<Picoseconds, whereabouts_count> time_to_first{};  // of it, up to the first token
  std::array<std::int64_t, whereabouts_count> steps{};         // that ended under that heading
  EvidenceSeconds evidence;                                    // of the steps that worked for it
  std::array<double, bound_count> bound_s{};  // the same time by Bound
  std::int64_t lost_seats = 0;      // preemptions
  // Only of a run whose step models are FollowedSteps:
  std::map<Op, Picoseconds> ops;  // adds up to `time` of each heading that worked for it
  std::array<Picoseconds, held_count> held{};  // adds up to the steps it waited through
  /// Likewise, by request: a step that it waited through is divided equally among the seats if it
  /// lacked a seat or stood behind others in the queue (then among those), by context if it lacked
  /// cache, else by the tokens of the step.
  std::map<std::int32_t, Picoseconds> behind;
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

  // --- for FollowedSteps: every step of the run, when it is priced

  /// Whether the batch works for the request.
  bool works_for_it(const Batch& batch) const;
  void planned(const Batch& batch, bool works, std::vector<OpTime> ops);

 private:
  enum class Phase { away, waiting, seated, decoding, preempted };
  struct Planned {
    bool works = false;
    bool waited = false;         // it stood in the queue of that replica
    bool seat_was_lost = false;  // after this step was planned
    Held held = Held::pipeline;
    std::vector<std::pair<std::int32_t, double>> holders;  // id, weight
    std::vector<OpTime> ops;
  };

  Whereabouts during(const StepSeen& step, const Planned* planned) const;
  void pass(Whereabouts whereabouts, Picoseconds until);
  void find_holders(const Batch& batch, Planned& out) const;
  void note_first_token();
  void count_waiting(const StepSeen& step, const Planned& planned, Picoseconds part);
  std::optional<Planned> landed(std::int32_t replica);

  std::int32_t request_;
  std::int32_t replica_ = -1;
  Phase phase_ = Phase::away;
  std::int32_t reached_ = 0;                // KV of so many of its tokens was computed once
  Picoseconds since_ = 0;                   // accounted for up to here
  std::optional<Picoseconds> first_token_;  // the end of the step that made it
  std::map<std::int32_t, std::deque<Planned>> planned_;  // by replica, steps that have not landed
  Why why_;
  std::optional<Why> answer_;
};

/// A step model that prices as another one does and tells a WhyObserver of every step; what works
/// for its request is priced by `explain`, which must give the same price, and its operations.
class FollowedSteps : public StepModel {
 public:
  using Explain = std::function<void(const Batch&, StepPrice&, std::vector<OpTime>&)>;
  FollowedSteps(StepModel& inner, WhyObserver& observer, Explain explain)
      : inner_(&inner), observer_(&observer), explain_(std::move(explain)) {}
  void price(const Batch& batch, StepPrice& price) override;

 private:
  StepModel* inner_;
  WhyObserver* observer_;
  Explain explain_;
};

/// Two dozen lines: the headings with time, share of the latency and steps; operations; what it
/// waited for and behind whom; bound and evidence.
std::string report(const Why& why);
Json to_json(const Why& why);

}  // namespace rooflua
