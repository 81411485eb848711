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
  holding_.resize(block_sizes_.size());
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

ChunkHashes Tiers::chunk_hashes(std::int32_t store, const Request& request,
                                const Progress& progress, std::int32_t end) const {
  const std::int32_t block = block_size(request.replica);
  const std::int32_t blocks = config_of(store).chunk_tokens / block;
  return {block_hashes(request, progress, block, end * blocks), blocks};
}

// --- a waiting request

std::int32_t Tiers::stored_tokens(std::int32_t replica, const Request& request,
                                  const Progress& progress, std::int32_t from) const {
  std::vector<Stretch> found;
  find(replica, request, progress, from, Where::all, found);
  std::int32_t tokens = 0;
  for (const Stretch& each : found) tokens += each.tokens;
  return tokens;
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
  found_.chunk_tokens = config_of(0).chunk_tokens;
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

void Tiers::ask(std::int32_t slot, const Request& request, const Progress& progress,
                Picoseconds now) {
  if (std::exchange(state(slot, request).asked, true)) return;
  for (std::int32_t s = 0; s < static_cast<std::int32_t>(config_.stores.size()); ++s) {
    const std::int32_t own = place_of(s, request.replica);
    const std::int32_t chunks = request.prompt_tokens / config_of(s).chunk_tokens;
    place(own).chunks.ask(chunk_hashes(s, request, progress, chunks), chunks,
                          owner(own, &request, now));
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

}  // namespace rooflua
