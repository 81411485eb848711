#pragma once
// An emulated server sends events of its KV caches over ZeroMQ.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "emulate/kv/rules.h"
#include "serve/loop/simulation.h"

struct event_base;

namespace rooflua::emulate {

class KvServer {
 public:
  /// Listens at an address per replica, counted up. @throws Error if one is taken, or the program
  /// was built without libzmq
  KvServer(Simulation& simulation, const KvServed& served, event_base* base);
  ~KvServer();
  /// @throws Error for an address that a replica would not have
  static void check(const KvServed& served, int replicas);
  KvServer(const KvServer&) = delete;
  KvServer& operator=(const KvServer&) = delete;

  /// A request is about to be served. @param tokens  of its prompt; empty: it is text
  void sent(std::int32_t id, std::span<const std::int64_t> tokens,
            std::span<const Segment> segments);
  void ended(std::int32_t id);
  /// Sends what has happened.
  void flush();
  /// Once a second.
  void tick();
  /// {events, replay}: addresses, by replica
  Json addresses() const;
  /// {messages, texts}: how many were sent, and prompts without events.
  Json told() const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace rooflua::emulate
