#include "lab/server.h"

#include <event2/event.h>
#include <sys/random.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "base/error.h"
#include "base/json_text.h"

namespace rooflua::lab {

namespace {

constexpr std::size_t most_connections = 256;
constexpr double request_s = 30;
constexpr timeval between_looks{0, 300'000};

std::string new_token() {
  unsigned char bytes[24];
  if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
    throw Error("lab", "the system gives no random numbers");
  std::string out;
  for (const unsigned char each : bytes) {
    out += "0123456789abcdef"[each / 16];
    out += "0123456789abcdef"[each % 16];
  }
  return out;
}

std::filesystem::file_time_type time_of(const std::string& path) {
  std::error_code ignored;
  const auto out = std::filesystem::last_write_time(path, ignored);
  return ignored ? std::filesystem::file_time_type::min() : out;
}

/// "Over time" -> "over-time"
std::string name_of(const std::string& title) {
  std::string out;
  for (const char c : title) {
    const bool is_word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (is_word) {
      out += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    } else if (!out.empty() && out.back() != '-') {
      out += '-';
    }
  }
  while (!out.empty() && out.back() == '-') out.pop_back();
  return out;
}

void nice_a_little() {
  setpriority(PRIO_PROCESS, 0, getpriority(PRIO_PROCESS, 0) + 5);
}

}  // namespace

Laboratory::Laboratory(script::Vm& vm, Subject subject, const ServerOptions& options)
    : vm_(vm), subject_(std::move(subject)), options_(options), token_(new_token()) {
  std::signal(SIGPIPE, SIG_IGN);
  base_ = http::new_base("lab");
  door_ = std::make_unique<http::Door>(
      base_, http::DoorLimits{most_connections, request_s},
      [this](std::unique_ptr<Exchange> exchange) { serve_exchange(std::move(exchange)); },
      [](int, const std::string& sentence) {
        Json out = Json::object();
        out["error"]["message"] = sentence;
        return dump_json(out);
      });
  try {
    port_ = door_->listen("127.0.0.1", options_.port);
  } catch (const Error&) {
    if (!options_.may_move) throw;
    port_ = door_->listen("127.0.0.1", 0);
  }
  try {
    door_->listen("::1", port_);
  } catch (const Error&) {
    // A machine without IPv6: the address that is printed is that of IPv4.
  }
  const auto on = [&](int socket, short what, void (*act)(int, short, void*)) {
    return event_new(base_, socket, what, act, this);
  };
  tick_ = on(-1, EV_PERSIST, [](int, short, void* s) { static_cast<Laboratory*>(s)->tick(); });
  const auto stop = [](int, short, void* s) {
    event_base_loopbreak(static_cast<Laboratory*>(s)->base_);
  };
  interrupt_ = on(SIGINT, EV_SIGNAL | EV_PERSIST, stop);
  terminate_ = on(SIGTERM, EV_SIGNAL | EV_PERSIST, stop);
  event_add(tick_, &between_looks);
  event_add(interrupt_, nullptr);
  event_add(terminate_, nullptr);
  ask({});
}

Laboratory::~Laboratory() {
  for (Waiter& each : waiters_) each.exchange->on_left = nullptr;
  waiters_.clear();
  worker_.reset();
  opener_.reset();
  views_.clear();
  door_.reset();
  for (event* each : {tick_, interrupt_, terminate_}) event_free(each);
  event_base_free(base_);
}

std::string Laboratory::address() const {
  return "http://127.0.0.1:" + std::to_string(port_) + "/?token=" + token_;
}

void Laboratory::serve() {
  event_base_loop(base_, 0);
}

/// What is asked from now on; what was asked before is over.
void Laboratory::ask(State state) {
  state_ = std::move(state);
  ++version_;
  known_ = {};
  views_.clear();
  start();
  changed();
}

std::unique_ptr<Worker> Laboratory::begin(const std::string& view, Worker::Hooks hooks) {
  return std::make_unique<Worker>(
      base_,
      [this, view](const Worker::Write& write) {
        if (!view.empty()) nice_a_little();  // the numbers come first
        answer(vm_, subject_, state_, view, [&](const Json& frame) { write(dump_json(frame)); });
      },
      std::move(hooks));
}

void Laboratory::start() {
  worker_.reset();
  opener_.reset();
  try {
    worker_ = begin("", {[this](const std::string& text) { take(text); },
                         [this](const std::string& text) { take_early(text); },
                         [this] {
                           worker_.reset();
                           known_.is_over = true;
                           open_state();
                           if (!known_.whole && known_.problem.empty())
                             fail(
                                 "the process that answers ended: it ran out of memory, or a "
                                 "policy broke it");
                           changed();
                         }});
    is_opened_ = false;
  } catch (const Error& error) {
    fail(error.what());
  }
}

/// Asks what may be changed. Not before there are numbers: both at once would share the cores.
void Laboratory::open_state() {
  if (std::exchange(is_opened_, true)) return;
  try {
    opener_ = begin(knobs, {[this](const std::string& text) { take(text); }, nullptr,
                            [this] { opener_.reset(); }});
  } catch (const Error& error) {
    fail(error.what());
  }
}

void Laboratory::start_view(const std::string& name) {
  for (const View& each : views_)
    if (each.name == name) return;
  views_.push_back({name, nullptr});
  views_.back().worker =
      begin(name, {[this, name](const std::string& line) { take_view(name, line); }, nullptr,
                   [this, name] { end_view(name); }});
}

void Laboratory::end_view(const std::string& name) {
  Picture& own = known_.pictures[name];
  if (!own.whole && own.problem.empty()) own.problem = "the process that draws it ended";
  own.whole = true;
  own.sequence = ++sequence_;
  views_.remove_if([&](const View& each) { return each.name == name; });
  wake();
}

void Laboratory::fail(const std::string& message) {
  known_.problem = message;
  known_.is_over = true;
}

/// A frame of question.h.
void Laboratory::take(const std::string& line) {
  Json frame = parse_json(line, "answer");
  const std::string kind = text_of(frame, "frame");
  if (kind == "opened") {
    files_.clear();
    for (const Json& each : frame.find("files")->items())
      files_[each.text()] = time_of(each.text());
    known_.opened = good_opened_ = std::move(frame);
    good_ = state_;
  } else if (kind == "answer") {
    known_.whole = is_true(frame, "whole");
    known_.answer = std::move(frame);
  } else if (kind == "page") {
    take_page(frame);
  } else if (kind == "pin") {
    const std::int64_t number = whole_of(frame, "number");
    const Json before = std::exchange(known_.pins, Json::array());
    for (const Json& each : before.items())  // that of the same pin had fewer seeds
      if (whole_of(each, "number") != number) known_.pins.push_back(each);
    known_.pins.push_back(std::move(frame));
  } else {
    fail(text_of(frame, "message"));
  }
  open_state();
  changed();
}

/// Of a copy that was stopped in the middle of a run. It may come late.
void Laboratory::take_early(const std::string& line) {
  Json frame = parse_json(line, "answer");
  if (known_.whole || !known_.problem.empty() || text_of(frame, "frame") != "answer" ||
      is_true(frame, "whole"))
    return;
  known_.answer = std::move(frame);
  open_state();
  changed();
}

void Laboratory::take_page(Json& frame) {
  known_.html = text_of(frame, "html");
  for (const Json& each : frame.find("sections")->items()) {
    const std::string title = text_of(each, "title"), name = name_of(title);
    known_.sections.push_back(name);
    Picture& own = known_.pictures[name];
    own.title = title;
    own.sections.push_back(each);
    own.whole = true;
    own.sequence = sequence_ + 1;
  }
}

void Laboratory::take_view(const std::string& name, const std::string& line) {
  const Json frame = parse_json(line, "view");
  Picture& own = known_.pictures[name];
  if (text_of(frame, "frame") == "problem") {
    own.problem = text_of(frame, "message");
  } else if (!own.whole) {
    own.sections = *frame.find("sections");
    own.whole = is_true(frame, "whole");
  }
  own.sequence = ++sequence_;
  wake();
}

void Laboratory::changed() {
  known_.sequence = ++sequence_;
  wake();
}

/// Answers those who can be answered now.
void Laboratory::wake() {
  if (is_waking_) return;
  is_waking_ = true;
  for (auto at = waiters_.begin(); at != waiters_.end();) {
    const bool is_answered = guarded(*at->exchange, [&] { return at->answers(*at->exchange); });
    if (is_answered) at->exchange->on_left = nullptr;
    at = is_answered ? waiters_.erase(at) : std::next(at);
  }
  is_waking_ = false;
}

void Laboratory::tick() {
  if (worker_) open_state();  // where no request has ended yet
  if (worker_ && worker_->passed_s() > options_.question_s) {
    worker_.reset();
    fail("stopped after " + std::to_string(static_cast<int>(options_.question_s)) + " s");
    changed();
  }
  for (const View& each : views_) {
    if (each.worker->passed_s() < options_.question_s) continue;
    const std::string name = each.name;
    known_.pictures[name].problem = "stopped: it took too long";
    end_view(name);
    break;
  }
  look_at_files();
}

/// A file that was written since it was read is asked about again.
void Laboratory::look_at_files() {
  bool is_changed = false;
  for (auto& [path, time] : files_) {
    const auto now = time_of(path);
    is_changed = is_changed || now != time;
    time = now;
  }
  if (is_changed) ask(state_);
}

/// The keys that differ from the last state that was good: what is refused is one of them.
Json Laboratory::changed_keys() const {
  Json out = Json::array();
  const auto add = [&](const std::vector<std::string>& from, const std::vector<std::string>& to) {
    for (const std::string& each : from) {
      if (std::find(to.begin(), to.end(), each) != to.end()) continue;
      const Json key(each.substr(0, each.find('=')));
      const bool is_there =
          std::any_of(out.items().begin(), out.items().end(),
                      [&](const Json& other) { return other.text() == key.text(); });
      if (!is_there) out.push_back(key);
    }
  };
  add(state_.set, good_.set);
  add(good_.set, state_.set);
  return out;
}

}  // namespace rooflua::lab
