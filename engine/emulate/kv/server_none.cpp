// This program was built without libzmq or libcrypto.

#include "base/error.h"
#include "emulate/kv/server.h"

namespace rooflua::emulate {

struct KvServer::Parts {};

KvServer::KvServer(Simulation&, const KvServed&, event_base*) {
  throw Error("--kv-events",
              "this program was built without libzmq or libcrypto; install them (sudo apt-get "
              "install libzmq3-dev libssl-dev), then configure and build again: cmake --preset "
              "release && ninja -C build/release");
}
KvServer::~KvServer() = default;
void KvServer::check(const KvServed&, int) {}
void KvServer::sent(std::int32_t, std::span<const std::int64_t>, std::span<const Segment>) {}
void KvServer::ended(std::int32_t) {}
void KvServer::flush() {}
void KvServer::tick() {}
Json KvServer::addresses() const {
  return {};
}
Json KvServer::told() const {
  return {};
}

}  // namespace rooflua::emulate
