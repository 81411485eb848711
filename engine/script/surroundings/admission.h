#pragma once
// A gate's policy written in Lua, as the engine sees it.

#include <memory>

#include "script/serving/policy_call.h"
#include "script/surroundings/surrounding.h"
#include "serve/contract/admission.h"

namespace rooflua::script {

/// scripts/admission.
class LuaAdmission : public AdmissionPolicy, public Surrounding {
 public:
  /// @param asking  of the simulation that it belongs to. The instance on top of the stack is taken
  LuaAdmission(Asking& asking, ServeBorder& border);
  GateRules rules() const override { return rules_; }
  Verdict admit(const Request& request, const GateView& view) override;
  Next next(const Request& request, const GateView& view) override;
  bool chooses() const override { return static_cast<bool>(choose_); }
  std::int32_t choose(std::span<const GateFlow> flows, const GateView& view) override;
  void bind(Bindings& bindings) override { bindings.admission = this; }

 private:
  /// Calls it, and leaves so many answers on the stack.
  void call(const LuaReference& function, int answers, const char* method, const GateView& view);

  Asking* asking_;
  ServeBorder* border_;
  GateRules rules_;
  LuaReference admit_, next_, choose_;
};

/// The instance on top of the stack, which is taken.
std::unique_ptr<Surrounding> read_admission(lua_State* L, Asking& asking);

}  // namespace rooflua::script
