// One request on its way: read from the workload, sent, routed, queued, done.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "serve/core/ranks.h"
#include "serve/loop/simulation.h"

namespace rooflua {

/// @returns the slot of a request of the workload
std::int32_t Simulation::open(const RequestSpec& given) {
  if (parts_.on_spec.empty()) {
    if (given.adapter > 0)
      throw Error(
          "workload: request " + std::to_string(arrivals_.ordinal + 1),
          "adapter: found " + std::to_string(given.adapter) + "; the scenario has no adapters");
    return core_.requests.open(given, arrivals_.ordinal++);
  }
  RequestSpec spec = given;
  for (OnSpec* part : parts_.on_spec) part->drawn(spec, arrivals_.ordinal);
  return core_.requests.open(spec, arrivals_.ordinal++);
}

void Simulation::read_ahead() {
  arrivals_.next_open = -1;
  RequestSpec spec;
  if (!arrivals_.more || !(arrivals_.more = core_.bindings.workload->next(spec))) return;
  arrivals_.next_open = open(spec);
  const Picoseconds arrival = core_.progress(arrivals_.next_open).arrival;
  if (arrival < arrivals_.last_open)
    throw Error(
        "workload: request " + std::to_string(arrivals_.ordinal),
        "arrives at " + std::to_string(seconds(arrival)) + " s, before the one in front of it (" +
            std::to_string(seconds(arrivals_.last_open)) + " s); arrivals must not decrease");
  arrivals_.last_open = arrival;
}

void Simulation::look_at_workload() {
  arrivals_.more = true;
  if (arrivals_.next_open < 0) read_ahead();
  read_due();
}

/// It has an id, and observers hear of it.
void Simulation::begin(std::int32_t slot) {
  Request& request = core_.requests[slot];
  request.id = arrivals_.next_id++;
  ++core_.totals.arrived;
  RowSent row;
  const bool is_row = core_.progress(slot).row >= 0 && tell_row(slot, row);
  core_.tell(&Observer::on_arrival, request, core_.now);
  for (OnRequest* part : parts_.on_request) part->sent(slot, is_row ? &row : nullptr);
}

void Simulation::send(std::int32_t slot) {
  begin(slot);
  const Request& request = core_.requests[slot];
  const Frontend& frontend = core_.config.frontend;
  const double delay_s = frontend.base_s + frontend.per_prompt_token_s * request.prompt_tokens;
  if (delay_s > 0) {
    const Picoseconds out =
        after(core_.now, delay_s, "frontend (base_s + per_prompt_token_s * tokens)");
    core_.post({.time = out, .kind = Delivery::Kind::through_frontend, .slot = slot});
  } else {
    route(slot);
  }
}

/// To the replica that the router chooses, if no part takes the request first.
void Simulation::route(std::int32_t slot) {
  for (OnRequest* part : parts_.on_request)
    if (part->takes(slot)) return;
  const std::int32_t chosen = choose(slot, Stage::prompt);
  if (chosen == Router::refused) return finish(slot, Outcome::refused);
  queue(slot, chosen);
}

std::int32_t Simulation::choose(std::int32_t slot, Stage stage) {
  const bool decodes = stage == Stage::decode;
  const std::vector<std::int32_t>& candidates = core_.candidates_for(stage);
  const Router* router = core_.bindings.router;
  const bool may_refuse = !decodes && router != nullptr && router->may_refuse();
  if (core_.built[decodes ? 1 : 0] == 1 && !may_refuse) return candidates.front();
  RouteView view;
  view.signals = core_.signals.read(core_.now, core_.replicas);
  view.now_s = now_s();
  view.signals_s = seconds(core_.signals.taken_at());
  view.candidates = candidates.data();
  view.candidate_count = static_cast<std::int32_t>(candidates.size());
  view.replica_count = replica_count();
  view.slot = slot;
  view.decode_stage = decodes ? 1 : 0;
  view.source = this;
  if (knowledge_) knowledge_->ask(core_.requests[slot], core_.progress(slot), core_.now);
  const std::int32_t chosen = core_.bindings.router->route(core_.requests[slot], view);
  if (chosen == Router::refused && may_refuse) return chosen;
  const bool known = chosen >= 0 && chosen < replica_count();
  if (!known || core_.is_decoder(chosen) != decodes || core_.signals.place_of(chosen) < 0)
    throw Error("router", "route: found replica " + std::to_string(chosen + 1) + " for request " +
                              std::to_string(core_.requests[slot].id) + "; " +
                              std::to_string(candidates.size()) + " of " +
                              std::to_string(replica_count()) + " replicas may take it");
  if (knowledge_) note_sent(slot, chosen, stage);
  return chosen;
}

void Simulation::count_outstanding(std::int32_t slot, std::int32_t index) {
  core_.signals.add_outstanding(index, 1);
  for (OnRequest* part : parts_.on_request) part->outstanding(slot, index);
}

void Simulation::queue(std::int32_t slot, std::int32_t index) {
  if (!core_.foreign.empty() && core_.foreign[static_cast<std::size_t>(index)] != 0)
    return core_.requests.close(slot);
  count_outstanding(slot, index);
  if (core_.may_run(index)) return join(slot, index);
  for (OnRequest* part : parts_.on_request) part->unreachable(slot, index);
}

/// Into a replica where it is outstanding.
void Simulation::join(std::int32_t slot, std::int32_t index) {
  Replica& replica = core_.at(index);
  const ReplicaConfig& config = replica.config();
  Request& request = core_.requests[slot];
  request.replica = index;
  const std::int32_t room = config.max_model_len.value_or(0) - request.prompt_tokens;
  if (config.max_model_len && room < 1) return finish(slot, Outcome::exceeds_max_model_len);
  if (!replica.could_hold(request.prompt_tokens)) return finish(slot, Outcome::exceeds_kv_cache);
  core_.limit_output(slot, config);
  if (replica.has_stages()) {
    core_.receptions[static_cast<std::size_t>(index)].add(slot, core_.now);
  } else if (Ranks(core_, *this).queue_for(index)) {
    Ranks(core_, *this).add(slot, index);
  } else {
    enter(slot, replica);
  }
  core_.touch(index);
}

/// Into the queue of the engine.
void Simulation::enter(std::int32_t slot, Replica& replica) {
  replica.enqueue(slot, core_.now, core_.scheduler(replica.view().index));
  core_.tell(&Observer::on_queued, core_.requests[slot], core_.now);
  for (OnRequest* part : parts_.on_request) part->entered(slot);
}

/// Follow-ups of a request that ended at `now`.
class Simulation::FollowUpsSent : public FollowUps {
 public:
  FollowUpsSent(Simulation& simulation, Picoseconds now) : simulation_(simulation), now_(now) {}
  void send(const RequestSpec& spec) override {
    const std::int32_t slot = simulation_.open(spec);
    Picoseconds& arrival = simulation_.core_.progress(slot).arrival;
    if (spec.arrival_s >= seconds(now_))
      arrival = std::max(arrival, now_);  // "now" in whole ps again
    if (arrival < now_)
      throw Error("workload: request " + std::to_string(simulation_.arrivals_.ordinal),
                  "a follow-up arrives at " + std::to_string(spec.arrival_s) +
                      " s, before the end it follows (" + std::to_string(seconds(now_)) + " s)");
    if (arrival == simulation_.core_.now) return simulation_.core_.sent_now.push_back(slot);
    simulation_.core_.post({.time = arrival, .kind = Delivery::Kind::sent, .slot = slot});
  }

 private:
  Simulation& simulation_;
  Picoseconds now_;
};

/// What observers are told of the request in this slot.
RequestDone Simulation::describe(std::int32_t slot, Outcome outcome) const {
  const Request& request = core_.requests[slot];
  const Progress& progress = core_.progress(slot);
  const Picoseconds delay = progress.first_token == never ? 0 : core_.frontend_token;
  RequestDone done;
  done.id = request.id;
  done.replica = request.replica;
  done.prefill_replica = progress.prefill_replica;
  done.outcome = outcome;
  done.now = core_.now + delay;
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
  done.rounds = request.rounds;
  done.drafted_tokens = request.drafted_tokens;
  done.accepted_tokens = request.accepted_tokens;
  done.priority = request.priority;
  done.klass = request.klass;
  done.session = request.session;
  done.tenant = request.tenant;
  done.program = request.program;
  done.attempt = request.attempt;
  done.origin = progress.origin;
  done.adapter = progress.adapter;
  done.held = progress.held;
  for (const OnRequest* part : parts_.on_request) part->fills(slot, done);
  done.output_content = progress.output_content;
  done.row = progress.row;
  return done;
}

std::vector<RequestDone> Simulation::unfinished() const {
  std::vector<RequestDone> out;
  for (std::int32_t slot = 0; slot < core_.requests.slots(); ++slot) {
    const Request& request = core_.requests[slot];
    if (!core_.is_live(slot)) continue;
    RequestDone each = describe(slot, Outcome::unfinished);
    each.last_token = never;
    if (request.replica >= 0)
      each.output_tokens = std::min(emitted_tokens(replica(request.replica).view(), request),
                                    core_.progress(slot).stop_at);
    out.push_back(each);
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.id < b.id; });
  return out;
}

/// Every end of a request that is not aborted.
[[gnu::flatten]] void Simulation::finish(std::int32_t slot, Outcome outcome) {
  if (core_.progress(slot).kept_blocks > 0)
    for (OnKv* part : parts_.on_kv) part->let_go(slot);
  RequestDone done = describe(slot, outcome);
  for (OnRequest* part : parts_.on_request) part->ended(slot, done);
  for (OnRequest* part : parts_.on_request) part->finished(slot);
  // No other replica knows the request: it was never in their queues.
  if (done.replica >= 0) core_.at(done.replica).forget(slot);
  if (done.prefill_replica >= 0) core_.at(done.prefill_replica).forget(slot);
  if (done.replica >= 0) leave_replica(slot, done.replica);
  core_.requests.close(slot);
  tell(done);
}

/// An end is told to observers, then to the workload.
void Simulation::tell(const RequestDone& done) {
  ++core_.totals.ended[static_cast<std::size_t>(done.outcome)];
  core_.totals.last_end = std::max(core_.totals.last_end, done.now);
  core_.tell(&Observer::on_done, done);
  for (OnRequest* part : parts_.on_request)
    if (part->goes_on(done)) return read_due();
  FollowUpsSent follow_ups(*this, done.now);
  core_.bindings.workload->on_done(done, follow_ups);
  read_due();
}

void Simulation::end_failing(Replica& replica) {
  if (replica.failing().empty()) return;
  const std::vector<Replica::Failing> failing = replica.take_failing();
  for (const Replica::Failing& each : failing) finish(each.slot, each.outcome);
}

}  // namespace rooflua
