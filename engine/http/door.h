#pragma once
// The ports of a server: connections become exchanges.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "http/connections.h"
#include "http/exchange.h"

struct evconnlistener;
struct event_base;
struct evhttp;

namespace rooflua::http {

struct DoorLimits {
  std::size_t most_connections = 0;
  double request_s = 0;
};

/// An event loop whose timers are exact. @throws Error naming the command if the system gives none
event_base* new_base(const char* command);

class Door {
 public:
  using Serve = std::function<void(std::unique_ptr<Exchange>)>;

  /// @param serve  gets every exchange
  /// @param words  of what is refused before
  Door(event_base* base, const DoorLimits& limits, Serve serve, Words words);
  ~Door();
  Door(const Door&) = delete;
  Door& operator=(const Door&) = delete;

  /// Listens at one more port. @param port  0: any free one  @returns the port
  /// @throws Error if it is taken, or the host is no address of this machine
  int listen(const std::string& host, int port);
  /// New connections are refused, and each answer is the last one of its connection.
  void close();
  std::size_t connections() const { return connections_.open(); }

 private:
  struct Port;
  void accept_more(bool may);

  event_base* base_;
  DoorLimits limits_;
  Serve serve_;
  Connections connections_;
  std::vector<std::unique_ptr<Port>> ports_;
  bool is_closed_ = false;
};

}  // namespace rooflua::http
