#include "serve/simulation.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/error.h"

namespace rooflua {

namespace {

constexpr std::int64_t patience = 1'000'000;  // plans that lead nowhere, in a row
// Preemptions of one replica without a token that lands there. vLLM itself can get there: by
// priority, requests of equal rank whose prompts are cut to chunks take each other's blocks.
constexpr std::int64_t most_fruitless = 100'000;

constexpr auto later = [](const auto& a, const auto& b) { return a.later_than(b); };

template <typename Event>
void push(std::vector<Event>& heap, const Event& event) {
  heap.push_back(event);
  std::push_heap(heap.begin(), heap.end(), later);
}

template <typename Event>
Event pop(std::vector<Event>& heap) {
  std::pop_heap(heap.begin(), heap.end(), later);
  const Event event = heap.back();
  heap.pop_back();
  return event;
}

bool wanted(const std::atomic<int>* stop) {
  return stop != nullptr && *stop != 0;
}

}  // namespace

// --- the loop

bool Simulation::advance() {
  const Picoseconds time = next_instant();
  if (time == never) return starve();
  take_signals(time);
  now_ = time;
  land_steps();
  deliver();
  plan_steps();
  return true;
}

void Simulation::run(const std::atomic<int>* stop) {
  while (!wanted(stop) && advance()) {
  }
}

void Simulation::run_until(double time_s, const std::atomic<int>* stop) {
  const Picoseconds end = picoseconds(time_s, "run_until");
  while (next_instant() <= end && !wanted(stop) && advance()) {
  }
  if (wanted(stop)) return;
  if (next_instant() == never) {
    if (requests_.alive() > 0) run(stop);
    return;
  }
  now_ = std::max(now_, end);
}

bool Simulation::step() {
  const std::int64_t before = totals_.steps;
  while (totals_.steps == before) {
    if (!advance()) return false;
  }
  return true;
}

Picoseconds Simulation::next_instant() {
  while (!alarms_.empty() && !alarm_holds(alarms_.front())) pop(alarms_);
  Picoseconds time = alarms_.empty() ? never : alarms_.front().time;
  if (!deliveries_.empty()) time = std::min(time, deliveries_.front().time);
  if (next_open_ >= 0) time = std::min(time, requests_.progress(next_open_).arrival);
  return time;
}

void Simulation::land_steps() {
  while (!alarms_.empty() && alarms_.front().time == now_) {
    const Alarm due = pop(alarms_);
    if (!alarm_holds(due)) continue;
    touch(due.replica);
    Replica& replica = at(due.replica);
    if (!replica.executing()) continue;
    const bool hands_over = replica.config().role == Role::prefill;
    finishing_ = replica.front().finishing;
    const StepSeen seen = replica.land(now_, gaps_, hands_over);
    ++totals_.steps;
    if (!hands_over) totals_.output_tokens += seen.tokens_landed();
    if (seen.tokens_landed() > 0) fruitless_[static_cast<std::size_t>(due.replica)] = 0;
    for (Observer* observer : bindings_.observers) observer->on_step(seen);
    for (const std::int32_t slot : finishing_) {
      hands_over ? hand_over(slot, due.replica) : finish(slot, Outcome::completed);
    }
  }
}

void Simulation::deliver() {
  const auto due = [&](std::int32_t last_order) {
    return !deliveries_.empty() && deliveries_.front().time == now_ &&
           deliveries_.front().order <= last_order;
  };
  while (due(1)) {
    const Delivery delivery = pop(deliveries_);
    delivery.order == 1 ? route(delivery.slot, 0) : arrive(delivery);
  }
  while (next_open_ >= 0 && requests_.progress(next_open_).arrival == now_) {
    const std::int32_t slot = next_open_;
    read_ahead();
    send(slot);
  }
  while (due(2)) send(pop(deliveries_).slot);
}

void Simulation::plan_steps() {
  if (touched_.size() > 1) std::sort(touched_.begin(), touched_.end());
  for (std::size_t i = 0; i < touched_.size(); ++i) {
    const std::int32_t index = touched_[i];
    is_touched_[static_cast<std::size_t>(index)] = 0;
    fill_pipeline(index);
  }
  touched_.clear();
}

void Simulation::fill_pipeline(std::int32_t index) {
  Replica& replica = at(index);
  SchedulerPolicy& scheduler = *bindings_.schedulers[static_cast<std::size_t>(index)];
  // While a step runs, arrivals only queue: plans are made at ends of steps, or when nothing runs.
  if (replica.executing()) return;
  if (replica.planned_steps() > 0) start(replica);
  if (fruitless_[static_cast<std::size_t>(index)] > most_fruitless) {
    if (replica.planned_steps() > 0) return;  // what is in flight lands first
    starve_fighters(replica);
  }
  while (replica.planned_steps() < replica.config().async_depth) {
    fail_doomed(replica);
    const bool ask = replica.must_ask(scheduler, now_);
    totals_.plans_asked += ask;
    Plan& plan = ask ? replica.make_plan(scheduler, now_) : replica.repeat_plan(now_);
    if (plan.view().preempted > 0) tell_preemptions(replica);
    for (const std::int32_t slot : replica.pulled_now()) pull(slot);
    if (plan.view().tokens == 0) {
      // Who only took away is asked again at once, if nothing else would make that happen.
      const bool took = plan.view().preempted + plan.view().rejected > 0;
      if (took && replica.planned_steps() == 0) continue;
      break;
    }
    StepPrice price;
    const Batch& batch = replica.batch_of(plan);
    bindings_.steps[static_cast<std::size_t>(index)]->price(batch, price);
    replica.commit(plan, price, now_);
    if (!replica.executing()) start(replica);
    idle_asks_ = 0;
  }
  if (replica.executing() || replica.wake() == never) return;
  if (++idle_asks_ < patience) push(alarms_, Alarm{replica.wake(), index});
}

void Simulation::start(Replica& replica) {
  const Picoseconds end = after(now_, replica.front().price.time_s, "step model");
  replica.start_front(now_, end);
  push(alarms_, Alarm{end, replica.view().index});
}

void Simulation::tell_preemptions(Replica& replica) {
  const auto preempted = replica.preempted_now();
  totals_.preemptions += static_cast<std::int64_t>(preempted.size());
  fruitless_[static_cast<std::size_t>(replica.view().index)] +=
      static_cast<std::int64_t>(preempted.size());
  for (Observer* observer : bindings_.observers) {
    for (const std::int32_t slot : preempted) observer->on_preempt(requests_[slot], now_);
  }
}

/// Those for whom `left_behind` holds fail, in order of arrival.
template <class LeftBehind>
void Simulation::starve_who(LeftBehind left_behind) {
  std::vector<std::pair<std::int32_t, std::int32_t>> left;  // id, slot
  for (std::int32_t slot = 0; slot < requests_.slots(); ++slot) {
    const Phase phase = requests_[slot].phase;
    if (phase != Phase::waiting && phase != Phase::prefilling && phase != Phase::decoding) continue;
    if (left_behind(requests_[slot])) left.emplace_back(requests_[slot].id, slot);
  }
  std::sort(left.begin(), left.end());
  for (const auto& [id, slot] : left) {
    at(requests_[slot].replica).evict(slot);
    finish(slot, Outcome::starved);
  }
}

/// They took each other's seats for ever: who has one on this replica, or lost one, fails. Those
/// who never ran may still.
void Simulation::starve_fighters(const Replica& replica) {
  const std::int32_t index = replica.view().index;
  fruitless_[static_cast<std::size_t>(index)] = 0;
  starve_who([&](const Request& request) {
    return request.replica == index && (request.phase != Phase::waiting || request.preemptions > 0);
  });
}

/// Nothing can happen any more: whoever is left fails. True if somebody was.
bool Simulation::starve() {
  const std::int64_t before = requests_.alive();
  for (Replica& replica : replicas_) fail_doomed(replica);
  starve_who([](const Request&) { return true; });
  return requests_.alive() < before || !deliveries_.empty();
}

// --- a request's way through

void Simulation::read_ahead() {
  next_open_ = -1;
  RequestSpec spec;
  if (!more_ || !(more_ = bindings_.workload->next(spec))) return;
  next_open_ = requests_.open(spec, ordinal_++);
  const Picoseconds arrival = requests_.progress(next_open_).arrival;
  if (arrival < last_open_)
    throw Error("workload: request " + std::to_string(ordinal_),
                "arrives at " + std::to_string(seconds(arrival)) +
                    " s, before the one in front of it (" + std::to_string(seconds(last_open_)) +
                    " s); arrivals must not decrease");
  last_open_ = arrival;
}

void Simulation::send(std::int32_t slot) {
  Request& request = requests_[slot];
  request.id = next_id_++;
  ++totals_.arrived;
  for (Observer* observer : bindings_.observers) observer->on_arrival(request, now_);
  const Frontend& frontend = config_.frontend;
  const double delay_s = frontend.base_s + frontend.per_prompt_token_s * request.prompt_tokens;
  if (delay_s > 0) {
    post({after(now_, delay_s, "frontend (base_s + per_prompt_token_s * tokens)"), 1, 0, slot, -1,
          -1});
  } else {
    route(slot, 0);
  }
}

void Simulation::route(std::int32_t slot, std::int32_t stage) {
  queue(slot, choose(slot, stage));
}

std::int32_t Simulation::choose(std::int32_t slot, std::int32_t stage) {
  const std::vector<std::int32_t>& candidates = stage == 1 ? decode_candidates_ : open_candidates_;
  if (candidates.size() == 1) return candidates.front();
  RouteView view;
  view.signals = fresh_signals();
  view.now_s = now_s();
  view.signals_s = seconds(signals_at_);
  view.candidates = candidates.data();
  view.candidate_count = static_cast<std::int32_t>(candidates.size());
  view.replica_count = replica_count();
  view.slot = slot;
  view.decode_stage = stage;
  view.source = this;
  const std::int32_t chosen = bindings_.router->route(requests_[slot], view);
  if (std::find(candidates.begin(), candidates.end(), chosen) == candidates.end())
    throw Error("router", "route: found replica " + std::to_string(chosen + 1) + " for request " +
                              std::to_string(requests_[slot].id) + "; " +
                              std::to_string(candidates.size()) + " of " +
                              std::to_string(replica_count()) + " replicas may take it");
  return chosen;
}

void Simulation::queue(std::int32_t slot, std::int32_t index) {
  Replica& replica = at(index);
  const ReplicaConfig& config = replica.config();
  Request& request = requests_[slot];
  Progress& progress = requests_.progress(slot);
  request.replica = index;
  ++outstanding_[static_cast<std::size_t>(index)];
  const std::int32_t room = config.max_model_len - request.prompt_tokens;
  if (config.max_model_len > 0 && room < 1) return finish(slot, Outcome::exceeds_max_model_len);
  if (blocks_for(request.prompt_tokens, config.block_size) > config.kv_blocks)
    return finish(slot, Outcome::exceeds_kv_cache);
  // Where an end token comes before the declared limit, nobody can tell.
  progress.limit = std::max(progress.output_tokens, request.max_tokens);
  if (config.role == Role::prefill) progress.limit = 1;
  if (config.max_model_len > 0) progress.limit = std::min(progress.limit, room);
  progress.stop_at = std::min(progress.output_tokens, progress.limit);
  replica.enqueue(slot, now_, *bindings_.schedulers[static_cast<std::size_t>(index)]);
  for (Observer* observer : bindings_.observers) observer->on_queued(request, now_);
  touch(index);
}

class Simulation::Inbox : public FollowUps {
 public:
  Inbox(Simulation& simulation, Picoseconds now) : simulation_(simulation), now_(now) {}
  void send(const RequestSpec& spec) override {
    const std::int32_t slot = simulation_.requests_.open(spec, simulation_.ordinal_++);
    Picoseconds& arrival = simulation_.requests_.progress(slot).arrival;
    if (spec.arrival_s >= seconds(now_))
      arrival = std::max(arrival, now_);  // "now" in whole ps again
    if (arrival < now_)
      throw Error("workload: request " + std::to_string(simulation_.ordinal_),
                  "a follow-up arrives at " + std::to_string(spec.arrival_s) +
                      " s, before the end it follows (" + std::to_string(seconds(now_)) + " s)");
    simulation_.post({arrival, 2, 0, slot, -1, -1});
  }

 private:
  Simulation& simulation_;
  Picoseconds now_;
};

/// What observers are told of the request in this slot.
RequestDone Simulation::describe(std::int32_t slot, Outcome outcome) const {
  const Request& request = requests_[slot];
  const Progress& progress = requests_.progress(slot);
  const Picoseconds delay = progress.first_token == never ? 0 : frontend_token_;
  RequestDone done;
  done.id = request.id;
  done.replica = request.replica;
  done.prefill_replica = progress.prefill_replica;
  done.outcome = outcome;
  done.now = now_ + delay;
  done.arrival = progress.arrival;
  done.queued = progress.queued;
  done.scheduled = progress.scheduled;
  if (progress.first_token != never) {
    done.first_token = progress.first_token + delay;
    done.last_token = progress.last_token + delay;
  }
  done.prompt_tokens = request.prompt_tokens;
  done.output_tokens = outcome == Outcome::completed ? progress.stop_at : request.emitted_tokens;
  done.cached_tokens = progress.first_hit_tokens;
  done.preemptions = request.preemptions;
  done.priority = request.priority;
  done.klass = request.klass;
  done.session = request.session;
  done.output_content = progress.output_content;
  return done;
}

/// The end of a request, whichever: told to observers, then to the workload.
void Simulation::finish(std::int32_t slot, Outcome outcome) {
  const RequestDone done = describe(slot, outcome);
  if (requests_.progress(slot).kept_blocks > 0) let_go(slot);
  for (Replica& replica : replicas_) replica.forget(slot);
  --outstanding_[static_cast<std::size_t>(done.replica)];
  requests_.close(slot);
  ++totals_.ended[static_cast<std::size_t>(outcome)];
  totals_.last_end = std::max(totals_.last_end, done.now);
  for (Observer* observer : bindings_.observers) observer->on_done(done);
  Inbox inbox(*this, done.now);
  bindings_.workload->on_done(done, inbox);
}

void Simulation::fail_doomed(Replica& replica) {
  if (replica.doomed().empty()) return;
  const std::vector<Replica::Doomed> doomed = std::exchange(replica.doomed(), {});
  for (const Replica::Doomed& who : doomed) finish(who.slot, who.outcome);
}

// --- events

bool Simulation::Delivery::later_than(const Delivery& other) const {
  if (time != other.time) return time > other.time;
  if (order != other.order) return order > other.order;
  return serial > other.serial;
}

bool Simulation::Alarm::later_than(const Alarm& other) const {
  return time != other.time ? time > other.time : replica > other.replica;
}

void Simulation::post(Delivery delivery) {
  delivery.serial = serial_++;
  push(deliveries_, delivery);
}

bool Simulation::alarm_holds(const Alarm& alarm) const {
  const Replica& replica = this->replica(alarm.replica);
  return alarm.time == (replica.executing() ? replica.front().end : replica.wake());
}

void Simulation::touch(std::int32_t index) {
  char& mark = is_touched_[static_cast<std::size_t>(index)];
  if (mark != 0) return;
  mark = 1;
  touched_.push_back(index);
}

}  // namespace rooflua
