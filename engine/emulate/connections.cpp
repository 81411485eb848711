#include "emulate/connections.h"

#include <event2/bufferevent.h>
#include <event2/event.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <chrono>

namespace rooflua::emulate {

namespace {

double wall_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

ino_t inode_of(int socket) {
  struct stat found {};
  return ::fstat(socket, &found) == 0 ? found.st_ino : 0;
}

}  // namespace

Connections::Connections(event_base* base, double request_s, std::size_t most,
                         std::function<void(bool)> full)
    : base_(base), request_s_(request_s), most_(most), full_(std::move(full)) {
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
  accepted_.push_back(out);
  event_active(look_, EV_TIMEOUT, 1);
  if (!is_full_ && open() >= most_) full_(is_full_ = true);
  return out;
}

/// In the same turn of the loop, so that none of them is closed yet.
void Connections::look_at_accepted() {
  for (bufferevent* each : accepted_) {
    const int socket = bufferevent_getfd(each);
    if (socket >= 0) open_[socket] = {inode_of(socket), wall_s() + request_s_, false};
  }
  accepted_.clear();
}

void Connections::set_busy(int socket, bool busy) {
  if (!accepted_.empty()) look_at_accepted();
  const auto found = open_.find(socket);
  if (found == open_.end()) return;
  found->second.busy = busy;
  found->second.deadline_s = wall_s() + request_s_;
}

void Connections::sweep() {
  const double now_s = wall_s();
  for (auto at = open_.begin(); at != open_.end();) {
    const auto& [socket, own] = *at;
    if (inode_of(socket) != own.inode) {
      at = open_.erase(at);
      continue;
    }
    if (!own.busy && now_s > own.deadline_s) ::shutdown(socket, SHUT_RDWR);  // evhttp closes it
    ++at;
  }
  if (is_full_ && open() < most_) full_(is_full_ = false);
}

}  // namespace rooflua::emulate
