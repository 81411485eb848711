// This program was built without libevent.

#include "base/error.h"
#include "emulate/bind.h"

namespace rooflua::emulate {

void bind_emulate(script::Vm&) {
  throw Error("emulate",
              "this program was built without libevent; install it (sudo apt-get install "
              "libevent-dev), then configure and build again: cmake --preset release && ninja -C "
              "build/release");
}

}  // namespace rooflua::emulate
