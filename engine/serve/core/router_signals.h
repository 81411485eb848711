#pragma once
// What a router may know of the replicas: their load, as old as the router declares, and how many
// requests it has sent to each. The cost of a request does not grow with the number of replicas:
// load is read again only of replicas that saw an event.

#include <array>
#include <cstdint>
#include <vector>

#include "serve/replica/cluster.h"
#include "serve/replica/replica.h"
#include "serve/routing/least_index.h"

namespace rooflua {

class RouterSignals {
 public:
  /// @param group_of  by replica: the group that it steps with
  RouterSignals(const std::vector<std::int32_t>& group_of,
                const std::vector<ReplicaConfig>& replicas);

  /// Signals are taken at 0, s, 2s, ... from now on. 0: whenever they are read.
  void set_staleness(Picoseconds staleness) { staleness_ = staleness; }
  /// Whether waiting, running and kv_used_frac are those that replicas reported when a step ended.
  void set_reports(bool reports);
  bool reads_reports() const { return reports_; }
  /// A step ended, with this much KV in use and so many requests that run.
  void step_ended(const StepDone& step, std::int32_t used_blocks, std::int32_t running) {
    reported_[static_cast<std::size_t>(step.replica)] = {
        static_cast<double>(used_blocks) / step.total_blocks, step.waiting, running};
    changed(step.replica);
  }
  /// Whether the router reads landing_prompts, which costs a look at planned steps.
  void set_landing(bool landing) { landing_ = landing; }
  /// The load of this replica may have changed. To be called after each change, before the next
  /// pass_time() or read().
  void changed(std::int32_t replica) {
    char& mark = is_changed_[static_cast<std::size_t>(replica)];
    if (mark != 0) return;
    mark = 1;
    changed_.push_back(replica);
  }
  /// To be called before anything happens at `time`: the state since the last instant is the state
  /// at every tick up to `time`.
  void pass_time(Picoseconds time, const std::vector<Replica>& replicas);
  /// The signals of every replica for a router that is asked now. `outstanding` is never stale: the
  /// router counts its own requests.
  const ReplicaSignals* read(Picoseconds now, const std::vector<Replica>& replicas);
  /// When pass_time() does something next.
  Picoseconds next_tick() const { return staleness_ == 0 ? never : next_; }
  /// When the signals were taken.
  Picoseconds taken_at() const { return taken_at_; }

  /// Requests that were sent to the replica and have not ended.
  std::int32_t outstanding(std::int32_t replica) const { return at(replica).outstanding; }
  std::int32_t group_of(std::int32_t replica) const { return at(replica).group; }
  void add_outstanding(std::int32_t replica, std::int32_t more) {
    at(replica).outstanding += more;
    if (const std::int32_t place = place_of(replica); place >= 0)
      least_[stage_of(replica)].add(place, more);
  }
  /// These are the candidates from now on, for prompts and for KV.
  void set_candidates(const std::array<std::vector<std::int32_t>, 2>& candidates);
  /// The place among the candidates for prompts, or among those for KV; -1: it is none.
  std::int32_t place_of(std::int32_t replica) const {
    return places_[static_cast<std::size_t>(replica)];
  }
  /// The place of the one with the fewest outstanding requests; the first of equal ones.
  std::int32_t least_outstanding(bool decode_stage) const {
    return least_[decode_stage ? 1 : 0].least();
  }

 private:
  /// What an engine reports of its load.
  struct Report {
    double kv_used_frac = 0;
    std::int32_t waiting = 0, running = 0;
  };
  void take(const std::vector<Replica>& replicas);
  std::size_t stage_of(std::int32_t replica) const {
    return at(replica).role == Role::decode ? 1 : 0;
  }
  ReplicaSignals& at(std::int32_t index) { return signals_[static_cast<std::size_t>(index)]; }
  const ReplicaSignals& at(std::int32_t index) const {
    return signals_[static_cast<std::size_t>(index)];
  }

  std::vector<ReplicaSignals> signals_;
  std::vector<std::int32_t> places_;   // by replica
  std::array<LeastIndex, 2> least_;    // outstanding requests, by stage and place
  std::vector<std::int32_t> changed_;  // since the signals were taken
  std::vector<char> is_changed_;       // by replica
  std::vector<Report> reported_;       // by replica; none unless reports_
  Picoseconds staleness_ = 0, taken_at_ = 0, next_ = 0;
  bool landing_ = false, reports_ = false;
};

}  // namespace rooflua
