#include "emulate/kv/server.h"

#include <event2/event.h>

#include <chrono>
#include <cstdio>

#include "emulate/kv/feed.h"
#include "emulate/kv/publisher.h"

namespace rooflua::emulate {

namespace {

double now_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

std::string topic_of(std::string topic, int replica) {
  static constexpr std::string_view word = "%replica";
  for (std::size_t at = 0; (at = topic.find(word)) != std::string::npos;)
    topic.replace(at, word.size(), std::to_string(replica));
  return topic;
}

}  // namespace

struct KvServer::Parts {
  Parts(Simulation& simulation, const KvRules& rules)
      : feed(simulation, rules, [this](std::int32_t replica, std::string bytes) {
          publishers[static_cast<std::size_t>(replica)]->send(std::move(bytes));
        }) {}
  ~Parts() {
    for (const Answering& each : answering)
      for (event* own : {each.readable, each.again}) event_free(own);
  }
  /// A socket that is asked for messages again.
  struct Answering {
    KvPublisher* publisher = nullptr;
    event *readable = nullptr, *again = nullptr;
  };
  std::vector<std::unique_ptr<KvPublisher>> publishers;  // by replica
  std::vector<Answering> answering;
  KvFeed feed;
  std::int64_t texts = 0;
};

void KvServer::check(const KvServed& served, int replicas) {
  for (int i = 0; i < replicas; ++i) {
    tcp_address(served.events, i, "--kv-events");
    if (!served.replay.empty()) tcp_address(served.replay, i, "--kv-events-replay");
  }
}

KvServer::KvServer(Simulation& simulation, const KvServed& served, event_base* base)
    : parts_(std::make_unique<Parts>(simulation, served.rules)) {
  for (int i = 0; i < simulation.replica_count(); ++i) {
    KvAddress address;
    address.events = tcp_address(served.events, i, "--kv-events");
    if (!served.replay.empty())
      address.replay = tcp_address(served.replay, i, "--kv-events-replay");
    address.topic = topic_of(served.topic, i);
    auto& publisher = parts_->publishers.emplace_back(std::make_unique<KvPublisher>(address));
    if (publisher->replay_fd() < 0) continue;
    parts_->answering.push_back({publisher.get()});
  }
  // They stay where they are from here on.
  for (Parts::Answering& each : parts_->answering) {
    const auto answer = [](int, short, void* it) {
      auto* own = static_cast<Parts::Answering*>(it);
      constexpr timeval soon{0, 1000};  // others come first
      if (own->publisher->answer_replays()) event_add(own->again, &soon);
    };
    each.readable =
        event_new(base, each.publisher->replay_fd(), EV_READ | EV_PERSIST, answer, &each);
    each.again = event_new(base, -1, 0, answer, &each);
    event_add(each.readable, nullptr);
  }
}

KvServer::~KvServer() = default;

void KvServer::sent(std::int32_t id, std::span<const std::int64_t> tokens,
                    std::span<const Segment> segments) {
  if (!tokens.empty()) return parts_->feed.sent(id, tokens, segments);
  if (parts_->texts++ == 0)
    std::fprintf(stderr,
                 "rooflua: a prompt is text: no KV event tells of its blocks, because no tokenizer "
                 "is at hand; lists of tokens have events\n");
}

void KvServer::ended(std::int32_t id) {
  parts_->feed.ended(id);
}

void KvServer::flush() {
  parts_->feed.flush(now_s());
}

/// The descriptor of a socket of ZeroMQ is readable at an edge, which a send may take.
void KvServer::tick() {
  for (const auto& each : parts_->answering) event_active(each.readable, EV_READ, 1);
}

Json KvServer::addresses() const {
  Json events = Json::array(), replay = Json::array(), out = Json::object();
  for (const auto& each : parts_->publishers) {
    events.push_back(each->events_address());
    if (each->replay_fd() >= 0) replay.push_back(each->replay_address());
  }
  out["events"] = events;
  out["replay"] = replay;
  return out;
}

Json KvServer::told() const {
  Json out = Json::object();
  std::int64_t messages = 0;
  for (const auto& each : parts_->publishers) messages += static_cast<std::int64_t>(each->sent());
  out["messages"] = messages;
  out["texts"] = parts_->texts;
  return out;
}

}  // namespace rooflua::emulate
