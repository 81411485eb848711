#include "measure/record/latency_parts.h"

#include <algorithm>
#include <utility>

#include "base/error.h"

namespace rooflua {

namespace {

std::size_t place(LatencyPart part) {
  return static_cast<std::size_t>(part);
}

/// Where KV is computed in stages, steps overlap: a request that waited until the end of another
/// step was in its own one already. The time that it shares with that is given back.
void give_back(PartTimes& parts, PartTimes& wait, Picoseconds& since, Picoseconds shared) {
  using enum LatencyPart;
  for (const LatencyPart part : {decodes, prefill, budget, seat, kv}) {
    const Picoseconds given = std::clamp<Picoseconds>(shared, 0, wait[place(part)]);
    wait[place(part)] -= given;
    parts[place(part)] -= given;
    since -= given;
    shared -= given;
  }
}

}  // namespace

void LatencyPartsCounter::add_clocks(std::size_t count) {
  clocks_.resize(count);
}

LatencyPartsCounter::Live& LatencyPartsCounter::open(std::int32_t id) {
  const auto index = static_cast<std::size_t>(id);
  if (index >= places_.size()) places_.resize(index + 1, -1);
  if (free_.empty()) {
    free_.push_back(static_cast<std::int32_t>(live_.size()));
    live_.emplace_back();
  }
  places_[index] = free_.back();
  free_.pop_back();
  Live& live = live_[static_cast<std::size_t>(places_[index])];
  live = Live{};
  return live;
}

void LatencyPartsCounter::close(std::int32_t id) {
  std::int32_t& place = places_[static_cast<std::size_t>(id)];
  free_.push_back(std::exchange(place, -1));
}

void LatencyPartsCounter::count(Live& live, LatencyPart part, Picoseconds until) {
  if (until <= live.since) return;
  live.parts[place(part)] += until - live.since;
  live.since = until;
}

void LatencyPartsCounter::count_wait(Live& live, LatencyPart part, Picoseconds until) {
  if (until > live.since) live.wait[place(part)] += until - live.since;
  count(live, part, until);
}

/// What the clock says since `base`, up to this moment.
void LatencyPartsCounter::read(Live& live, const PartTimes& clock, Picoseconds until) {
  for (std::size_t i = 0; i < clock.size(); ++i) {
    const Picoseconds time = clock[i] - live.base[i];
    live.parts[i] += time;
    if (live.phase == Phase::waiting) live.wait[i] += time;
    live.since += time;
  }
  ROOFLUA_ASSERT(live.since == until);
  live.has_base = false;
}

/// It waits at a replica from now on, or from when its KV will be there.
void LatencyPartsCounter::wait_from(Live& live, std::int32_t id, std::int32_t replica,
                                    Picoseconds now) {
  live.phase = Phase::waiting;
  live.replica = replica;
  live.asked = std::max(now, live.since);
  live.has_base = false;
  live.wait = {};
  watch(id, replica);
}

/// Steps that end are counted for this request alone.
void LatencyPartsCounter::watch(std::int32_t id, std::int32_t replica) {
  std::vector<std::int32_t>& joining = clocks_of(replica).joining;
  if (std::find(joining.begin(), joining.end(), id) == joining.end()) joining.push_back(id);
}

/// Counts the time up to a moment at which no step of its own ends.
void LatencyPartsCounter::settle(Live& live, Picoseconds now) {
  using enum LatencyPart;
  switch (live.phase) {
    case Phase::away:
      return count(live, frontend, now);
    case Phase::held:
      return count(live, gate, now);
    case Phase::unrouted:
    case Phase::pending:
      return count(live, route, now);
    case Phase::waiting:
      if (live.has_base) read(live, clocks_of(live.replica).waiting, clocks_of(live.replica).until);
      return count_wait(live, budget, now);
    case Phase::loading:
      return count(live, transfer, now);
    case Phase::seated:
      return count(live, budget, now);
    case Phase::decoding:
      if (live.has_base)
        read(live, clocks_of(live.replica).decoding, clocks_of(live.replica).until);
      return count(live, decodes, now);
    case Phase::preempted:
      return count(live, kv, now);
  }
}

// --- what happens to a request

void LatencyPartsCounter::on_arrival(const Request& request, Picoseconds now) {
  if (has_too_many_ || (only_ && *only_ != request.id)) return;
  if (++arrived_ > most_requests) {
    *this = LatencyPartsCounter(only_);
    has_too_many_ = true;
    return;
  }
  open(request.id).since = now;
}

void LatencyPartsCounter::on_held(const Request& request, Picoseconds now) {
  Live* live = find(request.id);
  if (live == nullptr) return;
  settle(*live, now);
  live->phase = Phase::held;
}

void LatencyPartsCounter::on_no_replica(const Request& request) {
  if (Live* live = find(request.id)) live->phase = Phase::unrouted;
}

void LatencyPartsCounter::on_passed(const Request& request, Picoseconds now) {
  Live* live = find(request.id);
  if (live == nullptr) return;
  settle(*live, now);
  live->phase = Phase::away;
}

void LatencyPartsCounter::on_queued(const Request& request, Picoseconds now) {
  Live* live = find(request.id);
  if (live == nullptr) return;
  settle(*live, now);
  wait_from(*live, request.id, request.replica, now);
  if (request.phase == rooflua::Phase::pending) live->phase = Phase::pending;
}

void LatencyPartsCounter::on_preempt(const Request& request, Picoseconds now) {
  Live* live = find(request.id);
  if (live == nullptr) return;
  settle(*live, now);
  // The token that was sampled last has no KV.
  live->has_token = live->phase == Phase::decoding;
  if (live->has_token)
    live->reached = std::max(live->reached, request.prompt_tokens + request.emitted_tokens - 1);
  live->phase = Phase::preempted;
  live->asked = now;
  if (live->has_token) watch(request.id, live->replica);
}

void LatencyPartsCounter::on_load(const Request& request, Picoseconds now) {
  Live* live = find(request.id);
  if (live == nullptr) return;
  settle(*live, now);
  live->phase = Phase::loading;
}

void LatencyPartsCounter::on_loaded(const Request& request, Picoseconds now) {
  Live* live = find(request.id);
  if (live == nullptr) return;
  settle(*live, now);
  wait_from(*live, request.id, live->replica, now);
}

void LatencyPartsCounter::on_transfer(const TransferSeen& transfer) {
  Live* live = find(transfer.id);
  if (live == nullptr || transfer.store >= 0 || transfer.is_pushed) return;
  if (live->phase != Phase::decoding) settle(*live, transfer.start);
  live->has_base = false;
  count(*live, LatencyPart::transfer, transfer.end);
  wait_from(*live, transfer.id, transfer.to, transfer.end);
}

void LatencyPartsCounter::on_computed(const Request& request, Picoseconds now) {
  Live* live = find(request.id);
  if (live == nullptr) return;
  settle(*live, now);
  live->phase = Phase::loading;
}

void LatencyPartsCounter::on_kv(const Request& request, Picoseconds now) {
  Live* live = find(request.id);
  if (live == nullptr) return;
  settle(*live, now);
  wait_from(*live, request.id, request.replica, now);
}

void LatencyPartsCounter::on_done(const RequestDone& done) {
  Live* live = find(done.id);
  if (live == nullptr) return;
  if (done.outcome == Outcome::completed && done.first_token != never) {
    if (live->has_base) settle(*live, clocks_of(live->replica).until);
    if (live->phase == Phase::preempted)  // its last token was under way
      count(*live, LatencyPart::decodes, clocks_of(live->replica).until);
    count(*live, LatencyPart::frontend, done.last_token);
    ended_.push_back({done.id, done.output_tokens, to_first(*live, done.first_token), live->parts});
  }
  close(done.id);
}

/// The parts up to the first token. What is between the step that gave it and the client is the
/// frontend's.
PartTimes LatencyPartsCounter::to_first(const Live& live, Picoseconds first_token) const {
  PartTimes out = live.parts;
  Picoseconds step_end = live.since;
  if (live.computed <= first_token) {
    step_end = live.computed;
    out = live.to_computed;
  }
  for (const auto& [time, parts] : live.computed_again) {
    if (time > first_token) break;
    step_end = time;
    out = parts;
  }
  out[place(LatencyPart::frontend)] += first_token - step_end;
  return out;
}

// --- steps

LatencyPartsCounter::Passed LatencyPartsCounter::passed(const StepDone& step) {
  using enum LatencyPart;
  Passed out{step.planned, step.start, step.end};
  const bool has_prompts = !step.prefills.empty();
  out.came = has_prompts ? prefill : step.empty() ? budget : decodes;
  out.decoding = has_prompts ? prefill : decodes;
  const bool no_seat = step.max_num_seqs > 0 && step.running >= step.max_num_seqs;
  const bool no_tokens =
      step.max_num_batched_tokens > 0 && step.batch->tokens >= step.max_num_batched_tokens;
  if (no_seat)
    out.waiting = seat;
  else if (!no_tokens && step.lacks_blocks)
    out.waiting = kv;
  return out;
}

/// Requests that came before a step was planned wait for it, later ones for its end. One that lost
/// its seat may have a token in a step that was planned before.
/// @returns whether the next step counts for this request alone, too
bool LatencyPartsCounter::is_apart(Live& live, Clocks& clocks, const Passed& step) {
  if (live.phase == Phase::preempted) {
    if (!live.has_token || step.planned >= live.asked) return false;
    count(live, step.decoding, step.end);
    return true;
  }
  if (live.phase != Phase::waiting || live.has_base) return false;
  if (step.end <= live.since) return true;
  count_wait(live, LatencyPart::budget, step.start);
  if (step.planned < live.asked) {
    count_wait(live, step.came, step.end);
    return true;
  }
  if (live.since > clocks.until) return true;  // where steps overlap
  live.base = clocks.waiting;
  live.has_base = true;
  return false;
}

void LatencyPartsCounter::join(Clocks& clocks, const Passed& step) {
  std::erase_if(clocks.joining, [&](std::int32_t id) {
    Live* live = find(id);
    return live == nullptr || &clocks_of(live->replica) != &clocks ||
           !is_apart(*live, clocks, step);
  });
}

void LatencyPartsCounter::advance(Clocks& clocks, const Passed& step) {
  if (step.end <= clocks.until) return;
  const Picoseconds time = step.end - clocks.until;
  clocks.waiting[place(step.waiting)] += time;
  clocks.decoding[place(step.decoding)] += time;
  clocks.until = step.end;
}

/// A step ends that computed a chunk of a prompt.
void LatencyPartsCounter::land(const StepDone& step, const PrefillWork& chunk,
                               const Clocks& clocks) {
  Live* live = find(chunk.id);
  if (live == nullptr || live->replica != step.replica) return;
  const bool in_stages = step.price->stages > 1;
  if (live->has_base) settle(*live, clocks.until);
  const bool waited = live->phase == Phase::waiting;
  settle(*live, in_stages ? step.planned : step.start);
  if (in_stages && waited)
    give_back(live->parts, live->wait, live->since,
              live->since - std::max(step.planned, live->asked));
  const bool again = chunk.context_tokens < live->reached;
  count(*live, again ? LatencyPart::kv : LatencyPart::prefill, step.end);
  live->reached = std::max(live->reached, chunk.context_tokens + chunk.new_tokens);
  if (chunk.completes != 0 && live->computed != never) {
    live->computed_again.emplace_back(live->since, live->parts);
  } else if (chunk.completes != 0) {
    live->computed = live->since;
    live->to_computed = live->parts;
  }
  if (live->phase == Phase::preempted && step.planned <= live->asked) return;
  live->phase = chunk.completes != 0 ? Phase::decoding : Phase::seated;
}

/// Between two steps.
void LatencyPartsCounter::idle(Clocks& clocks, Picoseconds until) {
  if (until <= clocks.until) return;
  const Picoseconds time = until - clocks.until;
  clocks.waiting[place(LatencyPart::budget)] += time;
  clocks.decoding[place(LatencyPart::decodes)] += time;
  clocks.until = until;
}

void LatencyPartsCounter::on_step(const StepDone& step) {
  if (free_.size() == live_.size()) return;
  const Passed passed_step = passed(step);
  Clocks& clocks = clocks_of(step.replica);
  idle(clocks, step.start);
  if (!clocks.joining.empty()) join(clocks, passed_step);
  if (step.prefills.empty() && step.skipped.empty()) {  // most steps
    advance(clocks, passed_step);
  } else {
    land(step, clocks, passed_step);
  }
}

/// The requests of a step that it computed a chunk of, or left out.
void LatencyPartsCounter::land(const StepDone& step, Clocks& clocks, const Passed& passed_step) {
  for (const PrefillWork& chunk : step.prefills) land(step, chunk, clocks);
  const bool in_stages = step.price->stages > 1;  // those in other stages are among the skipped
  const auto skipped = in_stages ? std::span<const std::int32_t>() : step.skipped;
  const auto decoding = [&](std::int32_t id) {
    Live* live = find(id);
    const bool is_it = live != nullptr && live->replica == step.replica;
    return is_it && live->phase == Phase::decoding ? live : nullptr;
  };
  for (const std::int32_t id : skipped) {
    Live* live = decoding(id);
    if (live == nullptr) continue;
    if (live->has_base) read(*live, clocks.decoding, clocks.until);
    count(*live, step.prefills.empty() ? LatencyPart::budget : LatencyPart::prefill, step.end);
  }
  advance(clocks, passed_step);
  const auto follow = [&](std::int32_t id) {
    Live* live = decoding(id);
    if (live == nullptr || live->has_base || live->since != clocks.until) return;
    live->base = clocks.decoding;
    live->has_base = true;
  };
  for (const PrefillWork& chunk : step.prefills) follow(chunk.id);
  for (const std::int32_t id : skipped) follow(id);
}

void LatencyPartsCounter::on_steps(const StepsDone& done) {
  if (free_.size() == live_.size()) return;
  on_step(done.first);
  Clocks& clocks = clocks_of(done.first.replica);
  Passed step = passed(done.first);
  for (const RepeatedStep& each : done.steps.subspan(1)) {
    step.planned = each.planned;
    step.start = each.start;
    step.end = each.end;
    if (!clocks.joining.empty()) join(clocks, step);
    advance(clocks, step);
  }
}

}  // namespace rooflua
