#include "emulate/kv/publisher.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "emulate/kv/loaded.h"

namespace rooflua::emulate {

namespace {

double steady_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

constexpr std::size_t sent_message_bytes = 512;  // of ZeroMQ, for a message that waits
using Held = std::shared_ptr<std::atomic<std::size_t>>;
using Bytes = std::shared_ptr<const std::string>;

/// A message that a socket has: its bytes stay, and are shared, until the last reader has them.
struct Waiting {
  Held held;
  Bytes bytes;
  static void done(void*, void* at) {
    auto* own = static_cast<Waiting*>(at);
    *own->held -= sent_message_bytes;
    delete own;
  }
};

Bytes counted(std::string message, const Held& held) {
  *held += message.size();
  return Bytes(new std::string(std::move(message)), [held](const std::string* own) {
    *held -= own->size();
    delete own;
  });
}

std::string eight_bytes(std::uint64_t number) {
  std::string out(8, '\0');
  for (int i = 7; i >= 0; --i, number >>= 8)
    out[static_cast<std::size_t>(i)] = static_cast<char>(number & 0xFF);
  return out;
}

std::uint64_t number_of(std::string_view bytes) {
  std::uint64_t out = 0;
  for (const char each : bytes) out = out << 8 | static_cast<unsigned char>(each);
  return out;
}

std::string address_of(void* socket) {
  char out[256];
  std::size_t size = sizeof out;
  return zero_mq().zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, out, &size) == 0 ? out : "";
}

/// Parts of one message. It never waits: what a reader does not take is lost.
bool send_parts(void* socket, std::initializer_list<std::string_view> parts, bool more = false) {
  std::size_t left = parts.size();
  for (const std::string_view part : parts) {
    const int flags = ZMQ_DONTWAIT | (--left > 0 || more ? ZMQ_SNDMORE : 0);
    if (zero_mq().zmq_send(socket, part.data(), part.size(), flags) < 0) return false;
  }
  return true;
}

/// The last part, which is not copied.
void send_last(void* socket, const Bytes& bytes, const Held& held) {
  *held += sent_message_bytes;
  auto* waiting = new Waiting{held, bytes};
  zmq_msg_t part;
  zero_mq().zmq_msg_init_data(&part, const_cast<char*>(bytes->data()), bytes->size(), Waiting::done,
                              waiting);
  if (zero_mq().zmq_msg_send(&part, socket, ZMQ_DONTWAIT) < 0) zero_mq().zmq_msg_close(&part);
}

/// Empty: none has come.
std::vector<std::string> receive_parts(void* socket) {
  std::vector<std::string> out;
  int more = 1;
  while (more != 0) {
    zmq_msg_t part;
    zero_mq().zmq_msg_init(&part);
    if (zero_mq().zmq_msg_recv(&part, socket, ZMQ_DONTWAIT) < 0) {
      zero_mq().zmq_msg_close(&part);
      break;
    }
    out.emplace_back(static_cast<const char*>(zero_mq().zmq_msg_data(&part)),
                     zero_mq().zmq_msg_size(&part));
    more = zero_mq().zmq_msg_more(&part);
    zero_mq().zmq_msg_close(&part);
  }
  return out;
}

}  // namespace

struct KvPublisher::Sockets {
  void* context = zero_mq().zmq_ctx_new();
  void *events = nullptr, *replay = nullptr;
  ~Sockets() {
    for (void* each : {events, replay})
      if (each != nullptr) zero_mq().zmq_close(each);
    zero_mq().zmq_ctx_term(context);
  }
  void* listen(int kind, const std::string& address, const char* option) {
    void* out = zero_mq().zmq_socket(context, kind);
    if (out == nullptr) throw Error(option, zero_mq().zmq_strerror(zero_mq().zmq_errno()));
    (events == nullptr ? events : replay) = out;
    const int linger_ms = 500, ipv6 = 1, questions = int{limits::questions},
              unread_ms = 1000 * limits::unread_s;
    zero_mq().zmq_setsockopt(out, ZMQ_SNDHWM, &limits::waiting_messages,
                             sizeof limits::waiting_messages);
    zero_mq().zmq_setsockopt(out, ZMQ_LINGER, &linger_ms, sizeof linger_ms);
    zero_mq().zmq_setsockopt(out, ZMQ_IPV6, &ipv6, sizeof ipv6);
    zero_mq().zmq_setsockopt(out, ZMQ_RCVHWM, &questions, sizeof questions);
    zero_mq().zmq_setsockopt(out, ZMQ_TCP_MAXRT, &unread_ms, sizeof unread_ms);
    const std::int64_t most_bytes = limits::question_bytes;
    zero_mq().zmq_setsockopt(out, ZMQ_MAXMSGSIZE, &most_bytes, sizeof most_bytes);
    if (zero_mq().zmq_bind(out, address.c_str()) != 0)
      throw Error(option, address + ": " + zero_mq().zmq_strerror(zero_mq().zmq_errno()));
    return out;
  }
};

KvPublisher::KvPublisher(const KvAddress& address)
    : held_(std::make_shared<std::atomic<std::size_t>>(0)),
      sockets_(std::make_unique<Sockets>()),
      address_(address) {
  sockets_->listen(ZMQ_PUB, address.events, "--kv-events");
  if (address.replay.empty()) return;
  void* replay = sockets_->listen(ZMQ_ROUTER, address.replay, "--kv-events-replay");
  const int yes = 1;  // a client that does not read is waited for
  zero_mq().zmq_setsockopt(replay, ZMQ_ROUTER_MANDATORY, &yes, sizeof yes);
}

KvPublisher::~KvPublisher() = default;

std::string KvPublisher::events_address() const {
  return address_of(sockets_->events);
}

std::string KvPublisher::replay_address() const {
  return sockets_->replay == nullptr ? "" : address_of(sockets_->replay);
}

int KvPublisher::replay_fd() const {
  if (sockets_->replay == nullptr) return -1;
  int out = -1;
  std::size_t size = sizeof out;
  zero_mq().zmq_getsockopt(sockets_->replay, ZMQ_FD, &out, &size);
  return out;
}

void KvPublisher::send(std::string message) {
  const bool has_room = held_bytes() < address_.kept_bytes + address_.sent_bytes;
  const Bytes bytes = counted(std::move(message), held_);
  if (has_room && send_parts(sockets_->events, {address_.topic, eight_bytes(sent_)}, true))
    send_last(sockets_->events, bytes, held_);
  if (sockets_->replay == nullptr) {
    ++sent_;
    return;
  }
  kept_bytes_ += bytes->size();
  kept_.push_back({sent_++, bytes});
  while (kept_.size() > address_.kept_messages ||
         (kept_bytes_ > address_.kept_bytes && kept_.size() > 1)) {
    kept_bytes_ -= kept_.front().bytes->size();
    kept_.pop_front();
  }
}

/// The questions of one client are answered in their order.
void KvPublisher::take_questions() {
  while (replays_.size() < limits::askers) {
    const std::vector<std::string> asked = receive_parts(sockets_->replay);
    if (asked.empty()) return;
    if (asked.size() != 3 || asked[2].size() > 8) continue;
    auto own = std::find_if(replays_.begin(), replays_.end(),
                            [&](const Replay& each) { return each.client == asked[0]; });
    if (own == replays_.end()) {
      replays_.push_back({asked[0], {}, steady_s()});
      own = std::prev(replays_.end());
    }
    if (own->wanted.size() < limits::questions) own->wanted.push_back(number_of(asked[2]));
  }
}

/// Sends what the client takes. @param left  messages that may still be sent  @returns whether the
/// client has to be looked at again
bool KvPublisher::replay(Replay& own, int& left) {
  void* socket = sockets_->replay;
  for (; !own.wanted.empty() && left > 0; --left, own.took_s = steady_s()) {
    std::uint64_t& next = own.wanted.front();
    const bool is_end = kept_.empty() || next > kept_.back().number;
    if (!send_parts(socket, {own.client}, true))  // it waits, or it has gone
      return zero_mq().zmq_errno() == EAGAIN && steady_s() < own.took_s + limits::unread_s;
    if (is_end) {
      send_parts(socket, {"", std::string(8, '\xFF'), ""});
      own.wanted.pop_front();
      continue;
    }
    next = std::max(next, kept_.front().number);
    const Message& each = kept_[next++ - kept_.front().number];
    if (send_parts(socket, {"", eight_bytes(each.number)}, true))
      send_last(socket, each.bytes, held_);
  }
  return !own.wanted.empty();
}

bool KvPublisher::answer_replays() {
  if (sockets_->replay == nullptr) return false;
  take_questions();
  int left = limits::replayed_messages;
  for (std::size_t i = replays_.size(); i > 0 && left > 0; --i) {
    Replay own = std::move(replays_.front());
    replays_.pop_front();
    if (replay(own, left)) replays_.push_back(std::move(own));
  }
  return !replays_.empty();
}

}  // namespace rooflua::emulate
