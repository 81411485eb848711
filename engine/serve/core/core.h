#pragma once
// The state that the loop and the parts of a run share (core/part.h), and verbs that all of them
// need. It has no opinion about what happens when.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "serve/contract/bindings.h"
#include "serve/core/due_end.h"
#include "serve/core/group.h"
#include "serve/core/hand_over.h"
#include "serve/core/left.h"
#include "serve/core/router_signals.h"
#include "serve/core/totals.h"
#include "serve/events/alarm_queue.h"
#include "serve/events/event_heap.h"
#include "serve/lanes/reception.h"
#include "serve/links/kv_links.h"
#include "serve/replica/cluster.h"
#include "serve/replica/priced_run.h"
#include "serve/replica/replica.h"

namespace rooflua {

/// What a router is asked for: a new request; KV that a prefill replica holds.
enum class Stage { prompt, decode };

struct Core {
  /// @throws Error if the configuration is impossible or a binding is missing
  Core(const ClusterConfig& config, const Bindings& bindings);

  ClusterConfig config;
  Bindings bindings;
  Requests requests;
  std::int64_t opened = 0;  // requests of the workload, for messages
  std::vector<Replica> replicas;
  std::vector<RankGroup> groups;       // by their first replica
  std::vector<std::int32_t> group_of;  // by replica
  Picoseconds now = 0;
  EventHeap<Delivery> deliveries;
  std::int64_t posted = 0;             // deliveries
  std::vector<std::int32_t> sent_now;  // follow-ups of this instant, after the deliveries
  std::vector<std::pair<std::int32_t, RowSent>> rows_sent;  // by slot, at this instant
  std::int64_t sent_again = 0;                              // requests
  EventHeap<DueEnd> ends;
  Picoseconds workload_due = never;  // the workload has something to do, or of `ends` the first
  AlarmQueue alarms;
  std::optional<KvLinks> kv_links;     // where KV goes over links
  Picoseconds flows_expected = never;  // of the deliveries that are flows, the first
  std::int32_t held = 0;               // requests that parts hold in front of the router
  std::vector<Left> left;              // in the order in which they were aborted
  std::vector<StepModel*> steps;       // by replica: what prices its steps now
  std::vector<Lifecycle> states;       // by engine, which is a group; empty: all are ready
  std::vector<std::int64_t> fruitless_preemptions;  // by replica, since a token landed there
  std::vector<HandOver> hand_overs;                 // by slot; empty where none are split
  bool is_split = false;                            // there are prefill replicas
  Picoseconds until = 0;              // the clock was asked to get there, with requests or without
  std::vector<Reception> receptions;  // by replica; of those with stages
  std::vector<char> foreign;          // by replica: another process simulates it; empty: none does
  std::vector<PricedRun> runs;        // by replica
  RouterSignals signals;
  std::array<std::vector<std::int32_t>, 2> candidates;  // replicas for each Stage, by index
  std::int64_t candidate_changes = 0;
  std::array<std::int32_t, 2> built{};                  // replicas that may be a Stage's
  Picoseconds frontend_token = 0;                       // until the client sees a token
  std::vector<Picoseconds> first_seen;  // by slot, where a front end is a queue: see_first()
  std::vector<std::int32_t> touched;                    // groups that saw an event at this instant
  std::vector<char> is_touched;                         // by group
  Totals totals;

  Progress& progress(std::int32_t slot) { return requests.progress(slot); }
  const Progress& progress(std::int32_t slot) const { return requests.progress(slot); }
  Replica& at(std::int32_t index) { return replicas[static_cast<std::size_t>(index)]; }
  const Replica& at(std::int32_t index) const { return replicas[static_cast<std::size_t>(index)]; }
  std::int32_t replica_count() const { return static_cast<std::int32_t>(replicas.size()); }
  bool is_decoder(std::int32_t index) const { return at(index).config().role == Role::decode; }
  std::int32_t engine_of(std::int32_t index) const {
    return group_of[static_cast<std::size_t>(index)];
  }
  Lifecycle state_of(std::int32_t index) const {
    return states.empty() ? Lifecycle::ready : states[static_cast<std::size_t>(engine_of(index))];
  }
  /// Whether it may plan steps.
  bool may_run(std::int32_t index) const {
    const Lifecycle state = state_of(index);
    return state == Lifecycle::ready || state == Lifecycle::draining;
  }
  HandOver& hand_over_of(std::int32_t slot) { return hand_overs[static_cast<std::size_t>(slot)]; }
  const HandOver& hand_over_of(std::int32_t slot) const {
    return hand_overs[static_cast<std::size_t>(slot)];
  }
  RankGroup& group_with(std::int32_t index) {
    return groups[static_cast<std::size_t>(engine_of(index))];
  }
  SchedulerPolicy& scheduler(std::int32_t index) const {
    return *bindings.schedulers[static_cast<std::size_t>(index)];
  }
  const std::vector<std::int32_t>& candidates_for(Stage stage) const {
    return candidates[stage == Stage::decode ? 1 : 0];
  }

  /// A slot for a request of the workload.
  std::int32_t open(const RequestSpec& spec);
  /// Whether a request is in this slot that was sent and not told done.
  bool is_live(std::int32_t slot) const;
  /// What is left of it, where it was told done and still holds something; else null.
  const Left* left_of(std::int32_t slot) const;
  bool has_left(std::int32_t slot) const { return left_of(slot) != nullptr; }
  /// Whether the request with this id was told done, and steps or transfers under way may still
  /// give its blocks content.
  bool is_leaving(std::int32_t id) const;
  /// Requests that were sent and are not over, by id; those at a replica.
  std::vector<std::int32_t> live_slots() const;
  std::vector<std::int32_t> slots_at(std::int32_t index) const;

  /// The request is aborted at that time.
  void end_at(std::int32_t slot, DueEnd::Kind kind, Picoseconds time);
  /// Whether the request was in time. The last token counts when the engine gives it, the first
  /// one when the client sees it.
  bool is_in_time(const DueEnd& end) const;
  /// When the client sees its first token. @pre the token has landed
  Picoseconds first_token_at_client(std::int32_t slot) const {
    const Picoseconds landed = requests.progress(slot).first_token;
    const Picoseconds sent =
        first_seen.empty() ? landed : first_seen[static_cast<std::size_t>(slot)];
    return sent + frontend_token;
  }
  /// Its first token has left the queues of the front end then, not counting frontend_token.
  void see_first(std::int32_t slot, Picoseconds time);
  /// Replicas that step together see their group; those that speculate, by whom.
  void bind_groups();
  void bind_speculation();
  /// How many tokens it generates at such a replica.
  void limit_output(std::int32_t slot, const ReplicaConfig& replica);
  /// The alarm that is due first leaves.
  Alarm take_alarm();
  bool alarm_holds(const Alarm& alarm) const;
  void prefetch_ahead() const;
  void prefetch_prefixes(std::span<const std::int32_t> holders, std::uint64_t hash) const;
  /// What a policy sees that chooses one of these replicas for the request, without signals.
  RouteView route_view(std::int32_t slot, const std::vector<std::int32_t>& among,
                       const RouteSource& source) const;
  /// And those signals that the router sees.
  void show_signals(RouteView& view);
  /// The replica's group plans at this instant.
  void touch(std::int32_t index);
  /// Something came free there: it plans at this instant, if no step is running.
  void plan_again(std::int32_t index);
  void post(Delivery delivery);
  /// The next time that a flow begins to move, or ends, becomes an instant. @pre there are links
  void expect_flows();
  /// Observers hear of something, in their order.
  template <class What, class... Told>
  void tell(What what, const Told&... told) {
    for (Observer* observer : bindings.observers) (observer->*what)(told...);
  }
  /// Observers hear how many blocks of its KV are in use.
  void tell_blocks(std::int32_t index);
};

/// @throws Error if schedulers, steps or speculators are not one for each replica
void check_each(const Bindings& bindings, std::size_t replicas);

}  // namespace rooflua
