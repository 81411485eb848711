// What an emulated server serves besides answers: models, health, metrics, tokens, /admin.

#include <event2/event.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "base/error.h"
#include "base/printable.h"
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

bool is_page(const std::string& path) {
  for (const char* each :
       {"/v1/models", "/health", "/ping", "/health_generate", "/metrics", "/version", "/load"}) {
    if (path == each) return true;
  }
  return false;
}

/// A misspelt key would change something else than its sender meant.
void check_keys(const Json& body, std::initializer_list<std::string_view> known) {
  for (const Json::Member& each : body.members()) {
    if (std::find(known.begin(), known.end(), each.key) == known.end())
      throw Refused(400, "unknown key '" + printable(each.key) + "'", printable(each.key));
  }
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
  if (status == 405)
    headers.emplace_back("Allow", message.ends_with("POST") ? "POST" : "GET, HEAD");
  if (status == 429 || status == 503) headers.emplace_back("Retry-After", "1");
  exchange.answer(status, dump_json(error_of(api, status, message, param)), json_type, headers);
}

/// The replica of the port through which the client came; -1: one port stands for all of them.
std::int32_t Server::replica_of(const Exchange& exchange) const {
  return options_.ports_each ? exchange.port() : -1;
}

void Server::serve_exchange(std::unique_ptr<Exchange> exchange) {
  const std::string path = exchange->path();
  const Api api = words_of(path);
  const auto fail = [&](int status, const std::string& what, const std::string& param = "") {
    ++counts_.refused;
    if (exchange) refuse(*exchange, api, status, what, param);
  };
  // A policy that fails has ended the simulation. Whatever else is thrown is the answer.
  try {
    serve_path(exchange, path);
  } catch (const Refused& refused) {
    fail(refused.status(), refused.what(), refused.param());
  } catch (const Error& error) {
    fail(problem_ ? 500 : 400, error.what());
  } catch (const std::exception& defect) {
    fail(500, message_of(defect));
  }
  if (problem_) event_base_loopbreak(base_);
}

void Server::serve_path(std::unique_ptr<Exchange>& exchange, const std::string& path) {
  if (const auto [status, why] = exchange->malformed(); status != 0) throw Refused(status, why);
  const std::string method = exchange->method();
  const bool is_get = method == "GET" || method == "HEAD";
  for (const Path& each : generating) {
    if (path != each.path) continue;
    if (method != "POST") throw Refused(405, "this path takes POST");
    return generate(exchange, each.api);
  }
  if (options_.admin && path.rfind("/admin/", 0) == 0) return serve_admin(exchange, path);
  const bool counts =
      path == "/tokenize" || path == "/detokenize" || path == "/v1/messages/count_tokens";
  if (is_get || (method == "POST" && path == "/ping")) {
    if (serve_page(*exchange, path)) return;
  } else if (method == "POST" && counts) {
    return serve_tokens(*exchange, path);
  } else if (counts || is_page(path)) {
    throw Refused(405, std::string("this path takes ") + (counts ? "POST" : "GET"));
  }
  throw Refused(404, "there is nothing at " + path + " for " + method);
}

bool Server::serve_page(Exchange& exchange, const std::string& path) {
  if (!is_page(path)) return false;
  if (path == "/v1/models") {
    serve_models(exchange);
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
    serve_health(exchange);
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
  if (drain_until_s_ >= 0) throw Refused(503, "the server stops");
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
  if (const Json* model = body.find("model"); model != nullptr && model->is_text())
    check_model(model->text());
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
  if (const auto text = prompt_text(body, options_.prompts, tokens))
    tokens = pieces_of(*text, options_.prompts);
  if (path == "/v1/messages/count_tokens") {
    out["input_tokens"] = static_cast<std::int64_t>(tokens.size());
    return exchange.answer(200, dump_json(out), json_type);
  }
  out["count"] = static_cast<std::int64_t>(tokens.size());
  out["max_model_len"] = options_.max_model_len > 0 ? Json(options_.max_model_len) : Json();
  out["token_strs"] = Json();
  std::string answer = dump_json(out);  // a value for each token would take much memory
  answer.back() = ',';
  answer += "\"tokens\":[";
  for (const std::int64_t each : tokens) answer += std::to_string(each) + ",";
  if (tokens.empty()) answer += ',';
  answer.back() = ']';
  exchange.answer(200, answer + "}", json_type);
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

/// Only programs of this machine: there is no password, and a page in a browser sends its Origin,
/// or the name that it came by as Host.
void Server::serve_admin(std::unique_ptr<Exchange>& exchange, const std::string& path) {
  const std::string site = exchange->header("Sec-Fetch-Site");
  if (!exchange->is_from_here() || !exchange->is_to_here() || exchange->count("Origin") > 0 ||
      (!site.empty() && site != "none"))
    throw Refused(403, "/admin answers programs of this machine, and no page of a browser");
  Simulation& simulation = *run_.simulation;
  const std::string method = exchange->method();
  if (path == "/admin/state" && (method == "GET" || method == "HEAD"))
    return exchange->answer(200, dump_json(state_of()), json_type);
  if (path == "/admin/state" || method != "POST")
    throw Refused(405, path == "/admin/state" ? "this path takes GET" : "this path takes POST");
  if (path == "/admin/set") {
    const std::string body = exchange->take_body();
    admin_.push_back({std::move(exchange), path, body});
    event_base_loopbreak(base_);
    return;
  }
  const std::string text = exchange->take_body();
  const Json body = text.empty() ? Json::object() : read_body(text);
  if (path == "/admin/drain") {
    check_keys(body, {});
    drain();
    return exchange->answer(200, "{}", json_type);
  }
  const double replica = number_at(body, "replica", 1, 1);
  if (replica > simulation.replica_count() || replica != std::floor(replica))
    throw Refused(400, "replica: there are " + std::to_string(simulation.replica_count()),
                  "replica");
  const auto index = static_cast<std::int32_t>(replica) - 1;
  const bool fails = path == "/admin/fail";
  if (!fails && path != "/admin/slow")
    throw Refused(404, "there is nothing at " + path + "; state, set, fail, slow, drain are");
  fails ? check_keys(body, {"replica", "repair_s"})
        : check_keys(body, {"replica", "factor", "for_s"});
  const double for_s = number_at(body, fails ? "repair_s" : "for_s", 0, HUGE_VAL),
               factor = fails ? 1 : number_at(body, "factor", 0.001, 1);
  advance();
  const Picoseconds until = std::isfinite(for_s) ? after(simulation.now(), for_s, "for_s") : never;
  simulated([&] {
    FleetPart& fleet = fleet_of(simulation);
    fails ? fleet.fail_replica(index, for_s) : fleet.slow_replica(index, factor, until);
  });
  if (kv_) kv_->flush();
  arm();
  exchange->answer(200, dump_json(state_of()), json_type);
}

}  // namespace rooflua::emulate
