// What is loaded from stores: decided, read, ended or cut.

#include <algorithm>
#include <cstddef>
#include <utility>

#include "serve/stores/tiers.h"

namespace rooflua {

/// Every chunk of the first store's size that a request asks for is counted once.
void Tiers::count_uses(const Request& request, const Progress& progress) {
  const std::int32_t chunks = request.prompt_tokens / config_of(0).chunk_tokens;
  const ChunkHashes hashes = chunk_hashes(0, request, progress, chunks);
  for (std::int32_t i = 0; i < chunks; ++i)
    uses_.set(hashes[i], std::max(0, uses_.find(hashes[i])) + 1);
}

Tiers::Decision Tiers::decide(std::int32_t slot, const Request& request, const Progress& progress,
                              std::int32_t gpu_tokens, std::int32_t waiting, Picoseconds now) {
  State& own = state(slot, request);
  if (own.prefetches > 0 && now < own.wait_until) return {Verdict::later, 0};
  if (policy(request.replica)->shares_loads() && others_load(request, progress, gpu_tokens))
    return {Verdict::later, 0};
  const std::int64_t current = version(request.replica);
  if (own.version == current && own.gpu_tokens == gpu_tokens) return own.decision;
  if (!std::exchange(own.counted, true) && policy(request.replica)->counts())
    count_uses(request, progress);
  own.version = current;
  own.gpu_tokens = gpu_tokens;
  own.decision = {};
  stretches_.clear();
  const std::int32_t pending =
      find(request.replica, request, progress, gpu_tokens, of_loads(), stretches_);
  if (stretches_.empty() && pending == 0) return own.decision;
  describe_found(slot, request, gpu_tokens, pending);
  found_.waiting = waiting;
  asked_version_ = std::exchange(own.version, -1);  // until it is answered
  return {Verdict::ask, 0};
}

/// What was decided of the request before does not say it: loads begin without a change of stores.
bool Tiers::others_load(const Request& request, const Progress& progress,
                        std::int32_t gpu_tokens) const {
  const auto is_other = [&](const LoadTrip& load) {
    return load.slot >= 0 && !load.done && load.request != request.id && load.to == request.replica;
  };
  if (std::none_of(loads_.begin(), loads_.end(), is_other)) return false;
  std::vector<Stretch> stretches;
  find(request.replica, request, progress, gpu_tokens, of_loads(), stretches);
  for (const LoadTrip& load : loads_) {
    if (!is_other(load)) continue;
    for (const Stretch& each : stretches) {
      if (each.place != load.place) continue;
      const Place& from = place(each.place);
      const std::int32_t end = each.first + each.count;
      for (const Piece& piece :
           from.chunks.pieces(chunk_hashes(from.store, request, progress, end), each.first, end)) {
        for (const Piece& other : load.chunks) {
          if (piece.path == other.path && piece.low < other.high && other.low < piece.high)
            return true;
        }
      }
    }
  }
  return false;
}

void Tiers::answer(std::int32_t slot, TierPolicy::Load load) {
  State& own = states_[static_cast<std::size_t>(slot)];
  own.version = asked_version_;
  own.decision = {};
  own.patience_s = load.patience_s;
  const std::int32_t wanted = found_.gpu_tokens + std::min(load.tokens, found_.tokens);
  std::int32_t end = found_.gpu_tokens;
  for (const Stretch& each : stretches_) {
    const std::int32_t count = whole_chunks(each, wanted);
    if (count > 0) end = (each.first + count) * place(each.place).chunks.chunk_tokens();
    if (count < each.count) break;
  }
  if (end > found_.gpu_tokens)
    own.decision = {Verdict::load, end - found_.gpu_tokens};
  else if (load.tokens == TierPolicy::ask_later && found_.pending_tokens > 0)
    own.decision = {Verdict::later, 0};
}

/// How many chunks of a stretch end at this token of the sequence or before.
std::int32_t Tiers::whole_chunks(const Stretch& stretch, std::int32_t end) const {
  const std::int32_t size = place(stretch.place).chunks.chunk_tokens();
  return std::clamp(end / size - stretch.first, 0, stretch.count);
}

/// A ticket for the first `count` chunks of a stretch, which are read from now on.
std::int32_t Tiers::open_load(const Stretch& stretch, std::int32_t count, std::int32_t slot,
                              const Request& request, const Progress& progress) {
  auto ticket = static_cast<std::int32_t>(loads_.size());
  if (spare_loads_.empty()) {
    loads_.emplace_back();
  } else {
    ticket = spare_loads_.back();
    spare_loads_.pop_back();
  }
  LoadTrip& load = loads_[static_cast<std::size_t>(ticket)];
  load = {};
  load.slot = slot;
  load.request = request.id;
  load.place = stretch.place;
  load.to = request.replica;
  load.peer = stretch.peer;
  load.first = stretch.first;
  load.count = count;
  Place& from = place(stretch.place);
  const std::int32_t end = stretch.first + count;
  load.chunks =
      from.chunks.pieces(chunk_hashes(from.store, request, progress, end), load.first, end);
  from.chunks.begin_read(load.chunks);
  return ticket;
}

std::int32_t Tiers::begin_load(std::int32_t slot, const Request& request, const Progress& progress,
                               std::int32_t gpu_tokens, std::int32_t tokens) {
  State& own = state(slot, request);
  std::vector<Stretch> stretches;
  find(request.replica, request, progress, gpu_tokens, of_loads(), stretches);
  std::int32_t at = gpu_tokens;
  for (const Stretch& each : stretches) {
    const std::int32_t size = place(each.place).chunks.chunk_tokens();
    const std::int32_t count = whole_chunks(each, gpu_tokens + tokens);
    if (count == 0) break;
    const std::int32_t ticket = open_load(each, count, slot, request, progress);
    LoadTrip& load = loads_[static_cast<std::size_t>(ticket)];
    // A chunk that begins in front of `at` brings what is after it.
    const std::int32_t upto = (each.first + count) * size;
    load.tokens = upto - at;
    at = upto;
    own.loads.push_back(ticket);
    ++own.under_way;
    if (count < each.count) break;
  }
  own.loaded.tokens += at - gpu_tokens;
  own.version = -1;
  return at - gpu_tokens;
}

Tiers::Trip Tiers::trip_of(std::int32_t ticket, std::int32_t replica) const {
  const LoadTrip& load = loads_at(ticket);
  Trip trip;
  trip.ticket = ticket;
  trip.from = place(load.place).replica;
  trip.to = replica;
  trip.bytes = bytes(load.tokens);
  trip.path = path_of({load.place, load.peer, 0, 0, 0}, replica, trip.alpha_s);
  return trip;
}

void Tiers::send_load(std::int32_t slot, const Request& request, const Progress& progress,
                      Picoseconds now, std::vector<Trip>& trips) {
  State& own = state(slot, request);
  // What is written out of the GPU has left when the load begins.
  own.loaded.start = std::max(now, held_until(request.replica));
  for (const std::int32_t ticket : own.loads) {
    LoadTrip& load = loads_[static_cast<std::size_t>(ticket)];
    if (std::exchange(load.sent, true)) continue;
    trips.push_back(trip_of(ticket, request.replica));
    trips.back().alpha_s += seconds(own.loaded.start - now);
    if (policy(request.replica)->promotes()) promote(load, request, progress, now);
  }
}

double Tiers::prefetch(std::int32_t slot, const Request& request, const Progress& progress,
                       std::int32_t gpu_tokens, std::int32_t waiting, Picoseconds now,
                       std::vector<Trip>& trips) {
  State& own = state(slot, request);
  stretches_.clear();
  find(request.replica, request, progress, gpu_tokens, Where::first, stretches_);
  std::int32_t at = gpu_tokens;
  for (const Stretch& each : stretches_) at += each.tokens;
  stretches_.clear();
  find(request.replica, request, progress, at, Where::behind, stretches_);
  if (stretches_.empty()) return 0;
  describe_found(slot, request, at, 0);
  found_.waiting = waiting;
  const TierFound asked = found_;
  const std::vector<Stretch> stretches = stretches_;
  const TierPolicy::Load load = policy(request.replica)->load(request, asked);
  for (const Stretch& each : stretches) {
    const std::int32_t size = place(each.place).chunks.chunk_tokens();
    const std::int32_t count =
        whole_chunks(each, asked.gpu_tokens + std::min(load.tokens, asked.tokens));
    if (count == 0) break;
    const std::int32_t ticket = open_load(each, count, slot, request, progress);
    LoadTrip& trip = loads_[static_cast<std::size_t>(ticket)];
    promote(trip, request, progress, now);
    if (trip.promoted.empty()) {  // the first store has no room
      place(each.place).chunks.end_read(trip.chunks, owner(each.place, &request, now));
      release_load(ticket);
      break;
    }
    trip.prefetch = trip.sent = true;
    trip.tokens = (each.first + count) * size - at;
    at += trip.tokens;
    ++own.prefetches;
    trips.push_back(trip_of(ticket, request.replica));
  }
  if (own.prefetches == 0) return 0;
  const bool ends = load.patience_s < TierPolicy::endless_s;
  own.wait_until = ends ? after(now, load.patience_s, "tiers (patience_s)") : never;
  return load.patience_s;
}

/// What comes from elsewhere arrives in the first store too, if there is room.
void Tiers::promote(LoadTrip& load, const Request& request, const Progress& progress,
                    Picoseconds now) {
  const std::int32_t to = place_of(0, request.replica);
  const std::int32_t size = config_of(0).chunk_tokens;
  if (to == load.place || place(load.place).chunks.chunk_tokens() != size) return;
  const std::int32_t end = load.first + load.count;
  const ChunkHashes hashes = chunk_hashes(0, request, progress, end);
  if (!place(to).chunks.put(hashes, load.first, end, owner(to, &request, now), load.promoted))
    return;
  load.promoted_to = to;
  changed(to);
}

std::int32_t Tiers::store_of_load(std::int32_t ticket) const {
  return place(loads_at(ticket).place).store;
}

/// Its chunks are read no longer, and what it promoted is there.
void Tiers::end_reading(LoadTrip& load, const Requests& requests, Picoseconds now) {
  // A prefetch may outlive its request.
  const bool lives = requests[load.slot].id == load.request;
  const Request* request = lives ? &requests[load.slot] : nullptr;
  place(load.place).chunks.end_read(load.chunks, owner(load.place, request, now));
  if (load.promoted_to >= 0) {
    place(load.promoted_to).chunks.end_put(load.promoted, owner(load.promoted_to, request, now));
    changed(load.promoted_to);
  }
  load.done = true;
  StoreTotals& totals = totals_[static_cast<std::size_t>(place(load.place).store)];
  ++totals.loads;
  (load.peer ? totals.peer_hit_tokens : totals.hit_tokens) += load.tokens;
  totals.loaded_bytes += bytes(load.tokens);
}

void Tiers::release_load(std::int32_t ticket) {
  loads_[static_cast<std::size_t>(ticket)] = {};
  spare_loads_.push_back(ticket);
}

bool Tiers::end_trip_of_load(std::int32_t ticket, const Requests& requests, Picoseconds now) {
  LoadTrip& load = loads_[static_cast<std::size_t>(ticket)];
  State& own = states_[static_cast<std::size_t>(load.slot)];
  end_reading(load, requests, now);
  // A request that loads layer by layer may end before its load.
  const bool lives = own.id == load.request && requests[load.slot].id == load.request;
  if (load.prefetch || !lives) {
    if (own.id == load.request && load.prefetch) --own.prefetches;
    if (own.id == load.request) std::erase(own.loads, ticket);
    release_load(ticket);
    return false;
  }
  own.loaded.end = now;
  if (--own.under_way > 0) return false;
  for (const std::int32_t each : own.loads) release_load(each);
  own.loads.clear();
  return true;
}

/// Of a load of which so many chunks have come, the others do not arrive in the first store either.
void Tiers::leave_out(LoadTrip& load, std::int32_t come) {
  if (load.promoted_to < 0) return;
  const std::int32_t end = load.first + come;
  Pieces kept, lost;
  for (const Piece& each : load.promoted) {
    if (each.low < end) kept.push_back({each.path, each.low, std::min(each.high, end)});
    if (each.high > end) lost.push_back({each.path, std::max(each.low, end), each.high});
  }
  place(load.promoted_to).chunks.cancel_put(lost);
  load.promoted = std::move(kept);
}

std::int32_t Tiers::cut_load(std::int32_t slot, const Requests& requests, Picoseconds now,
                             const std::function<double(std::int32_t)>& through) {
  State& own = states_[static_cast<std::size_t>(slot)];
  std::int32_t come = 0, asked = 0;
  bool whole = true;
  for (const std::int32_t ticket : own.loads) {
    LoadTrip& load = loads_[static_cast<std::size_t>(ticket)];
    const double share = load.done ? 1 : through(ticket) / bytes(load.tokens);
    const std::int32_t lost = load.count - static_cast<std::int32_t>(share * load.count);
    const std::int32_t tokens =
        std::max(0, load.tokens - lost * place(load.place).chunks.chunk_tokens());
    asked += load.tokens;
    if (whole) come += tokens;
    whole = whole && lost == 0;
    if (!load.done) {
      load.tokens = tokens;
      leave_out(load, load.count - lost);
      end_reading(load, requests, now);
    }
    release_load(ticket);
  }
  own.loads.clear();
  own.under_way = 0;
  own.loaded.tokens -= asked - come;
  own.loaded.end = std::max(now, own.loaded.start);
  return asked - come;
}

Picoseconds Tiers::expected_end(std::int32_t slot) const {
  Picoseconds end = 0;
  for (const std::int32_t ticket : state_at(slot).loads)
    end = std::max(end, flows_->expected_end(Errand::load, ticket));
  return end;
}

}  // namespace rooflua
