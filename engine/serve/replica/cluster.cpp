#include "serve/replica/cluster.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>

#include "base/error.h"

namespace rooflua {

namespace {

/// Ranks of one engine: what they must have in common to step together.
void check_groups(const std::vector<ReplicaConfig>& replicas) {
  std::map<std::int32_t, const ReplicaConfig*> first;
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    const ReplicaConfig& each = replicas[i];
    if (each.group < 0) continue;
    const ReplicaConfig& other = *first.try_emplace(each.group, &each).first->second;
    const auto differs = [&](const char* key) {
      throw Error("replicas[" + std::to_string(i + 1) + "]." + key,
                  "differs from that of another rank of its group; ranks that step together have "
                  "the same");
    };
    if (each.async_depth != other.async_depth) differs("async_depth");
    if (each.role != other.role) differs("role");
    if (each.dp_sync_s != other.dp_sync_s) differs("dp_sync_s");
  }
}

/// Shares and links of a replica's stages.
void check_stages(const ReplicaConfig& replica, const std::string& where) {
  const StageConfig& stages = replica.stages;
  check_figures(stages, where + "stages.");
  if (!stages.several()) return;
  if (replica.group >= 0)
    throw Error(where + "stages", "ranks that step together have one stage each");
  if (replica.ragged) throw Error(where + "stages", "a replica that speculates has one stage");
  check_shares(stages, where + "stages.");
  const double sum = std::accumulate(stages.shares.begin(), stages.shares.end(), 0.0);
  if (std::abs(sum - 1) > 1e-9)
    throw Error(where + "stages.shares", "they add up to " + std::to_string(sum) + "; 1 is right");
  if (stages.links.size() + 1 != stages.shares.size())
    throw Error(where + "stages.links", "found " + std::to_string(stages.links.size()) +
                                            "; one fewer than stages is right");
  for (std::size_t i = 0; i < stages.links.size(); ++i)
    check_figures(stages.links[i], where + "stages.links[" + std::to_string(i + 1) + "].");
}

void check_frontend(const Frontend& frontend) {
  check_figures(frontend, "frontend.");
  if (frontend.egress_servers > 0 && !(frontend.server_chunk_s > 0))
    throw Error("frontend.egress_servers", "stream nothing without server_chunk_s");
  const bool sends = frontend.server_chunk_s + frontend.client_chunk_s > 0;
  if (frontend.stream_interval > 1 && !sends)
    throw Error("frontend.stream_interval",
                "changes nothing without server_chunk_s or client_chunk_s");
  const double served = frontend.server_request_s + frontend.server_prompt_token_s +
                        (frontend.egress_servers > 0 ? 0 : frontend.server_chunk_s);
  if (frontend.server_turns > 1 && !(frontend.server_request_s + frontend.server_prompt_token_s > 0))
    throw Error("frontend.server_turns",
                "change nothing without server_request_s or server_prompt_token_s");
  if (frontend.servers > 1 && !(served > 0))
    throw Error("frontend.servers", "do nothing without server_request_s or server_chunk_s");
}

void check_links(const ClusterConfig& config) {
  std::set<std::string_view> names;
  for (const LinkConfig& link : config.links) {
    const std::string at = "links." + link.name + ".";
    check_figures(link, at);
    if (!(link.bytes_per_s > 0))
      throw Error(at + "bytes_per_s",
                  "found " + std::to_string(link.bytes_per_s) + "; a bandwidth above 0 is right");
    if (!names.insert(link.name).second) throw Error("links", "two are called " + link.name);
  }
  if (!config.transfer.over_links()) {
    if (!config.transfer.path.within.empty())
      throw Error("transfer.within", "give path as well: the links between two nodes");
    return;
  }
  KvLinks(config.links, nodes_of(config), config.transfer.path);  // finds every name
}

/// An engine of a pool can stand for each other one.
void check_pools(const ClusterConfig& config) {
  for (std::size_t p = 0; p < config.pools.size(); ++p) {
    const PoolConfig& pool = config.pools[p];
    const std::string at = "pools[" + std::to_string(p + 1) + "].";
    const auto count = static_cast<std::int32_t>(config.replicas.size());
    if (pool.first < 0 || pool.replicas < 1 || pool.first > count - pool.replicas)
      throw Error(at + "replicas", "found " + std::to_string(pool.replicas) + " from " +
                                       std::to_string(pool.first) + " on; there are " +
                                       std::to_string(count));
    const auto first = config.replicas.begin() + pool.first;
    for (auto each = first; each != first + pool.replicas; ++each) {
      if (each->role == first->role) continue;
      throw Error(at + "replicas", "they have different roles; a pool has one");
    }
  }
}

/// What stores hold is found by its prefix.
void check_tiers(const ClusterConfig& config) {
  if (config.tiers.stores.empty()) return;
  for (std::size_t i = 0; i < config.replicas.size(); ++i) {
    if (config.replicas[i].role != Role::decode && !config.replicas[i].prefix_caching)
      throw Error("replicas[" + std::to_string(i + 1) + "].prefix_caching",
                  "is false, and tiers need it");
  }
}

void check_disaggregation(const ClusterConfig& config) {
  check_figures(config.disaggregation, "disaggregation.");
  for (std::size_t i = 0; i < config.replicas.size(); ++i) {
    const ReplicaConfig& each = config.replicas[i];
    const std::string where = "replicas[" + std::to_string(i + 1) + "].";
    if (config.disaggregation.order == SplitOrder::decode_first && each.role == Role::both)
      throw Error(where + "role",
                  "is both, and with disaggregation.order = \"decode_first\" every replica is of "
                  "the role prefill or decode");
    if (config.disaggregation.push == Push::layers && each.role == Role::prefill &&
        each.stages.several())
      throw Error(where + "stages",
                  "disaggregation.push = \"layers\" is not modelled with several stages of layers; "
                  "\"chunks\" is");
  }
}

void check_replica(const ReplicaConfig& replica, const std::string& where) {
  check_figures(replica, where);
  for (std::size_t c = 0; c < replica.context_caps.size(); ++c) {
    if (replica.context_caps[c] < 0)
      throw Error(where + "context_caps[" + std::to_string(c + 1) + "]",
                  "found " + std::to_string(replica.context_caps[c]) + "; 0 or more is right");
  }
  if (std::int64_t{replica.kv_blocks} * replica.block_size > 2147480000)
    throw Error(where + "kv_blocks", "the cache holds more than 2^31 tokens");
  check_stages(replica, where);
}

/// The draw of every request finds a place that each replica can hold.
void check_adapters(const ClusterConfig& config) {
  const AdapterChoice& choice = config.adapters;
  for (std::size_t i = 0; i < config.replicas.size(); ++i) {
    const std::string where = "replicas[" + std::to_string(i + 1) + "].adapters.";
    const AdapterSlotsConfig& slots = config.replicas[i].adapters;
    if ((slots.slots > 0) != (choice.count > 0))
      throw Error(where + "slots", "found " + std::to_string(slots.slots) + ", with " +
                                       std::to_string(choice.count) + " adapters in the cluster");
    validate(slots, choice.count, where);
  }
  if (choice.count > 0 && choice.weights.size() != static_cast<std::size_t>(choice.count) + 1)
    throw Error("adapters.weights", "expected " + std::to_string(choice.count + 1) + ", found " +
                                        std::to_string(choice.weights.size()));
}

}  // namespace

void check_shares(const StageConfig& stages, const std::string& where) {
  for (std::size_t i = 0; i < stages.shares.size(); ++i) {
    if (stages.shares[i] >= 0 && stages.shares[i] <= 1) continue;
    throw Error(where + "shares[" + std::to_string(i + 1) + "]",
                "expected a number from 0 to 1, found " + std::to_string(stages.shares[i]));
  }
}

void validate(const ClusterConfig& config) {
  if (config.replicas.empty()) throw Error("replicas", "there are none; at least one is needed");
  bool prefills = false, decodes = false, both = false;
  for (std::size_t i = 0; i < config.replicas.size(); ++i) {
    const ReplicaConfig& replica = config.replicas[i];
    check_replica(replica, "replicas[" + std::to_string(i + 1) + "].");
    prefills = prefills || replica.role == Role::prefill;
    decodes = decodes || replica.role == Role::decode;
    both = both || replica.role == Role::both;
  }
  check_groups(config.replicas);
  check_tiers(config);
  check_adapters(config);
  check_pools(config);
  if (prefills != decodes)
    throw Error("replicas",
                "prefill replicas need decode replicas, and decode replicas prefill ones");
  if (!prefills && !both) throw Error("replicas", "no replica takes new requests");
  check_figures(config.transfer, "transfer.");
  for (std::size_t i = 0; i < config.transfer.bounded.size(); ++i)
    check_figures(config.transfer.bounded[i], "transfer.bounded[" + std::to_string(i + 1) + "].");
  check_links(config);
  if (prefills && !(config.transfer.bytes_per_s > 0) && !config.transfer.over_links())
    throw Error("transfer.bytes_per_s", "found " + std::to_string(config.transfer.bytes_per_s) +
                                            "; a bandwidth above 0 is right");
  check_frontend(config.frontend);
  check_disaggregation(config);
}

std::vector<std::int32_t> nodes_of(const ClusterConfig& config) {
  std::vector<std::int32_t> out;
  for (const ReplicaConfig& each : config.replicas) out.push_back(each.node);
  for (const std::int32_t node : config.transfer.encoder_nodes) out.push_back(node);
  std::int32_t last = 0;
  for (const std::int32_t node : out) last = std::max(last, node);
  for (std::int32_t& node : out)
    if (node < 0) node = ++last;
  return out;
}

double KvTransfer::bytes(std::int32_t tokens) const {
  double sum = fixed_bytes + bytes_per_token * tokens;
  for (const Bounded& each : bounded) sum += each.bytes_per_token * std::min(tokens, each.tokens);
  return sum;
}

std::int32_t cached_tokens(const RouteView& view, std::int32_t replica) noexcept {
  if (view.source == nullptr || replica < 0 || replica >= view.replica_count) return 0;
  return view.source->cached_tokens(view.slot, replica);
}

}  // namespace rooflua
