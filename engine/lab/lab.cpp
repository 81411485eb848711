#include "lab/lab.h"

#include "lab/server.h"

namespace rooflua::lab {

void serve(script::Vm& vm, const Subject& subject, const ServerOptions& options,
           const std::function<void(const std::string& address)>& ready) {
  Laboratory server(vm, subject, options);
  ready(server.address());
  server.serve();
}

}  // namespace rooflua::lab
