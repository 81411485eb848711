#include "measure/token_observer.h"

#include <algorithm>

namespace rooflua {

std::vector<char> prefill_replicas(const ClusterConfig& cluster) {
  std::vector<char> out;
  for (const ReplicaConfig& each : cluster.replicas)
    out.push_back(each.role == Role::prefill ? 1 : 0);
  return out;
}

void TokenObserver::on_queued(const Request& request, Picoseconds) {
  move(request.id, live_[request.id], request.replica);
}

/// A request that goes on at a decode replica starts anew there: the client does not get the token
/// of the prefill replica.
void TokenObserver::move(std::int32_t id, Followed& followed, std::int32_t replica) {
  followed.decoding = followed.decode_in_flight = followed.prefill_in_flight = false;
  settle(id, followed);
  followed.replica = replica;
}

void TokenObserver::on_preempt(const Request& request, Picoseconds) {
  Followed& followed = live_[request.id];
  // KV was pushed there, and a step that has not ended computes the first token.
  if (followed.replica != request.replica) move(request.id, followed, request.replica);
  const bool in_flight = request.emitted_tokens > followed.landed;
  followed.decode_in_flight = in_flight && followed.decoding;
  followed.prefill_in_flight = in_flight && !followed.decoding;
  followed.decoding = false;
  settle(request.id, followed);
}

TokenObserver::Ids& TokenObserver::decoding_at(std::int32_t replica) {
  const auto place = static_cast<std::size_t>(replica);
  if (place >= decoding_.size()) decoding_.resize(place + 1);
  return decoding_[place];
}

/// In the list of its replica as long as it may get a token without being named.
void TokenObserver::settle(std::int32_t id, Followed& followed) {
  const bool belongs = followed.decoding || followed.decode_in_flight;
  if (belongs == (followed.place >= 0)) return;
  Ids& list = decoding_at(followed.replica);
  if (belongs) {
    followed.place = static_cast<std::int32_t>(list.size());
    list.push_back(id);
    return;
  }
  list[static_cast<std::size_t>(followed.place)] = list.back();
  live_[list.back()].place = followed.place;
  list.pop_back();
  followed.place = -1;
}

void TokenObserver::land(std::int32_t id, Followed& followed, std::int32_t tokens,
                         Picoseconds now) {
  const auto replica = static_cast<std::size_t>(followed.replica);
  const bool is_prefill = replica < prefills_.size() && prefills_[replica] != 0;
  if (tokens == 0 || is_prefill) return;
  followed.landed += tokens;
  on_tokens(id, tokens, now);
}

void TokenObserver::land_decodes(const StepDone& step) {
  for (const Row& row : step.rows) {
    const auto found = live_.find(row.id);
    if (row.discarded || found == live_.end()) continue;
    land(row.id, found->second, row.landed, step.end);
    found->second.decode_in_flight = false;
    settle(row.id, found->second);
  }
  if (!step.rows.empty() || step.batch->decodes == 0) return;
  skipped_.assign(step.skipped.begin(), step.skipped.end());
  std::sort(skipped_.begin(), skipped_.end());
  landing_ = decoding_at(step.replica);  // settle() changes the list
  std::sort(landing_.begin(), landing_.end());
  for (const std::int32_t id : landing_) {
    if (std::binary_search(skipped_.begin(), skipped_.end(), id)) continue;
    Followed& followed = live_[id];
    land(id, followed, 1, step.end);
    followed.decode_in_flight = false;
    settle(id, followed);
  }
}

void TokenObserver::on_step(const StepDone& step) {
  land_decodes(step);
  for (const PrefillWork& work : step.prefills) {
    if (work.completes == 0) continue;
    const auto found = live_.find(work.id);
    if (found == live_.end()) continue;
    Followed& followed = found->second;
    if (followed.replica != step.replica) move(work.id, followed, step.replica);  // KV was pushed
    land(work.id, followed, 1, step.end);
    followed.decoding = !followed.prefill_in_flight;
    followed.prefill_in_flight = false;
    settle(work.id, followed);
  }
}

void TokenObserver::on_done(const RequestDone& done) {
  const auto found = live_.find(done.id);
  if (found == live_.end()) return;
  Followed& followed = found->second;
  followed.decoding = followed.decode_in_flight = false;
  settle(done.id, followed);
  live_.erase(found);
}

}  // namespace rooflua
