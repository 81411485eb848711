#pragma once
// A laboratory behind HTTP (docs/LAB.md): one state, and the answer to it. A newer state ends the
// question that is under way. One thread; questions are answered by processes (worker.h).

#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "http/door.h"
#include "lab/options.h"
#include "lab/question.h"
#include "lab/worker.h"
#include "script/vm/vm.h"

namespace rooflua::lab {

class Laboratory {
 public:
  /// Listens. @throws Error if the port is taken
  Laboratory(script::Vm& vm, Subject subject, const ServerOptions& options);
  ~Laboratory();
  Laboratory(const Laboratory&) = delete;
  Laboratory& operator=(const Laboratory&) = delete;

  /// "http://127.0.0.1:8765/?token=..."
  std::string address() const;
  /// Until INT or TERM.
  void serve();

 private:
  using Exchange = http::Exchange;
  /// A picture that is asked for by its name: a section of the page, or a view.
  struct Picture {
    std::string title;
    Json sections = Json::array();
    bool whole = false;
    std::int64_t sequence = 0;
    std::string problem;
  };
  /// What is known of a version of the state.
  struct Known {
    Json opened, answer;   // frames; null: not yet
    bool whole = false;    // the answer
    bool is_over = false;  // nothing more comes
    std::string problem, html;
    std::map<std::string, Picture> pictures;
    std::vector<std::string> sections;  // names of those of the page, in order
    Json pins = Json::array();
    std::int64_t sequence = 0;
  };
  /// An exchange that waits for something of this version, or of a later one.
  struct Waiter {
    std::unique_ptr<Exchange> exchange;
    std::function<bool(Exchange&)> answers;  // whether it could be answered
  };
  struct View {
    std::string name;
    std::unique_ptr<Worker> worker;
  };

  // --- questions (server.cpp)
  void ask(State state);
  void start();
  void open_state();
  std::unique_ptr<Worker> begin(const std::string& view, Worker::Hooks hooks);
  void start_view(const std::string& name);
  void end_view(const std::string& name);
  void take(const std::string& line);
  void take_early(const std::string& line);
  void take_view(const std::string& name, const std::string& line);
  void take_page(Json& frame);
  void fail(const std::string& message);
  void changed();
  void wake();
  void tick();
  void look_at_files();
  Json changed_keys() const;

  // --- pages (pages.cpp)
  void serve_exchange(std::unique_ptr<Exchange> exchange);
  /// Whether `act` answered; what it throws is the answer.
  bool guarded(Exchange& exchange, const std::function<bool()>& act) const;
  void serve_path(std::unique_ptr<Exchange>& exchange);
  bool serve_asset(Exchange& exchange, const std::string& path) const;
  void check_origin(const Exchange& exchange, const std::string& path) const;
  void check_token(const Exchange& exchange) const;
  void wait(std::unique_ptr<Exchange>& exchange, std::function<bool(Exchange&)> answers);
  void put_state(Exchange& exchange);
  bool answer_state(Exchange& exchange) const;
  bool answer_answer(Exchange& exchange, bool now, std::int64_t after, bool brief) const;
  bool answer_picture(Exchange& exchange, const std::string& name, bool now, std::int64_t after);
  bool answer_scenario(Exchange& exchange) const;
  bool answer_export(Exchange& exchange, const std::string& what) const;
  void serve_text(Exchange& exchange) const;
  void save(Exchange& exchange);
  void send(Exchange& exchange, Json body, int status = 200) const;

  script::Vm& vm_;
  Subject subject_;
  ServerOptions options_;
  std::string token_;
  int port_ = 0;
  State state_, good_;  // good_: the last state that was opened
  std::int64_t version_ = 0, sequence_ = 0;
  Known known_;
  Json good_opened_;                                              // of good_
  std::map<std::string, std::filesystem::file_time_type> files_;  // that the answer depends on
  event_base* base_ = nullptr;
  event *tick_ = nullptr, *interrupt_ = nullptr, *terminate_ = nullptr;
  std::unique_ptr<http::Door> door_;
  std::list<Waiter> waiters_;
  std::unique_ptr<Worker> worker_, opener_;  // what answers, what says what may be changed
  std::list<View> views_;
  bool is_waking_ = false, is_opened_ = false;
};

}  // namespace rooflua::lab
