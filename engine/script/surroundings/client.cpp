// A client written in Lua, as the engine sees it.

#include <memory>

#include "border.h"
#include "script/serving/policy_call.h"
#include "script/surroundings/surrounding.h"
#include "serve/contract/client.h"

namespace rooflua::script {

namespace {

/// scripts/clients.
class LuaClient : public ClientPolicy, public Surrounding {
 public:
  LuaClient(Asking& asking, ServeBorder& border);
  Patience patience(const Request& request, RandomStream& draws) override;
  std::optional<Again> again(const Request& request, const Ending& ending,
                             RandomStream& draws) override;
  void bind(Bindings& bindings) override { bindings.client = this; }

 private:
  void show(const Request& request, const RandomStream& draws);

  Asking* asking_;
  ServeBorder* border_;
  LuaReference patience_, again_, memory_;
  rooflua_draws* draws_ = nullptr;  // what memory_ holds: the policy draws from it
};

LuaClient::LuaClient(Asking& asking, ServeBorder& border) : asking_(&asking), border_(&border) {
  lua_State* L = asking.L;
  const LuaReference instance(L);
  library_function(L, "rooflua.border.clients", "asks_of").push(L);
  instance.push(L);
  lua_call(L, 1, 3);
  draws_ = static_cast<rooflua_draws*>(const_cast<void*>(lua_topointer(L, -1)));
  memory_ = LuaReference(L);
  again_ = LuaReference(L);
  patience_ = LuaReference(L);
}

/// The request alone is visible, in slot 0.
void LuaClient::show(const Request& request, const RandomStream& draws) {
  border_->requests = &request;
  border_->slots = 1;
  border_->view = nullptr;
  border_->replica = nullptr;
  draws_->stream = draws;
  draws_->taken = draws_->count = draws_->distribution = 0;
}

Patience LuaClient::patience(const Request& request, RandomStream& draws) {
  lua_State* L = asking_->L;
  const Ask ask(*asking_, "its client (patience)");
  const BorderScope scope(*border_, 3);
  show(request, draws);
  patience_.push(L);
  lua_pushinteger(L, 0);
  if (lua_pcall(L, 1, 3, 0) != 0)
    rethrow(L, "client, patience for request " + std::to_string(request.id));
  const Patience out{lua_tonumber(L, -3), lua_tonumber(L, -2), lua_tonumber(L, -1)};
  lua_pop(L, 3);
  return out;
}

std::optional<Again> LuaClient::again(const Request& request, const Ending& ending,
                                      RandomStream& draws) {
  lua_State* L = asking_->L;
  const Ask ask(*asking_, "its client (again)");
  const BorderScope scope(*border_, 3);
  show(request, draws);
  again_.push(L);
  lua_pushinteger(L, 0);
  const std::string_view outcome = name(ending.outcome);
  lua_pushlstring(L, outcome.data(), outcome.size());
  lua_pushinteger(L, ending.attempt);
  lua_pushnumber(L, ending.now_s);
  lua_pushnumber(L, ending.waited_s);
  lua_pushinteger(L, ending.output_tokens);
  if (lua_pcall(L, 6, 2, 0) != 0)
    rethrow(L, "client, " + seconds_text(ending.now_s) + ", request " + std::to_string(request.id));
  std::optional<Again> out;
  if (!lua_isnil(L, -2)) out = Again{lua_tonumber(L, -2), lua_toboolean(L, -1) != 0};
  lua_pop(L, 2);
  return out;
}

}  // namespace

std::unique_ptr<Surrounding> read_client(lua_State* L, Asking& asking) {
  return std::make_unique<LuaClient>(asking, serve_state(L).border);
}

}  // namespace rooflua::script
