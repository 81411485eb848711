#include "script/serving/config.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "base/error.h"

namespace rooflua::script {

namespace {

std::int32_t whole(const Json& value, const std::string& where) {
  if (!value.is_number() || value.number() != std::floor(value.number()) ||
      std::abs(value.number()) > std::numeric_limits<std::int32_t>::max()) {
    throw Error(where, "expected a whole number");
  }
  return static_cast<std::int32_t>(value.number());
}

/// A list of caps; an empty table of Lua is an object.
void read_caps(const Json& value, const std::string& where, ReplicaConfig& config) {
  if (value.is_null() || (value.is_object() && value.members().empty())) return;
  if (!value.is_array()) throw Error(where, "expected a list");
  const std::size_t count = value.items().size(), most = config.context_caps.size();
  if (count > most) {
    throw Error(where, "found " + std::to_string(count) + " caps; at most " + std::to_string(most) +
                           " are right");
  }
  for (std::size_t i = 0; i < count; ++i)
    config.context_caps[i] = whole(value.items()[i], where + "[" + std::to_string(i + 1) + "]");
}

double seconds_at(const Json& table, const char* key) {
  const Json* found = table.find(key);
  return found != nullptr && found->is_number() ? found->number() : 0.0;
}

double seconds_at(const Json& table, const char* group, const char* key) {
  const Json* inner = table.find(group);
  return inner != nullptr ? seconds_at(*inner, key) : 0.0;
}

/// {batches, shares, links = {{latency_s, s_per_token}}}
StageConfig stage_config(const Json& given, const std::string& where) {
  StageConfig stages;
  const auto part = [&](const char* key) -> const Json& {
    const Json* found = given.find(key);
    if (found == nullptr) throw Error(where + "." + key, "is missing");
    return *found;
  };
  stages.batches = whole(part("batches"), where + ".batches");
  for (const Json& share : part("shares").items()) stages.shares.push_back(share.number());
  for (const Json& link : part("links").items())
    stages.links.push_back({seconds_at(link, "latency_s"), seconds_at(link, "s_per_token")});
  return stages;
}

ReplicaConfig replica_config(const Json& value, const std::string& where) {
  const auto number = [&](const char* key, std::int32_t otherwise) {
    const Json* found = value.find(key);
    if (found == nullptr || found->is_null()) return otherwise;
    return whole(*found, where + "." + key);
  };
  ReplicaConfig config;
  config.kv_blocks = number("kv_blocks", 0);
  config.seat_blocks = number("seat_blocks", 0);
  config.block_size = number("block_size", 16);
  config.max_num_seqs = number("max_num_seqs", 0);
  config.max_num_batched_tokens = number("max_num_batched_tokens", 0);
  config.max_model_len = number("max_model_len", 0);
  config.async_depth = number("async_depth", 1);
  if (const Json* caps = value.find("context_caps"))
    read_caps(*caps, where + ".context_caps", config);
  config.context_chunk = number("context_chunk", 0);
  config.lookahead = number("lookahead", 0);
  if (const Json* drops = value.find("drops_last_hit"); drops != nullptr && drops->is_boolean())
    config.drops_last_hit = drops->boolean();
  config.seed = static_cast<std::uint64_t>(seconds_at(value, "seed"));
  config.group = number("group", -1);
  if (const Json* stages = value.find("stages"); stages != nullptr && !stages->is_null())
    config.stages = stage_config(*stages, where + ".stages");
  config.group_sync_s = seconds_at(value, "group_sync_s");
  if (const Json* caching = value.find("prefix_caching"))
    config.prefix_caching = caching->boolean();
  if (const Json* role = value.find("role"); role != nullptr && role->is_text()) {
    const std::vector<std::string> known{"both", "prefill", "decode"};
    const auto found = std::find(known.begin(), known.end(), role->text());
    if (found == known.end())
      throw Error(where + ".role", unknown_name("role", role->text(), known));
    config.role = static_cast<Role>(found - known.begin());
  }
  return config;
}

/// The layers of which a prompt's KV is sent up to a bound.
std::vector<KvTransfer::Bounded> bounded_of(const Json& given) {
  std::vector<KvTransfer::Bounded> out;
  const Json* transfer = given.find("transfer");
  const Json* list = transfer != nullptr ? transfer->find("bounded") : nullptr;
  if (list == nullptr || !list->is_array()) return out;
  for (const Json& each : list->items()) {
    const Json* bytes = each.find("bytes_per_token");
    const Json* tokens = each.find("tokens");
    if (bytes == nullptr || !bytes->is_number() || tokens == nullptr)
      throw Error("transfer.bounded", "expected bytes_per_token and tokens");
    out.push_back({bytes->number(), whole(*tokens, "transfer.bounded.tokens")});
  }
  return out;
}

}  // namespace

ClusterConfig cluster_config(const Json& given) {
  ClusterConfig config;
  const Json* replicas = given.find("replicas");
  if (replicas == nullptr || !replicas->is_array()) throw Error("replicas", "expected a list");
  for (std::size_t i = 0; i < replicas->items().size(); ++i) {
    config.replicas.push_back(
        replica_config(replicas->items()[i], "replicas[" + std::to_string(i + 1) + "]"));
  }
  config.frontend = {seconds_at(given, "frontend", "base_s"),
                     seconds_at(given, "frontend", "per_prompt_token_s"),
                     seconds_at(given, "frontend", "per_output_token_s")};
  config.transfer = {seconds_at(given, "transfer", "alpha_s"),
                     seconds_at(given, "transfer", "bytes_per_s"),
                     seconds_at(given, "transfer", "bytes_per_token"),
                     seconds_at(given, "transfer", "fixed_bytes"), bounded_of(given)};
  return config;
}

Slo slo_of(const Json& given) {
  Slo slo;
  const Json* found = given.find("slo");
  if (found == nullptr) return slo;
  const auto limit = [&](const char* key) -> std::optional<double> {
    const Json* value = found->find(key);
    if (value == nullptr || !value->is_number()) return std::nullopt;
    return value->number();
  };
  slo.ttft_s = limit("ttft_s");
  slo.tpot_s = limit("tpot_s");
  slo.e2e_s = limit("e2e_s");
  return slo;
}

std::vector<std::string> replica_names(const Json& given) {
  std::vector<std::string> names;
  const Json* replicas = given.find("replicas");
  if (replicas == nullptr || !replicas->is_array()) return names;
  for (const Json& each : replicas->items()) {
    const Json* name = each.find("name");
    names.push_back(name != nullptr && name->is_text() ? name->text() : "");
  }
  return names;
}

std::vector<std::string> class_names(const Json& given) {
  std::vector<std::string> names;
  if (const Json* classes = given.find("classes"); classes != nullptr && classes->is_array()) {
    for (const Json& each : classes->items()) names.push_back(each.text());
  }
  return names;
}

VllmBenchOptions traffic_of(const Json& given) {
  VllmBenchOptions out;
  const Json* bench = given.find("bench");
  if (bench == nullptr || !bench->is_object()) return out;
  const auto number = [&](const char* key) -> std::optional<double> {
    const Json* value = bench->find(key);
    if (value == nullptr || value->is_null()) return std::nullopt;
    return value->is_number() ? value->number() : std::numeric_limits<double>::infinity();
  };
  for (const auto& [key, text] : {std::pair{"model", &out.model}, {"label", &out.label}}) {
    if (const Json* value = bench->find(key); value != nullptr && value->is_text())
      *text = value->text();
  }
  out.request_rate = number("request_rate");
  out.burstiness = number("burstiness");
  if (const auto most = number("max_concurrency"); most && std::isfinite(*most))
    out.max_concurrency = static_cast<std::int64_t>(*most);
  return out;
}

}  // namespace rooflua::script
