#pragma once
// The shipped schedulers as both simulators run them.

#include <memory>
#include <string>

#include "script/policies.h"
#include "script/vm.h"

namespace rooflua::reference {

/// One Lua state with the library of the source tree in it.
class LuaSchedulers {
 public:
  LuaSchedulers();

  /// A fresh instance of scripts/schedulers/<name>.lua. `parameters` is the inside of a Lua table.
  std::unique_ptr<SchedulerPolicy> make(const std::string& name, const std::string& parameters);
  /// A fresh instance of a policy that the Lua text returns.
  std::unique_ptr<SchedulerPolicy> make_from(const std::string& text);

 private:
  script::Vm vm_;
};

}  // namespace rooflua::reference
