#pragma once
// One request over HTTP and its answer.

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

struct event;
struct event_base;
struct evhttp_connection;
struct evhttp_request;

namespace rooflua::http {

class Connections;

/// What an exchange has in common with the others of its server.
struct ExchangeSurroundings {
  event_base* base = nullptr;
  Connections* connections = nullptr;
  const bool* is_closing = nullptr;  // the server ends: each answer is its connection's last
};

using Headers = std::vector<std::pair<std::string, std::string>>;

class Exchange {
 public:
  /// @param port  which of the server's ports it came through, from 0
  Exchange(evhttp_request* request, const ExchangeSurroundings& around, int port);
  /// Drops the connection where the answer is not out.
  ~Exchange();
  Exchange(const Exchange&) = delete;
  Exchange& operator=(const Exchange&) = delete;

  // --- what is asked
  std::string method() const;
  std::string path() const;  // without the query
  /// A parameter of the query, decoded; nothing where there is none of that name.
  std::optional<std::string> query(const std::string& name) const;
  /// Once: it is empty then. A stream that takes long would keep it.
  std::string take_body();
  /// "" where there is no such header.
  std::string header(const std::string& name) const;
  std::size_t count(const std::string& name) const;  // of such headers
  /// What RFC 9112 refuses, and evhttp does not: a status, and why; 0: nothing.
  std::pair<int, std::string> malformed() const;
  /// The other end is a program of this machine.
  bool is_from_here() const;
  /// Host is an address of this machine, or there is none.
  bool is_to_here() const;
  int port() const { return port_; }

  // --- the answer. Nothing happens where the client has left

  /// The whole answer.
  void answer(int status, std::string_view body, const char* type, const Headers& headers = {});
  /// Or its beginning, then parts, then its end.
  void begin(const char* type, const Headers& headers = {});
  void write(std::string_view part);
  void end();
  /// The connection is closed at once.
  void drop();
  /// Whether the answer may go on: the client is there, and the end is not out.
  bool is_open() const { return request_ != nullptr; }
  bool has_begun() const { return begun_; }

  /// Called when the client leaves before the end, or does not read: the last that is heard of the
  /// exchange, which may be destroyed in it.
  std::function<void()> on_left;

 private:
  static void closed(evhttp_connection* connection, void* self);
  void watch();
  void detach();
  void leave();
  bool has_more_input() const;
  void put(const char* type, const Headers& headers);

  evhttp_request* request_;
  ExchangeSurroundings around_;
  int port_;
  event* gone_ = nullptr;  // the client has closed its side
  bool begun_ = false;
};

}  // namespace rooflua::http
