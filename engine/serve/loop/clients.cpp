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
    now.arrival_s = seconds(s.now_);
    const std::int32_t slot = s.open(now);
    s.requests_.progress(slot).arrival = s.now_;
    s.requests_[slot].arrival_s = now.arrival_s;
    s.sent_now_.push_back(slot);
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
    for (std::int32_t slot = 0; slot < s.requests_.slots(); ++slot) {
      if (!s.is_live(slot) && !Trying(s).awaits_sending(slot)) continue;
      const Request& request = s.requests_[slot];
      if (const auto at = places.find(request.session); at != places.end())
        found.push_back({at->second, request.id, slot});
    }
    std::sort(found.begin(), found.end());
    for (const Found& each : found) Trying(s).cancel(each.slot);
  }

  void cancel_row(std::int32_t row) override {
    const Requests& requests = simulation_.requests_;
    for (std::int32_t slot = 0; slot < requests.slots(); ++slot) {
      if (requests.progress(slot).row == row) return cancel(slot, row);
    }
  }

  void end_play(const PlayDone& play) override {
    for (Observer* observer : simulation_.bindings_.observers) observer->on_play(play);
  }

  std::int32_t block_size() const override {
    const auto& replicas = simulation_.replicas_;
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
  if (bindings_.workload->due() <= now_) {
    ClientNow client(*this);
    bindings_.workload->on_due(now_, client);
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
    sent.id = requests_[slot].id;
    if (bindings_.client != nullptr) attempts_.of(slot).row = sent;
    for (Observer* observer : bindings_.observers) observer->on_row(sent);
    std::swap(rows_sent_.back().second, sent);
    std::swap(rows_sent_.back().first, of);
    return rows_sent_.pop_back();
  }
}

void Simulation::tell_first_tokens(std::span<const PrefillWork> prefills) {
  for (const PrefillWork& work : prefills) {
    if (work.completes == 0) continue;
    const Progress& progress = requests_.progress(work.slot);
    if (progress.first_token != now_ || progress.row < 0) continue;
    bindings_.workload->on_first_token(progress.row, now_ + frontend_token_);
  }
  read_due();
}

}  // namespace rooflua
