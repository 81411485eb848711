// A gate's policy written in Lua, as the engine sees it.

#include <memory>
#include <string>

#include "script/serving/policy_call.h"
#include "script/surroundings/surrounding.h"
#include "serve/contract/admission.h"
#include "serve/replica/cluster.h"

namespace rooflua::script {

namespace {

/// scripts/admission.
class LuaAdmission : public AdmissionPolicy, public Surrounding {
 public:
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

/// Fields of the table on top of the stack.
class Fields {
 public:
  explicit Fields(lua_State* L) : L_(L), index_(lua_gettop(L)) {}
  double number(const char* name) const {
    lua_getfield(L_, index_, name);
    const double out = lua_tonumber(L_, -1);
    lua_pop(L_, 1);
    return out;
  }
  bool flag(const char* name) const {
    lua_getfield(L_, index_, name);
    const bool out = lua_toboolean(L_, -1) != 0;
    lua_pop(L_, 1);
    return out;
  }
  template <class Word>
  Word word(const char* name) const {
    return static_cast<Word>(static_cast<std::int32_t>(number(name)));
  }
  std::vector<double> list(const char* name) const {
    std::vector<double> out;
    lua_getfield(L_, index_, name);
    const int count = static_cast<int>(lua_objlen(L_, -1));
    for (int i = 1; i <= count; ++i) {
      lua_rawgeti(L_, -1, i);
      out.push_back(lua_tonumber(L_, -1));
      lua_pop(L_, 1);
    }
    lua_pop(L_, 1);
    return out;
  }

 private:
  lua_State* L_;
  int index_;
};

/// What the policy on top of the stack declares (scripts/lib/rooflua/border/gate_rules.lua).
GateRules read_rules(lua_State* L) {
  library_function(L, "rooflua.border.gate_rules", "of").push(L);
  lua_pushvalue(L, -2);
  if (lua_pcall(L, 1, 1, 0) != 0) rethrow(L, "admission");
  const Fields given(L);
  GateRules out;
  out.queue.flow = given.word<FlowKey>("flow");
  out.queue.fair = given.word<FairRule>("fair");
  out.queue.order = given.word<FlowOrder>("order");
  out.queue.count = given.word<ServiceCount>("count");
  out.queue.prompt_weight = given.number("prompt_weight");
  out.queue.output_weight = given.number("output_weight");
  out.queue.estimate_tokens = given.number("estimate_tokens");
  out.queue.half_life_s = given.number("half_life_s");
  out.queue.max_held = static_cast<std::int64_t>(given.number("max_held"));
  out.queue.max_held_tokens = static_cast<std::int64_t>(given.number("max_held_tokens"));
  out.staleness_s = given.number("staleness_s");
  out.credit = given.flag("credit");
  out.interval_s = given.number("interval_s");
  out.most = static_cast<std::int32_t>(given.number("most"));
  out.queue_threshold = given.number("queue_threshold");
  out.kv_threshold = given.number("kv_threshold");
  out.expire_queued = given.flag("expire_queued");
  out.deadline_s = given.number("deadline_s");
  out.class_deadline_s = given.list("class_deadline_s");
  lua_pop(L, 1);
  return out;
}

LuaAdmission::LuaAdmission(Asking& asking, ServeBorder& border)
    : asking_(&asking), border_(&border) {
  lua_State* L = asking.L;
  rules_ = read_rules(L);
  const bool chooses = has_field(L, "choose");
  const LuaReference instance(L);
  admit_ = made_function(L, "rooflua.border.gating", "admit_of", {&instance});
  next_ = made_function(L, "rooflua.border.gating", "next_of", {&instance});
  if (chooses) choose_ = made_function(L, "rooflua.border.gating", "choose_of", {&instance});
}

void LuaAdmission::call(const LuaReference& function, int answers, const char* method,
                        const GateView& view) {
  lua_State* L = asking_->L;
  const Ask ask(*asking_, method);
  const BorderScope scope(*border_, 2);
  show_route(*border_, view.pool);
  function.push(L);
  if (lua_pcall(L, 0, answers, 0) != 0) rethrow(L, "admission, " + seconds_text(view.pool.now_s));
}

Verdict LuaAdmission::admit(const Request&, const GateView& view) {
  call(admit_, 1, "its admission policy (admit)", view);
  const auto verdict = static_cast<Verdict>(lua_tointeger(asking_->L, -1));
  lua_pop(asking_->L, 1);
  return verdict;
}

AdmissionPolicy::Next LuaAdmission::next(const Request&, const GateView& view) {
  call(next_, 2, "its admission policy (next)", view);
  const Next out{lua_toboolean(asking_->L, -2) != 0, lua_tonumber(asking_->L, -1)};
  lua_pop(asking_->L, 2);
  return out;
}

std::int32_t LuaAdmission::choose(std::span<const GateFlow>, const GateView& view) {
  call(choose_, 1, "its admission policy (choose)", view);
  const auto place = static_cast<std::int32_t>(lua_tointeger(asking_->L, -1));
  lua_pop(asking_->L, 1);
  return place;
}

}  // namespace

std::unique_ptr<Surrounding> read_admission(lua_State* L, Asking& asking) {
  return std::make_unique<LuaAdmission>(asking, serve_state(L).border);
}

}  // namespace rooflua::script
