#include "emulate/kv/publisher.h"

#include <zmq.h>

#include <cstring>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace rooflua::emulate {

namespace {

constexpr int most_waiting = 100'000;  // messages for a slow reader: hwm of vLLM
constexpr int most_requests = 64;      // for a replay that are answered in one call

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
  return zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, out, &size) == 0 ? out : "";
}

/// Parts of one message. It never waits: what a reader does not take is lost.
void send_parts(void* socket, std::initializer_list<std::string_view> parts) {
  std::size_t left = parts.size();
  for (const std::string_view part : parts) {
    const int flags = ZMQ_DONTWAIT | (--left > 0 ? ZMQ_SNDMORE : 0);
    if (zmq_send(socket, part.data(), part.size(), flags) < 0) return;
  }
}

/// Empty: none has come.
std::vector<std::string> receive_parts(void* socket) {
  std::vector<std::string> out;
  int more = 1;
  while (more != 0) {
    zmq_msg_t part;
    zmq_msg_init(&part);
    if (zmq_msg_recv(&part, socket, ZMQ_DONTWAIT) < 0) {
      zmq_msg_close(&part);
      break;
    }
    out.emplace_back(static_cast<const char*>(zmq_msg_data(&part)), zmq_msg_size(&part));
    more = zmq_msg_more(&part);
    zmq_msg_close(&part);
  }
  return out;
}

}  // namespace

struct KvPublisher::Sockets {
  void* context = zmq_ctx_new();
  void *events = nullptr, *replay = nullptr;
  ~Sockets() {
    for (void* each : {events, replay})
      if (each != nullptr) zmq_close(each);
    zmq_ctx_term(context);
  }
  void* listen(int kind, const std::string& address, const char* option) {
    void* out = zmq_socket(context, kind);
    if (out == nullptr) throw Error(option, zmq_strerror(zmq_errno()));
    (events == nullptr ? events : replay) = out;
    const int linger_ms = 500, size_bytes = 1 << 16, ipv6 = 1;
    zmq_setsockopt(out, ZMQ_SNDHWM, &most_waiting, sizeof most_waiting);
    zmq_setsockopt(out, ZMQ_LINGER, &linger_ms, sizeof linger_ms);
    zmq_setsockopt(out, ZMQ_IPV6, &ipv6, sizeof ipv6);
    const std::int64_t most_bytes = size_bytes;  // of what a reader sends
    zmq_setsockopt(out, ZMQ_MAXMSGSIZE, &most_bytes, sizeof most_bytes);
    if (zmq_bind(out, address.c_str()) != 0)
      throw Error(option, address + ": " + zmq_strerror(zmq_errno()));
    return out;
  }
};

KvPublisher::KvPublisher(const KvAddress& address)
    : sockets_(std::make_unique<Sockets>()), address_(address) {
  sockets_->listen(ZMQ_PUB, address.events, "--kv-events");
  if (!address.replay.empty()) sockets_->listen(ZMQ_ROUTER, address.replay, "--kv-events-replay");
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
  zmq_getsockopt(sockets_->replay, ZMQ_FD, &out, &size);
  return out;
}

void KvPublisher::send(std::string message) {
  send_parts(sockets_->events, {address_.topic, eight_bytes(sent_), message});
  if (sockets_->replay == nullptr) {
    ++sent_;
    return;
  }
  kept_bytes_ += message.size();
  kept_.push_back({sent_++, std::move(message)});
  while (kept_.size() > address_.kept_messages ||
         (kept_bytes_ > address_.kept_bytes && kept_.size() > 1)) {
    kept_bytes_ -= kept_.front().bytes.size();
    kept_.pop_front();
  }
  answer_replays();
}

void KvPublisher::answer_replays() {
  if (sockets_->replay == nullptr) return;
  void* socket = sockets_->replay;
  for (int i = 0; i < most_requests; ++i) {
    const std::vector<std::string> asked = receive_parts(socket);
    if (asked.empty()) return;
    if (asked.size() != 3 || asked[2].size() > 8) continue;
    const std::uint64_t from = number_of(asked[2]);
    for (const Message& each : kept_)
      if (each.number >= from)
        send_parts(socket, {asked[0], "", eight_bytes(each.number), each.bytes});
    send_parts(socket, {asked[0], "", std::string(8, '\xFF'), ""});
  }
}

}  // namespace rooflua::emulate
