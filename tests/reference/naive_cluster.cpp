// The naive cluster: every instant, every replica, every parcel is looked at; the state of all
// replicas is written down after every instant, so that stale signals are looked up, not kept.
//
// At one instant: ends of steps by replica, KV that arrives in the order it was sent, requests that
// leave the frontend in the order they were sent, requests that are sent; then the groups of which
// a replica saw something, by their first replica, plan. Replicas of a group plan one after the
// other, and their steps begin and end together.

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <stdexcept>

#include "tests/reference/cluster_case.h"
#include "tests/reference/engine_run.h"
#include "tests/reference/naive_replica.h"

namespace rooflua::reference {

namespace {

struct Parcel {  // KV on its way from a prefill replica to a decode replica
  Ps arrives = 0;
  int id = 0, from = 0, to = 0;
};

class NaiveCluster : public RouteSource {
 public:
  NaiveCluster(const ClusterCase& cluster, Router& router)
      : cluster_(cluster),
        router_(&router),
        staleness_(picoseconds(router.staleness_s(), "staleness")),
        count_(cluster.replicas.size()) {
    for (std::size_t i = 0; i < count_; ++i) questions_.push_back(of_replica(cluster, i));
    for (std::size_t i = 0; i < count_; ++i) {
      schedulers_.push_back(make_scheduler(cluster, i));
      engines_.push_back(
          std::make_unique<NaiveReplica>(questions_[i], *schedulers_[i], cluster.replicas[i].role));
    }
    for (std::size_t i = 0; i < count_; ++i) join_group(i);
    planned_.resize(count_);
    running_.assign(count_, false);
    wake_.assign(count_, unset);
    outstanding_.assign(count_, 0);
    sent_.assign(prompts().size(), false);
    for (const Prompt& prompt : prompts()) {
      history_.requests.push_back({.arrival = prompt.plain.arrival});
      show(prompt);
    }
    remember(unset);
  }

  History run() {
    for (std::optional<Ps> next = next_instant(); next; next = next_instant()) {
      now_ = *next;
      touched_.assign(count_, false);
      for (std::size_t i = 0; i < count_; ++i) land(i);
      deliver_parcels();
      leave_frontend();
      for (const std::vector<std::size_t>& group : groups_) plan(group);
      remember(now_);
      if (history_.steps.size() > 200000) throw std::runtime_error("no end in sight");
    }
    report();
    return history_;
  }

 private:
  void join_group(std::size_t i) {
    const int number = cluster_.replicas[i].group;
    for (std::vector<std::size_t>& group : groups_) {
      if (number < 0 || cluster_.replicas[group.front()].group != number) continue;
      return group.push_back(i);
    }
    groups_.push_back({i});
  }

  const std::vector<Prompt>& prompts() const { return cluster_.question.prompts; }
  Served& served(int id) { return history_.requests[static_cast<std::size_t>(id)]; }

  /// When a request is at the router: sent, and through the frontend.
  Ps at_router(std::size_t id) const {
    const PlainRequest& plain = prompts()[id].plain;
    return plain.arrival + cluster_.frontend_base + cluster_.frontend_prompt_token * plain.prompt;
  }

  std::optional<Ps> next_instant() const {
    std::optional<Ps> next;
    const auto consider = [&](Ps time) {
      if (time != unset && time >= now_ && (!next || time < *next)) next = time;
    };
    for (std::size_t i = 0; i < count_; ++i) {
      if (running_[i]) consider(planned_[i].front().end);
      if (!running_[i] && wake_[i] > now_) consider(wake_[i]);
    }
    for (const Parcel& parcel : parcels_) consider(parcel.arrives);
    for (std::size_t id = 0; id < prompts().size(); ++id)
      if (!sent_[id]) consider(at_router(id));
    // The frontend counts as an instant too: whoever is sent is seen there.
    for (const Prompt& prompt : prompts())
      if (prompt.plain.arrival > now_) consider(prompt.plain.arrival);
    return next;
  }

  void land(std::size_t i) {
    if (!running_[i] && wake_[i] == now_) touched_[i] = true;
    if (!running_[i] || planned_[i].front().end != now_) return;
    StepLog step = std::move(planned_[i].front());
    planned_[i].pop_front();
    running_[i] = false;
    touched_[i] = true;
    const bool prefills = cluster_.replicas[i].role == Role::prefill;
    for (const Row& row : step.rows) {
      if (!row.samples || prefills) continue;
      Served& s = served(row.id);
      if (row.landed == 0 || s.tokens == prompts()[static_cast<std::size_t>(row.id)].plain.output) {
        ++history_.discarded;
        continue;
      }
      if (s.tokens == 0) s.first = now_ + cluster_.frontend_output_token;
      s.tokens += row.landed;
      s.drafted += row.drafts;
      s.accepted += row.accepted;
      s.last = now_ + cluster_.frontend_output_token;
    }
    engines_[i]->update(step.rows);
    for (const int id : engines_[i]->ended()) {
      const NaiveRequest& r = engines_[i]->request(id);
      Served& s = served(id);
      s.preemptions += r.preemptions;
      if (s.scheduled == unset) s.scheduled = r.scheduled;
      if (prefills) {
        s.prefill_replica = static_cast<int>(i);
        s.cached = r.first_hit;
        const int to = choose(id, true);
        engines_[static_cast<std::size_t>(to)]->arrive_without_kv(id);
        queued(to);
      } else {
        if (s.prefill_replica < 0) s.cached = r.first_hit;
        s.replica = static_cast<int>(i);
        --outstanding_[i];
      }
    }
    step.replica = static_cast<int>(i);
    history_.steps.push_back(std::move(step));
  }

  void deliver_parcels() {
    std::vector<Parcel> later;
    for (const Parcel& parcel : std::exchange(parcels_, {})) {
      if (parcel.arrives != now_) {
        later.push_back(parcel);
        continue;
      }
      const auto from = static_cast<std::size_t>(parcel.from);
      engines_[from]->release_kept(parcel.id);
      --outstanding_[from];
      touched_[from] = true;
      engines_[static_cast<std::size_t>(parcel.to)]->receive(parcel.id);
      touched_[static_cast<std::size_t>(parcel.to)] = true;
    }
    parcels_ = std::move(later);
  }

  /// A decode replica made room for a prompt: its KV sets off.
  void send_parcel(int id, std::size_t to) {
    const Ps prompt = prompts()[static_cast<std::size_t>(id)].plain.prompt;
    const Ps windowed = std::min<Ps>(prompt, cluster_.transfer_window);
    const Ps time = cluster_.transfer_alpha + cluster_.transfer_fixed +
                    cluster_.transfer_token * prompt + cluster_.transfer_bounded * windowed;
    served(id).pulled = now_;
    parcels_.push_back(
        {now_ + std::max<Ps>(1, time), id, served(id).prefill_replica, static_cast<int>(to)});
  }

  /// Those with a frontend come before those that are sent now: none is both.
  void leave_frontend() {
    for (std::size_t id = 0; id < prompts().size(); ++id) {
      if (sent_[id] || at_router(id) != now_) continue;
      sent_[id] = true;
      const int to = choose(static_cast<int>(id), false);
      engines_[static_cast<std::size_t>(to)]->arrive(static_cast<int>(id));
      queued(to);
    }
  }

  void queued(int to) {
    ++outstanding_[static_cast<std::size_t>(to)];
    touched_[static_cast<std::size_t>(to)] = true;
  }

  // --- routing

  struct Snapshot {
    Ps time;
    std::vector<ReplicaSignals> signals;
  };

  std::vector<ReplicaSignals> look() const {
    std::vector<ReplicaSignals> out;
    for (const auto& engine : engines_) out.push_back(engine->signals());
    return out;
  }

  void remember(Ps time) {
    if (staleness_ > 0) past_.push_back({time, look()});
  }

  /// Signals as they were before the first instant at or after the last tick.
  std::vector<ReplicaSignals> signals() const {
    if (staleness_ == 0) return look();
    const Ps tick = now_ - now_ % staleness_;
    const Snapshot* last = &past_.front();
    for (const Snapshot& each : past_)
      if (each.time < tick) last = &each;
    return last->signals;
  }

  int choose(int id, bool decode_stage) {
    std::vector<std::int32_t> candidates;
    for (std::size_t i = 0; i < count_; ++i) {
      const bool decodes = cluster_.replicas[i].role == Role::decode;
      if (decodes == decode_stage) candidates.push_back(static_cast<std::int32_t>(i));
    }
    if (candidates.size() == 1) return candidates.front();
    std::vector<ReplicaSignals> seen = signals();
    for (std::size_t i = 0; i < count_; ++i) seen[i].outstanding = outstanding_[i];
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      for (const std::size_t i : groups_[g]) seen[i].group = static_cast<std::int32_t>(g);
    }
    RouteView view;
    view.now_s = seconds(now_);
    view.signals_s = seconds(staleness_ > 0 ? now_ - now_ % staleness_ : now_);
    view.signals = seen.data();
    view.candidates = candidates.data();
    view.candidate_count = static_cast<std::int32_t>(candidates.size());
    view.replica_count = static_cast<std::int32_t>(count_);
    view.decode_stage = decode_stage ? 1 : 0;
    view.slot = id;
    view.source = this;
    return router_->route(shown_[id], view);
  }

  /// A request as routers read it: its slot is its id.
  void show(const Prompt& prompt) {
    std::vector<Segment> segments;
    const RequestSpec spec = spec_of(prompt, segments);
    const auto id = shown_.slots();
    const std::int32_t slot = shown_.open(spec, id);
    if (slot != id) throw std::logic_error("slots are not given in order");
    shown_[slot].id = id;
  }
  const Requests& requests() const noexcept override { return shown_; }
  std::int32_t cached_tokens(std::int32_t slot, std::int32_t replica) const noexcept override {
    return engines_[static_cast<std::size_t>(replica)]->hit_tokens(slot);
  }
  std::int32_t least_outstanding(const RouteView& view) const noexcept override {
    std::int32_t best = 0;
    for (std::int32_t place = 1; place < view.candidate_count; ++place) {
      if (outstanding_of(view, place) < outstanding_of(view, best)) best = place;
    }
    return best;
  }
  std::span<const std::int32_t> prefix_holders(const RouteView& view) const noexcept override {
    holders_.clear();
    for (std::int32_t place = 0; place < view.candidate_count; ++place) {
      if (cached_tokens(view.slot, view.candidates[place]) > 0) holders_.push_back(place);
    }
    return holders_;
  }
  static std::int32_t outstanding_of(const RouteView& view, std::int32_t place) {
    return view.signals[view.candidates[place]].outstanding;
  }

  // --- steps

  /// Until then `end` of a planned step is how long it lasts.
  void start_front(const std::vector<std::size_t>& group) {
    for (const std::size_t i : group) {
      StepLog& step = planned_[i].front();
      running_[i] = true;
      if (stages_of(i).several()) continue;  // it is on its way since it was planned
      step.start = now_;
      step.end += now_;
    }
  }

  const Stages& stages_of(std::size_t i) const { return cluster_.replicas[i].config.stages; }

  /// The next plan of one replica, after those that only took away.
  StepLog next_plan(std::size_t i) {
    while (true) {
      StepLog step{now_, 0, 0, engines_[i]->schedule(now_), static_cast<int>(i)};
      wake_[i] = engines_[i]->wake();
      for (const int id : engines_[i]->pulled()) send_parcel(id, i);
      if (!step.rows.empty() || !engines_[i]->took_away() || !planned_[i].empty()) return step;
    }
  }

  /// As long as the slowest of those with tokens, and the synchronisation of several.
  Ps duration(const std::vector<StepLog>& steps) const {
    std::vector<Rows> rows;
    for (const StepLog& step : steps) rows.push_back(step.rows);
    Ps longest = 0;
    for (const StepLog& step : steps) {
      const ClusterReplica& replica = cluster_.replicas[static_cast<std::size_t>(step.replica)];
      if (step.rows.empty()) continue;
      longest = std::max(longest, std::max<Ps>(1, replica.tariff(step.rows, rows)));
    }
    const auto first = static_cast<std::size_t>(steps.front().replica);
    return longest + (steps.size() > 1 ? cluster_.replicas[first].sync : 0);
  }

  /// What the schedulers of a group see of it: all counted anew.
  void look_at_ranks(const std::vector<std::size_t>& group) {
    if (group.size() == 1) return;
    GroupView& view = group_views_[group.front()];
    view.ranks = static_cast<std::int32_t>(group.size());
    view.prompt_ranks = view.decode_ranks = view.open_ranks = 0;
    for (const std::size_t i : group) {
      view.prompt_ranks += engines_[i]->has_prompt();
      view.decode_ranks += engines_[i]->decodes();
      view.open_ranks += engines_[i]->has_seat();
      engines_[i]->see_group(&view);
    }
  }

  void note_step(const std::vector<StepLog>& steps) {
    GroupView& view = group_views_[static_cast<std::size_t>(steps.front().replica)];
    view.steps += 1;
    view.tokens = view.max_tokens = 0;
    for (const StepLog& step : steps) {
      std::int32_t tokens = 0;
      for (const Row& row : step.rows) tokens += row.tokens;
      view.tokens += tokens;
      view.max_tokens = std::max(view.max_tokens, tokens);
    }
  }

  void plan(const std::vector<std::size_t>& group) {
    const std::size_t first = group.front();
    if (std::none_of(group.begin(), group.end(), [&](std::size_t i) { return touched_[i]; }))
      return;
    if (running_[first]) return;  // while a step runs, arrivals only queue
    if (!planned_[first].empty()) start_front(group);
    const Stages& stages = stages_of(first);
    const int depth =
        stages.several() ? stages.batches : cluster_.replicas[first].config.async_depth;
    while (static_cast<int>(planned_[first].size()) < depth) {
      std::vector<StepLog> steps;
      look_at_ranks(group);
      for (const std::size_t i : group) steps.push_back(next_plan(i));
      const auto empty = [](const StepLog& step) { return step.rows.empty(); };
      if (std::all_of(steps.begin(), steps.end(), empty)) break;
      const Ps lasts = duration(steps);
      note_step(steps);
      for (StepLog& step : steps) {
        step.end = lasts;
        if (stages.several()) send_through(step, stages, lasts, left_[first]);
        history_.empty_steps += step.rows.empty();
        planned_[static_cast<std::size_t>(step.replica)].push_back(std::move(step));
      }
      if (!running_[first]) start_front(group);
    }
  }

  /// Nothing can happen any more, and it is not over: it counts where it is.
  void starved(int id) {
    Served& s = served(id);
    history_.finished = false;
    for (std::size_t i = 0; i < count_; ++i) {
      const NaiveRequest& r = engines_[i]->request(id);
      if (r.phase == Phase::absent || static_cast<int>(i) == s.prefill_replica) continue;
      s.preemptions += r.preemptions;
      if (s.scheduled == unset) s.scheduled = r.scheduled;
      if (s.prefill_replica < 0) s.cached = r.first_hit;
      s.replica = static_cast<int>(i);
    }
  }

  void report() {
    for (std::size_t id = 0; id < prompts().size(); ++id) {
      const int room = cluster_.question.config.max_model_len - prompts()[id].plain.prompt;
      if (history_.requests[id].tokens < std::min(prompts()[id].plain.output, room))
        starved(static_cast<int>(id));
      history_.preemptions += history_.requests[id].preemptions;
    }
    for (const auto& engine : engines_) {
      History part;
      part.requests.resize(prompts().size());
      engine->report(part);
      history_.resume_hits += part.resume_hits;
      history_.held_back += part.held_back;
      history_.ended_waiting += part.ended_waiting;
    }
  }

  const ClusterCase& cluster_;
  Router* router_;
  Ps staleness_;
  std::size_t count_;
  Requests shown_;
  std::vector<ServingCase> questions_;  // the replicas point into them
  std::vector<std::unique_ptr<SchedulerPolicy>> schedulers_;
  std::vector<std::unique_ptr<NaiveReplica>> engines_;
  std::vector<std::vector<std::size_t>> groups_;  // by their first replica
  std::map<std::size_t, GroupView> group_views_;  // by first replica
  std::vector<std::deque<StepLog>> planned_;      // by replica; the front is running, if any is
  std::map<std::size_t, std::vector<Ps>> left_;   // by replica with stages
  std::vector<bool> running_, touched_;
  std::vector<Ps> wake_;
  std::vector<std::int32_t> outstanding_;
  mutable std::vector<std::int32_t> holders_;  // what prefix_holders() returned
  std::vector<Parcel> parcels_;
  std::vector<bool> sent_;
  std::vector<Snapshot> past_;
  Ps now_ = 0;
  History history_;
};

}  // namespace

History run_naive(const ClusterCase& cluster, Router& router) {
  return NaiveCluster(cluster, router).run();
}

}  // namespace rooflua::reference
