#include "serve/replica/cluster.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "base/error.h"

namespace rooflua {

namespace {

void at_least(std::int64_t value, std::int64_t least, const std::string& where) {
  if (value < least)
    throw Error(where, "found " + std::to_string(value) + "; " + std::to_string(least) +
                           " or more is right");
}

void not_negative(double value, const char* where) {
  if (!std::isfinite(value) || value < 0)
    throw Error(where, "found " + std::to_string(value) + "; a finite number, 0 or more, is right");
}

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
    if (each.group_sync_s != other.group_sync_s) differs("group_sync_s");
  }
}

/// Shares and links of a replica's stages.
void check_stages(const ReplicaConfig& replica, const std::string& where) {
  const StageConfig& stages = replica.stages;
  at_least(stages.batches, 0, where + "stages.batches");
  if (!stages.several()) return;
  if (replica.group >= 0)
    throw Error(where + "stages", "ranks that step together have one stage each");
  if (replica.ragged) throw Error(where + "stages", "a replica that speculates has one stage");
  double sum = 0;
  for (const double share : stages.shares) {
    not_negative(share, (where + "stages.shares").c_str());
    sum += share;
  }
  if (std::abs(sum - 1) > 1e-9)
    throw Error(where + "stages.shares", "they add up to " + std::to_string(sum) + "; 1 is right");
  if (stages.links.size() + 1 != stages.shares.size())
    throw Error(where + "stages.links", "found " + std::to_string(stages.links.size()) +
                                            "; one fewer than stages is right");
  for (const StageLink& link : stages.links) {
    not_negative(link.latency_s, (where + "stages.links.latency_s").c_str());
    not_negative(link.s_per_token, (where + "stages.links.s_per_token").c_str());
  }
}

void check_replica(const ReplicaConfig& replica, const std::string& where) {
  at_least(replica.kv_blocks, 1, where + "kv_blocks");
  at_least(replica.seat_blocks, 0, where + "seat_blocks");
  at_least(replica.block_size, 1, where + "block_size");
  at_least(replica.max_num_seqs, 0, where + "max_num_seqs");
  at_least(replica.max_num_batched_tokens, 0, where + "max_num_batched_tokens");
  at_least(replica.max_model_len, 0, where + "max_model_len");
  for (std::size_t c = 0; c < replica.context_caps.size(); ++c) {
    at_least(replica.context_caps[c], 0, where + "context_caps[" + std::to_string(c + 1) + "]");
  }
  at_least(replica.context_chunk, 0, where + "context_chunk");
  if (std::int64_t{replica.kv_blocks} * replica.block_size > 2147480000)
    throw Error(where + "kv_blocks", "the cache holds more than 2^31 tokens");
  at_least(replica.lookahead, 0, where + "lookahead");
  at_least(replica.group, -1, where + "group");
  not_negative(replica.group_sync_s, (where + "group_sync_s").c_str());
  if (replica.async_depth != 1 && replica.async_depth != 2)
    throw Error(where + "async_depth",
                "found " + std::to_string(replica.async_depth) + "; 1 or 2 is right");
  check_stages(replica, where);
}

void check_transfer(const KvTransfer& transfer) {
  not_negative(transfer.alpha_s, "transfer.alpha_s");
  not_negative(transfer.bytes_per_token, "transfer.bytes_per_token");
  not_negative(transfer.fixed_bytes, "transfer.fixed_bytes");
  for (const KvTransfer::Bounded& each : transfer.bounded) {
    not_negative(each.bytes_per_token, "transfer.bounded.bytes_per_token");
    at_least(each.tokens, 0, "transfer.bounded.tokens");
  }
}

}  // namespace

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
  if (prefills != decodes)
    throw Error("replicas",
                "prefill replicas need decode replicas, and decode replicas prefill ones");
  if (!prefills && !both) throw Error("replicas", "no replica takes new requests");
  check_transfer(config.transfer);
  if (prefills && !(config.transfer.bytes_per_s > 0))
    throw Error("transfer.bytes_per_s", "found " + std::to_string(config.transfer.bytes_per_s) +
                                            "; a bandwidth above 0 is right");
  not_negative(config.frontend.base_s, "frontend.base_s");
  not_negative(config.frontend.per_prompt_token_s, "frontend.per_prompt_token_s");
  not_negative(config.frontend.per_output_token_s, "frontend.per_output_token_s");
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
