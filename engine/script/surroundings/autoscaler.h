#pragma once
// An autoscaler written in Lua, as the engine sees it. It is asked rarely, so what it sees crosses
// on Lua's stack.

#include <memory>
#include <vector>

#include "script/serving/policy_call.h"
#include "script/surroundings/surrounding.h"
#include "serve/contract/autoscaler.h"

namespace rooflua::script {

/// scripts/autoscalers.
class LuaAutoscaler : public AutoscalerPolicy {
 public:
  /// @param asking  of the simulation that it belongs to. The instance on top of the stack is taken
  explicit LuaAutoscaler(Asking& asking);
  std::int32_t scale(const PoolView& pool) override;
  std::int32_t drain(const PoolView& pool, std::span<const PoolMember> candidates) override;
  double interval_s() const override { return interval_s_; }
  double window_s() const override { return window_s_; }

 private:
  std::int32_t ask(const LuaReference& function, const PoolView& pool, const char* what);

  Asking* asking_;
  LuaReference scale_, drain_;
  double interval_s_ = 0, window_s_ = 0;
};

/// Those of a run, by pool; null where its size is constant.
struct LuaAutoscalers : public Surrounding {
  std::vector<std::unique_ptr<LuaAutoscaler>> all;
  void bind(Bindings& bindings) override;
};

/// The list on top of the stack, which is taken: an instance or false for each pool.
std::unique_ptr<Surrounding> read_autoscalers(lua_State* L, Asking& asking);

/// Natives by which a script asks for a pool's history while its autoscaler is called.
void bind_pools(lua_State* L);

}  // namespace rooflua::script
