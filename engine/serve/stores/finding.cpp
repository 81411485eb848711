// What stores have of a prompt after what the GPU has.

#include <algorithm>
#include <cstddef>
#include <utility>

#include "serve/kv/block_hashes.h"
#include "serve/stores/tiers.h"

namespace rooflua {

/// Goes through a sequence from the left: at each token the first store that has the chunk at hand
/// takes it, an own instance before another one. Runs of chunks are taken at once.
class Tiers::Search {
 public:
  Search(const Tiers& tiers, std::int32_t replica, std::span<const std::uint64_t> blocks,
         std::int32_t limit, std::int32_t at)
      : tiers_(tiers), blocks_(blocks), replica_(replica), limit_(limit), at_(at) {}

  std::int32_t at() const { return at_; }
  /// Chunks that the own instances of stores [first, end) have, or that arrive there too.
  /// @returns whether there were any
  bool take_own(std::int32_t first, std::int32_t end, Store::Has least, std::vector<Stretch>* out);
  /// Where no own instance of them has the chunk at hand: chunks that others have.
  bool take_from_peers(std::int32_t end, std::vector<Stretch>& out);

 private:
  std::int32_t size(std::int32_t store) const { return tiers_.config_of(store).chunk_tokens; }
  std::int32_t chunk(std::int32_t store) const { return at_ / size(store); }
  bool fits(std::int32_t store) const { return (chunk(store) + 1) * size(store) <= limit_; }
  Store::Run run_at(std::int32_t place) const;
  std::int32_t holder(std::int32_t store) const;
  void take(std::int32_t place, bool peer, std::int32_t count, std::vector<Stretch>* out);
  std::int32_t count_before(std::int32_t store, std::int32_t token) const;

  const Tiers& tiers_;
  std::span<const std::uint64_t> blocks_;
  std::int32_t replica_, limit_, at_;
  std::int32_t nearer_ = 0;  // up to this token no own instance has a chunk that begins there
};

Store::Run Tiers::Search::run_at(std::int32_t place) const {
  const std::int32_t store = tiers_.place(place).store;
  const ChunkHashes hashes(blocks_, size(store) / tiers_.block_size(replica_));
  return tiers_.place(place).chunks.run_at(hashes, chunk(store), limit_ / size(store));
}

/// Chunks of a store from the one at hand on that begin in front of this token.
std::int32_t Tiers::Search::count_before(std::int32_t store, std::int32_t token) const {
  const std::int32_t chunks = (token + size(store) - 1) / size(store);
  return std::max(1, chunks - chunk(store));
}

void Tiers::Search::take(std::int32_t place, bool peer, std::int32_t count,
                         std::vector<Stretch>* out) {
  const std::int32_t store = tiers_.place(place).store;
  const std::int32_t first = chunk(store), end = (first + count) * size(store);
  if (out != nullptr) {
    const bool grows = !out->empty() && out->back().place == place && out->back().peer == peer &&
                       out->back().first + out->back().count == first;
    if (!grows) out->push_back({place, peer, first, 0, 0});
    out->back().count += count;
    out->back().tokens += end - at_;
  }
  at_ = end;
}

bool Tiers::Search::take_own(std::int32_t first, std::int32_t end, Store::Has least,
                             std::vector<Stretch>* out) {
  nearer_ = limit_;
  for (std::int32_t s = first; s < end; ++s) {
    if (!fits(s)) continue;
    const std::int32_t place = tiers_.place_of(s, replica_);
    const Store::Run run = run_at(place);
    if (run.has >= least) {
      take(place, false, std::min(run.end - chunk(s), count_before(s, nearer_)), out);
      return true;
    }
    nearer_ = std::min(nearer_, run.end * size(s));
  }
  return false;
}

/// Another instance of the store that has the chunk at hand; -1: none has it.
std::int32_t Tiers::Search::holder(std::int32_t store) const {
  const std::int32_t own = tiers_.place_of(store, replica_);
  const auto s = static_cast<std::size_t>(store);
  const auto end = s + 1 < tiers_.first_place_.size()
                       ? tiers_.first_place_[s + 1]
                       : static_cast<std::int32_t>(tiers_.places_.size());
  for (std::int32_t i = tiers_.first_place_[s]; i < end; ++i) {
    if (i != own && run_at(i).has == Store::Has::ready) return i;
  }
  return -1;
}

bool Tiers::Search::take_from_peers(std::int32_t end, std::vector<Stretch>& out) {
  bool others = false;  // stores in front of this one have peers
  for (std::int32_t s = 0; s < end; ++s) {
    if (tiers_.links_of(s).peers.empty() || !fits(s)) continue;
    const bool goes_on = !out.empty() && out.back().peer &&
                         tiers_.place(out.back().place).store == s &&
                         run_at(out.back().place).has == Store::Has::ready;
    const std::int32_t place = goes_on ? out.back().place : holder(s);
    if (place >= 0) {
      const std::int32_t most = others ? 1 : count_before(s, nearer_);
      take(place, true, std::min(run_at(place).end - chunk(s), most), &out);
      return true;
    }
    others = true;
  }
  return false;
}

std::int32_t Tiers::find(std::int32_t replica, const Request& request, const Progress& progress,
                         std::int32_t from, Where where, std::vector<Stretch>& out) const {
  const std::int32_t block = block_size(replica);
  const std::int32_t sequence = request.prompt_tokens + request.emitted_tokens;
  const std::int32_t limit = policy(replica)->last_chunk() ? sequence : sequence - 1;
  const std::int32_t begin = where == Where::behind ? 1 : 0;
  const std::int32_t end =
      where == Where::first ? 1 : static_cast<std::int32_t>(config_.stores.size());
  Search search(*this, replica, block_hashes(request, progress, block, limit / block), limit, from);
  while (search.take_own(begin, end, Store::Has::ready, &out) ||
         (where != Where::first && search.take_from_peers(end, out))) {
  }
  const std::int32_t loadable = search.at();
  while (search.take_own(begin, end, Store::Has::arriving, nullptr)) {
  }
  return search.at() - loadable;
}

// --- What becomes of stores when a replica is lost: its own instances are empty, what it was writing
// does not arrive, and what came for it comes no longer. Instances of nodes and of the cluster keep
// what is ready.

bool Tiers::is_of_replica_alone(std::int32_t place, std::int32_t replica) const {
  const std::int32_t store = this->place(place).store;
  return config_of(store).per == LinkScope::replica && place == place_of(store, replica);
}

std::vector<std::int32_t> Tiers::writes_from(std::int32_t replica) const {
  std::vector<std::int32_t> out;
  for (std::size_t i = 0; i < writes_.size(); ++i)
    if (writes_[i].replica == replica) out.push_back(static_cast<std::int32_t>(i));
  return out;
}

void Tiers::cancel_write(std::int32_t ticket) {
  Write& write = writes_[static_cast<std::size_t>(ticket)];
  std::erase(holding_[static_cast<std::size_t>(write.replica)], ticket);
  place(write.place).chunks.cancel_put(write.chunks);
  place(write.place).queued_bytes -= write.bytes;
  changed(write.place);
  write = {};
  spare_writes_.push_back(ticket);
}

std::vector<std::int32_t> Tiers::loads_from(std::int32_t replica) const {
  std::vector<std::int32_t> out;
  for (std::size_t i = 0; i < loads_.size(); ++i) {
    const LoadTrip& load = loads_[i];
    if (load.slot < 0 || load.done || !load.sent) continue;
    const bool reads = is_of_replica_alone(load.place, replica);
    const bool fills = load.promoted_to >= 0 && is_of_replica_alone(load.promoted_to, replica);
    if (reads || fills) out.push_back(static_cast<std::int32_t>(i));
  }
  return out;
}

void Tiers::drop_load(std::int32_t ticket, const Requests& requests, Picoseconds now) {
  LoadTrip& load = loads_[static_cast<std::size_t>(ticket)];
  State& own = states_[static_cast<std::size_t>(load.slot)];
  leave_out(load, -load.first);
  const bool lives = requests[load.slot].id == load.request;
  const Request* request = lives ? &requests[load.slot] : nullptr;
  place(load.place).chunks.end_read(load.chunks, owner(load.place, request, now));
  if (own.id == load.request) {
    if (load.prefetch) --own.prefetches;
    if (std::erase(own.loads, ticket) > 0) --own.under_way;
  }
  release_load(ticket);
}

void Tiers::empty(std::int32_t replica) {
  for (std::int32_t store = 0; store < static_cast<std::int32_t>(config_.stores.size()); ++store) {
    const std::int32_t own = place_of(store, replica);
    if (!is_of_replica_alone(own, replica)) continue;
    place(own).chunks.lose_ready();
    changed(own);
  }
}

}  // namespace rooflua
