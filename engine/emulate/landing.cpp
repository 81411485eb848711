#include "emulate/landing.h"

#include <algorithm>

namespace rooflua::emulate {

void Landing::on_queued(const Request& request, Picoseconds) {
  Followed& followed = live_[request.id];
  followed.slot = static_cast<std::int32_t>(&request - requests_.data());
  move(request.id, followed, request.replica);
}

/// A request that goes on at a decode replica starts anew there: the client does not get the token
/// of the prefill replica.
void Landing::move(std::int32_t id, Followed& followed, std::int32_t replica) {
  followed.decoding = followed.decode_in_flight = followed.prefill_in_flight = false;
  settle(id, followed);
  followed.replica = replica;
}

void Landing::on_preempt(const Request& request, Picoseconds) {
  Followed& followed = live_[request.id];
  const bool in_flight = request.emitted_tokens > followed.landed;
  followed.decode_in_flight = in_flight && followed.decoding;
  followed.prefill_in_flight = in_flight && !followed.decoding;
  followed.decoding = false;
  settle(request.id, followed);
  reader_.on_preempted(request.replica);
}

/// In the list of its replica as long as it may get a token without being named.
void Landing::settle(std::int32_t id, Followed& followed) {
  const bool belongs = followed.decoding || followed.decode_in_flight;
  if (belongs == (followed.place >= 0)) return;
  if (belongs) return place(id, followed);
  auto& list = decoding_[static_cast<std::size_t>(followed.replica)];
  list[static_cast<std::size_t>(followed.place)] = list.back();
  live_[list.back()].place = followed.place;
  list.pop_back();
  followed.place = -1;
}

void Landing::place(std::int32_t id, Followed& followed) {
  auto& list = decoding_[static_cast<std::size_t>(followed.replica)];
  followed.place = static_cast<std::int32_t>(list.size());
  list.push_back(id);
}

void Landing::land(std::int32_t id, Followed& followed, std::int32_t tokens, Picoseconds now) {
  if (tokens == 0 || prefills_[static_cast<std::size_t>(followed.replica)] != 0) return;
  followed.landed += tokens;
  reader_.on_tokens(id, followed.slot, tokens, now);
}

void Landing::land_decodes(const StepDone& step) {
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
  landing_ = decoding_[static_cast<std::size_t>(step.replica)];  // settle() changes the list
  std::sort(landing_.begin(), landing_.end());
  for (const std::int32_t id : landing_) {
    if (std::binary_search(skipped_.begin(), skipped_.end(), id)) continue;
    Followed& followed = live_[id];
    land(id, followed, 1, step.end);
    followed.decode_in_flight = false;
    settle(id, followed);
  }
}

void Landing::on_step(const StepDone& step) {
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
  reader_.on_ended_step(step);
}

void Landing::on_done(const RequestDone& done) {
  if (const auto found = live_.find(done.id); found != live_.end()) {
    Followed& followed = found->second;
    followed.decoding = followed.decode_in_flight = false;
    settle(done.id, followed);
    live_.erase(found);
  }
  reader_.on_end(done);
}

}  // namespace rooflua::emulate
