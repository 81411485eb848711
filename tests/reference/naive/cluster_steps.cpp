// Steps of the naive cluster: replicas of a group plan, begin and end together.

#include <algorithm>

#include "tests/reference/naive/cluster.h"

namespace rooflua::reference {

/// Until then `end` of a planned step is how long it lasts.
void NaiveCluster::start_front(const std::vector<std::size_t>& group) {
  for (const std::size_t i : group) {
    StepLog& step = planned_[i].front();
    running_[i] = true;
    if (stages_of(i).several()) continue;  // it is on its way since it was planned
    step.start = now_;
    step.end += now_;
  }
}

/// The next plan of one replica; with stages, after those who enter with it.
StepLog NaiveCluster::next_plan(std::size_t i) {
  if (!stages_of(i).several()) return plan_with_those_inside(i);
  while (true) {
    for (const int id : coming_[i].enter(stages_of(i).batches)) enter(id, i);
    history_.dealt_over_plans += !coming_[i].empty();
    StepLog step = plan_with_those_inside(i);
    if (!step.rows.empty() || !planned_[i].empty() || coming_[i].empty()) return step;
  }
}

/// After plans that only took away.
StepLog NaiveCluster::plan_with_those_inside(std::size_t i) {
  while (true) {
    StepLog step{now_, 0, 0, engines_[i]->schedule(now_), static_cast<int>(i)};
    step.waiting = engines_[i]->signals().waiting + static_cast<int>(sent_to(i).size());
    wake_[i] = engines_[i]->wake();
    if (cluster_.replicas[i].role == Role::prefill)
      for (const int id : engines_[i]->preempted()) cancel(id);
    for (const int id : engines_[i]->pulled()) pull(id, i);
    ask_stores(i);
    if (!step.rows.empty() || !engines_[i]->took_away() || !planned_[i].empty()) return step;
  }
}

/// As long as the slowest of those with tokens, and the synchronisation of several.
Ps NaiveCluster::duration(const std::vector<StepLog>& steps) {
  std::vector<Rows> rows;
  for (const StepLog& step : steps) rows.push_back(step.rows);
  const auto first = static_cast<std::size_t>(steps.front().replica);
  const Ps stall = note_experts(steps);
  const Ps start = running_[first] ? planned_[first].front().end : now_;
  Ps longest = 0;
  for (const StepLog& step : steps) {
    const auto i = static_cast<std::size_t>(step.replica);
    Ps own = 0;
    if (!step.rows.empty()) {
      own = cluster_.replicas[i].tariff(step.rows, rows) + of_experts(step) + stall;
      if (!adapters_.empty())
        own += adapters_[i].of_adapters(step.rows, engines_[i]->adapters_in_use());
      own = slowness(i) * std::max<Ps>(1, own);
    }
    if (!stages_of(i).several()) own += wait_for_writes(i, start);  // else the first stage waits
    longest = std::max(longest, own);
  }
  return longest + (steps.size() > 1 ? cluster_.replicas[first].sync : 0);
}

/// One more step of a period of experts. @returns what its first one waits for
Ps NaiveCluster::note_experts(const std::vector<StepLog>& steps) {
  if (cluster_.experts.token == 0) return 0;
  const std::size_t engine = engine_of(static_cast<std::size_t>(steps.front().replica));
  ExpertSteps& own = experts_[engine];
  const bool begins = own.left == 0;
  if (begins) {
    own.period = cluster_.experts.next(static_cast<int>(engine), now_, own.steps, own.tokens);
    own.left = own.period.steps;
    own.steps = own.tokens = 0;
    ++history_.periods;
  }
  --own.left;
  ++own.steps;
  for (const StepLog& step : steps)
    for (const Row& row : step.rows) own.tokens += row.tokens;
  return begins ? own.period.stall : 0;
}

Ps NaiveCluster::of_experts(const StepLog& step) const {
  const ExpertSteps& own = experts_[engine_of(static_cast<std::size_t>(step.replica))];
  Ps tokens = 0;
  for (const Row& row : step.rows) tokens += row.tokens;
  return cluster_.experts.token * tokens * own.period.eighths;
}

/// What the schedulers of a group see of it: all counted anew.
void NaiveCluster::look_at_ranks(const std::vector<std::size_t>& group) {
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

void NaiveCluster::note_step(const std::vector<StepLog>& steps) {
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

void NaiveCluster::plan(const std::vector<std::size_t>& group) {
  const std::size_t first = group.front();
  if (std::none_of(group.begin(), group.end(), [&](std::size_t i) { return touched_[i]; })) return;
  if (!may_run(first)) return;
  if (running_[first]) return;  // while a step runs, arrivals only queue
  if (!planned_[first].empty()) start_front(group);
  const Stages& stages = stages_of(first);
  const int depth = stages.several() ? stages.batches : cluster_.replicas[first].config.async_depth;
  while (static_cast<int>(planned_[first].size()) < depth) {
    std::vector<StepLog> steps;
    let_in(group);
    look_at_ranks(group);
    for (const std::size_t i : group) steps.push_back(next_plan(i));
    const auto empty = [](const StepLog& step) { return step.rows.empty(); };
    if (std::all_of(steps.begin(), steps.end(), empty)) break;
    const Ps lasts = duration(steps);
    note_step(steps);
    for (StepLog& step : steps) {
      step.end = lasts;
      if (stages.several()) {
        std::vector<Ps>& left = left_[first];
        left.resize(stages.shares.size(), 0);
        left[0] = std::max(now_, left[0]);
        left[0] += wait_for_writes(first, left[0]);
        send_through(step, stages, lasts, left);
      }
      history_.empty_steps += step.rows.empty();
      planned_[static_cast<std::size_t>(step.replica)].push_back(std::move(step));
    }
    if (!running_[first]) start_front(group);
  }
}

}  // namespace rooflua::reference
