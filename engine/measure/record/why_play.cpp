#include "measure/record/why_play.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"

namespace rooflua {

Picoseconds PathTime::sum() const {
  return std::accumulate(time.begin(), time.end(), tool);
}

void PathTime::add(const PathTime& other) {
  tool += other.tool;
  for (std::size_t i = 0; i < time.size(); ++i) time[i] += other.time[i];
}

PathTime time_until(const Why& why, RowEvent event, Picoseconds until) {
  PathTime out;
  if (event == RowEvent::sent) return out;
  out.time = event == RowEvent::first_token ? why.time_to_first : why.time;
  // From the last token to the moment at which the client knows.
  const Picoseconds rest = until - why.done.arrival - out.sum();
  ROOFLUA_ASSERT(rest >= 0);
  out.time[static_cast<std::size_t>(LatencyHeading::frontend)] += rest;
  return out;
}

WhyObserver* WhyPlayObserver::find(std::int32_t id) {
  const auto found = live_.find(id);
  return found == live_.end() ? nullptr : &found->second;
}

void WhyPlayObserver::on_row(const RowSent& row) {
  begun_ = std::max(begun_, row.play + 1);
  if (row.play != play_) return;
  rows_.on_row(row);
  live_.emplace(row.id, row.id);
}

void WhyPlayObserver::on_arrival(const Request& request, Picoseconds now) {
  if (WhyObserver* why = find(request.id)) why->on_arrival(request, now);
}

void WhyPlayObserver::on_queued(const Request& request, Picoseconds now) {
  if (WhyObserver* why = find(request.id)) why->on_queued(request, now);
}

void WhyPlayObserver::on_preempt(const Request& request, Picoseconds now) {
  if (WhyObserver* why = find(request.id)) why->on_preempt(request, now);
}

void WhyPlayObserver::on_priced(const StepPriced& step) {
  for (auto& [id, why] : live_) why.on_priced(step);
}

void WhyPlayObserver::on_step(const StepDone& step) {
  for (auto& [id, why] : live_) why.on_step(step);
}

void WhyPlayObserver::on_transfer(const TransferSeen& transfer) {
  if (WhyObserver* why = find(transfer.id)) why->on_transfer(transfer);
}

void WhyPlayObserver::on_computed(const Request& request, Picoseconds now) {
  if (WhyObserver* why = find(request.id)) why->on_computed(request, now);
}

void WhyPlayObserver::on_kv(const Request& request, Picoseconds now) {
  if (WhyObserver* why = find(request.id)) why->on_kv(request, now);
}

void WhyPlayObserver::on_load(const Request& request, Picoseconds now) {
  if (WhyObserver* why = find(request.id)) why->on_load(request, now);
}

void WhyPlayObserver::on_loaded(const Request& request, Picoseconds now) {
  if (WhyObserver* why = find(request.id)) why->on_loaded(request, now);
}

void WhyPlayObserver::on_done(const RequestDone& done) {
  WhyObserver* why = find(done.id);
  if (why == nullptr) return;
  rows_.on_done(done);
  why->on_done(done);
  ended_.emplace(done.id, *why->why());
  live_.erase(done.id);
}

void WhyPlayObserver::on_play(const PlayDone& play) {
  begun_ = std::max(begun_, play.play + 1);
  if (play.play != play_) return;
  answer_ = why_play(play, play.path, rows_.take(play.play),
                     [&](std::int32_t id) -> const Why& { return ended_.at(id); });
}

}  // namespace rooflua
