// The loop of an emulated server: the simulation goes on with the wall clock, and what leaves it is
// written.

#include "emulate/server.h"

#include <event2/event.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>

#include "base/error.h"
#include "script/vm/memory_account.h"

namespace rooflua::emulate {

namespace {

constexpr std::int64_t instants_per_turn = 4096;  // of the clock, between two looks at clients
constexpr int writes_per_turn = 128;  // what is written is in memory until the next turn
constexpr double longest_wait_s = 3600;
constexpr int tick_s = 1;

/// As many sockets as the streams and their clients' other connections need.
void allow_sockets(std::size_t wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) return;
  limit.rlim_cur = std::min<rlim_t>(wanted, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

/// The connections that are accepted, and the files that are open besides.
std::size_t most_connections(int streams) {
  rlimit limit{};
  const auto wanted = static_cast<std::size_t>(streams) + 1024;
  allow_sockets(wanted + 64);
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return wanted;
  return std::min<std::size_t>(wanted, limit.rlim_cur > 128 ? limit.rlim_cur - 64 : 64);
}

timeval duration(double time_s) {
  const double rounded = std::clamp(time_s, 0.0, longest_wait_s);
  timeval out{};
  out.tv_sec = static_cast<time_t>(rounded);
  out.tv_usec = static_cast<suseconds_t>((rounded - std::floor(rounded)) * 1e6);
  return out;
}

/// Before anything listens.
void check_ports(const ServerOptions& options, int count) {
  constexpr int last_port = 65535;
  if (options.port > 0 && options.port + count - 1 > last_port)
    throw Error("--port", "replica " + std::to_string(last_port - options.port + 2) +
                              " would have port 65536, and the last one is 65535");
}

Inbox& inbox_of(script::Run& run) {
  auto* inbox = dynamic_cast<Inbox*>(run.workload.get());
  ROOFLUA_ASSERT(inbox != nullptr);
  return *inbox;
}

}  // namespace

Server::Server(script::Run& run, const ServerOptions& options)
    : TokenObserver(prefill_replicas(run.simulation->config())),
      run_(run),
      options_(options),
      inbox_(inbox_of(run)),
      clock_(options.speed),
      metrics_(options.metrics, options.models.front(), run.simulation->replica_count()) {
  Simulation& simulation = *run_.simulation;
  frontend_ = picoseconds(simulation.config().frontend.per_output_token_s, "frontend");
  if (simulation.config().frontend.queues())
    throw Error("frontend", "an emulated server streams tokens when their step has ended: leave "
                            "out endpoint, server_..._s and client_..._s, and say base_s");
  if (!options_.record.empty()) recording_.emplace(options_.record);
  std::signal(SIGPIPE, SIG_IGN);
  base_ = http::new_base("emulate");
  door_ = std::make_unique<Door>(
      base_, http::DoorLimits{most_connections(options_.most_streams), options_.request_s},
      [this](std::unique_ptr<Exchange> exchange) { serve_exchange(std::move(exchange)); },
      [](int status, const std::string& sentence) {
        return dump_json(error_of(Api::chat, status, sentence, ""));
      });
  const int count = options_.ports_each ? simulation.replica_count() : 1;
  check_ports(options_, count);
  if (options_.kv) KvServer::check(*options_.kv, simulation.replica_count());
  for (int i = 0; i < count; ++i)
    ports_.push_back(door_->listen(options_.host, options_.port == 0 ? 0 : options_.port + i));
  if (options_.ports_each && count > 1) simulation.set_router(pinned_);
  if (options_.kv) kv_ = std::make_unique<KvServer>(simulation, *options_.kv, base_);
  simulation.add_observer(*this);
  const auto on = [&](int socket, short what, void (*act)(int, short, void*)) {
    return event_new(base_, socket, what, act, this);
  };
  pump_ = on(-1, 0, [](int, short, void* s) { static_cast<Server*>(s)->guarded(&Server::pump); });
  tick_ = on(-1, EV_PERSIST,
             [](int, short, void* s) { static_cast<Server*>(s)->guarded(&Server::tick); });
  const auto stopped = [](int, short, void* s) { static_cast<Server*>(s)->guarded(&Server::stop); };
  interrupt_ = on(SIGINT, EV_SIGNAL | EV_PERSIST, stopped);
  terminate_ = on(SIGTERM, EV_SIGNAL | EV_PERSIST, stopped);
  const timeval tick{tick_s, 0};
  event_add(tick_, &tick);
  event_add(interrupt_, nullptr);
  event_add(terminate_, nullptr);
  clock_ = Clock(options_.speed);
}

Server::~Server() {
  for (auto& [id, talk] : talks_) talk->exchange->on_left = nullptr;
  talks_.clear();
  admin_.clear();
  door_.reset();
  kv_.reset();
  for (event* each : {pump_, tick_, interrupt_, terminate_}) event_free(each);
  event_base_free(base_);
}

/// Nothing that is thrown may pass through libevent.
void Server::guarded(void (Server::*act)()) {
  try {
    (this->*act)();
  } catch (...) {
    problem_ = std::current_exception();
    event_base_loopbreak(base_);
  }
}

Json Server::serve() {
  if (admin_.empty() && !over_) {
    guarded(&Server::arm);
    event_base_loop(base_, 0);
  }
  if (problem_) std::rethrow_exception(std::exchange(problem_, nullptr));
  if (admin_.empty()) return {};
  Json out = Json::object();
  out["path"] = admin_.front().path;
  out["body"] = admin_.front().body;
  return out;
}

void Server::answer_admin(int status, const std::string& text) {
  admin_.front().exchange->answer(status, text, "application/json");
  admin_.pop_front();
}

std::int64_t Server::next_us() {
  passed_us_ = std::max(passed_us_, clock_.now_us());
  return last_us_ = std::max(passed_us_, last_us_) + 1;
}

/// Up to the time on the wall. Arrivals are after what has passed, so that the schedule does not
/// depend on when the loop looks.
void Server::advance() {
  Simulation& simulation = *run_.simulation;
  passed_us_ = std::max(passed_us_, clock_.now_us());
  simulated([&] { simulation.run_until(seconds_of_us(passed_us_), nullptr, instants_per_turn); });
  if (kv_) kv_->flush();
}

void Server::pump() {
  advance();
  write_due(picoseconds(seconds_of_us(passed_us_), "emulate"));
  arm();
}

/// Wakes the loop at the next time at which something happens.
void Server::arm() {
  Picoseconds next = run_.simulation->next_time();
  if (!due_.empty()) next = std::min(next, due_.front().time);
  const double wait_s = clock_.wall_of(seconds(next)) - clock_.wall_s();
  const timeval wait = duration(wait_s);
  event_add(pump_, &wait);
}

void Server::tick() {
  script::check_memory(run_.asking.L);
  if (kv_) kv_->tick();
  if (lag_.look() && !std::exchange(told_late_, true)) {
    std::fprintf(stderr,
                 "rooflua: tokens leave late: the machine is too slow for this load; --speed 0.5 "
                 "halves it\n");
  }
  if (drain_until_s_ < 0) return;
  // What was written last needs a turn of the loop to leave.
  if (talks_.empty()) ++quiet_ticks_;
  if (quiet_ticks_ >= 2 || clock_.wall_s() >= drain_until_s_) end();
}

/// What is under way may end.
void Server::drain() {
  drain_until_s_ = clock_.wall_s() + std::max(options_.drain_s, 2.0 * tick_s);
  door_->close();
}

void Server::end() {
  over_ = true;
  event_base_loopbreak(base_);
}

/// A signal. The second one ends everything at once, and so does the first one where nothing is
/// under way.
void Server::stop() {
  drain_until_s_<0 && options_.drain_s> 0 && !talks_.empty() ? drain() : end();
}

void Server::write_due(Picoseconds now) {
  for (int i = 0; i < writes_per_turn && !due_.empty() && due_.front().time <= now; ++i) {
    const Due due = due_.front();
    due_.pop_front();
    const auto found = talks_.find(due.id);
    if (found == talks_.end()) continue;
    Talk& talk = *found->second;
    if (due.tokens > 0 && !talk.left)
      lag_.add(std::max(0.0, clock_.wall_s() - clock_.wall_of(seconds(due.time))));
    write(talk, due.tokens);
    if (due.tokens > 0) continue;
    talk.exchange->on_left = nullptr;
    talks_.erase(due.id);
  }
}

Server::Talk& Server::talk_of(std::int32_t id) {
  const auto found = talks_.find(id);
  ROOFLUA_ASSERT(found != talks_.end());
  return *found->second;
}

void Server::on_queued(const Request& request, Picoseconds now) {
  TokenObserver::on_queued(request, now);
  talk_of(request.id).slot =
      static_cast<std::int32_t>(&request - run_.simulation->requests().data());
}

void Server::on_preempt(const Request& request, Picoseconds now) {
  TokenObserver::on_preempt(request, now);
  metrics_.preempted(request.replica);
}

void Server::on_tokens(std::int32_t id, std::int32_t tokens, Picoseconds now) {
  Talk& talk = talk_of(id);
  const Request& request = run_.simulation->requests()[talk.slot];
  if (talk.last_token == never) {
    talk.answer.cached_tokens = std::min(request.cached_tokens, request.prompt_tokens);
    metrics_.first_token(request.replica, seconds(now + frontend_ - talk.arrival),
                         request.prompt_tokens, request.cached_tokens);
  } else {
    metrics_.gap(request.replica, seconds(now - talk.last_token));
  }
  metrics_.tokens(request.replica, tokens);
  talk.last_token = now;
  due_.push_back({now + frontend_, id, tokens});
}

void Server::on_done(const RequestDone& done) {
  TokenObserver::on_done(done);
  Talk& talk = talk_of(done.id);
  talk.ended = true;
  talk.outcome = done.outcome;
  talk.answer.length = done.output_tokens;
  pinned_.forget(done.id);
  if (kv_) kv_->ended(done.id);
  const bool completed = done.outcome == Outcome::completed;
  metrics_.ended({done.replica, done.arrival, done.queued, done.scheduled, done.first_token,
                  completed ? done.last_token : never, done.prompt_tokens, done.output_tokens,
                  talk.max_tokens,
                  !completed          ? "abort"
                  : talk.answer.cut() ? "length"
                                      : "stop"});
  if (recording_) recording_->end(done);
  due_.push_back({done.now, done.id, 0});
}

void Server::on_step(const StepDone& step) {
  TokenObserver::on_step(step);
  if (step.tokens_landed() > 0) lag_.add_step(clock_.wall_of(seconds(step.end - step.start)));
}

Json Server::finish() {
  std::int64_t streams = static_cast<std::int64_t>(talks_.size());
  for (auto& [id, talk] : talks_) {
    talk->exchange->on_left = nullptr;
    if (!talk->left) ++counts_.dropped;
    talk->exchange->drop();
  }
  door_->close();
  inbox_.close();
  run_.simulation->look_at_workload();
  if (recording_) recording_->finish();
  Json out = Json::object();
  out["streams"] = streams;
  out["left"] = counts_.left;
  out["refused"] = counts_.refused;
  out["dropped"] = counts_.dropped;
  out["late_s"] = lag_.late_seconds();
  out["most_late_s"] = lag_.most_s();
  out["clock_s"] = run_.simulation->now_s();
  out["unread"] = Json::object();
  for (const auto& [key, times] : unread_) out["unread"][key] = times;
  if (kv_) {
    kv_->flush();
    out["kv"] = kv_->told();
  }
  return out;
}

}  // namespace rooflua::emulate
