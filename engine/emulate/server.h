#pragma once
// A server that is not there: clients speak to it over HTTP, and a simulation says when each of
// them gets its tokens. One thread. The scenario's clock goes with the wall clock and never waits:
// what is computed too late leaves late, and that is reported (lag.h).

#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "emulate/clock.h"
#include "emulate/faces/face.h"
#include "emulate/kv/server.h"
#include "emulate/lag.h"
#include "emulate/metrics.h"
#include "emulate/options.h"
#include "emulate/pinned.h"
#include "emulate/recording.h"
#include "http/door.h"
#include "measure/token_observer.h"
#include "script/serving/run.h"
#include "serve/inbox/inbox.h"

namespace rooflua::emulate {

using http::Door;
using http::Exchange;
using http::Headers;

class Server final : private TokenObserver {
 public:
  /// Listens at its ports. @throws Error if one is taken
  Server(script::Run& run, const ServerOptions& options);
  ~Server() override;
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  const std::vector<int>& ports() const { return ports_; }
  /// {events, replay}: where it sends events of KV caches, by replica; null: nowhere.
  Json kv_addresses() const { return kv_ ? kv_->addresses() : Json(); }

  /// Serves until a client asks for what Lua answers: {path, body}; or until it is over: null.
  /// @throws Error as policies of the simulation do
  Json serve();
  /// The answer to what serve() returned.
  void answer_admin(int status, const std::string& text);
  /// Ends what is under way, and says what happened: {streams, left, slow_readers, refused,
  /// dropped, late_s, most_late_s, kv?}.
  Json finish();

 private:
  /// A request under way.
  struct Talk {
    std::unique_ptr<Exchange> exchange;
    Asked asked;
    Answer answer;
    std::int32_t max_tokens = 0;
    std::int32_t slot = -1;  // in the simulation
    Picoseconds arrival = 0, last_token = never;
    bool left = false;   // its client
    bool ended = false;  // in the simulation; what has not been written is due
    Outcome outcome = Outcome::completed;
  };
  /// What leaves the frontend later.
  struct Due {
    Picoseconds time = 0;
    std::int32_t id = -1;
    std::int32_t tokens = 0;  // 0: the end
  };

  // --- the loop (server.cpp)
  void pump();
  void advance();
  void write_due(Picoseconds now);
  void arm();
  void tick();
  void stop();
  void drain();
  void end();
  void guarded(void (Server::*act)());
  template <class Act>
  void simulated(Act act);
  Talk& talk_of(std::int32_t id);
  void on_queued(const Request& request, Picoseconds now) override;
  void on_tokens(std::int32_t id, std::int32_t tokens, Picoseconds now) override;
  void on_preempt(const Request& request, Picoseconds now) override;
  void on_step(const StepDone& step) override;
  void on_done(const RequestDone& done) override;

  // --- answers (answers.cpp)
  /// @param exchange  taken where the simulation answers it
  void generate(std::unique_ptr<Exchange>& exchange, Api api);
  void send(std::unique_ptr<Exchange>& exchange, Asked asked);
  void check_model(const std::string& name) const;
  void check_context(const Asked& asked) const;
  std::string session_of(const Exchange& exchange) const;
  std::int32_t length_of(const Asked& asked);
  std::int32_t limit_of(const Asked& asked) const;
  void choose_tool(const Asked& asked, std::int32_t number, Answer& answer) const;
  void write_tokens(Talk& talk, std::int32_t tokens);
  int status_of(const Talk& talk) const;
  void write_end(Talk& talk);
  void write(Talk& talk, std::int32_t tokens);
  void note_unread(const std::vector<std::string>& names);
  void leave(std::int32_t id);
  void look_again();

  // --- everything else that is served (pages.cpp)
  void serve_exchange(std::unique_ptr<Exchange> exchange);
  void serve_path(std::unique_ptr<Exchange>& exchange, const std::string& path);
  bool serve_page(Exchange& exchange, const std::string& path);
  void serve_models(Exchange& exchange) const;
  void serve_health(Exchange& exchange) const;
  void serve_metrics(Exchange& exchange) const;
  void serve_tokens(Exchange& exchange, const std::string& path) const;
  /// @param exchange  taken where Lua answers it
  void serve_admin(std::unique_ptr<Exchange>& exchange, const std::string& path);
  Json state_of() const;
  std::int32_t replica_of(const Exchange& exchange) const;
  void refuse(Exchange& exchange, Api api, int status, const std::string& message,
              const std::string& param = "") const;

  /// The first whole microsecond after everything that has happened.
  std::int64_t next_us();
  std::uint64_t drawn(std::int32_t number) const;

  script::Run& run_;
  ServerOptions options_;
  Inbox& inbox_;
  Clock clock_;
  Metrics metrics_;
  Lag lag_;
  Pinned pinned_;
  std::optional<Recording> recording_;
  std::unordered_map<std::string, std::int32_t> sessions_;
  std::map<std::string, std::int64_t> unread_;  // names of fields that change nothing: how often
  std::int32_t next_id_ = 0;                    // of the next request
  event_base* base_ = nullptr;
  event *pump_ = nullptr, *tick_ = nullptr, *interrupt_ = nullptr, *terminate_ = nullptr;
  std::unique_ptr<Door> door_;
  std::vector<int> ports_;
  std::unique_ptr<KvServer> kv_;                                   // null: no events of KV caches
  std::unordered_map<std::int32_t, std::unique_ptr<Talk>> talks_;  // by id
  std::deque<Due> due_;
  struct Admin {
    std::unique_ptr<Exchange> exchange;
    std::string path, body;
  };
  std::deque<Admin> admin_;
  std::exception_ptr problem_;
  std::int64_t passed_us_ = 0;  // up to which the simulation has run
  std::int64_t last_us_ = 0;    // of the last arrival
  Picoseconds frontend_ = 0;    // delay of a token
  double drain_until_s_ = -1;   // on the wall; -1: it is not draining
  bool over_ = false;
  bool told_late_ = false;
  int quiet_ticks_ = 0;  // while it drains, without a request under way
  struct Counts {
    std::int64_t left = 0, refused = 0, dropped = 0;
  } counts_;
};

/// What a policy throws leaves a simulation that cannot go on.
template <class Act>
void Server::simulated(Act act) {
  try {
    act();
  } catch (...) {
    run_.broken = true;
    problem_ = std::current_exception();
    throw;
  }
}

}  // namespace rooflua::emulate
