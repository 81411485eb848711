// Times of the workload: it sends and cancels requests when others have got somewhere
// (serve/plays).

#include <algorithm>
#include <compare>
#include <unordered_map>
#include <utility>
#include <vector>

#include "serve/loop/simulation.h"
#include "serve/loop/trying.h"

namespace rooflua {

class Simulation::ClientNow : public Client {
 public:
  explicit ClientNow(Simulation& simulation) : simulation_(simulation) {}

  std::int32_t send(const RequestSpec& spec, RowSent sent) override {
    Simulation& s = simulation_;
    RequestSpec now = spec;
    now.arrival_s = seconds(s.core_.now);
    const std::int32_t slot = s.open(now);
    s.core_.requests.progress(slot).arrival = s.core_.now;
    s.core_.requests[slot].arrival_s = now.arrival_s;
    s.core_.sent_now.push_back(slot);
    s.rows_sent_.emplace_back(slot, sent);
    return slot;
  }

  void cancel(std::int32_t slot, std::int32_t row) override {
    const std::int32_t now_at = Trying(simulation_).slot_of_row(slot, row);
    if (now_at >= 0) Trying(simulation_).cancel(now_at);
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
      if (!s.core_.is_live(slot) && !Trying(s).awaits_sending(slot)) continue;
      const Request& request = s.core_.requests[slot];
      if (const auto at = places.find(request.session); at != places.end())
        found.push_back({at->second, request.id, slot});
    }
    std::sort(found.begin(), found.end());
    for (const Found& each : found) Trying(s).cancel(each.slot);
  }

  void cancel_row(std::int32_t row) override {
    const Requests& requests = simulation_.core_.requests;
    for (std::int32_t slot = 0; slot < requests.slots(); ++slot) {
      if (requests.progress(slot).row == row) return cancel(slot, row);
    }
  }

  void end_play(const PlayDone& play) override {
    for (Observer* observer : simulation_.core_.bindings.observers) observer->on_play(play);
  }

  std::int32_t block_size() const override {
    const auto& replicas = simulation_.core_.replicas;
    const auto first = std::find_if(replicas.begin(), replicas.end(), [](const Replica& each) {
      return each.config().role != Role::decode;
    });
    return first->config().block_size;
  }

 private:
  Simulation& simulation_;
};

/// What it has to do now, and then clients whose patience ends.
void Simulation::ask_workload() {
  if (core_.bindings.workload->due() <= core_.now) {
    ClientNow client(*this);
    core_.bindings.workload->on_due(core_.now, client);
  }
  if (!attempts_.ends.empty()) Trying(*this).lose_patience();
  read_due();
}

void Simulation::read_patience() {
  EventHeap<PatienceEnds>& ends = attempts_.ends;
  while (!ends.empty() && Trying(*this).is_over(ends.front())) ends.pop();
  if (!ends.empty()) workload_due_ = std::min(workload_due_, ends.front().time);
}

void Simulation::tell_row(std::int32_t slot) {
  for (auto& [of, sent] : rows_sent_) {
    if (of != slot) continue;
    sent.id = core_.requests[slot].id;
    if (core_.bindings.client != nullptr) attempts_.of(slot).row = sent;
    for (Observer* observer : core_.bindings.observers) observer->on_row(sent);
    std::swap(rows_sent_.back().second, sent);
    std::swap(rows_sent_.back().first, of);
    return rows_sent_.pop_back();
  }
}

void Simulation::tell_first_tokens(std::span<const PrefillWork> prefills) {
  for (const PrefillWork& work : prefills) {
    if (work.completes == 0) continue;
    const Progress& progress = core_.requests.progress(work.slot);
    if (progress.first_token != core_.now || progress.row < 0) continue;
    core_.bindings.workload->on_first_token(progress.row, core_.now + core_.frontend_token);
  }
  read_due();
}

}  // namespace rooflua
