#pragma once
// The connections of a server: how many there are, and which of them are slow to send a
// request. evhttp has no limit of its own, and its timeout begins again with every byte.

#include <sys/types.h>

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "http/received.h"
#include "http/refusals.h"

struct bufferevent;
struct event;
struct event_base;

namespace rooflua::http {

class Connections {
 public:
  /// @param request_s  in which a request must have come
  /// @param most       connections. When there are as many, those that have waited longest for a
  ///                   request are closed, and `full` is called with true; with false when there
  ///                   are fewer again
  /// @param words      of what evhttp refuses
  Connections(event_base* base, double request_s, std::size_t most, std::function<void(bool)> full,
              Words words);
  ~Connections();
  Connections(const Connections&) = delete;
  Connections& operator=(const Connections&) = delete;

  /// What evhttp writes and reads a new connection with.
  bufferevent* accept();
  /// A request of this connection is being answered; and the answer is out.
  void set_busy(int socket, bool busy);
  std::size_t open() const { return open_.size() + accepted_.size(); }

 private:
  struct Connection {
    ino_t inode = 0;  // of the socket: a number of a socket is used again
    double deadline_s = 0;
    bool busy = false;
    bool leaving = false;  // it is shut down, and evhttp has not closed it yet
    std::unique_ptr<Received> received;
  };
  void look_at_accepted();
  void sweep();
  void forget_closed();
  void make_room();
  void shed();
  void came(const Received& request, std::size_t bytes);
  void end(int socket, Connection& connection, int status);
  static void shut(int socket, Connection& connection);

  event_base* base_;
  double request_s_;
  std::size_t most_;
  std::function<void(bool)> full_;
  Words words_;
  bool is_full_ = false;
  std::size_t received_ = 0;            // bytes that came since shed() counted them
  std::vector<bufferevent*> accepted_;  // in this turn of the loop: they have no socket yet
  std::map<int, Connection> open_;      // by socket
  event* look_;
  event* sweep_;
};

}  // namespace rooflua::http
