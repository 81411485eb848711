#include "emulate/kv/loaded.h"

#include <dlfcn.h>

#include <string>

#include "base/error.h"

namespace rooflua::emulate {

namespace {

/// A library that stays until the process ends.
class Loaded {
 public:
  explicit Loaded(const char* file) : handle_(dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
    if (handle_ == nullptr)
      throw Error("--kv-events", std::string("needs ") + file + ": " + dlerror());
  }
  template <typename Function>
  void find(Function& function, const char* name) const {
    function = reinterpret_cast<Function>(dlsym(handle_, name));
    if (function == nullptr) throw Error("--kv-events", dlerror());
  }

 private:
  void* handle_;
};

ZeroMq loaded_zmq() {
  const Loaded library(ROOFLUA_ZMQ);
  ZeroMq out{};
#define ROOFLUA_FIND(name) library.find(out.name, #name);
  ROOFLUA_OF_ZMQ(ROOFLUA_FIND)
#undef ROOFLUA_FIND
  return out;
}

Crypto loaded_crypto() {
  const Loaded library(ROOFLUA_CRYPTO);
  Crypto out{};
  library.find(out.EVP_Digest, "EVP_Digest");
  library.find(out.EVP_sha256, "EVP_sha256");
  return out;
}

}  // namespace

const ZeroMq& zero_mq() {
  static const ZeroMq loaded = loaded_zmq();
  return loaded;
}

const Crypto& crypto() {
  static const Crypto loaded = loaded_crypto();
  return loaded;
}

}  // namespace rooflua::emulate
