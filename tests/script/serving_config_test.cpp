#include <cmath>
#include <functional>

#include "base/error.h"
#include "script/serving/config.h"
#include "tests/catch.h"

using namespace rooflua;
using namespace rooflua::script;

namespace {

/// Every key that a run is opened with.
const char* const whole = R"({
  "replicas": [
    {"name": "a", "kv_blocks": 100, "seat_blocks": 2, "block_size": 32, "max_num_seqs": 4,
     "max_num_batched_tokens": 64, "max_model_len": 90, "async_depth": 2, "context_chunk": 8,
     "context_caps": [16, 64], "prefix_caching": false, "role": "decode", "lookahead": 3,
     "drops_last_hit": true, "seed": 7, "group": 1, "dp_sync_s": 0.25,
     "stages": {"pp_batches": 3, "shares": [0.25, 0.75],
                "links": [{"pp_send_s": 0.5, "s_per_token": 0.125}]}},
    {"kv_blocks": 10}],
  "frontend": {"base_s": 1, "per_prompt_token_s": 2, "per_output_token_s": 3},
  "transfer": {"alpha_s": 1, "bytes_per_s": 2, "bytes_per_token": 3, "fixed_bytes": 4,
               "bounded": [{"bytes_per_token": 5, "tokens": 6}]},
  "slo": {"ttft_s": 1, "tpot_s": 2, "e2e_s": 3},
  "classes": ["x", "y"],
  "bench": {"model": "m", "label": "l", "request_rate": "inf", "burstiness": 1,
            "max_concurrency": 8},
  "exact_requests": 5, "gap_per_token": true, "closes": true, "record": true, "journal": true,
  "sketch": true, "keep_requests": true, "caps": true, "growth": true, "why": 3, "why_play": 4,
  "plays": true,
  "progress": "title", "expected_requests": 9, "requests_path": "r", "rows_path": "o",
  "trace_path": "t", "limits": [{"metric": "tpot", "limit_s": 1, "most_above": 2}]})";

Json document() {
  return parse_json(whole, "whole");
}

std::string problem_of(const Json& given) {
  try {
    serving_config(given);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

/// Calls visit(path, value) for each value inside of `value`, itself included. What visit changes
/// is put back.
void walk(Json& value, const std::string& path,
          const std::function<void(const std::string&, Json&)>& visit) {
  const Json before = value;
  visit(path, value);
  value = before;
  if (value.is_object()) {
    for (const Json::Member& each : before.members())
      walk(value[each.key], path.empty() ? each.key : path + "." + each.key, visit);
  }
  if (!value.is_array()) return;
  for (std::size_t i = 0; i < before.items().size(); ++i) {
    // An array gives its items away to be read only.
    auto& item = const_cast<Json::Array&>(value.items())[i];
    walk(item, path + "[" + std::to_string(i + 1) + "]", visit);
  }
}

/// Spoils each value of the document in turn; `wrong` lists what cannot stand in its place.
int spoil(const std::function<std::vector<Json>(const Json&)>& wrong) {
  Json given = document();
  int spoilt = 0;
  walk(given, "", [&](const std::string& path, Json& value) {
    if (path.empty() || path == "bench.request_rate") return;  // which may be "inf"
    for (const Json& each : wrong(Json(value))) {
      value = each;
      INFO(path << " = " << dump_json(each));
      CHECK_THAT(problem_of(given), StartsWith(path + ": "));
      ++spoilt;
    }
  });
  return spoilt;
}

Json table(const char* key) {
  Json out = Json::object();
  out[key] = 1;
  return out;
}

}  // namespace

TEST_CASE("every key that a run is opened with is read") {
  const ServingConfig config = serving_config(document());
  const ReplicaConfig& one = config.cluster.replicas.front();
  CHECK(one.name == "a");
  CHECK((one.kv_blocks == 100 && one.seat_blocks == 2 && one.block_size == 32));
  CHECK((one.max_num_seqs == 4 && one.max_num_batched_tokens == 64 && one.max_model_len == 90));
  CHECK((one.async_depth == 2 && one.context_chunk == 8 && one.lookahead == 3));
  CHECK((one.context_caps == std::array<std::int32_t, 4>{16, 64, 0, 0}));
  CHECK((!one.prefix_caching && one.drops_last_hit && one.role == Role::decode));
  CHECK((one.seed == 7 && one.group == 1 && one.dp_sync_s == 0.25));
  CHECK((one.stages.pp_batches == 3 && one.stages.shares == std::vector<double>{0.25, 0.75}));
  CHECK(
      (one.stages.links.front().pp_send_s == 0.5 && one.stages.links.front().s_per_token == 0.125));
  const ReplicaConfig& other = config.cluster.replicas.back();
  CHECK((other.prefix_caching && !other.drops_last_hit && other.role == Role::both));
  CHECK((other.block_size == 16 && !other.max_model_len && other.group == -1));
  CHECK(config.cluster.frontend.per_output_token_s == 3);
  CHECK((config.cluster.transfer.fixed_bytes == 4 &&
         config.cluster.transfer.bounded.front().tokens == 6));
  CHECK((config.summary.slo.ttft_s == 1 && config.summary.slo.e2e_s == 3));
  CHECK(config.summary.classes == std::vector<std::string>{"x", "y"});
  CHECK(config.summary.replicas == std::vector<std::string>{"a", ""});
  CHECK((config.summary.exact_requests == 5 && config.summary.gap_per_token && config.closes));
  const ListenerOptions& asked = config.listeners;
  CHECK((asked.record && asked.journal && asked.sketch && asked.keep_requests && asked.caps &&
         asked.growth && asked.plays));
  CHECK((asked.why == 3 && asked.why_play == 4 && asked.progress == "title" &&
         asked.expected_requests == 9));
  CHECK((asked.requests_path == "r" && asked.rows_path == "o" && asked.trace_path == "t"));
  CHECK((asked.limits->front().metric == QuantileLimit::Metric::tpot &&
         asked.limits->front().most_above == 2));
  CHECK((asked.bench.model == "m" && std::isinf(*asked.bench.request_rate) &&
         asked.bench.max_concurrency == 8));
}

TEST_CASE("a value of another kind is an error that names its key") {
  const int spoilt = spoil([](const Json& value) {
    std::vector<Json> wrong;
    if (!value.is_number()) wrong.emplace_back(1);
    if (!value.is_text()) wrong.emplace_back("x");
    if (!value.is_boolean()) wrong.emplace_back(true);
    if (!value.is_array()) wrong.emplace_back(Json::Array{Json(1)});
    if (!value.is_object()) wrong.push_back(table("x"));
    return wrong;
  });
  CHECK(spoilt > 200);
}

TEST_CASE("a number out of its range, with a fraction or not finite is an error at its key") {
  const int spoilt = spoil([](const Json& value) {
    std::vector<Json> wrong;
    if (!value.is_number()) return wrong;
    for (const double each : {-2.0, 1e300, double(NAN), double(INFINITY), -double(INFINITY)})
      wrong.emplace_back(each);
    return wrong;
  });
  CHECK(spoilt > 150);
  for (const char* key : {"kv_blocks", "seat_blocks", "block_size", "max_num_seqs", "async_depth",
                          "max_model_len", "context_chunk", "lookahead", "seed", "group"}) {
    Json given = document();
    const_cast<Json::Array&>(given["replicas"].items())[0][key] = 1.5;
    CHECK_THAT(problem_of(given), StartsWith("replicas[1]." + std::string(key) + ": "));
  }
}

TEST_CASE("a key that nothing reads is an error that names it, in every table") {
  Json given = document();
  int tables = 0;
  walk(given, "", [&](const std::string& path, Json& value) {
    if (!value.is_object()) return;
    value["no_such_key"] = 1;
    INFO(path);
    CHECK_THAT(problem_of(given), StartsWith(path.empty() ? "unknown key" : path + ": "));
    CHECK_THAT(problem_of(given), ContainsSubstring("unknown key 'no_such_key'"));
    ++tables;
  });
  CHECK(tables == 11);
}
