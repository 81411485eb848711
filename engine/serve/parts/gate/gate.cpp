#include "serve/parts/gate/gate.h"

#include <algorithm>
#include <limits>
#include <string>

#include "base/error.h"
#include "serve/core/router_signals.h"

namespace rooflua {

namespace {

const GateRules& checked(const GateRules& rules) {
  const auto need = [](bool right, const char* what) {
    if (!right) throw Error("admission", what);
  };
  need(rules.queue_threshold > 0 && rules.kv_threshold > 0,
       "queue_threshold and kv_threshold are above 0");
  need(rules.most >= 0, "most is 0 or more");
  need(rules.most == 0 || rules.interval_s > 0, "most needs interval_s above 0");
  need(rules.queue.max_held >= 0 && rules.queue.max_held_tokens >= 0,
       "max_held and max_held_tokens are 0 or more");
  need(rules.queue.prompt_weight >= 0 && rules.queue.output_weight >= 0,
       "prompt_weight and output_weight are 0 or more");
  need(rules.queue.half_life_s >= 0 && rules.queue.estimate_tokens >= 0,
       "half_life_s and estimate_tokens are 0 or more");
  need(rules.deadline_s >= 0, "deadline_s is 0 or more");
  for (const double each : rules.class_deadline_s) need(each >= 0, "deadlines are 0 or more");
  return rules;
}

bool same(const QueueRules& a, const QueueRules& b) {
  return a.flow == b.flow && a.fair == b.fair && a.order == b.order && a.count == b.count &&
         a.half_life_s == b.half_life_s;
}

/// The first multiple of `interval` at or after `time`.
Picoseconds tick_from(Picoseconds time, Picoseconds interval) {
  const Picoseconds over = time % interval;
  return over == 0 ? time : time + (interval - over);
}

}  // namespace

Gate::Gate(const GateRules& rules)
    : rules_(checked(rules)),
      staleness_(picoseconds(rules.staleness_s, "admission: staleness_s")),
      interval_(picoseconds(rules.interval_s, "admission: interval_s")),
      queue_(rules.queue) {}

void Gate::change(const GateRules& rules) {
  if (!same(checked(rules).queue, rules_.queue))
    throw Error("admission",
                "the queue of a gate (flow, fair, order, count, half_life_s) cannot "
                "change while it runs");
  Gate other(rules);
  rules_ = rules;
  staleness_ = other.staleness_;
  interval_ = other.interval_;
  queue_.change_limits(rules.queue);
  unseen_ = true;
}

// --- requests

std::int32_t Gate::key_of(const Request& request) const {
  switch (rules_.queue.flow) {
    case FlowKey::tenant:
      return request.tenant;
    case FlowKey::program:
      return request.program;
    case FlowKey::session:
      return request.session;
    case FlowKey::klass:
      return request.klass;
    case FlowKey::request:
      break;
  }
  return request.id;
}

void Gate::hold(std::int32_t slot, const Request& request, Picoseconds deadline, Picoseconds now) {
  queue_.hold({slot, request.priority, key_of(request), request.prompt_tokens, now, deadline});
  const auto klass = static_cast<std::size_t>(std::max(0, request.klass));
  if (held_by_class_.size() <= klass) held_by_class_.resize(klass + 1, 0);
  ++held_by_class_[klass];
  ++came_;
  unseen_ = true;
  stale_ = true;
}

Picoseconds Gate::let_go(std::int32_t slot, const Request& request, Picoseconds now) {
  const Picoseconds since = queue_.held(slot).since;
  queue_.remove(slot);
  --held_by_class_[static_cast<std::size_t>(std::max(0, request.klass))];
  unseen_ = true;
  return now - since;
}

void Gate::pass(std::int32_t slot, const Request& request, Picoseconds now) {
  if (passed_.size() <= static_cast<std::size_t>(slot))
    passed_.resize(static_cast<std::size_t>(slot) + 1);
  Passed& own = passed(slot);
  own = {queue_.account(request.priority, key_of(request)), request.prompt_tokens,
         request.max_output_tokens, 0, -1};
  ++in_flight_;
  in_flight_tokens_ += own.prompt_tokens + own.limit_tokens;
  unseen_ = true;
  queue_.grant(own.account);
  if (rules_.queue.count == ServiceCount::end) return;
  if (rules_.queue.count == ServiceCount::estimate) {
    const bool predicted = request.predicted_output_tokens >= 0;
    own.output_tokens = predicted                       ? request.predicted_output_tokens
                        : request.max_output_tokens > 0 ? request.max_output_tokens
                                                        : rules_.queue.estimate_tokens;
  } else {
    own.place = static_cast<std::int32_t>(counted_.size());
    counted_.push_back(slot);
  }
  queue_.serve(own.account, own.prompt_tokens, own.output_tokens, now);
}

void Gate::credit(std::int32_t replica, const Request& request) {
  if (!rules_.credit || staleness_ == 0) return;
  ReplicaSignals& signals = signals_[static_cast<std::size_t>(replica)];
  ++signals.waiting;
  signals.waiting_tokens += request.prompt_tokens;
}

void Gate::serve(std::int32_t slot, std::int32_t output_tokens, Picoseconds now) {
  Passed& own = passed(slot);
  const double more = output_tokens - own.output_tokens;
  if (more == 0) return;
  queue_.serve(own.account, 0, more, now);
  own.output_tokens = output_tokens;
}

void Gate::end(std::int32_t slot, std::int32_t output_tokens, Picoseconds now) {
  if (!has_passed(slot)) return;
  if (rules_.queue.count == ServiceCount::end)
    queue_.serve(passed(slot).account, passed(slot).prompt_tokens, 0, now);
  serve(slot, output_tokens, now);
  Passed& own = passed(slot);
  if (own.place >= 0) {
    const std::int32_t last = counted_.back();
    counted_[static_cast<std::size_t>(own.place)] = last;
    passed(last).place = own.place;
    counted_.pop_back();
  }
  --in_flight_;
  in_flight_tokens_ -= own.prompt_tokens + own.limit_tokens;
  own = {};
  unseen_ = true;
}

// --- what its policy sees

void Gate::take(const std::vector<Replica>& replicas) {
  signals_.clear();
  for (const Replica& each : replicas) signals_.push_back(each.signals(false));
}

void Gate::pass_time(Picoseconds time, const std::vector<Replica>& replicas) {
  if (staleness_ == 0 || time < next_signals_) return;
  taken_at_ = time - time % staleness_;
  next_signals_ = taken_at_ + staleness_;
  take(replicas);
  stale_ = false;
  unseen_ = true;
}

void Gate::show(GateView& view, std::span<const std::int32_t> candidates,
                const std::vector<Replica>& replicas, const RouterSignals& own, Picoseconds now) {
  if (staleness_ == 0 || signals_.size() != replicas.size()) {
    taken_at_ = now;
    take(replicas);
  }
  double sum = 0;
  for (const std::int32_t each : candidates) {
    ReplicaSignals& signals = signals_[static_cast<std::size_t>(each)];
    signals.outstanding = own.outstanding(each);
    signals.group = own.group_of(each);
    sum += std::max(signals.waiting / rules_.queue_threshold,
                    signals.kv_used_frac / rules_.kv_threshold);
  }
  view.pool.signals = signals_.data();
  view.pool.signals_s = seconds(taken_at_);
  view.saturation = candidates.empty() ? 1 : sum / static_cast<double>(candidates.size());
  view.ready = static_cast<std::int32_t>(candidates.size());
  view.held = queue_.size();
  view.held_tokens = static_cast<double>(queue_.tokens());
  view.in_flight = in_flight_;
  view.in_flight_tokens = in_flight_tokens_;
  queue_.list_bands(bands_);
  view.bands = bands_.data();
  view.band_count = static_cast<std::int32_t>(bands_.size());
  view.held_by_class = held_by_class_.data();
  view.class_count = static_cast<std::int32_t>(held_by_class_.size());
}

std::span<const GateFlow> Gate::flows(Picoseconds now) {
  queue_.list_flows(flows_, now);
  return flows_;
}

// --- when its policy is asked

std::int32_t Gate::turns(Picoseconds now) const {
  const bool is_tick = interval_ == 0 || now % interval_ == 0;
  const bool asks = (unseen_ && (is_tick || came_ > 0)) || again_ <= now;
  if (!asks) return 0;
  if (rules_.most == 0) return std::numeric_limits<std::int32_t>::max();
  return rules_.most * std::max(1, came_ + (interval_ > 0 && is_tick ? 1 : 0));
}

void Gate::end_instant(bool moved, Picoseconds now) {
  came_ = 0;
  if (moved) stale_ = true;
  if (moved && staleness_ == 0) unseen_ = true;
  next_turn_ = turn_behind(now);
}

void Gate::candidates_changed(Picoseconds now) {
  unseen_ = true;
  next_turn_ = turn_behind(now);
}

void Gate::request_ended(Picoseconds now) {
  stale_ = true;
  next_turn_ = turn_behind(now);
}

Picoseconds Gate::turn_behind(Picoseconds now) const {
  if (held() == 0) return never;
  Picoseconds next = again_ > now ? again_ : never;
  if (interval_ > 0 && unseen_) next = std::min(next, tick_from(now + 1, interval_));
  if (staleness_ == 0 || !stale_) return next;
  const Picoseconds signals = std::max(next_signals_, now + 1);
  return std::min(next, interval_ > 0 ? tick_from(signals, interval_) : signals);
}

// --- deadlines

void Gate::expect(std::int32_t slot, std::int32_t id, Picoseconds deadline) {
  if (deadline != never) due_.push({deadline, id, slot});
}

}  // namespace rooflua
