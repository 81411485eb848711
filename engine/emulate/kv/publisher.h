#pragma once
// A socket of ZeroMQ that sends events of the blocks of one replica, and one that sends them again.
//
//     PUB      [topic, number of the message, message]; the number is 8 bytes, the highest first
//     ROUTER   asked by [empty, the number of the first message]: [empty, number, message] for each
//              one that is kept, then [empty, -1, empty]
//
// @source vllm/distributed/kv_events.py: ZmqEventPublisher

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "emulate/limits.h"

namespace rooflua::emulate {

struct KvAddress {
  std::string events;  // "tcp://HOST:PORT", HOST may be *
  std::string replay;  // empty: none is sent again
  std::string topic;
  std::size_t kept_messages = limits::kept_messages;
  std::size_t kept_bytes = limits::kept_bytes;  // of these together
  std::size_t sent_bytes = limits::sent_bytes;  // that readers have not taken
};

/// "5557", "tcp://HOST:PORT" -> the port `more` after it as "tcp://HOST:PORT". A number alone is a
/// port of 127.0.0.1. Port 0 stays: any free one.
/// @throws Error at `option`
std::string tcp_address(const std::string& given, int more, const char* option);

class KvPublisher {
 public:
  /// @throws Error if it cannot listen there
  explicit KvPublisher(const KvAddress& address);
  ~KvPublisher();
  KvPublisher(const KvPublisher&) = delete;
  KvPublisher& operator=(const KvPublisher&) = delete;

  void send(std::string message);
  /// Goes on answering clients that want messages again. To be called when replay_fd() can be
  /// read, and now and then. @returns whether there is more to do
  bool answer_replays();
  /// -1: none is sent again.
  int replay_fd() const;
  /// Where it listens.
  std::string events_address() const;
  std::string replay_address() const;
  std::uint64_t sent() const { return sent_; }
  /// Bytes of messages that are kept, or that readers have not taken.
  std::size_t held_bytes() const { return *held_; }

 private:
  struct Sockets;
  struct Message {
    std::uint64_t number = 0;
    std::shared_ptr<const std::string> bytes;
  };
  /// A client that asks, the first messages that it wants, and when it took one last.
  struct Replay {
    std::string client;
    std::deque<std::uint64_t> wanted;
    double took_s = 0;
  };
  void take_questions();
  bool replay(Replay& own, int& left);

  std::shared_ptr<std::atomic<std::size_t>> held_;
  std::unique_ptr<Sockets> sockets_;
  KvAddress address_;
  std::deque<Replay> replays_;  // one of a client
  std::deque<Message> kept_;
  std::size_t kept_bytes_ = 0;
  std::uint64_t sent_ = 0;
};

}  // namespace rooflua::emulate
