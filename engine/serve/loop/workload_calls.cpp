#include "serve/loop/workload_calls.h"

#include <algorithm>
#include <compare>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/error.h"

namespace rooflua {

std::int32_t WorkloadCalls::send(const RequestSpec& spec, RowSent sent) {
  RequestSpec now = spec;
  now.arrival_s = seconds(core_.now);
  const std::int32_t slot = loop_.open(now);
  core_.progress(slot).arrival = core_.now;
  core_.requests[slot].arrival_s = now.arrival_s;
  core_.sent_now.push_back(slot);
  core_.rows_sent.emplace_back(slot, sent);
  return slot;
}

void WorkloadCalls::cancel(std::int32_t slot, std::int32_t row) {
  const std::int32_t now_at = slot_of_row(slot, row);
  if (now_at >= 0) cancel(now_at);
}

void WorkloadCalls::cancel_sessions(std::span<const std::int32_t> sessions) {
  std::unordered_map<std::int32_t, std::size_t> places;
  for (std::size_t i = 0; i < sessions.size(); ++i) places.emplace(sessions[i], i);
  struct Found {
    std::size_t place;
    std::int32_t id, slot;
    auto operator<=>(const Found&) const = default;
  };
  std::vector<Found> found;
  for (std::int32_t slot = 0; slot < core_.requests.slots(); ++slot) {
    if (!core_.is_live(slot) && !awaits_sending(slot)) continue;
    const Request& request = core_.requests[slot];
    if (const auto at = places.find(request.session); at != places.end())
      found.push_back({at->second, request.id, slot});
  }
  std::sort(found.begin(), found.end());
  for (const Found& each : found) cancel(each.slot);
}

void WorkloadCalls::cancel_row(std::int32_t row) {
  for (std::int32_t slot = 0; slot < core_.requests.slots(); ++slot) {
    if (core_.progress(slot).row == row) return cancel(slot, row);
  }
}

void WorkloadCalls::end_play(const PlayDone& play) {
  core_.tell(&Observer::on_play, play);
}

std::int32_t WorkloadCalls::block_size() const {
  const auto first =
      std::find_if(core_.replicas.begin(), core_.replicas.end(),
                   [](const Replica& each) { return each.config().role != Role::decode; });
  return first->config().block_size;
}

/// Whether the request in this slot waits to be sent again.
bool WorkloadCalls::awaits_sending(std::int32_t slot) const {
  const Request& request = core_.requests[slot];
  return request.attempt > 0 && request.phase == Phase::pending && request.id < 0;
}

/// Where a request of the workload that was in `slot` is now; -1: it has ended.
std::int32_t WorkloadCalls::slot_of_row(std::int32_t slot, std::int32_t row) const {
  const auto is_it = [&](std::int32_t place) {
    return core_.progress(place).row == row && (core_.is_live(place) || awaits_sending(place));
  };
  if (is_it(slot)) return slot;
  if (core_.sent_again == 0) return -1;
  for (std::int32_t place = 0; place < core_.requests.slots(); ++place)
    if (is_it(place)) return place;
  return -1;
}

/// An attempt that waits to be sent counts as sent now.
void WorkloadCalls::cancel(std::int32_t slot) {
  if (awaits_sending(slot)) {
    core_.deliveries.erase_if([slot](const Delivery& each) { return each.slot == slot; });
    std::erase(core_.sent_now, slot);
    core_.progress(slot).arrival = core_.now;
    core_.requests[slot].arrival_s = seconds(core_.now);
    loop_.begin(slot);
  }
  loop_.abort(slot, Outcome::cancelled);
}

void FollowUpsSent::send(const RequestSpec& spec) {
  const std::int32_t slot = loop_.open(spec);
  Picoseconds& arrival = core_.progress(slot).arrival;
  if (spec.arrival_s >= seconds(now_)) arrival = std::max(arrival, now_);  // "now" in whole ps
  if (arrival < now_)
    throw Error("workload: request " + std::to_string(core_.opened),
                "a follow-up arrives at " + std::to_string(spec.arrival_s) +
                    " s, before the end it follows (" + std::to_string(seconds(now_)) + " s)");
  if (arrival == core_.now) return core_.sent_now.push_back(slot);
  core_.post({.time = arrival, .kind = Delivery::Kind::sent, .slot = slot});
}

}  // namespace rooflua
