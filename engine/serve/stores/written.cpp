// What requests computed, or what leaves a GPU, goes into the stores that the policy names.

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "serve/stores/tiers.h"

namespace rooflua {

/// Tokens of the sequence that the policy was not told of.
void Tiers::store(std::int32_t slot, const Request& request, const Progress& progress,
                  std::int32_t tokens, std::int32_t why, Picoseconds now,
                  std::vector<Trip>& trips) {
  State& own = state(slot, request);
  const std::int32_t first = own.told_tokens;
  if (tokens <= first) return;
  own.told_tokens = tokens;
  const std::int32_t prompt = std::min(tokens, request.prompt_tokens);
  const Content content{.replica = request.replica, .request = &request, .progress = &progress};
  TierRun run;
  run.slot = slot;
  run.why = why;
  if (first < prompt) {
    run.first_token = first;
    run.last_token = prompt;
    tell(content, run, now, trips);
  }
  if (tokens > request.prompt_tokens && policy(request.replica)->outputs()) {
    run.first_token = std::max(first, prompt);
    run.last_token = tokens;
    run.prompt = 0;
    tell(content, run, now, trips);
  }
}

void Tiers::store_evicted(std::int32_t replica, const LostRun& lost, Picoseconds now,
                          std::vector<Trip>& trips) {
  TierRun run;
  run.why = 3;
  run.first_token = lost.first * block_size(replica);
  run.last_token = static_cast<std::int32_t>(lost.hashes.size()) * block_size(replica);
  tell({.replica = replica, .lost = lost.hashes}, run, now, trips);
}

ChunkHashes Tiers::chunk_hashes(std::int32_t store, const Content& content,
                                std::int32_t end) const {
  if (content.request != nullptr)
    return chunk_hashes(store, *content.request, *content.progress, end);
  return {content.lost, config_of(store).chunk_tokens / block_size(content.replica)};
}

/// The run ends where its chunks were asked for by another number of requests.
void Tiers::count_uses(const Content& content, TierRun& run) const {
  const std::int32_t size = config_of(0).chunk_tokens;
  const std::int32_t first = run.first_token / size, end = run.last_token / size;
  const ChunkHashes hashes = chunk_hashes(0, content, end);
  const auto uses = [&](std::int32_t chunk) { return std::max(0, uses_.find(hashes[chunk])); };
  run.uses = first < end ? uses(first) : 0;
  for (std::int32_t i = first + 1; i < end; ++i) {
    if (uses(i) == run.uses) continue;
    run.last_token = i * size;
    break;
  }
}

/// Asks the policy about a run, in parts where its chunks were asked for by different numbers of
/// requests and the policy counts.
void Tiers::tell(const Content& content, TierRun run, Picoseconds now, std::vector<Trip>& trips) {
  TierPolicy& asked = *policy(content.replica);
  const std::int32_t end = run.last_token;
  while (run.first_token < end) {
    run.last_token = end;
    if (asked.counts()) count_uses(content, run);
    run.bytes = bytes(run.last_token - run.first_token);
    std::vector<StoreView> views;
    for (std::int32_t s = 0; s < static_cast<std::int32_t>(config_.stores.size()); ++s) {
      const Place& own = place(place_of(s, content.replica));
      const double each = bytes(own.chunks.chunk_tokens());
      views.push_back({static_cast<double>(own.chunks.capacity()) * each,
                       static_cast<double>(own.chunks.used()) * each,
                       static_cast<double>(own.chunks.evictable()) * each, own.queued_bytes});
    }
    const std::uint32_t taken = content.request != nullptr
                                    ? asked.store(*content.request, run, views)
                                    : asked.store_evicted(run, views);
    for (std::int32_t s = 0; s < static_cast<std::int32_t>(config_.stores.size()); ++s) {
      if ((taken >> s & 1u) != 0) put(content, s, run, now, trips);
    }
    run.first_token = run.last_token;
  }
}

/// What leaves in one plan for one store is one write.
bool Tiers::joins(const Write& write, std::vector<Trip>& trips) {
  for (Trip& trip : trips) {
    Write& other = writes_[static_cast<std::size_t>(trip.ticket)];
    if (other.place != write.place) continue;
    other.bytes += write.bytes;
    other.chunks.insert(other.chunks.end(), write.chunks.begin(), write.chunks.end());
    trip.bytes = other.bytes;
    return true;
  }
  return false;
}

/// Chunks that end within the run.
void Tiers::put(const Content& content, std::int32_t store, const TierRun& run, Picoseconds now,
                std::vector<Trip>& trips) {
  const std::int32_t size = config_of(store).chunk_tokens;
  const std::int32_t first = run.first_token / size, end = run.last_token / size;
  if (first >= end) return;
  const std::int32_t to = place_of(store, content.replica);
  Write write;
  StoreTotals& totals = totals_[static_cast<std::size_t>(store)];
  if (!place(to).chunks.put(chunk_hashes(store, content, end), first, end,
                            owner(to, content.request, now), write.chunks)) {
    ++totals.skipped_stores;
    return;
  }
  if (write.chunks.empty()) return;
  changed(to);
  write.replica = content.replica;
  write.place = to;
  if (content.request != nullptr) write.request = content.request->id;
  write.tokens = end * size;
  for (const Piece& each : write.chunks) write.bytes += bytes(size) * each.chunks();
  place(to).queued_bytes += write.bytes;
  totals.stored_bytes += write.bytes;
  if (content.request == nullptr && joins(write, trips)) return;
  ++totals.stores;
  std::int32_t ticket = static_cast<std::int32_t>(writes_.size());
  if (spare_writes_.empty()) {
    writes_.emplace_back();
  } else {
    ticket = spare_writes_.back();
    spare_writes_.pop_back();
  }
  Trip& trip = trips.emplace_back();
  trip.ticket = ticket;
  trip.from = content.replica;
  trip.to = place(to).replica;
  trip.bytes = write.bytes;
  trip.alpha_s = links_of(store).write_alpha_s;
  for (const std::int32_t link : links_of(store).write)
    wires_.add_way(link, content.replica, Wires::Way::out, trip.path);
  writes_[static_cast<std::size_t>(ticket)] = std::move(write);
}

bool Tiers::fills_chunk(std::int32_t slot, const Request& request, std::int32_t tokens) const {
  const State& own = state_at(slot);
  const std::int32_t told = own.id == request.id ? own.told_tokens : 0;
  return std::any_of(config_.stores.begin(), config_.stores.end(), [&](const StoreConfig& store) {
    return tokens / store.chunk_tokens > told / store.chunk_tokens;
  });
}

std::vector<std::int32_t> Tiers::flush(const Request& request) {
  std::vector<std::int32_t> out;
  for (std::size_t i = 0; i < writes_.size(); ++i) {
    if (writes_[i].replica != request.replica || writes_[i].request != request.id) continue;
    out.push_back(static_cast<std::int32_t>(i));
    hold_steps(out.back());
  }
  return out;
}

Picoseconds Tiers::held_until(std::int32_t replica) const {
  Picoseconds end = 0;
  for (const std::int32_t ticket : holding_[static_cast<std::size_t>(replica)])
    end = std::max(end, flows_->expected_end(Errand::store, ticket));
  return end;
}

std::int32_t Tiers::store_of_write(std::int32_t ticket) const {
  return place(writes_at(ticket).place).store;
}

void Tiers::end_write(std::int32_t ticket, Picoseconds now) {
  Write& write = writes_[static_cast<std::size_t>(ticket)];
  std::erase(holding_[static_cast<std::size_t>(write.replica)], ticket);
  place(write.place).chunks.end_put(write.chunks, owner(write.place, nullptr, now));
  place(write.place).queued_bytes -= write.bytes;
  changed(write.place);
  write = {};
  spare_writes_.push_back(ticket);
}

}  // namespace rooflua
