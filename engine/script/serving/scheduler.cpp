#include "script/serving/scheduler.h"

#include <cmath>
#include <string>

#include "base/error.h"
#include "script/vm/context.h"

namespace rooflua::script {

LuaScheduler::LuaScheduler(Asking& asking, ServeBorder& border)
    : asking_(&asking), border_(&border) {
  lua_State* L = asking.L;
  if (!has_field(L, "plan")) throw Error("scheduler", "it has no plan(replica, plan) method");
  has_key_ = has_field(L, "key");
  has_victim_ = has_field(L, "victim");
  lua_getfield(L, -1, "every_step");
  every_step_ = lua_toboolean(L, -1) != 0;
  lua_pop(L, 1);
  instance_ = LuaReference(L);
  plan_ = made_function(L, "rooflua.border.views", "plan_of", {&instance_});
  call_key_ = library_function(L, "rooflua.border.views", "key");
}

void LuaScheduler::plan(const VisibleReplica& replica, Plan& plan) {
  const ReplicaView& view = replica.view();
  lua_State* L = asking_->L;
  const Ask ask(*asking_, "its scheduler (plan)");
  const BorderScope scope(*border_, 1);
  border_->requests = view.requests;
  border_->slots = view.slots;
  border_->view = &view;
  border_->plan = &plan;
  border_->plan_view = &plan.view();
  border_->replica = &replica;
  ++border_->change;
  plan_.push(L);
  if (lua_pcall(L, 0, 0, 0) != 0) {
    rethrow(L, "scheduler, " + seconds_text(view.now_s) + ", replica " +
                   std::to_string(view.index + 1));
  }
}

double LuaScheduler::key(const Request& request) {
  lua_State* L = asking_->L;
  const Ask ask(*asking_, "its scheduler (key)");
  const BorderScope scope(*border_, 3);
  border_->requests = &request;
  border_->slots = 1;
  border_->view = nullptr;
  border_->replica = nullptr;
  call_key_.push(L);
  instance_.push(L);
  lua_pushinteger(L, 0);
  if (lua_pcall(L, 2, 1, 0) != 0)
    rethrow(L, "scheduler, key of request " + std::to_string(request.id));
  const double key = lua_tonumber(L, -1);
  const bool good = lua_type(L, -1) == LUA_TNUMBER && std::isfinite(key);
  const std::string found = good ? "" : describe_value(L, lua_gettop(L));
  lua_pop(L, 1);
  if (!good) {
    throw Error(policy_name(L, instance_, "scheduler"),
                "key(request) must return a finite number; found " + found + " (request " +
                    std::to_string(request.id) + ")");
  }
  return key;
}

}  // namespace rooflua::script
