#pragma once
// What a live simulation remembers, so that people can look back at it: the numbers of every step,
// where the time of every request went, and what the last step of each replica consisted of.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "measure/record/draft_work.h"
#include "measure/record/why.h"
#include "measure/record/why_play.h"
#include "serve/contract/observer.h"
#include "serve/core/group.h"

namespace rooflua {

/// A step that ended; queue and seats are those right after its plan.
struct EndedStep {
  Picoseconds start = 0, end = 0;
  std::int32_t replica = 0;
  std::int32_t waiting = 0, running = 0;
  std::int32_t decodes = 0, prefills = 0, prefill_tokens = 0;
  std::int32_t used_blocks = 0, total_blocks = 0;
  /// Where the replica speculates: tokens of the decodes, drafts of rows that landed, and how many
  /// of these were accepted.
  bool speculates = false;
  std::int32_t decode_tokens = 0, drafted = 0, accepted = 0;
};

/// What a step consisted of: enough to price it again.
struct StepWork {
  EndedStep sample;
  double time_s = 0;        // as priced; the step lasts this, rounded to whole picoseconds
  double own_s = 0;         // StepPrice::own_s
  GroupWork group;          // over the ranks that step together
  bool all_decode = false;  // every decoding request got a token
  std::vector<PrefillWork> prefills;
  /// Of its decodes, in admission order; contexts as before the step.
  std::span<const std::int32_t> decode_ids() const { return decodes->ids; }
  std::vector<std::int32_t> decode_contexts() const;
  DraftWork drafts;

  /// The decodes of the first of several steps that decode the same requests, all of them.
  struct Decodes {
    std::vector<std::int32_t> ids, contexts;
  };
  std::shared_ptr<const Decodes> decodes;
  std::int32_t more_tokens = 0;  // of each context, since that step
};

/// Copyable, so that a fork of a live run has its own. A step adds the same to all live requests of
/// its replica but those with a chunk of their own. So it is noted once, and a request takes what
/// it has missed when something of its own happens, or when `most_missed` steps have been noted.
class Journal : public Observer {
 public:
  void on_arrival(const Request& request, Picoseconds now) override;
  void on_held(const Request& request, Picoseconds now) override;
  void on_passed(const Request& request, Picoseconds now) override;
  void on_queued(const Request& request, Picoseconds now) override;
  void on_preempt(const Request& request, Picoseconds now) override;
  void on_priced(const StepPriced& step) override;
  void on_step(const StepDone& step) override;
  void on_transfer(const TransferSeen& transfer) override;
  void on_computed(const Request& request, Picoseconds now) override;
  void on_kv(const Request& request, Picoseconds now) override;
  void on_load(const Request& request, Picoseconds now) override;
  void on_loaded(const Request& request, Picoseconds now) override;
  void on_done(const RequestDone& done) override;
  void on_row(const RowSent& row) override { rows_.on_row(row); }
  void on_play(const PlayDone& play) override;

  const std::vector<EndedStep>& steps() const { return steps_; }
  /// Requests in the order in which they ended.
  const std::vector<Why>& ended() const { return ended_; }
  /// The request with this id, if it has ended.
  const Why* find(std::int32_t id) const;
  /// Plays in the order in which they ended.
  const std::vector<PlayEnded>& plays() const { return plays_.ended(); }
  /// The account of the play with this number (from 0), if it is over. O(requests that ended)
  /// A step that was planned before its request lost its seat counts as `preempted`: the journal
  /// reads no prices.
  std::optional<WhyPlay> why_play(std::int64_t play) const;
  /// The step of that replica that ended last, if one did.
  const StepWork* last_step(std::int32_t replica) const;

 private:
  static constexpr std::size_t most_missed = 128;
  struct Live {
    WhyObserver why;
    std::int32_t replica = -1;  // where it was queued, or its KV went
    std::size_t seen = 0;       // steps of passed_[replica] that it knows
  };
  Live* find_live(std::int32_t id);
  void catch_up(Live& live);
  void move_to(Live& live, std::int32_t replica);
  void tell_alone(const StepDone& step, std::int32_t id);

  std::map<std::int32_t, Live> live_;                       // by id
  std::map<std::int32_t, std::vector<PassedStep>> passed_;  // by replica
  std::vector<Why> ended_;
  std::vector<EndedStep> steps_;
  std::map<std::int32_t, std::deque<StepWork>> planned_;  // by replica; those under way
  std::map<std::int32_t, StepWork> last_;

  struct KeptPlay {
    PlayDone done;  // without its path
    std::vector<PlayStep> path;
    std::vector<PlayRequest> requests;
  };
  PlayRows rows_;
  PlayList plays_;
  std::vector<KeptPlay> kept_plays_;  // as plays_
};

}  // namespace rooflua
