#include "script/serving/tiers.h"

#include <cmath>
#include <string>

#include "base/error.h"

namespace rooflua::script {

namespace {

bool truth(lua_State* L, const char* field) {
  lua_getfield(L, -1, field);
  const bool out = lua_toboolean(L, -1) != 0;
  lua_pop(L, 1);
  return out;
}

std::string of_request(const Request& request) {
  return "request " + std::to_string(request.id);
}

}  // namespace

LuaTierPolicy::LuaTierPolicy(Asking& asking, ServeBorder& border,
                             const std::vector<std::string>& stores)
    : asking_(&asking), border_(&border) {
  lua_State* L = asking.L;
  outputs_ = truth(L, "outputs");
  counts_ = truth(L, "counts");
  promotes_ = truth(L, "promote");
  writes_back_ = truth(L, "write_back");
  as_filled_ = outputs_ && truth(L, "as_filled");
  last_chunk_ = truth(L, "last_chunk");
  shares_loads_ = truth(L, "shares_loads");
  flushes_ = truth(L, "flush");
  instance_ = LuaReference(L);
  lua_createtable(L, static_cast<int>(stores.size()), 0);
  for (std::size_t i = 0; i < stores.size(); ++i) {
    lua_pushlstring(L, stores[i].data(), stores[i].size());
    lua_rawseti(L, -2, static_cast<int>(i) + 1);
  }
  const LuaReference names(L);
  library_function(L, "rooflua.border.tiering", "add").push(L);
  instance_.push(L);
  names.push(L);
  lua_call(L, 2, 1);
  reference_ = static_cast<std::int32_t>(lua_tointeger(L, -1));
  lua_pop(L, 1);
  load_ = library_function(L, "rooflua.border.tiering", "load");
  store_ = library_function(L, "rooflua.border.tiering", "store");
}

/// The request is the only one that the policy sees; null: it sees none.
void LuaTierPolicy::open(const Request* request) const {
  border_->requests = request;
  border_->slots = request != nullptr ? 1 : 0;
  border_->view = nullptr;
  border_->replica = nullptr;
}

TierPolicy::Load LuaTierPolicy::load(const Request& request, const TierFound& found) {
  lua_State* L = asking_->L;
  const Ask ask(*asking_, "its tiers (load)");
  const BorderScope scope(*border_, 3);
  open(&request);
  load_.push(L);
  lua_pushinteger(L, reference_);
  lua_pushinteger(L, 0);
  lua_pushlightuserdata(L, const_cast<TierFound*>(&found));
  if (lua_pcall(L, 3, 2, 0) != 0) rethrow(L, "tiers, load of " + of_request(request));
  const Load out{static_cast<std::int32_t>(lua_tointeger(L, -2)), lua_tonumber(L, -1)};
  lua_pop(L, 2);
  return out;
}

std::uint32_t LuaTierPolicy::store(const Request& request, const TierRun& run,
                                   std::span<const StoreView> stores) {
  const BorderScope scope(*border_, 3);
  open(&request);
  return ask_store(run, stores, of_request(request));
}

std::uint32_t LuaTierPolicy::store_evicted(const TierRun& run, std::span<const StoreView> stores) {
  const BorderScope scope(*border_, 3);
  open(nullptr);
  return ask_store(run, stores, "what left the GPU");
}

std::uint32_t LuaTierPolicy::ask_store(const TierRun& run, std::span<const StoreView> stores,
                                       const std::string& whose) {
  lua_State* L = asking_->L;
  const Ask ask(*asking_, "its tiers (store)");
  store_.push(L);
  lua_pushinteger(L, reference_);
  lua_pushlightuserdata(L, const_cast<TierRun*>(&run));
  lua_pushlightuserdata(L, const_cast<StoreView*>(stores.data()));
  if (lua_pcall(L, 3, 1, 0) != 0) rethrow(L, "tiers, store of " + whose);
  const auto taken = static_cast<std::uint32_t>(lua_tointeger(L, -1));
  lua_pop(L, 1);
  return taken;
}

LuaEviction::LuaEviction(Asking& asking, ServeBorder& border) : asking_(&asking), border_(&border) {
  lua_State* L = asking.L;
  if (!has_field(L, "key")) throw Error("eviction", "it has no key(block) method");
  const LuaReference instance(L);
  key_ = made_function(L, "rooflua.border.tiering", "key_of", {&instance});
}

double LuaEviction::key(const StoredBlock& block) {
  lua_State* L = asking_->L;
  const Ask ask(*asking_, "its eviction (key)");
  const BorderScope scope(*border_, 3);
  key_.push(L);
  lua_pushlightuserdata(L, const_cast<StoredBlock*>(&block));
  if (lua_pcall(L, 1, 1, 0) != 0) rethrow(L, "eviction, " + seconds_text(block.now_s));
  const double key = lua_tonumber(L, -1);
  lua_pop(L, 1);
  return key;
}

LuaTiers read_tiers(lua_State* L, int index, Asking& asking, ServeBorder& border) {
  LuaTiers out;
  if (lua_isnoneornil(L, index)) return out;
  const auto list = [&](const char* field, auto each) {
    lua_getfield(L, index, field);
    const int at = lua_gettop(L);
    for (int i = 1; i <= static_cast<int>(lua_objlen(L, at)); ++i) {
      lua_rawgeti(L, at, i);
      each();
    }
    lua_pop(L, 1);
  };
  std::vector<std::string> stores;
  list("stores", [&] {
    stores.emplace_back(lua_tostring(L, -1));
    lua_pop(L, 1);
  });
  const auto add = [&](auto& into, auto make) {
    if (lua_toboolean(L, -1) == 0) {
      lua_pop(L, 1);
      into.emplace_back();
    } else {
      into.push_back(make());
    }
  };
  list("tier_policies", [&] {
    add(out.policies, [&] { return std::make_unique<LuaTierPolicy>(asking, border, stores); });
  });
  list("evictions",
       [&] { add(out.evictions, [&] { return std::make_unique<LuaEviction>(asking, border); }); });
  return out;
}

}  // namespace rooflua::script
