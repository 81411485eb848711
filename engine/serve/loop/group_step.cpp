// The steps of a group of ranks: planned, priced, started. A replica that steps alone is a group of
// one; so is a replica with stages, which has several steps under way.

#include <algorithm>
#include <span>

#include "serve/core/ranks.h"
#include "serve/loop/simulation.h"

namespace rooflua {

namespace {

constexpr std::int64_t patience = 1'000'000;  // Simulation::idle_asks_ that are borne
// Preemptions of one replica without a token that lands there. vLLM itself can get there: by
// priority, requests of equal rank whose prompts are cut to chunks take each other's blocks.
constexpr std::int64_t most_fruitless = 100'000;

/// Whether no token of that replica landed during very many preemptions.
bool preempts_in_vain(const Core& core, std::int32_t index) {
  return core.fruitless_preemptions[static_cast<std::size_t>(index)] > most_fruitless;
}

/// What the schedulers of the group will see of it.
void look_at_ranks(const Core& core, RankGroup& group) {
  GroupView& view = group.view;
  view.ranks = static_cast<std::int32_t>(group.members.size());
  view.prompt_ranks = view.decode_ranks = view.open_ranks = 0;
  for (const std::int32_t index : group.members) count_rank(view, core.at(index).view());
}

}  // namespace

void Simulation::fill_pipeline(RankGroup& group) {
  const std::span<const std::int32_t> members = group.members;
  if (!core_.may_run(members.front())) return;
  const Replica& first = core_.at(members.front());
  const Pipeline& pipeline = first.pipeline();  // as full as each member's
  // While a step runs, arrivals only queue: plans are made at ends of steps, or when nothing runs.
  if (pipeline.executing()) return;
  if (first.has_stages()) return fill_stages(group);
  if (pipeline.planned() > 0) start(group);
  for (const std::int32_t index : members) {
    if (!preempts_in_vain(core_, index)) continue;
    if (pipeline.planned() > 0) return;  // what is in flight lands first
    starve_contenders(core_.at(index));
  }
  while (!pipeline.full()) {
    std::int64_t tokens = 0;
    if (!group.queue.empty()) Ranks(core_, *this).let_in(group);
    if (group.shared()) look_at_ranks(core_, group);
    for (const std::int32_t index : members) tokens += plan(core_.at(index));
    if (tokens == 0) break;
    group.shared() ? price_together(group) : price_alone(core_.at(members.front()));
    if (!pipeline.executing()) start(group);
    idle_asks_ = 0;
  }
  if (!pipeline.executing()) wake(group);
}

/// The next plan of one replica.
/// @returns how many tokens it holds
std::int32_t Simulation::plan(Replica& replica) {
  SchedulerPolicy& policy = core_.scheduler(replica.view().index);
  while (true) {
    end_failing(replica);
    const bool ask = replica.must_ask(policy, core_.now);
    core_.totals.plans_asked += ask;
    const StepPlan& plan =
        ask ? replica.make_plan(policy, core_.now) : replica.repeat_plan(core_.now);
    if (plan.view().preempted > 0) tell_preemptions(replica);
    for (OnStep* part : parts_.on_step) part->planned(replica);
    // A scheduler that only took away is asked again at once, if no event would make that happen.
    const bool took = plan.view().preempted + plan.view().rejected > 0;
    if (plan.view().tokens > 0 || !took || replica.pipeline().planned() > 0)
      return plan.view().tokens;
  }
}

void Simulation::price_alone(Replica& replica) {
  const Batch& batch = replica.batch_of_plan();
  for (OnStep* part : parts_.on_step) part->weighs(core_.group_with(batch.replica));
  replica.ask_for_drafts();
  scratch_.operations.front().clear();
  StepPrice own = price(batch, scratch_.operations.front());
  own.own_s = own.time_s;
  for (OnStep* part : parts_.on_step) part->waits(replica, own, scratch_.operations.front());
  commit(replica, own, scratch_.operations.front());
}

void Simulation::price_together(RankGroup& group) {
  const std::size_t count = group.members.size();
  GroupWork work;
  for (const std::int32_t index : group.members) work.add(core_.at(index).batch_of_plan());
  for (OnStep* part : parts_.on_step) part->weighs(group);
  for (const std::int32_t index : group.members) {
    work.write_to(core_.at(index).planned_batch());
    core_.at(index).ask_for_drafts();  // its speculator sees the group
  }
  std::size_t slowest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const Batch& batch = core_.at(group.members[i]).planned_batch();
    scratch_.prices[i] = StepPrice{};
    scratch_.operations[i].clear();
    if (batch.tokens > 0) scratch_.prices[i] = price(batch, scratch_.operations[i]);
    for (OnStep* part : parts_.on_step)
      part->waits(core_.at(group.members[i]), scratch_.prices[i], scratch_.operations[i]);
    if (scratch_.prices[i].time_s > scratch_.prices[slowest].time_s) slowest = i;
  }
  group.view.steps += 1;
  group.view.tokens = work.tokens;
  group.view.max_tokens = work.max_tokens;
  const StepPrice longest = scratch_.prices[slowest];
  for (std::size_t i = 0; i < count; ++i) {
    const StepPrice own = price_in_group(scratch_.prices[i], longest, group.sync_s);
    add_waits(scratch_.operations[i], own, group.sync_s);
    commit(core_.at(group.members[i]), own, scratch_.operations[i]);
  }
}

/// The price of a rank's own work.
StepPrice Simulation::price(const Batch& batch, std::vector<OpTime>& operations) {
  PriceDetail detail = PriceDetail::time;
  if (!unread_prices_) {
    for (const Observer* observer : core_.bindings.observers)
      detail = std::max(detail, observer->wanted_detail(batch));
  }
  const auto index = static_cast<std::size_t>(batch.replica);
  StepModel& model = *core_.steps[index];
  // Decodes with drafts advance by different numbers: no run of theirs is known ahead.
  const bool uniform = !core_.at(batch.replica).is_ragged();
  if (detail == PriceDetail::time && uniform) return core_.runs[index].price(model, batch);
  StepPrice price;
  if (detail == PriceDetail::time) {
    model.price(batch, price);
    return price;
  }
  model.explain(batch, detail, price, operations);
  return price;
}

void Simulation::commit(Replica& replica, const StepPrice& price,
                        std::span<const OpTime> operations) {
  if (!unread_prices_) {
    const StepPriced priced{
        replica, replica.plan().serial(), core_.now, replica.planned_batch(), price, operations};
    core_.tell(&Observer::on_priced, priced);
  }
  replica.commit(price, core_.now);
}

void Simulation::start(const RankGroup& group) {
  for (const std::int32_t index : group.members) {
    Replica& replica = core_.at(index);
    const Picoseconds end = after(core_.now, replica.pipeline().front().price.time_s, "step model");
    replica.start_front(core_.now, end);
    core_.alarms.push({end, index});
    for (OnStep* part : parts_.on_step) part->started(replica);
  }
}

/// Nothing runs: schedulers that want to be asked at a time are asked then.
void Simulation::wake(const RankGroup& group) {
  for (const std::int32_t index : group.members) {
    const Picoseconds time = core_.at(index).wake();
    if (time != never && ++idle_asks_ < patience) core_.alarms.push({time, index});
  }
}

// --- with stages

/// Plans are made when the oldest step has landed, or when none is under way, as many as there is
/// room for. @pre the front step has landed
void Simulation::fill_stages(RankGroup& group) {
  Replica& replica = core_.at(group.members.front());
  const std::int32_t index = replica.view().index;
  if (replica.bring_forward()) core_.alarms.push({replica.pipeline().front().end, index});
  if (preempts_in_vain(core_, index)) {
    if (replica.planned_steps() > 0) return;  // what is in flight lands first
    starve_contenders(replica);
  }
  while (replica.has_room() && plan_stages(replica)) {
  }
  if (replica.planned_steps() == 0) wake(group);
}

/// One step more under way. @returns whether there was something to plan
bool Simulation::plan_stages(Replica& replica) {
  const Reception& coming = core_.receptions[static_cast<std::size_t>(replica.view().index)];
  const bool idle = replica.planned_steps() == 0;
  do let_in(replica);
  while (plan(replica) == 0 && idle && !coming.empty());
  if (replica.plan().view().tokens == 0) return false;
  price_stages(replica);
  if (idle) core_.alarms.push({replica.pipeline().front().end, replica.view().index});
  idle_asks_ = 0;
  return true;
}

/// Requests on their way into the engine that the next plan sees.
void Simulation::let_in(Replica& replica) {
  const std::int32_t index = replica.view().index;
  scratch_.entering.clear();
  core_.receptions[static_cast<std::size_t>(index)].let_in(replica.config().stages.most_batches(),
                                                           scratch_.entering);
  for (const std::int32_t slot : scratch_.entering) enter(slot, replica);
}

void Simulation::price_stages(Replica& replica) {
  const Batch& batch = replica.batch_of_plan();
  for (OnStep* part : parts_.on_step) part->weighs(core_.group_with(batch.replica));
  scratch_.operations.front().clear();
  StepPrice whole = price(batch, scratch_.operations.front());
  whole.own_s = whole.time_s;
  for (OnStep* part : parts_.on_step) part->waits(replica, whole, scratch_.operations.front());
  if (whole.time_s > whole.own_s) replica.hold_stages(core_.now, whole.time_s - whole.own_s);
  add_sends(replica.config().stages, batch.tokens, whole, scratch_.operations.front());
  commit(replica, whole, scratch_.operations.front());
}

}  // namespace rooflua
