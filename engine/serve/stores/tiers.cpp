#include "serve/stores/tiers.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "base/error.h"
#include "serve/kv/block_hashes.h"

namespace rooflua {

namespace {

/// Places of links, and the sum of their alpha_s.
std::vector<std::int32_t> links_named(const Wires& wires, const std::vector<std::string>& names,
                                      const std::string& where, double& alpha_s) {
  std::vector<std::int32_t> out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    out.push_back(wires.link_named(names[i], where + "[" + std::to_string(i + 1) + "]"));
    alpha_s += wires.links()[static_cast<std::size_t>(out.back())].alpha_s;
  }
  return out;
}

void check_store(const StoreConfig& store, const std::string& where,
                 const std::vector<std::int32_t>& block_sizes, double bytes_per_token) {
  check_figures(store, where);
  if (store.read.empty()) throw Error(where + "read", "names no link");
  if (store.write.empty()) throw Error(where + "write", "names no link");
  if (!store.peers.empty() && store.per == LinkScope::cluster)
    throw Error(where + "peers", "the cluster has one instance of this store; leave it out");
  for (const std::int32_t block_size : block_sizes) {
    if (store.chunk_tokens % block_size != 0)
      throw Error(where + "chunk_tokens", "found " + std::to_string(store.chunk_tokens) +
                                              "; a multiple of block_size, " +
                                              std::to_string(block_size) + ", is right");
  }
  if (store.capacity_bytes < store.chunk_tokens * bytes_per_token)
    throw Error(where + "capacity_bytes", "has no room for one chunk");
}

}  // namespace

Tiers::Tiers(const TiersConfig& config, std::vector<std::int32_t> block_sizes, const Wires& wires)
    : config_(config), wires_(wires), block_sizes_(std::move(block_sizes)) {
  check_figures(config, "tiers.");
  if (!(config.bytes_per_token > 0))
    throw Error("tiers.bytes_per_token", "a number above 0 is right");
  for (std::size_t i = 0; i < config_.stores.size(); ++i) {
    const StoreConfig& store = config_.stores[i];
    const std::string where = "tiers.stores[" + std::to_string(i + 1) + "].";
    check_store(store, where, block_sizes_, config_.bytes_per_token);
    Links& links = links_.emplace_back();
    links.read_alpha_s = links.write_alpha_s = store.alpha_s;
    links.read = links_named(wires, store.read, where + "read", links.read_alpha_s);
    links.write = links_named(wires, store.write, where + "write", links.write_alpha_s);
    links.peers = links_named(wires, store.peers, where + "peers", links.peer_alpha_s);
    first_place_.push_back(static_cast<std::int32_t>(places_.size()));
    const auto capacity = static_cast<std::int64_t>(store.capacity_bytes /
                                                    (store.chunk_tokens * config_.bytes_per_token));
    std::size_t count = 1;
    if (store.per == LinkScope::replica) count = block_sizes_.size();
    if (store.per == LinkScope::node) count = static_cast<std::size_t>(wires.nodes());
    const auto index = static_cast<std::int32_t>(i);
    places_.insert(places_.end(), count,
                   {Store(capacity, store.chunk_tokens, store.eviction), index, -1, 0});
    for (auto r = static_cast<std::int32_t>(block_sizes_.size()); r-- > 0;)
      place(place_of(index, r)).replica = r;
  }
  shared_version_.resize(config_.stores.size());
  totals_.resize(config_.stores.size());
}

void Tiers::use(const std::vector<TierPolicy*>& policies,
                const std::vector<EvictionPolicy*>& evictions) {
  policies_ = policies;
  evictions_ = evictions;
  policies_.resize(block_sizes_.size());
  evictions_.resize(config_.stores.size());
}

std::int32_t Tiers::place_of(std::int32_t store, std::int32_t replica) const {
  const std::int32_t first = first_place_[static_cast<std::size_t>(store)];
  const LinkScope per = config_of(store).per;
  if (per == LinkScope::cluster) return first;
  return first + (per == LinkScope::node ? wires_.node_of(replica) : replica);
}

Tiers::State& Tiers::state(std::int32_t slot, const Request& request) {
  const auto s = static_cast<std::size_t>(slot);
  if (s >= states_.size()) states_.resize(s + 1);
  if (states_[s].id != request.id) {
    for (const std::int32_t each : states_[s].loads) {
      if (loads_at(each).done) release_load(each);  // the others are when they end
    }
    states_[s] = State{};
    states_[s].id = request.id;
  }
  return states_[s];
}

const Tiers::State& Tiers::state_at(std::int32_t slot) const {
  static const State none;
  const auto s = static_cast<std::size_t>(slot);
  return s < states_.size() ? states_[s] : none;
}

std::int64_t Tiers::version(std::int32_t replica) const {
  std::int64_t sum = 0;
  for (std::int32_t s = 0; s < static_cast<std::int32_t>(config_.stores.size()); ++s) {
    sum += links_of(s).peers.empty() ? place(place_of(s, replica)).chunks.version()
                                     : shared_version_[static_cast<std::size_t>(s)];
  }
  return sum;
}

void Tiers::changed(std::int32_t place) {
  ++shared_version_[static_cast<std::size_t>(this->place(place).store)];
}

Store::Owner Tiers::owner(std::int32_t place, const Request* request, Picoseconds now) const {
  const std::int32_t store = this->place(place).store;
  return {.request = request,
          .now = now,
          .keys = evictions_[static_cast<std::size_t>(store)],
          .chunk_bytes = bytes(config_of(store).chunk_tokens)};
}

std::vector<std::uint64_t> Tiers::chunk_hashes(std::int32_t store, const Request& request,
                                               const Progress& progress, std::int32_t first,
                                               std::int32_t end) const {
  const std::int32_t block = block_size(request.replica);
  const std::int32_t blocks = config_of(store).chunk_tokens / block;
  std::vector<std::uint64_t> out;
  if (first >= end) return out;
  const std::vector<std::uint64_t>& known = block_hashes(request, progress, block, end * blocks);
  for (std::int32_t i = first; i < end; ++i)
    out.push_back(known[static_cast<std::size_t>((i + 1) * blocks - 1)]);
  return out;
}

// --- a waiting request

/// Another instance of the store that has this chunk; -1: none has it.
std::int32_t Tiers::holder(std::int32_t store, std::int32_t replica, std::uint64_t hash) const {
  const std::int32_t own = place_of(store, replica);
  const auto s = static_cast<std::size_t>(store);
  const auto end =
      s + 1 < first_place_.size() ? first_place_[s + 1] : static_cast<std::int32_t>(places_.size());
  for (std::int32_t i = first_place_[s]; i < end; ++i) {
    if (i != own && place(i).chunks.has(hash) == Store::Has::ready) return i;
  }
  return -1;
}

std::int32_t Tiers::find(std::int32_t replica, const Request& request, const Progress& progress,
                         std::int32_t from, Where where, std::vector<Stretch>& out) const {
  const std::int32_t block = block_size(replica);
  const std::int32_t limit = request.prompt_tokens + request.emitted_tokens - 1;
  const std::int32_t begin = where == Where::behind ? 1 : 0;
  const std::int32_t stores =
      where == Where::first ? 1 : static_cast<std::int32_t>(config_.stores.size());
  const std::vector<std::uint64_t>& known = block_hashes(request, progress, block, limit / block);
  const auto hash_of_end = [&](std::int32_t end) {
    return known[static_cast<std::size_t>(end / block - 1)];
  };
  const auto add = [&](std::int32_t place, bool peer, std::int32_t chunk, std::int32_t tokens) {
    const bool grows = !out.empty() && out.back().place == place && out.back().peer == peer &&
                       out.back().first + out.back().count == chunk;
    if (!grows) out.push_back({place, peer, chunk, 0, 0});
    ++out.back().count;
    out.back().tokens += tokens;
  };
  std::int32_t at = from;
  const auto step = [&](std::int32_t from_store, auto has) {
    for (std::int32_t s = from_store; s < stores; ++s) {
      const std::int32_t size = config_of(s).chunk_tokens;
      const std::int32_t chunk = at / size, end = (chunk + 1) * size;
      if (end > limit || !has(s, chunk, end)) continue;
      at = end;
      return true;
    }
    return false;
  };
  const auto own = [&](std::int32_t s, std::int32_t chunk, std::int32_t end) {
    const std::int32_t place = place_of(s, replica);
    if (this->place(place).chunks.has(hash_of_end(end)) != Store::Has::ready) return false;
    add(place, false, chunk, end - at);
    return true;
  };
  const auto peers = [&](std::int32_t s, std::int32_t chunk, std::int32_t end) {
    if (links_of(s).peers.empty()) return false;
    const bool goes_on = !out.empty() && out.back().peer && place(out.back().place).store == s &&
                         place(out.back().place).chunks.has(hash_of_end(end)) == Store::Has::ready;
    const std::int32_t found = goes_on ? out.back().place : holder(s, replica, hash_of_end(end));
    if (found < 0) return false;
    add(found, true, chunk, end - at);
    return true;
  };
  while (step(begin, own) || (where != Where::first && step(0, peers))) {
  }
  const std::int32_t loadable = at;
  while (step(begin, [&](std::int32_t s, std::int32_t, std::int32_t end) {
    return place(place_of(s, replica)).chunks.has(hash_of_end(end)) != Store::Has::nothing;
  })) {
  }
  return at - loadable;
}

/// Every chunk of the first store's size that a request asks for is counted once.
void Tiers::count_uses(const Request& request, const Progress& progress) {
  const std::int32_t chunks = request.prompt_tokens / config_of(0).chunk_tokens;
  for (const std::uint64_t hash : chunk_hashes(0, request, progress, 0, chunks))
    uses_.set(hash, std::max(0, uses_.find(hash)) + 1);
}

Tiers::Decision Tiers::decide(std::int32_t slot, const Request& request, const Progress& progress,
                              std::int32_t gpu_tokens, std::int32_t waiting, Picoseconds now) {
  State& own = state(slot, request);
  if (own.prefetches > 0 && now < own.wait_until) return {Verdict::later, 0};
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

void Tiers::describe_found(std::int32_t slot, const Request& request, std::int32_t gpu_tokens,
                           std::int32_t pending) {
  found_ = TierFound{};
  found_.slot = slot;
  found_.gpu_tokens = gpu_tokens;
  found_.pending_tokens = pending;
  found_.prompt_tokens = request.prompt_tokens + request.emitted_tokens;
  found_.policy = policy(request.replica)->reference();
  sources_.clear();
  for (const Stretch& each : stretches_) {
    const std::int32_t store = place(each.place).store;
    auto at = std::find_if(sources_.begin(), sources_.end(), [&](const auto& source) {
      return source.store == store && (source.peer != 0) == each.peer;
    });
    if (at == sources_.end()) {
      at = sources_.insert(at, rooflua_tier_source{});
      at->store = store;
      at->peer = each.peer;
    }
    double alpha_s = 0;
    const double share = flows_->share_of(path_of(each, request.replica, alpha_s));
    at->tokens += each.tokens;
    at->bytes += bytes(each.tokens);
    at->wait_s += alpha_s + bytes(each.tokens) / share;
    found_.tokens += each.tokens;
  }
  found_.sources = sources_.data();
  found_.source_count = static_cast<std::int32_t>(sources_.size());
}

std::vector<std::int32_t> Tiers::path_of(const Stretch& stretch, std::int32_t replica,
                                         double& alpha_s) const {
  const Place& from = place(stretch.place);
  const Links& links = links_of(from.store);
  std::vector<std::int32_t> path;
  alpha_s = links.read_alpha_s;
  if (stretch.peer) {
    alpha_s += links.peer_alpha_s;
    for (const std::int32_t link : links.peers)
      wires_.add_to_path(link, from.replica, replica, path);
  }
  for (const std::int32_t link : links.read) wires_.add_way(link, replica, Wires::Way::in, path);
  return path;
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
  load.peer = stretch.peer;
  load.first = stretch.first;
  Place& from = place(stretch.place);
  for (const std::uint64_t hash :
       chunk_hashes(from.store, request, progress, stretch.first, stretch.first + count))
    load.chunks.push_back(from.chunks.find(hash));
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
    // A chunk that begins in front of `at` brings what is behind it.
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

void Tiers::send_load(std::int32_t slot, const Request& request, Picoseconds now,
                      std::vector<Trip>& trips) {
  State& own = state(slot, request);
  own.loaded.start = now;
  for (const std::int32_t ticket : own.loads) {
    LoadTrip& load = loads_[static_cast<std::size_t>(ticket)];
    if (std::exchange(load.sent, true)) continue;
    trips.push_back(trip_of(ticket, request.replica));
    if (policy(request.replica)->promotes()) promote(load, request, now);
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
    trip.prefetch = trip.sent = true;
    trip.tokens = (each.first + count) * size - at;
    at += trip.tokens;
    ++own.prefetches;
    promote(trip, request, now);
    trips.push_back(trip_of(ticket, request.replica));
  }
  if (own.prefetches > 0)
    own.wait_until =
        load.patience_s < 1e6 ? after(now, load.patience_s, "tiers (patience_s)") : never;
  return own.prefetches > 0 ? load.patience_s : 0;
}

/// What comes from elsewhere arrives in the first store too, if there is room.
void Tiers::promote(LoadTrip& load, const Request& request, Picoseconds now) {
  const std::int32_t to = place_of(0, request.replica);
  const std::int32_t size = config_of(0).chunk_tokens;
  if (to == load.place || place(load.place).chunks.chunk_tokens() != size) return;
  std::vector<std::uint64_t> hashes;
  for (const std::int32_t chunk : load.chunks)
    hashes.push_back(place(load.place).chunks.hash(chunk));
  if (!place(to).chunks.put(hashes, load.first, owner(to, &request, now), load.promoted)) return;
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
void Tiers::leave_out(LoadTrip& load, std::size_t come) {
  if (load.promoted_to < 0) return;
  Store& to = place(load.promoted_to).chunks;
  std::vector<std::int32_t> kept, lost;
  for (const std::int32_t chunk : load.promoted) {
    const auto comes_from = std::find_if(
        load.chunks.begin(), load.chunks.end(), [&](std::int32_t source) {
          return place(load.place).chunks.hash(source) == to.hash(chunk);
        });
    const auto index = static_cast<std::size_t>(comes_from - load.chunks.begin());
    (index < come ? kept : lost).push_back(chunk);
  }
  to.cancel_put(lost);
  load.promoted = std::move(kept);
}

std::int32_t Tiers::cut_load(std::int32_t slot, const Requests& requests, Picoseconds now,
                             const std::function<double(std::int32_t)>& through) {
  State& own = states_[static_cast<std::size_t>(slot)];
  std::int32_t come = 0, asked = 0;
  bool whole = true;
  for (const std::int32_t ticket : own.loads) {
    LoadTrip& load = loads_[static_cast<std::size_t>(ticket)];
    const auto chunks = static_cast<std::int32_t>(load.chunks.size());
    const double share = load.done ? 1 : through(ticket) / bytes(load.tokens);
    const std::int32_t lost = chunks - static_cast<std::int32_t>(share * chunks);
    const std::int32_t tokens =
        std::max(0, load.tokens - lost * place(load.place).chunks.chunk_tokens());
    asked += load.tokens;
    if (whole) come += tokens;
    whole = whole && lost == 0;
    if (!load.done) {
      load.tokens = tokens;
      leave_out(load, static_cast<std::size_t>(chunks - lost));
      end_reading(load, requests, now);
    }
    release_load(ticket);
  }
  own.loads.clear();
  own.under_way = 0;
  own.loaded.tokens -= asked - come;
  own.loaded.end = now;
  return asked - come;
}

Picoseconds Tiers::expected_end(std::int32_t slot) const {
  Picoseconds end = 0;
  for (const std::int32_t ticket : state_at(slot).loads)
    end = std::max(end, flows_->expected_end(Errand::load, ticket));
  return end;
}

void Tiers::ask(std::int32_t slot, const Request& request, const Progress& progress,
                Picoseconds now) {
  if (std::exchange(state(slot, request).asked, true)) return;
  for (std::int32_t s = 0; s < static_cast<std::int32_t>(config_.stores.size()); ++s) {
    const std::int32_t own = place_of(s, request.replica);
    const std::int32_t chunks = request.prompt_tokens / config_of(s).chunk_tokens;
    place(own).chunks.ask(chunk_hashes(s, request, progress, 0, chunks), owner(own, &request, now));
  }
}

// --- reports

std::int64_t Tiers::evictions(std::int32_t store) const {
  std::int64_t sum = 0;
  for (const Place& each : places_) sum += each.store == store ? each.chunks.evictions() : 0;
  return sum;
}

std::int64_t Tiers::busy_chunks(std::int32_t store) const {
  std::int64_t sum = 0;
  for (const Place& each : places_) {
    if (each.store == store) sum += each.chunks.used() - each.chunks.evictable();
  }
  return sum;
}

double Tiers::most_used_bytes(std::int32_t store) const {
  std::int64_t most = 0;
  for (const Place& each : places_) {
    if (each.store == store) most = std::max(most, each.chunks.most_used());
  }
  return static_cast<double>(most) * bytes(config_of(store).chunk_tokens);
}

std::int32_t Tiers::loadable(std::int32_t replica, const Request& request, const Progress& progress,
                             std::int32_t gpu_tokens) const {
  std::vector<Stretch> stretches;
  find(replica, request, progress, gpu_tokens, Where::all, stretches);
  std::int32_t sum = 0;
  for (const Stretch& each : stretches) sum += each.tokens;
  return sum;
}

}  // namespace rooflua
