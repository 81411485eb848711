#pragma once
// Why one request took as long as it did. Every picosecond between its arrival and its last token
// is counted under one heading. The steps that worked for it are divided by operation, the steps
// that it waited through by reason and by the requests that were served instead. All sums are
// exact.

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "base/json.h"
#include "cost/price/ledger.h"
#include "cost/price/roofline.h"
#include "measure/record/latency_parts.h"
#include "serve/contract/observer.h"

namespace rooflua {

/// What a request's time was spent on. The headings add up to its end-to-end latency exactly.
enum class LatencyHeading : std::int32_t {
  frontend,         // before it was queued at its replica, and after its last step
  queue_idle,       // waiting, and the replica ran nothing
  queue_prefill,    // waiting while a step with prefills (of others) ran
  queue_decode,     // waiting while a step of decodes only ran
  prefill,          // a step with a chunk of it ran
  prefill_stalled,  // seated, not yet decoding, and the step had no chunk of it
  decode,           // a step of decodes gave it a token
  decode_mixed,     // a step gave it a token and held prefills of others
  decode_stalled,   // decoding, but the step gave it no token
  preempted,        // it lost its seat and waits for another
  recompute,        // a step computed KV again that a preemption lost
  transfer,         // its KV moved to another replica
  queue_ranks,      // waiting, and only other ranks of the replica's group had tokens
  load,             // its KV came from a store outside the GPUs
  held,             // in front of the router: a gate held it, or no replica was ready
};
inline constexpr int latency_heading_count = 15;
/// Headings that are written only where they have time: what they are about is rare.
constexpr bool is_rare(LatencyHeading heading) {
  return heading >= LatencyHeading::queue_ranks;
}
/// "queue behind prefill", "decode", ...
std::string_view name(LatencyHeading heading);
/// Its key in documents: "queue_prefill_s", "decode_s", ...
const char* key(LatencyHeading heading);

/// What kept a waiting request out of a step: the first of these that holds right after the plan of
/// the step.
enum class WaitReason : std::int32_t {
  pipeline,    // the step was planned before the request was queued
  seats,       // every seat was taken
  budget,      // the step held max_num_batched_tokens already
  preempting,  // the plan preempted a request, and its scheduler then admits none
  cache,       // its whole sequence did not fit the free KV blocks
  order,       // other requests stood before it in the queue
  choice,      // none of these: the scheduler's own rule
};
inline constexpr int wait_reason_count = 7;
std::string_view name(WaitReason reason);

struct Why {
  /// Heading (one whose steps worked for the request), operation, evidence.
  using Op = std::tuple<LatencyHeading, std::string, Evidence>;
  static constexpr std::int32_t anybody = -1;  // stands for requests whose ids are not known

  RequestDone done;
  std::array<Picoseconds, latency_heading_count> time{};           // sums to last token - arrival
  std::array<Picoseconds, latency_heading_count> time_to_first{};  // of it, up to the first token
  std::array<std::int64_t, latency_heading_count> steps{};         // that ended under that heading
  EvidenceSeconds evidence;                   // of the steps that worked for the request
  std::array<double, bound_count> bound_s{};  // of the same steps, by Bound
  std::int64_t lost_seats = 0;                // preemptions
  std::map<Op, Picoseconds> ops;  // adds up to `time` of each heading whose steps worked for it
  std::array<Picoseconds, wait_reason_count> held{};  // the steps that it waited through
  /// The same steps, by the request that was served: divided equally among the seated requests if
  /// it lacked a seat, equally among those before it if it lacked its turn in the queue, by context
  /// if it lacked cache, else by the tokens of the step.
  std::map<std::int32_t, Picoseconds> behind;
};

/// A step as it looks to a request that has no chunk in it and was not skipped: the numbers that
/// all of these add to their own.
struct PassedStep {
  /// @param before  the step of the same replica that was noted before it; null: none
  PassedStep(const StepDone& step, const PassedStep* before);
  double part_s = 0;                       // of the whole step
  double evidence_s[evidence_count] = {};  // of the whole step
  Picoseconds start = 0, end = 0;
  LatencyHeading waiting, decoding;  // for a request that waits, and for one that decodes
  std::uint32_t stretch = 0;         // steps of the same stretch before it
  std::size_t bound = 0;
  StepPrice price;

  /// Steps of a stretch follow each other without a gap, work for requests that decode, and count
  /// under the same heading and bound.
  bool continues(const PassedStep& before) const;
};

/// Follows one request through a run.
class WhyObserver : public Observer {
 public:
  explicit WhyObserver(std::int32_t request) : request_(request) {}

  void on_arrival(const Request& request, Picoseconds now) override;
  void on_held(const Request& request, Picoseconds now) override;
  void on_passed(const Request& request, Picoseconds now) override;
  void on_queued(const Request& request, Picoseconds now) override;
  void on_preempt(const Request& request, Picoseconds now) override;
  /// Steps that work for the request are explained operation by operation.
  PriceDetail wanted_detail(const Batch& batch) const override;
  void on_priced(const StepPriced& step) override;
  void on_step(const StepDone& step) override;
  /// The same for steps of its replica in which the request has no chunk and was not skipped, where
  /// on_priced() is not called.
  void on_passed(std::span<const PassedStep> steps);
  void on_transfer(const TransferSeen& transfer) override;
  void on_computed(const Request& request, Picoseconds now) override;
  void on_kv(const Request& request, Picoseconds now) override;
  void on_load(const Request& request, Picoseconds now) override;
  void on_loaded(const Request& request, Picoseconds now) override;
  void on_done(const RequestDone& done) override;

  /// Nothing until the request has ended.
  const std::optional<Why>& why() const { return answer_; }

 private:
  enum class Phase { away, waiting, loading, seated, decoding, preempted };
  struct Planned {
    std::int64_t serial = 0;
    bool works = false;
    bool waited = false;         // the request stood in the queue of that replica
    bool seat_was_lost = false;  // it was preempted after this step was planned
    WaitReason held = WaitReason::pipeline;
    std::vector<std::pair<std::int32_t, double>> holders;  // id, weight
    std::vector<OpTime> ops;
  };

  LatencyHeading during(const StepDone& step, const Planned* planned) const;
  LatencyHeading during(const PassedStep& step) const;
  void on_passed(const PassedStep& step);
  std::size_t on_stretch(std::span<const PassedStep> steps);
  void pass(LatencyHeading heading, Picoseconds until);
  LatencyHeading between_steps() const;
  bool works_for_it(const Batch& batch) const;
  void find_holders(const StepPriced& step, Planned& out) const;
  bool is_under_way() const;
  Picoseconds count_stages(const StepDone& step, LatencyHeading heading, Picoseconds part);
  void note_first_token();
  void count_waiting(const StepDone& step, const Planned& planned, Picoseconds part);
  std::optional<Planned> landed(const StepDone& step);

  std::int32_t request_;
  std::int32_t replica_ = -1;
  Phase phase_ = Phase::away;
  bool has_rank_ = true;  // false: it waits in the queue of several ranks
  bool is_held_ = false;                    // in front of the router
  std::int32_t reached_ = 0;                // tokens whose KV was computed at least once
  Picoseconds since_ = 0;                   // the time before this moment is counted
  std::optional<Picoseconds> first_token_;  // the end of the step that computed it
  std::map<std::int32_t, std::deque<Planned>> planned_;  // by replica: steps that have not ended
  Why why_;
  std::optional<Why> answer_;
};

/// Two dozen lines: the headings with time, share of the latency and steps; operations; what the
/// request waited for, and which requests were served meanwhile; bound and evidence.
/// @param parts  as the summary of the run counts them; null: it does not
std::string report(const Why& why, const LatencyPartsCounter::Ended* parts);
Json to_json(const Why& why, const LatencyPartsCounter::Ended* parts);

}  // namespace rooflua
