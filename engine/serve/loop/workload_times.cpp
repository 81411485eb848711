// Times of the workload: it sends and cancels requests when others have got somewhere
// (serve/plays).

#include <algorithm>
#include <compare>
#include <unordered_map>
#include <utility>
#include <vector>

#include "serve/loop/simulation.h"

namespace rooflua {

class Simulation::ClientNow : public Client {
 public:
  explicit ClientNow(Simulation& simulation) : simulation_(simulation) {}

  std::int32_t send(const RequestSpec& spec, RowSent sent) override {
    Simulation& s = simulation_;
    RequestSpec now = spec;
    now.arrival_s = seconds(s.core_.now);
    const std::int32_t slot = s.open(now);
    s.core_.progress(slot).arrival = s.core_.now;
    s.core_.requests[slot].arrival_s = now.arrival_s;
    s.core_.sent_now.push_back(slot);
    s.core_.rows_sent.emplace_back(slot, sent);
    return slot;
  }

  void cancel(std::int32_t slot, std::int32_t row) override {
    const std::int32_t now_at = slot_of_row(slot, row);
    if (now_at >= 0) cancel(now_at);
  }

  void cancel_sessions(std::span<const std::int32_t> sessions) override {
    Simulation& s = simulation_;
    std::unordered_map<std::int32_t, std::size_t> places;
    for (std::size_t i = 0; i < sessions.size(); ++i) places.emplace(sessions[i], i);
    struct Found {
      std::size_t place;
      std::int32_t id, slot;
      auto operator<=>(const Found&) const = default;
    };
    std::vector<Found> found;
    for (std::int32_t slot = 0; slot < s.core_.requests.slots(); ++slot) {
      if (!s.core_.is_live(slot) && !awaits_sending(slot)) continue;
      const Request& request = s.core_.requests[slot];
      if (const auto at = places.find(request.session); at != places.end())
        found.push_back({at->second, request.id, slot});
    }
    std::sort(found.begin(), found.end());
    for (const Found& each : found) cancel(each.slot);
  }

  void cancel_row(std::int32_t row) override {
    const Requests& requests = simulation_.core_.requests;
    for (std::int32_t slot = 0; slot < requests.slots(); ++slot) {
      if (requests.progress(slot).row == row) return cancel(slot, row);
    }
  }

  void end_play(const PlayDone& play) override { simulation_.core_.tell(&Observer::on_play, play); }

  std::int32_t block_size() const override {
    const auto& replicas = simulation_.core_.replicas;
    const auto first = std::find_if(replicas.begin(), replicas.end(), [](const Replica& each) {
      return each.config().role != Role::decode;
    });
    return first->config().block_size;
  }

 private:
  /// Whether the client of the request in this slot waits before it sends it again.
  bool awaits_sending(std::int32_t slot) const {
    const Request& request = simulation_.core_.requests[slot];
    return request.attempt > 0 && request.phase == Phase::pending && request.id < 0;
  }

  /// Where a request of the workload that was in `slot` is now; -1: it has ended.
  std::int32_t slot_of_row(std::int32_t slot, std::int32_t row) const {
    const Core& core = simulation_.core_;
    const auto is_it = [&](std::int32_t place) {
      return core.progress(place).row == row && (core.is_live(place) || awaits_sending(place));
    };
    if (is_it(slot)) return slot;
    if (core.sent_again == 0) return -1;
    for (std::int32_t place = 0; place < core.requests.slots(); ++place)
      if (is_it(place)) return place;
    return -1;
  }

  /// An attempt that waits to be sent counts as sent now.
  void cancel(std::int32_t slot) {
    Core& core = simulation_.core_;
    if (awaits_sending(slot)) {
      core.deliveries.erase_if([slot](const Delivery& each) { return each.slot == slot; });
      std::erase(core.sent_now, slot);
      core.progress(slot).arrival = core.now;
      core.requests[slot].arrival_s = seconds(core.now);
      simulation_.begin(slot);
    }
    simulation_.abort(slot, Outcome::cancelled);
  }

  Simulation& simulation_;
};

/// What it has to do now, and then clients whose patience ends.
void Simulation::ask_workload() {
  if (core_.bindings.workload->due() <= core_.now) {
    ClientNow client(*this);
    core_.bindings.workload->on_due(core_.now, client);
  }
  end_due();
  read_due();
}

void Simulation::read_due() {
  core_.workload_due = core_.bindings.workload->due();
  EventHeap<DueEnd>& ends = core_.ends;
  while (!ends.empty() && core_.is_in_time(ends.front())) ends.pop();
  if (!ends.empty()) core_.workload_due = std::min(core_.workload_due, ends.front().time);
}

/// @returns whether it is a row that a play sent at this instant
bool Simulation::tell_row(std::int32_t slot, RowSent& row) {
  for (auto& each : core_.rows_sent) {
    if (each.first != slot) continue;
    row = each.second;
    row.id = core_.requests[slot].id;
    core_.tell(&Observer::on_row, row);
    std::swap(core_.rows_sent.back(), each);
    core_.rows_sent.pop_back();
    return true;
  }
  return false;
}

void Simulation::tell_first_tokens(std::span<const PrefillWork> prefills) {
  for (const PrefillWork& work : prefills) {
    if (work.completes == 0) continue;
    const Progress& progress = core_.progress(work.slot);
    if (progress.first_token != core_.now || progress.row < 0) continue;
    core_.bindings.workload->on_first_token(progress.row, core_.now + core_.frontend_token);
  }
  read_due();
}

}  // namespace rooflua
