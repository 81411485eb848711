#include "emulate/exchange.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/http_struct.h>
#include <event2/keyvalq_struct.h>

#include "emulate/connections.h"

namespace rooflua::emulate {

namespace {

constexpr int write_timeout_s = 60;  // a client that reads nothing for so long has left

bufferevent* buffer_of(evhttp_request* request) {
  return evhttp_connection_get_bufferevent(evhttp_request_get_connection(request));
}

/// The answer is out: the connection waits for its next request.
void completed(evhttp_request* request, void* connections) {
  evhttp_connection* connection = evhttp_request_get_connection(request);
  if (connection == nullptr) return;
  bufferevent* buffer = evhttp_connection_get_bufferevent(connection);
  bufferevent_set_timeouts(buffer, nullptr, nullptr);  // Connections has the deadline
  static_cast<Connections*>(connections)->set_busy(bufferevent_getfd(buffer), false);
}

}  // namespace

Exchange::Exchange(evhttp_request* request, const ExchangeSurroundings& around, int port)
    : request_(request), around_(around), port_(port) {
  bufferevent* buffer = buffer_of(request_);
  const timeval patience{write_timeout_s, 0};
  bufferevent_set_timeouts(buffer, nullptr, &patience);
  around_.connections->set_busy(bufferevent_getfd(buffer), true);
  evhttp_request_set_on_complete_cb(request_, completed, around_.connections);
  watch();
}

Exchange::~Exchange() {
  drop();
}

/// evhttp does not read while it answers: a client that leaves in front of the first token would
/// not be seen.
void Exchange::watch() {
  evhttp_connection* connection = evhttp_request_get_connection(request_);
  evhttp_connection_set_closecb(connection, closed, this);
  gone_ = event_new(
      around_.base, bufferevent_getfd(evhttp_connection_get_bufferevent(connection)), EV_CLOSED,
      [](int, short, void* self) {
        auto* exchange = static_cast<Exchange*>(self);
        exchange->drop();
        exchange->leave();
      },
      this);
  if (gone_ != nullptr) event_add(gone_, nullptr);
}

std::string Exchange::method() const {
  switch (evhttp_request_get_command(request_)) {
    case EVHTTP_REQ_GET:
      return "GET";
    case EVHTTP_REQ_HEAD:
      return "HEAD";
    case EVHTTP_REQ_OPTIONS:
      return "OPTIONS";
    default:
      return "POST";
  }
}

std::string Exchange::path() const {
  const char* path = evhttp_uri_get_path(evhttp_request_get_evhttp_uri(request_));
  return path == nullptr ? "/" : path;
}

std::string Exchange::take_body() {
  evbuffer* input = evhttp_request_get_input_buffer(request_);
  std::string out(evbuffer_get_length(input), '\0');
  evbuffer_remove(input, out.data(), out.size());
  return out;
}

std::string Exchange::header(const std::string& name) const {
  const char* found = evhttp_find_header(evhttp_request_get_input_headers(request_), name.c_str());
  return found == nullptr ? "" : found;
}

bool Exchange::is_from_loopback() const {
  char* address = nullptr;
  ev_uint16_t port = 0;
  evhttp_connection_get_peer(evhttp_request_get_connection(request_), &address, &port);
  const std::string_view peer = address == nullptr ? "" : address;
  return peer.rfind("127.", 0) == 0 || peer == "::1" || peer.rfind("::ffff:127.", 0) == 0;
}

void Exchange::put(const char* type, const Headers& headers) {
  evkeyvalq* out = evhttp_request_get_output_headers(request_);
  evhttp_add_header(out, "Content-Type", type);
  for (const auto& [name, value] : headers) evhttp_add_header(out, name.c_str(), value.c_str());
}

void Exchange::detach() {
  if (gone_ != nullptr) event_free(gone_);
  gone_ = nullptr;
  if (request_ == nullptr) return;
  evhttp_connection* connection = evhttp_request_get_connection(request_);
  if (connection != nullptr) evhttp_connection_set_closecb(connection, nullptr, nullptr);
  request_ = nullptr;
}

void Exchange::answer(int status, std::string_view body, const char* type, const Headers& headers) {
  if (!is_open()) return;
  put(type, headers);
  evbuffer* out = evbuffer_new();
  evbuffer_add(out, body.data(), body.size());
  evhttp_request* request = request_;
  detach();
  evhttp_send_reply(request, status, nullptr, out);
  evbuffer_free(out);
}

void Exchange::begin(const char* type, const Headers& headers) {
  if (!is_open()) return;
  put(type, headers);
  begun_ = true;
  evhttp_send_reply_start(request_, 200, "OK");
}

void Exchange::write(std::string_view part) {
  if (!is_open() || part.empty()) return;
  evbuffer* out = evbuffer_new();
  evbuffer_add(out, part.data(), part.size());
  evhttp_send_reply_chunk(request_, out);
  evbuffer_free(out);
  if (evbuffer_get_length(bufferevent_get_output(buffer_of(request_))) <= around_.most_unread_bytes)
    return;
  drop();
  leave();
}

void Exchange::end() {
  if (!is_open()) return;
  evhttp_request* request = request_;
  detach();
  evhttp_send_reply_end(request);
}

void Exchange::drop() {
  if (!is_open()) return;
  evhttp_connection* connection = evhttp_request_get_connection(request_);
  detach();
  evhttp_connection_free(connection);  // and the request with it
}

void Exchange::leave() {
  if (on_left) std::function<void()>(std::move(on_left))();
}

/// evhttp closes the connection. It keeps a request whose answer it waits for, without connection.
void Exchange::closed(evhttp_connection*, void* self) {
  auto* exchange = static_cast<Exchange*>(self);
  evhttp_request* request = exchange->request_;
  const bool is_kept = request != nullptr && evhttp_request_get_connection(request) == nullptr;
  exchange->detach();
  if (is_kept) evhttp_request_free(request);
  exchange->leave();
}

}  // namespace rooflua::emulate
