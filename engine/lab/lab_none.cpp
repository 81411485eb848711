// This program was built without libevent.

#include "base/error.h"
#include "lab/lab.h"

namespace rooflua::lab {

void serve(script::Vm&, const Subject&, const ServerOptions&,
           const std::function<void(const std::string& address)>&) {
  throw Error("lab",
              "this program was built without libevent; install it (sudo apt-get install "
              "libevent-dev), then configure and build again: cmake --preset release && ninja -C "
              "build/release");
}

}  // namespace rooflua::lab
