// This program was built without libevent.

#include "base/error.h"
#include "emulate/bind.h"
#include "emulate/client/fetch.h"

namespace rooflua::emulate {

namespace {

[[noreturn]] void refuse(const char* what) {
  throw Error(what,
              "this program was built without libevent; install it (sudo apt-get install "
              "libevent-dev), then configure and build again: cmake --preset release && ninja -C "
              "build/release");
}

}  // namespace

void bind_emulate(script::Vm&) {
  refuse("emulate");
}

std::optional<std::string> fetch(const ServerAddress&, const std::string&, std::size_t, int) {
  refuse("--url");
}

}  // namespace rooflua::emulate
