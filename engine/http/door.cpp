#include "http/door.h"

#include <arpa/inet.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "http/limits.h"

namespace rooflua::http {

namespace {

constexpr int backlog = 4096;  // connections that the system has and the loop has not

sockaddr_storage address_of(const std::string& host, int port, socklen_t& length) {
  sockaddr_storage out{};
  auto* four = reinterpret_cast<sockaddr_in*>(&out);
  auto* six = reinterpret_cast<sockaddr_in6*>(&out);
  if (inet_pton(AF_INET, host == "localhost" ? "127.0.0.1" : host.c_str(), &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(static_cast<std::uint16_t>(port));
    length = sizeof *four;
  } else if (inet_pton(AF_INET6, host.c_str(), &six->sin6_addr) == 1) {
    six->sin6_family = AF_INET6;
    six->sin6_port = htons(static_cast<std::uint16_t>(port));
    length = sizeof *six;
  } else {
    throw Error("--host", "'" + host + "' is no address; 127.0.0.1 or 0.0.0.0 would be one");
  }
  return out;
}

int port_of(int socket) {
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&own), &length);
  return ntohs(own.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&own)->sin6_port
                                         : reinterpret_cast<sockaddr_in*>(&own)->sin_port);
}

}  // namespace

event_base* new_base(const char* command) {
  event_config* config = event_config_new();
  event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER);
  event_config_set_flag(config, EVENT_BASE_FLAG_NO_CACHE_TIME);
  event_base* out = event_base_new_with_config(config);
  event_config_free(config);
  if (out == nullptr) throw Error(command, "the system gives no event loop");
  return out;
}

struct Door::Port {
  Door* door = nullptr;
  int index = 0;
  evhttp* http = nullptr;
  evconnlistener* listener = nullptr;
  evhttp_bound_socket* bound = nullptr;
  ~Port() {
    if (http != nullptr) evhttp_free(http);  // and the listener
  }
};

Door::Door(event_base* base, const DoorLimits& limits, Serve serve, Words words)
    : base_(base),
      limits_(limits),
      serve_(std::move(serve)),
      connections_(
          base, limits.request_s, limits.most_connections,
          [this](bool full) { accept_more(!full); }, std::move(words)) {}

Door::~Door() = default;

int Door::listen(const std::string& host, int port) {
  socklen_t length = 0;
  const sockaddr_storage address = address_of(host, port, length);
  auto own = std::make_unique<Port>();
  own->door = this;
  own->index = static_cast<int>(ports_.size());
  evconnlistener* listener = evconnlistener_new_bind(
      base_, nullptr, nullptr, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE,
      backlog, reinterpret_cast<const sockaddr*>(&address), static_cast<int>(length));
  if (listener == nullptr) {
    throw Error("--port", "cannot listen at " + host + ":" + std::to_string(port) + ": " +
                              std::strerror(errno) + "; --port 0 takes a free one");
  }
  const int socket = evconnlistener_get_fd(listener), yes = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);  // connections inherit it
  own->listener = listener;
  own->http = evhttp_new(base_);
  evhttp_set_max_headers_size(own->http, static_cast<ev_ssize_t>(limits::head_bytes));
  evhttp_set_max_body_size(own->http, static_cast<ev_ssize_t>(limits::body_bytes));
  evhttp_set_allowed_methods(own->http, 0xFFFF);  // other ones are answered by the server
  evhttp_set_bevcb(
      own->http,
      [](event_base*, void* door) { return static_cast<Door*>(door)->connections_.accept(); },
      this);
  evhttp_set_gencb(
      own->http,
      [](evhttp_request* request, void* at) {
        const auto* self = static_cast<Port*>(at);
        Door& door = *self->door;
        door.serve_(std::make_unique<Exchange>(
            request, ExchangeSurroundings{door.base_, &door.connections_, &door.is_closed_},
            self->index));
      },
      own.get());
  own->bound = evhttp_bind_listener(own->http, listener);
  ports_.push_back(std::move(own));
  return port_of(socket);
}

void Door::accept_more(bool may) {
  if (is_closed_) return;
  for (const auto& each : ports_)
    may ? evconnlistener_enable(each->listener) : evconnlistener_disable(each->listener);
}

void Door::close() {
  if (is_closed_) return;
  is_closed_ = true;
  for (const auto& each : ports_) evhttp_del_accept_socket(each->http, each->bound);
}

}  // namespace rooflua::http
