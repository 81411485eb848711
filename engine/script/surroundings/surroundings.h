#pragma once
// The policies around the engines of a simulation that are written in Lua, one of a kind.

#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "script/serving/asking.h"
#include "script/surroundings/surrounding.h"

struct lua_State;

namespace rooflua::script {

class Surroundings {
 public:
  /// Whether there is one of that kind: "decider", "admission", ...
  bool has(std::string_view kind) const { return own_.count(kind) > 0; }
  /// Sets those that are there.
  void bind(Bindings& bindings) const;
  /// Puts those of `given`, which gets the ones before, in the place of others.
  void replace(Surroundings& given);

 private:
  friend Surroundings read_surroundings(lua_State* L, int index, Asking& asking);
  std::map<std::string, std::unique_ptr<Surrounding>, std::less<>> own_;
};

/// From the table at `index`, by kind. nil: there are none.
/// @throws Error if this program has no such kind
Surroundings read_surroundings(lua_State* L, int index, Asking& asking);

/// Natives by which a script asks for a pool's history while its autoscaler is called.
void bind_pools(lua_State* L);

}  // namespace rooflua::script
