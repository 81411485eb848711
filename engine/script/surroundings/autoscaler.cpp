// An autoscaler written in Lua, as the engine sees it. It is asked rarely, so what it sees crosses
// on Lua's stack.

#include <cmath>
#include <memory>
#include <vector>

#include "base/error.h"
#include "script/serving/policy_call.h"
#include "script/surroundings/surroundings.h"
#include "script/vm/stack.h"
#include "serve/contract/autoscaler.h"

namespace rooflua::script {

namespace {

/// The pool whose autoscaler is called now; null: none is. A simulation that runs inside of such a
/// call has its own for as long as it asks.
const PoolView* asked = nullptr;

class Asked {
 public:
  explicit Asked(const PoolView& pool) : before_(asked) { asked = &pool; }
  ~Asked() { asked = before_; }
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;

 private:
  const PoolView* before_;
};

/// Pushes what an autoscaler reads most: eight numbers.
void push_counts(lua_State* L, const PoolView& pool) {
  lua_pushnumber(L, pool.now_s);
  for (const std::int32_t each : {pool.ready, pool.starting, pool.draining, pool.failed, pool.min,
                                  pool.max, pool.wanted, pool.held})
    lua_pushnumber(L, each);
}

/// pool_history(kind, series, window_s, q?) -> number or nil
int pool_history(lua_State* L) {
  if (asked == nullptr) throw Error("pool", "it was used after the call that it was given to");
  const std::string_view kind = luaL_checkstring(L, 1);
  const std::string_view series = luaL_checkstring(L, 2);
  const double window_s = luaL_checknumber(L, 3);
  const auto name = value_named(pool_series_words, series);
  if (!name)
    throw Error("pool:" + std::string(kind),
                unknown_name("series", series, names_of(pool_series_words)));
  const PoolHistory& history = *asked->history;
  double value = 0;
  if (kind == "mean") value = history.mean(*name, window_s);
  if (kind == "rate") value = history.rate(*name, window_s);
  if (kind == "quantile") value = history.quantile(*name, luaL_checknumber(L, 4), window_s);
  if (std::isnan(value)) return 0;
  lua_pushnumber(L, value);
  return 1;
}

/// pool_members() -> list of {replica, waiting, running, outstanding, waiting_tokens, kv_used_frac}
int pool_members(lua_State* L) {
  if (asked == nullptr) throw Error("pool", "it was used after the call that it was given to");
  lua_createtable(L, static_cast<int>(asked->members.size()), 0);
  int place = 0;
  for (const PoolMember& each : asked->members) {
    lua_createtable(L, 0, 6);
    const auto set = [L](const char* key, double value) {
      lua_pushnumber(L, value);
      lua_setfield(L, -2, key);
    };
    set("replica", each.replica + 1);
    set("waiting", each.waiting);
    set("running", each.running);
    set("outstanding", each.outstanding);
    set("waiting_tokens", each.waiting_tokens);
    set("kv_used_frac", each.kv_used_frac);
    lua_rawseti(L, -2, ++place);
  }
  return 1;
}

/// scripts/autoscalers.
class LuaAutoscaler : public AutoscalerPolicy {
 public:
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

LuaAutoscaler::LuaAutoscaler(Asking& asking) : asking_(&asking) {
  lua_State* L = asking.L;
  if (!has_field(L, "scale")) throw Error("autoscaler", "it has no scale(pool) method");
  const bool drains = has_field(L, "drain");
  library_function(L, "rooflua.border.scaling", "times_of").push(L);
  lua_pushvalue(L, -2);
  if (lua_pcall(L, 1, 2, 0) != 0) rethrow(L, "autoscaler");
  interval_s_ = lua_tonumber(L, -2);
  window_s_ = lua_tonumber(L, -1);
  lua_pop(L, 2);
  const LuaReference instance(L);
  scale_ = made_function(L, "rooflua.border.scaling", "scale_of", {&instance});
  if (drains) drain_ = made_function(L, "rooflua.border.scaling", "drain_of", {&instance});
}

std::int32_t LuaAutoscaler::ask(const LuaReference& function, const PoolView& pool,
                                const char* what) {
  lua_State* L = asking_->L;
  const Ask ask(*asking_, what);
  const Asked view(pool);
  function.push(L);
  push_counts(L, pool);
  if (lua_pcall(L, 9, 1, 0) != 0) rethrow(L, "autoscaler, " + seconds_text(pool.now_s));
  const auto answer = static_cast<std::int32_t>(lua_tointeger(L, -1));
  lua_pop(L, 1);
  return answer;
}

std::int32_t LuaAutoscaler::scale(const PoolView& pool) {
  return ask(scale_, pool, "its autoscaler (scale)");
}

std::int32_t LuaAutoscaler::drain(const PoolView& pool, std::span<const PoolMember>) {
  return drain_ ? ask(drain_, pool, "its autoscaler (drain)") - 1 : -1;
}

void LuaAutoscalers::bind(Bindings& bindings) {
  bindings.autoscalers.clear();
  for (const auto& each : all) bindings.autoscalers.push_back(each.get());
}

}  // namespace

/// A list: an instance or false for each pool.
std::unique_ptr<Surrounding> read_autoscalers(lua_State* L, Asking& asking) {
  auto out = std::make_unique<LuaAutoscalers>();
  const int list = lua_gettop(L);
  const int count = static_cast<int>(lua_objlen(L, list));
  for (int i = 1; i <= count; ++i) {
    lua_rawgeti(L, list, i);
    if (lua_toboolean(L, -1) == 0) {
      lua_pop(L, 1);
      out->all.push_back(nullptr);
    } else {
      out->all.push_back(std::make_unique<LuaAutoscaler>(asking));
    }
  }
  lua_pop(L, 1);
  return out;
}

void bind_pools(lua_State* L) {
  set_function(L, "pool_history", guarded<pool_history>);
  set_function(L, "pool_members", guarded<pool_members>);
}

}  // namespace rooflua::script
