// What an emulated server serves besides answers: models, health, metrics, tokens, /admin.

#include <event2/event.h>

#include <cmath>

#include "base/error.h"
#include "emulate/bodies.h"
#include "emulate/server.h"
#include "serve/parts/fleet/fleet.h"

namespace rooflua::emulate {

namespace {

constexpr const char* json_type = "application/json";

struct Path {
  std::string_view path;
  Api api;
};
constexpr Path generating[] = {{"/v1/completions", Api::completions},
                               {"/v1/chat/completions", Api::chat},
                               {"/v1/responses", Api::responses},
                               {"/v1/messages", Api::messages}};

/// Which API's words an error at this path has.
Api words_of(const std::string& path) {
  return path.rfind("/v1/messages", 0) == 0 ? Api::messages : Api::chat;
}

double number_at(const Json& body, const char* key, double least, double absent) {
  const Json* found = body.find(key);
  if (found == nullptr || found->is_null()) return absent;
  if (!found->is_number() || !(found->number() >= least) || !(found->number() <= 1e9))
    throw Refused(400, std::string(key) + ": expected a number from " + json_number(least), key);
  return found->number();
}

}  // namespace

void Server::refuse(Exchange& exchange, Api api, int status, const std::string& message,
                    const std::string& param) const {
  Headers headers;
  if (status == 429 || status == 503) headers.emplace_back("Retry-After", "1");
  exchange.answer(status, dump_json(error_of(api, status, message, param)), json_type, headers);
}

/// The replica of the port through which the client came; -1: one port stands for all of them.
std::int32_t Server::replica_of(const Exchange& exchange) const {
  return options_.ports_each ? exchange.port() : -1;
}

void Server::serve_exchange(std::unique_ptr<Exchange> exchange) {
  const std::string path = exchange->path();
  try {
    const bool is_get = exchange->method() == "GET" || exchange->method() == "HEAD";
    for (const Path& each : generating) {
      if (path != each.path) continue;
      if (exchange->method() != "POST")
        return refuse(*exchange, each.api, 405, "this path takes POST");
      return generate(std::move(exchange), each.api);
    }
    if (path.rfind("/admin/", 0) == 0) return serve_admin(exchange, path);
    if (is_get ? serve_page(*exchange, path) : path == "/ping" && serve_page(*exchange, path))
      return;
    if (!is_get &&
        (path == "/tokenize" || path == "/detokenize" || path == "/v1/messages/count_tokens"))
      return serve_tokens(*exchange, path);
    refuse(*exchange, words_of(path), 404,
           "there is nothing at " + path + " for " + exchange->method());
  } catch (const Refused& refused) {
    refuse(*exchange, words_of(path), refused.status(), refused.what(), refused.param());
  } catch (...) {  // a policy, or a defect: it must not pass through libevent
    problem_ = std::current_exception();
    event_base_loopbreak(base_);
  }
}

bool Server::serve_page(Exchange& exchange, const std::string& path) {
  if (path == "/v1/models") {
    serve_models(exchange);
  } else if (path == "/health" || path == "/ping" || path == "/health_generate") {
    serve_health(exchange);
  } else if (path == "/metrics") {
    serve_metrics(exchange);
  } else if (path == "/version") {
    Json out = Json::object();
    out["version"] = options_.version;
    exchange.answer(200, dump_json(out), json_type);
  } else if (path == "/load") {
    Json out = Json::object();
    out["server_load"] = static_cast<std::int64_t>(talks_.size());
    exchange.answer(200, dump_json(out), json_type);
  } else {
    return false;
  }
  return true;
}

void Server::serve_models(Exchange& exchange) const {
  Json out = Json::object();
  out["object"] = "list";
  out["data"] = Json::array();
  for (const std::string& name : options_.models) {
    Json model = Json::object();
    model["id"] = name;
    model["object"] = "model";
    model["created"] = 0;
    model["owned_by"] = options_.owner;
    model["root"] = options_.models.front();
    model["parent"] = Json();
    model["max_model_len"] = options_.max_model_len > 0 ? Json(options_.max_model_len) : Json();
    out["data"].push_back(std::move(model));
  }
  exchange.answer(200, dump_json(out), json_type);
}

/// 200 where the replica of this port, or any, takes requests.
void Server::serve_health(Exchange& exchange) const {
  const std::int32_t only = replica_of(exchange);
  const Simulation& simulation = *run_.simulation;
  for (std::int32_t i = 0; i < simulation.replica_count(); ++i) {
    if ((only < 0 || i == only) && simulation.lifecycle(i) == Lifecycle::ready)
      return exchange.answer(200, "", json_type);
  }
  refuse(exchange, Api::chat, 503, "no replica is ready");
}

void Server::serve_metrics(Exchange& exchange) const {
  Exposition out;
  metrics_.write(*run_.simulation, replica_of(exchange), out);
  out.begin("rooflua_emulate_lag_seconds", "histogram",
            "How late tokens left the program, on the wall clock.");
  out.add({}, lag_.histogram());
  out.begin("rooflua_emulate_streams", "gauge", "Requests that are under way.");
  out.add({}, static_cast<double>(talks_.size()));
  out.begin("rooflua_emulate_connections", "gauge", "Connections that are open.");
  out.add({}, static_cast<double>(door_->connections()));
  out.begin("rooflua_emulate_clock_seconds", "counter", "The scenario's clock.");
  out.add({}, run_.simulation->now_s());
  exchange.answer(200, out.text(), "text/plain; version=0.0.4; charset=utf-8");
}

void Server::serve_tokens(Exchange& exchange, const std::string& path) const {
  const Json body = read_body(exchange.take_body());
  Json out = Json::object();
  std::vector<std::int64_t> tokens;
  if (path == "/detokenize") {
    const Json* given = body.find("tokens");
    if (given == nullptr || !given->is_array()) throw Refused(400, "tokens is missing", "tokens");
    for (const Json& each : given->items()) {
      if (!each.is_integer()) throw Refused(400, "a token is a whole number", "tokens");
      tokens.push_back(each.integer());
    }
    out["prompt"] = text_of(tokens);
    return exchange.answer(200, dump_json(out), json_type);
  }
  if (const auto text = prompt_text(body, tokens)) tokens = pieces_of(*text, options_.prompts);
  if (path == "/v1/messages/count_tokens") {
    out["input_tokens"] = static_cast<std::int64_t>(tokens.size());
    return exchange.answer(200, dump_json(out), json_type);
  }
  out["count"] = static_cast<std::int64_t>(tokens.size());
  out["max_model_len"] = options_.max_model_len > 0 ? Json(options_.max_model_len) : Json();
  out["tokens"] = Json::array();
  for (const std::int64_t each : tokens) out["tokens"].push_back(each);
  out["token_strs"] = Json();
  exchange.answer(200, dump_json(out), json_type);
}

Json Server::state_of() const {
  const Simulation& simulation = *run_.simulation;
  Json out = Json::object();
  out["clock_s"] = simulation.now_s();
  out["streams"] = static_cast<std::int64_t>(talks_.size());
  out["late"] = lag_.is_late();
  out["replicas"] = Json::array();
  for (std::int32_t i = 0; i < simulation.replica_count(); ++i) {
    const Replica& replica = simulation.replica(i);
    Json own = Json::object();
    own["state"] = name(simulation.lifecycle(i));
    own["waiting"] = replica.queued();
    own["running"] = replica.view().seats;
    own["used_blocks"] = replica.kv().used_blocks();
    own["total_blocks"] = replica.kv().total_blocks();
    out["replicas"].push_back(std::move(own));
  }
  return out;
}

/// Only from this machine: there is no password.
void Server::serve_admin(std::unique_ptr<Exchange>& exchange, const std::string& path) {
  if (!exchange->is_from_loopback())
    return refuse(*exchange, Api::chat, 403, "/admin answers this machine only");
  Simulation& simulation = *run_.simulation;
  if (path == "/admin/state") return exchange->answer(200, dump_json(state_of()), json_type);
  if (exchange->method() != "POST")
    return refuse(*exchange, Api::chat, 405, "this path takes POST");
  if (path == "/admin/set") {
    const std::string body = exchange->take_body();
    admin_.push_back({std::move(exchange), path, body});
    event_base_loopbreak(base_);
    return;
  }
  const std::string text = exchange->take_body();
  const Json body = text.empty() ? Json::object() : read_body(text);
  if (path == "/admin/drain") {
    drain();
    return exchange->answer(200, "{}", json_type);
  }
  const double replica = number_at(body, "replica", 1, 1);
  if (replica > simulation.replica_count() || replica != std::floor(replica))
    throw Refused(400, "replica: there are " + std::to_string(simulation.replica_count()),
                  "replica");
  const auto index = static_cast<std::int32_t>(replica) - 1;
  advance();
  if (path == "/admin/fail") {
    fleet_of(simulation).fail_replica(index, number_at(body, "repair_s", 0, HUGE_VAL));
    if (kv_) kv_->flush();
  } else if (path == "/admin/slow") {
    const double for_s = number_at(body, "for_s", 0, HUGE_VAL);
    const Picoseconds until =
        std::isfinite(for_s) ? after(simulation.now(), for_s, "for_s") : never;
    fleet_of(simulation).slow_replica(index, number_at(body, "factor", 0.001, 1), until);
  } else {
    return refuse(*exchange, Api::chat, 404,
                  "there is nothing at " + path + "; state, set, fail, slow, drain are");
  }
  arm();
  exchange->answer(200, dump_json(state_of()), json_type);
}

}  // namespace rooflua::emulate
