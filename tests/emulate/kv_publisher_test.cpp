// Messages over ZeroMQ: as they are sent, and told again.

#include <zmq.h>

#include "base/error.h"
#include "emulate/kv/publisher.h"
#include "tests/catch.h"

using namespace rooflua;
using namespace rooflua::emulate;

namespace {

/// A socket of another program.
class Other {
 public:
  Other(int kind, const std::string& address, int most_waiting = 1000)
      : context_(zmq_ctx_new()), socket_(zmq_socket(context_, kind)) {
    const int wait_ms = 5000, linger_ms = 0;
    zmq_setsockopt(socket_, ZMQ_RCVHWM, &most_waiting, sizeof most_waiting);
    zmq_setsockopt(socket_, ZMQ_RCVTIMEO, &wait_ms, sizeof wait_ms);
    zmq_setsockopt(socket_, ZMQ_LINGER, &linger_ms, sizeof linger_ms);
    if (kind == ZMQ_SUB) zmq_setsockopt(socket_, ZMQ_SUBSCRIBE, "kv@", 3);
    REQUIRE(zmq_connect(socket_, address.c_str()) == 0);
  }
  ~Other() {
    zmq_close(socket_);
    zmq_ctx_term(context_);
  }
  void send(const std::string& part, bool more) {
    REQUIRE(zmq_send(socket_, part.data(), part.size(), more ? ZMQ_SNDMORE : 0) >= 0);
  }
  /// Empty: nothing came in time.
  std::vector<std::string> receive(int flags = 0) {
    std::vector<std::string> out;
    int more = 1;
    while (more != 0) {
      char bytes[70'000];
      const int size = zmq_recv(socket_, bytes, sizeof bytes, flags);
      if (size < 0) return out;
      out.emplace_back(bytes, static_cast<std::size_t>(size));
      std::size_t wide = sizeof more;
      zmq_getsockopt(socket_, ZMQ_RCVMORE, &more, &wide);
    }
    return out;
  }

 private:
  void *context_, *socket_;
};

std::string number(int value) {
  std::string out(8, '\0');
  out[7] = static_cast<char>(value);
  return out;
}

KvAddress anywhere() {
  KvAddress out;
  out.events = out.replay = "tcp://127.0.0.1:0";
  out.topic = "kv@a";
  return out;
}

/// Numbers of the messages that are told again.
std::vector<std::string> told_again(KvPublisher& publisher, const std::string& from) {
  Other dealer(ZMQ_DEALER, publisher.replay_address());
  dealer.send("", true);
  dealer.send(from, false);
  std::vector<std::string> out;
  const std::string end(8, '\xFF');
  for (int i = 0; i < 500; ++i) {
    publisher.answer_replays();  // true also while another client hangs
    const std::vector<std::string> parts = dealer.receive(ZMQ_DONTWAIT);
    if (parts.empty()) {
      zmq_poll(nullptr, 0, 10);
      continue;
    }
    REQUIRE(parts.size() == 3);
    CHECK(parts[0].empty());
    if (parts[1] == end) {
      CHECK(parts[2].empty());
      return out;
    }
    CHECK((parts[2].size() > 1000 ||
           parts[2] == "message " + std::to_string(static_cast<int>(parts[1][7]))));
    out.push_back(parts[1]);
  }
  FAIL("no end came");
  return out;
}

}  // namespace

TEST_CASE("a subscriber gets topic, number and message, and what it missed again") {
  KvPublisher publisher(anywhere());
  CHECK(publisher.replay_fd() >= 0);
  publisher.send("message 0");
  publisher.send("message 1");
  Other subscriber(ZMQ_SUB, publisher.events_address());
  std::vector<std::string> first;
  int sent = 2;
  while (first.empty() && sent < 100) {  // until it has subscribed
    publisher.send("message " + std::to_string(sent++));
    zmq_poll(nullptr, 0, 20);
    first = subscriber.receive(ZMQ_DONTWAIT);
  }
  REQUIRE(first.size() == 3);
  CHECK(first[0] == "kv@a");
  const int seen = first[1][7];
  CHECK(first[1] == number(seen));
  CHECK(first[2] == "message " + std::to_string(seen));
  CHECK(seen >= 2);
  const std::vector<std::string> again = told_again(publisher, number(0));
  REQUIRE(static_cast<int>(again.size()) == sent);
  for (int i = 0; i < sent; ++i) CHECK(again[static_cast<std::size_t>(i)] == number(i));
  CHECK(static_cast<int>(told_again(publisher, number(seen)).size()) == sent - seen);
  CHECK(told_again(publisher, number(120)).empty());
}

TEST_CASE("what is kept to be told again is bounded, by messages and by bytes") {
  KvAddress address = anywhere();
  address.kept_messages = 3;
  KvPublisher few(address);
  for (int i = 0; i < 10; ++i) few.send("message " + std::to_string(i));
  CHECK(told_again(few, number(0)) == std::vector<std::string>{number(7), number(8), number(9)});
  address.kept_messages = 100;
  address.kept_bytes = 20;  // two messages of nine
  KvPublisher small(address);
  for (int i = 0; i < 10; ++i) small.send("message " + std::to_string(i));
  CHECK(told_again(small, number(0)) == std::vector<std::string>{number(8), number(9)});
}

TEST_CASE("requests for a replay that are none are passed over") {
  KvPublisher publisher(anywhere());
  publisher.send("message 0");
  Other dealer(ZMQ_DEALER, publisher.replay_address());
  dealer.send("alone", false);
  dealer.send("", true);
  dealer.send(std::string(9, 'x'), false);
  CHECK(told_again(publisher, number(0)).size() == 1);
  CHECK(dealer.receive(ZMQ_DONTWAIT).empty());
}

TEST_CASE("readers that hang cost a bounded memory, and others lose nothing by them") {
  KvAddress address = anywhere();
  address.kept_bytes = 4 << 20;
  KvPublisher publisher(address);
  Other hanging(ZMQ_SUB, publisher.events_address(), 1);
  Other other(ZMQ_SUB, publisher.events_address());
  Other asking(ZMQ_DEALER, publisher.replay_address(), 1);
  constexpr int count = 2000;
  std::size_t most = 0;
  int read = 0, first = -1;
  for (int i = 0; i < count; ++i) {
    publisher.send(std::string(64 << 10, 'x'));
    if (i % 10 == 0 && i < 600) {
      asking.send("", true);
      asking.send(number(0), false);
    }
    publisher.answer_replays();
    most = std::max(most, publisher.held_bytes());
    zmq_poll(nullptr, 0, 1);
    while (!other.receive(ZMQ_DONTWAIT).empty()) {
      ++read;
      if (first < 0) first = i;
    }
  }
  CHECK(most < (72 << 20));  // 1,000 messages, those that are kept
  CHECK(first >= 0);
  CHECK(read > (count - first) * 9 / 10);
  // Who asks and reads gets everything that is kept, although another client hangs.
  CHECK(told_again(publisher, number(0)).size() >= 60);
}

TEST_CASE("the bytes that all readers have not taken are bounded") {
  KvAddress address = anywhere();
  address.kept_bytes = 4 << 20;
  address.sent_bytes = 16 << 20;
  KvPublisher publisher(address);
  Other hanging(ZMQ_SUB, publisher.events_address(), 1);
  std::size_t most = 0;
  for (int i = 0; i < 1000; ++i) {
    publisher.send(std::string(64 << 10, 'x'));
    most = std::max(most, publisher.held_bytes());
    zmq_poll(nullptr, 0, 1);
  }
  CHECK(most > (16 << 20));
  CHECK(most < (26 << 20));
}

TEST_CASE("addresses: a port of this machine, or a host and a port, counted up") {
  CHECK(tcp_address("5557", 0, "o") == "tcp://127.0.0.1:5557");
  CHECK(tcp_address("tcp://*:5557", 2, "o") == "tcp://*:5559");
  CHECK(tcp_address("tcp://[::1]:5557", 1, "o") == "tcp://[::1]:5558");
  CHECK(tcp_address("0", 3, "o") == "tcp://127.0.0.1:0");
  for (const char* wrong : {"", "x", "tcp://5557", "tcp://:5557", "ipc:///tmp/x", "70000", "-1"})
    CHECK_THROWS_AS(tcp_address(wrong, 0, "o"), Error);
  CHECK_THROWS_AS(tcp_address("65535", 1, "o"), Error);
}

TEST_CASE("a port that is taken is an error") {
  KvPublisher publisher(anywhere());
  KvAddress address = anywhere();
  address.events = publisher.events_address();
  CHECK_THROWS_AS(KvPublisher(address), Error);
}
