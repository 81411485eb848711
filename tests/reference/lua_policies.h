#pragma once
// The shipped schedulers and routers, for both simulators.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "script/serving/router.h"
#include "script/serving/scheduler.h"
#include "script/vm/vm.h"

namespace rooflua::reference {

/// One Lua state with the library of the source tree in it.
class LuaPolicies {
 public:
  LuaPolicies();

  /// A fresh instance of scripts/schedulers/<name>.lua. `parameters` is the inside of a Lua table.
  std::unique_ptr<SchedulerPolicy> make(const std::string& name, const std::string& parameters);
  /// A fresh instance of a policy that the Lua text returns.
  std::unique_ptr<SchedulerPolicy> make_from(const std::string& text);
  /// A fresh instance of scripts/routers/<name>.lua, started with the random streams of `seed`.
  std::unique_ptr<Router> make_router(const std::string& name, const std::string& parameters,
                                      std::uint64_t seed);

 private:
  /// Runs the text; what it returns is on the stack when `take` is called.
  void load(const std::string& text, const std::function<void(lua_State*)>& take);

  script::Vm vm_;
  script::Asking asking_;
};

}  // namespace rooflua::reference
