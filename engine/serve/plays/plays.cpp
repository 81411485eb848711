#include "serve/plays/plays.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "base/error.h"

namespace rooflua {

namespace {

constexpr std::int64_t most_in_vain = 100000;

std::string numbered(std::int64_t play) {
  return "play " + std::to_string(play + 1);
}

/// `delay_s` after an event. The sum is one of seconds, as that of a workload in Lua would be.
Picoseconds behind(Picoseconds event, double delay_s, const char* what) {
  return std::max(event, picoseconds(seconds(event) + delay_s, what));
}

}  // namespace

Plays::Plays(std::unique_ptr<PlaySource> source, const PlaysOptions& options)
    : source_(std::move(source)), options_(options) {
  if (options_.until_s) until_ = picoseconds(*options_.until_s, "plays: until_s");
  if (options_.idle_cap_s) idle_cap_ = picoseconds(*options_.idle_cap_s, "plays: idle_cap_s");
}

Plays::Plays(const Plays& other, std::unique_ptr<PlaySource> source)
    : source_(std::move(source)),
      options_(other.options_),
      until_(other.until_),
      idle_cap_(other.idle_cap_),
      items_(other.items_),
      again_(other.again_),
      serial_(other.serial_),
      now_(other.now_),
      skipped_(other.skipped_),
      idle_since_(other.idle_since_),
      begun_(other.begun_),
      exhausted_(other.exhausted_),
      stopped_(other.stopped_),
      live_(other.live_),
      free_places_(other.free_places_),
      under_way_(other.under_way_),
      taken_(other.taken_),
      in_flight_(other.in_flight_),
      in_vain_(other.in_vain_),
      expected_(other.expected_),
      last_arrival_(other.last_arrival_),
      handles_(other.handles_),
      free_handles_(other.free_handles_),
      held_(other.held_),
      warm_open_(other.warm_open_),
      unsent_(other.unsent_),
      rows_(other.rows_),
      seen_(other.seen_) {}

std::unique_ptr<Workload> Plays::fork() const {
  std::unique_ptr<PlaySource> source = source_->fork();
  if (source == nullptr) return nullptr;
  return std::unique_ptr<Workload>(new Plays(*this, std::move(source)));
}

std::optional<Unsent> Plays::left_out() const {
  constexpr const char* why[reasons] = {"after a request that failed",
                                        "after a request that did not fail",
                                        "cancelled before they were sent", "past until_s"};
  Unsent out{"plays", "requests", rows_, {}};
  for (std::size_t i = 0; i < reasons; ++i)
    if (unsent_[i] > 0) out.reasons.push_back({why[i], unsent_[i], 0});
  if (out.reasons.empty()) return std::nullopt;
  return out;
}

// --- its clock

void Plays::push(Picoseconds time, Kind kind, std::int32_t place, std::int32_t row) {
  const std::int64_t number = place < 0 ? -1 : at(place).number;
  items_.push({time, serial_++, number, place, row, kind});
}

Picoseconds Plays::due() const {
  Picoseconds out = items_.empty() ? never : items_.front().time - skipped_;
  if (!stopped_ && under_way_ + (expected_ ? 1 : 0) > 0) out = std::min(out, until_);
  return out;
}

/// The first question of the engine. Everything is sent from on_due().
bool Plays::next(RequestSpec&) {
  if (begun_) return false;
  begun_ = true;
  if (options_.lanes > 0) {
    push(0, Kind::fill);
  } else {
    expect_arrival();
  }
  return false;
}

void Plays::on_due(Picoseconds now, Client& client) {
  now_ = now;
  if (!stopped_ && now >= until_) stop(client);
  const auto is_due = [&] { return !items_.empty() && items_.front().time <= now + skipped_; };
  while (is_due()) {
    while (is_due()) handle(items_.pop(), client);
    release_barriers();
    skip_idle_time();
  }
  for (Item& item : again_) {
    item.serial = serial_++;
    items_.push(item);
  }
  again_.clear();
}

void Plays::handle(const Item& item, Client& client) {
  if (item.kind == Kind::fill) return fill_lanes();
  if (item.kind == Kind::arrival) {
    if (stopped_) return;
    begin(std::move(*expected_), now_);
    expected_.reset();
    return expect_arrival();
  }
  const std::int32_t place = item.place, row = item.row;
  LivePlay& live = at(place);
  if (live.number != item.number) return;
  LiveRow& own = live.row(row);
  if (item.kind == Kind::first_token && own.state == LiveRow::State::sent && !own.saw_first_token) {
    own.saw_first_token = true;
    own.first_token = now_;
    fire(place, row, RowEvent::first_token);
  }
  if (item.kind == Kind::ended) end(place, row);
  if (item.kind == Kind::send && own.state == LiveRow::State::ready) send(place, row, client);
  if (item.kind == Kind::cancel || item.kind == Kind::late_cancel) cancel(item, client);
  if (live.open == 0) finish(place, client);
}

/// While no request is in flight, all that is to come moves forward.
void Plays::skip_idle_time() {
  if (idle_cap_ == never || in_flight_ > 0 || items_.empty()) return;
  Picoseconds first = never;
  items_.each([&](const Item& item) {
    const bool sends = item.kind == Kind::send
                           ? at(item.place).number == item.number &&
                                 at(item.place).row(item.row).state == LiveRow::State::ready
                           : item.kind == Kind::arrival;
    if (sends) first = std::min(first, item.time);
  });
  if (first == never) return;
  const Picoseconds latest = idle_since_ + idle_cap_;
  if (first - skipped_ > latest) skipped_ = first - latest;
}

// --- plays

bool Plays::ask(Play& play) {
  if (exhausted_ || stopped_) return false;
  exhausted_ = !source_->next(play);
  return !exhausted_;
}

void Plays::fill_lanes() {
  Play play;
  while (under_way_ < options_.lanes && ask(play)) begin(std::exchange(play, {}), now_);
}

void Plays::expect_arrival() {
  Play play;
  if (!ask(play)) return;
  const Picoseconds arrival = picoseconds(play.arrival_s, "workload: arrival_s");
  if (arrival < last_arrival_)
    throw Error("workload: " + numbered(taken_), "arrival_s: " + std::to_string(play.arrival_s) +
                                                     " s lies before the play in front of it (" +
                                                     std::to_string(seconds(last_arrival_)) +
                                                     " s); arrivals must not decrease");
  last_arrival_ = arrival;
  expected_ = std::move(play);
  push(std::max(arrival, now_ + skipped_), Kind::arrival);
}

void Plays::begin(Play given, Picoseconds start) {
  const std::int64_t number = taken_++;
  auto play = std::make_shared<const Play>(std::move(given));
  auto listeners = std::make_shared<const RowListeners>(*play, "workload: " + numbered(number));
  std::int32_t place = static_cast<std::int32_t>(live_.size());
  if (free_places_.empty()) {
    live_.emplace_back();
  } else {
    place = free_places_.back();
    free_places_.pop_back();
  }
  LivePlay& live = at(place);
  live = {std::move(play), std::move(listeners), number, start, 0, false, {}, {}};
  live.open = static_cast<std::int32_t>(live.play->rows.size());
  live.rows.resize(live.play->rows.size());
  live.marks.resize(live.play->lists.size());
  ++under_way_;
  rows_ += live.open;
  for (std::int32_t i = 0; i < live.open; ++i) {
    const PlayRow& said = live.said(i);
    LiveRow& row = live.row(i);
    row.missing = static_cast<std::int32_t>(said.parents.size());
    row.due = behind(start, said.not_before_s, "workload: not_before_s") + skipped_;
    if (said.warm) ++warm_open_[static_cast<std::size_t>(said.barrier)];
  }
  for (std::int32_t i = 0; i < live.open; ++i)
    if (live.row(i).missing == 0) make_ready(place, i);
}

void Plays::finish(std::int32_t place, Client& client) {
  LivePlay& live = at(place);
  const PlayDone done = live.describe(now_, path_);
  in_vain_ = live.start == now_ ? in_vain_ + 1 : 0;
  if (in_vain_ > most_in_vain)
    throw Error("workload: " + numbered(live.number),
                "100,000 plays, one after the other, ended in the instant in which they began");
  client.end_play(done);
  live = {};
  free_places_.push_back(place);
  --under_way_;
  if (options_.lanes > 0) fill_lanes();
}

/// until_s has come.
void Plays::stop(Client& client) {
  stopped_ = true;
  expected_.reset();
  for (std::int32_t place = 0; place < static_cast<std::int32_t>(live_.size()); ++place) {
    if (at(place).number < 0) continue;
    at(place).cut = true;
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(at(place).rows.size()); ++i)
      leave_out(place, i, Reason::past_end);
    if (at(place).open == 0) finish(place, client);
  }
}

// --- rows

std::int64_t Plays::warm_rows_open() const {
  return std::accumulate(warm_open_.begin(), warm_open_.end(), std::int64_t{0});
}

bool Plays::is_held(const PlayRow& row) const {
  for (std::int32_t i = 0; i < row.barrier; ++i)
    if (warm_open_[static_cast<std::size_t>(i)] > 0) return true;
  return false;
}

/// Nothing is missing any more but time, and a barrier.
void Plays::make_ready(std::int32_t place, std::int32_t row) {
  LivePlay& live = at(place);
  live.row(row).state = LiveRow::State::ready;
  if (live.said(row).barrier > 0) return held_.push_back({place, row});
  push(std::max(live.row(row).due, now_ + skipped_), Kind::send, place, row);
}

void Plays::release_barriers() {
  if (options_.measured_s && until_ == never && taken_ > 0 && warm_rows_open() == 0)
    until_ = behind(now_, *options_.measured_s, "plays: measured_s");
  std::erase_if(held_, [&](const Handle& each) {
    LivePlay& live = at(each.place);
    if (live.number < 0 || each.row >= static_cast<std::int32_t>(live.rows.size()) ||
        live.row(each.row).state != LiveRow::State::ready)
      return true;
    const PlayRow& said = live.said(each.row);
    if (is_held(said)) return false;
    const Picoseconds due = behind(now_, said.not_before_s, "workload: not_before_s") + skipped_;
    push(said.parents.empty() ? due : std::max(live.row(each.row).due, now_ + skipped_), Kind::send,
         each.place, each.row);
    return true;
  });
}

void Plays::send(std::int32_t place, std::int32_t row, Client& client) {
  LivePlay& live = at(place);
  LiveRow& own = live.row(row);
  const PlayRow& said = live.said(row);
  own.state = LiveRow::State::sent;
  own.sent = now_;
  if (free_handles_.empty()) {
    own.handle = static_cast<std::int32_t>(handles_.size());
    handles_.emplace_back();
  } else {
    own.handle = free_handles_.back();
    free_handles_.pop_back();
  }
  handles_[static_cast<std::size_t>(own.handle)] = {place, row};
  RequestSpec spec = said.spec;
  spec.segments = live.play->segments(said);
  spec.row = own.handle;
  SeenPrompts::Mark none;
  SeenPrompts::Mark& mark = said.list < 0 ? none : live.marks[static_cast<std::size_t>(said.list)];
  own.ideal_tokens = SeenPrompts::ideal_tokens(
      seen_.see(spec.segments, mark, spec.output_content, spec.output_tokens), spec.prompt_tokens,
      client.block_size());
  ++in_flight_;
  own.slot = client.send(spec, {-1, live.number, row, said.warm});
  fire(place, row, RowEvent::sent);
}

void Plays::on_first_token(std::int32_t row, Picoseconds seen) {
  const Handle& of = handles_[static_cast<std::size_t>(row)];
  push(seen + skipped_, Kind::first_token, of.place, of.row);
}

void Plays::on_done(const RequestDone& done, FollowUps&) {
  const Handle of = handles_[static_cast<std::size_t>(done.row)];
  LiveRow& row = at(of.place).row(of.row);
  row.outcome = done.outcome;
  row.id = done.id;
  row.scheduled = done.scheduled;
  row.load = done.load;
  row.cached_tokens = done.cached_tokens;
  push(done.now + skipped_, Kind::ended, of.place, of.row);
}

void Plays::end(std::int32_t place, std::int32_t row) {
  LiveRow& own = at(place).row(row);
  own.state = LiveRow::State::ended;
  own.end = now_;
  free_handles_.push_back(own.handle);
  if (--in_flight_ == 0) idle_since_ = now_;
  close(place, row);
  const bool completed = own.outcome == Outcome::completed;
  fire(place, row, completed ? RowEvent::done : RowEvent::failed);
  fire(place, row, RowEvent::ended);
  rule_out(place, row, completed ? RowEvent::failed : RowEvent::done,
           completed ? Reason::did_not_fail : Reason::failed);
  if (!own.saw_first_token) rule_out(place, row, RowEvent::first_token, Reason::failed);
}

void Plays::cancel(const Item& item, Client& client) {
  const LiveRow& own = at(item.place).row(item.row);
  if (own.state != LiveRow::State::sent) return leave_out(item.place, item.row, Reason::cancelled);
  if (own.sent < now_ || item.kind == Kind::late_cancel) return client.cancel(own.slot, own.handle);
  again_.push_back(item);
  again_.back().kind = Kind::late_cancel;
}

void Plays::fire(std::int32_t place, std::int32_t row, RowEvent event) {
  LivePlay& live = at(place);
  for (const RowListener& one : live.listeners->of(row)) {
    if (one.trigger.event != event) continue;
    const Picoseconds time = behind(now_, one.trigger.delay_s, "workload: delay_s") + skipped_;
    LiveRow& other = live.row(one.row);
    if (one.cancels) {
      push(time, Kind::cancel, place, one.row);
      continue;
    }
    if (time >= other.due) {
      other.due = time;
      other.waited_for = row;
      other.waited_event = event;
    }
    if (--other.missing == 0 && other.state == LiveRow::State::waiting) make_ready(place, one.row);
  }
}

/// The event will not happen.
void Plays::rule_out(std::int32_t place, std::int32_t row, RowEvent event, Reason reason) {
  for (const RowListener& one : at(place).listeners->of(row))
    if (!one.cancels && one.trigger.event == event) leave_out(place, one.row, reason);
}

/// With all that hangs on the row. Nothing happens where it was sent, or is left out already.
void Plays::leave_out(std::int32_t place, std::int32_t row, Reason reason) {
  unreachable_.assign(1, {place, row});
  while (!unreachable_.empty()) {
    const std::int32_t next = unreachable_.back().row;
    unreachable_.pop_back();
    LiveRow& own = at(place).row(next);
    if (own.state != LiveRow::State::waiting && own.state != LiveRow::State::ready) continue;
    own.state = LiveRow::State::left_out;
    ++unsent_[static_cast<std::size_t>(reason)];
    close(place, next);
    for (const RowListener& one : at(place).listeners->of(next))
      if (!one.cancels) unreachable_.push_back({place, one.row});
  }
}

void Plays::close(std::int32_t place, std::int32_t row) {
  LivePlay& live = at(place);
  --live.open;
  if (live.said(row).warm) --warm_open_[static_cast<std::size_t>(live.said(row).barrier)];
}

}  // namespace rooflua
