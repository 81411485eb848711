#pragma once
// A router written in Lua, as the engine sees it.

#include "script/serving/policy_call.h"
#include "serve/contract/policy.h"

namespace rooflua::script {

/// scripts/routers.
class LuaRouter : public Router {
 public:
  /// @param asking  of the simulation that it belongs to. The instance on top of the stack is taken
  LuaRouter(Asking& asking, ServeBorder& border);
  std::int32_t route(const Request& request, const RouteView& view) override;
  CommonQueue common_queue() const override { return common_queue_; }
  std::int32_t place(const Request& request, const RouteView& view) override;
  double staleness_s() const override { return staleness_s_; }
  bool reads_reports() const override { return reads_reports_; }
  bool may_refuse() const override { return may_refuse_; }
  bool reads_landing_prompts() const override { return reads_landing_; }
  RouterIndex index() const override { return index_; }
  bool reads_replicas() const override { return reads_replicas_; }

 private:
  std::int32_t ask(const LuaReference& method, const char* what, const RouteView& view);

  Asking* asking_;
  ServeBorder* border_;
  LuaReference route_, place_;
  CommonQueue common_queue_ = CommonQueue::none;
  double staleness_s_ = 0;
  bool may_refuse_ = false, reads_reports_ = false;
  bool reads_landing_ = true, reads_replicas_ = true;
  RouterIndex index_;
};

}  // namespace rooflua::script
