#include "http/exchange.h"

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/http_struct.h>
#include <event2/keyvalq_struct.h>
#include <sys/socket.h>

#include <algorithm>
#include <cctype>

#include "http/connections.h"
#include "http/limits.h"

namespace rooflua::http {

namespace {

bufferevent* buffer_of(evhttp_request* request) {
  return evhttp_connection_get_bufferevent(evhttp_request_get_connection(request));
}

using Ask = int (*)(int, sockaddr*, socklen_t*);

/// Of an end of a socket: "127.0.0.1", "::1".
std::string address_of(int socket, Ask ask) {
  sockaddr_storage own{};
  socklen_t length = sizeof own;
  if (ask(socket, reinterpret_cast<sockaddr*>(&own), &length) != 0) return "";
  const void* at = own.ss_family == AF_INET6
                       ? static_cast<const void*>(&reinterpret_cast<sockaddr_in6*>(&own)->sin6_addr)
                       : &reinterpret_cast<sockaddr_in*>(&own)->sin_addr;
  char out[INET6_ADDRSTRLEN] = "";
  inet_ntop(own.ss_family, at, out, sizeof out);
  return std::string_view(out).starts_with("::ffff:") ? out + 7 : out;
}

bool is_loopback(const std::string& address) {
  in_addr four{};
  return address == "::1" ||
         (address.starts_with("127.") && inet_pton(AF_INET, address.c_str(), &four) == 1);
}

bool is_token(std::string_view name) {
  constexpr std::string_view marks = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::all_of(name.begin(), name.end(), [&](unsigned char c) {
    return std::isalnum(c) != 0 || marks.find(static_cast<char>(c)) != std::string_view::npos;
  });
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
  const timeval patience{limits::unread_s, 0};
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
    case EVHTTP_REQ_POST:
      return "POST";
    case EVHTTP_REQ_OPTIONS:
      return "OPTIONS";
    case EVHTTP_REQ_PUT:
      return "PUT";
    case EVHTTP_REQ_DELETE:
      return "DELETE";
    case EVHTTP_REQ_PATCH:
      return "PATCH";
    case EVHTTP_REQ_TRACE:
      return "TRACE";
    default:
      return "CONNECT";
  }
}

std::string Exchange::path() const {
  const char* path = evhttp_uri_get_path(evhttp_request_get_evhttp_uri(request_));
  return path == nullptr ? "/" : path;
}

std::optional<std::string> Exchange::query(const std::string& name) const {
  const char* text = evhttp_uri_get_query(evhttp_request_get_evhttp_uri(request_));
  evkeyvalq found{};
  if (text == nullptr || evhttp_parse_query_str(text, &found) != 0) return std::nullopt;
  const char* value = evhttp_find_header(&found, name.c_str());
  std::optional<std::string> out;
  if (value != nullptr) out = value;
  evhttp_clear_headers(&found);
  return out;
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

std::size_t Exchange::count(const std::string& name) const {
  std::size_t out = 0;
  const evkeyvalq* headers = evhttp_request_get_input_headers(request_);
  for (const evkeyval* each = headers->tqh_first; each != nullptr; each = each->next.tqe_next)
    out += evutil_ascii_strcasecmp(each->key, name.c_str()) == 0 ? 1 : 0;
  return out;
}

bool Exchange::is_from_here() const {
  const int socket = bufferevent_getfd(buffer_of(request_));
  const std::string peer = address_of(socket, ::getpeername);
  return is_loopback(peer) || (!peer.empty() && peer == address_of(socket, ::getsockname));
}

bool Exchange::is_to_here() const {
  const std::string given = header("Host");
  if (given.empty()) return true;
  const std::string host = given.front() == '[' ? given.substr(1, given.find(']') - 1)
                                                : given.substr(0, given.find(':'));
  return evutil_ascii_strcasecmp(host.c_str(), "localhost") == 0 || is_loopback(host) ||
         host == address_of(bufferevent_getfd(buffer_of(request_)), ::getsockname);
}

/// evhttp leaves the body of a GET where the next request begins.
bool Exchange::has_more_input() const {
  const evhttp_cmd_type command = evhttp_request_get_command(request_);
  if (command == EVHTTP_REQ_POST || command == EVHTTP_REQ_PUT || command == EVHTTP_REQ_PATCH)
    return false;
  const std::string length = header("Content-Length");
  return count("Transfer-Encoding") > 0 || (!length.empty() && length != "0");
}

std::pair<int, std::string> Exchange::malformed() const {
  const evkeyvalq* headers = evhttp_request_get_input_headers(request_);
  for (const evkeyval* each = headers->tqh_first; each != nullptr; each = each->next.tqe_next) {
    if (!is_token(each->key)) return {400, "a header's name is no token"};
  }
  const bool is_old = request_->major == 1 && request_->minor == 0;
  if (request_->major != 1) return {505, "HTTP/1.1 and HTTP/1.0 are spoken here"};
  if (count("Host") > 1 || (!is_old && count("Host") == 0)) return {400, "a request has one Host"};
  const std::string length = header("Content-Length");
  if (count("Content-Length") > 0 &&
      (length.empty() || length.find_first_not_of("0123456789") != std::string::npos ||
       count("Content-Length") > 1))
    return {400, "Content-Length is one whole number"};
  if (count("Transfer-Encoding") == 0) return {};
  if (count("Content-Length") > 0 || is_old)
    return {400, "a body has Content-Length or, in HTTP/1.1, Transfer-Encoding"};
  if (count("Transfer-Encoding") > 1 ||
      evutil_ascii_strcasecmp(header("Transfer-Encoding").c_str(), "chunked") != 0)
    return {501, "the one Transfer-Encoding is chunked"};
  return {};
}

void Exchange::put(const char* type, const Headers& headers) {
  evkeyvalq* out = evhttp_request_get_output_headers(request_);
  evhttp_add_header(out, "Content-Type", type);
  if (*around_.is_closing || has_more_input() || malformed().first != 0)
    evhttp_add_header(out, "Connection", "close");
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
  if (evhttp_request_get_command(request_) == EVHTTP_REQ_HEAD) {
    evhttp_add_header(evhttp_request_get_output_headers(request_), "Content-Length",
                      std::to_string(body.size()).c_str());
  } else {
    evbuffer_add(out, body.data(), body.size());
  }
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
  if (evbuffer_get_length(bufferevent_get_output(buffer_of(request_))) <= limits::unread_bytes)
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

}  // namespace rooflua::http
