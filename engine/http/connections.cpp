#include "http/connections.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>

#include "http/limits.h"

namespace rooflua::http {

namespace {

double wall_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

constexpr std::size_t room = 4;  // a part of the connections makes room for others
constexpr double grace_s = 1;    // in which a request may come even then
constexpr timeval soon{0, 1000}, later{0, 100'000};

ino_t inode_of(int socket) {
  struct stat found {};
  return ::fstat(socket, &found) == 0 ? found.st_ino : 0;
}

}  // namespace

Connections::Connections(event_base* base, double request_s, std::size_t most,
                         std::function<void(bool)> full, Words words)
    : base_(base),
      request_s_(request_s),
      most_(most),
      full_(std::move(full)),
      words_(std::move(words)) {
  look_ = event_new(
      base, -1, 0,
      [](int, short, void* self) { static_cast<Connections*>(self)->look_at_accepted(); }, this);
  sweep_ = event_new(
      base, -1, EV_PERSIST,
      [](int, short, void* self) { static_cast<Connections*>(self)->sweep(); }, this);
  const timeval second{1, 0};
  event_add(sweep_, &second);
}

Connections::~Connections() {
  event_free(look_);
  event_free(sweep_);
}

bufferevent* Connections::accept() {
  bufferevent* out = bufferevent_socket_new(base_, -1, 0);
  if (out == nullptr) return nullptr;
  evbuffer_add_cb(bufferevent_get_output(out), put_refusal, &words_);
  accepted_.push_back(out);
  event_active(look_, EV_TIMEOUT, 1);
  if (!is_full_ && open() >= most_) full_(is_full_ = true);
  return out;
}

/// In the same turn of the loop, so that none of them is closed yet.
void Connections::look_at_accepted() {
  for (bufferevent* each : accepted_) {
    const int socket = bufferevent_getfd(each);
    if (socket < 0) continue;
    Connection& own = open_[socket] = {inode_of(socket), wall_s() + request_s_, false, false, {}};
    own.received = std::make_unique<Received>(
        bufferevent_get_input(each),
        [this, at = &own.received](std::size_t bytes) { came(**at, bytes); });
  }
  accepted_.clear();
  if (received_ > limits::waiting_bytes / 2) shed();
  if (is_full_) make_room();
}

void Connections::forget_closed() {
  for (auto at = open_.begin(); at != open_.end();)
    inode_of(at->first) == at->second.inode ? ++at : at = open_.erase(at);
  if (is_full_ && open() < most_) full_(is_full_ = false);
}

/// Connections without a request must not keep others out until their time is over.
void Connections::make_room() {
  forget_closed();
  if (!is_full_) return;
  using Entry = std::map<int, Connection>::value_type;
  const double before_s = wall_s() + request_s_ - grace_s;
  std::vector<Entry*> old;
  bool is_leaving = false, is_idle = false;
  for (Entry& each : open_) {
    is_leaving = is_leaving || each.second.leaving;
    if (each.second.busy || each.second.leaving) continue;
    is_idle = true;
    if (each.second.deadline_s < before_s) old.push_back(&each);
  }
  if (is_leaving) old.clear();  // they are closed first
  const auto end =
      old.begin() + static_cast<std::ptrdiff_t>(std::min(old.size(), most_ / room + 1));
  std::partial_sort(old.begin(), end, old.end(), [](const Entry* a, const Entry* b) {
    return a->second.deadline_s < b->second.deadline_s;
  });
  for (auto each = old.begin(); each != end; ++each) shut((*each)->first, (*each)->second);
  if (is_leaving || is_idle) event_add(look_, is_leaving || !old.empty() ? &soon : &later);
}

void Connections::came(const Received& request, std::size_t bytes) {
  received_ += bytes;
  if (request.refused() != 0) received_ = limits::waiting_bytes;
  if (received_ > limits::waiting_bytes / 2) event_active(look_, EV_TIMEOUT, 1);
}

/// Requests that never become whole must not take the memory: the oldest of them are closed.
void Connections::shed() {
  forget_closed();
  std::vector<std::pair<double, int>> waiting;
  std::size_t bytes = received_ = 0;
  for (auto& [socket, own] : open_) {
    if (own.busy || own.leaving || own.received->bytes() == 0) continue;
    if (const int status = own.received->refused(); status != 0) {
      end(socket, own, status);
      continue;
    }
    bytes += own.received->bytes();
    waiting.emplace_back(own.deadline_s, socket);
  }
  std::sort(waiting.begin(), waiting.end());
  for (const auto& [deadline_s, socket] : waiting) {
    if (bytes <= limits::waiting_bytes / 2) return;
    bytes -= open_[socket].received->bytes();
    shut(socket, open_[socket]);
  }
}

/// At once: after a shutdown the system would still take what is sent, and evhttp would read it.
void Connections::end(int socket, Connection& connection, int status) {
  const std::string answer = refusal(status, words_);
  ::send(socket, answer.data(), answer.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  sockaddr nobody{};
  nobody.sa_family = AF_UNSPEC;
  ::connect(socket, &nobody, sizeof nobody);  // Linux ends the connection with it
  connection.leaving = true;
}

/// evhttp closes it in the next turn of the loop.
void Connections::shut(int socket, Connection& connection) {
  ::shutdown(socket, SHUT_RDWR);
  connection.leaving = true;
}

void Connections::set_busy(int socket, bool busy) {
  if (!accepted_.empty()) look_at_accepted();
  const auto found = open_.find(socket);
  if (found == open_.end()) return;
  found->second.busy = busy;
  found->second.deadline_s = wall_s() + request_s_;
  Received& received = *found->second.received;
  if (busy) return received.taken();
  received.begin();
  came(received, 0);
}

void Connections::sweep() {
  forget_closed();
  const double now_s = wall_s();
  for (auto& [socket, own] : open_)
    if (!own.busy && now_s > own.deadline_s) shut(socket, own);
  if (is_full_) make_room();
}

}  // namespace rooflua::http
