#include "script/serving/policies.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/fields.h"
#include "script/vm/context.h"
#include "serve/replica.h"

namespace rooflua::script {

namespace {

LuaReference library_function(lua_State* L, const char* module, const char* name) {
  lua_getglobal(L, "require");
  lua_pushstring(L, module);
  lua_call(L, 1, 1);
  lua_getfield(L, -1, name);
  LuaReference function(L);
  lua_pop(L, 1);
  return function;
}

bool has_field(lua_State* L, const char* name) {
  lua_getfield(L, -1, name);
  const bool there = !lua_isnil(L, -1);
  lua_pop(L, 1);
  return there;
}

std::string seconds_text(double time_s) {
  char text[48];
  std::snprintf(text, sizeof text, "at %.6f s", time_s);
  return text;
}

/// The error on top of the stack, popped, as ours.
[[noreturn]] void rethrow(lua_State* L, const std::string& when) {
  const char* text = lua_tostring(L, -1);
  const std::string message =
      text != nullptr ? text : "an error that is not text but " + describe_value(L, lua_gettop(L));
  lua_pop(L, 1);
  throw Error("", message + " (" + when + ")");
}

/// What is being asked, for the time of one call.
class Asked {
 public:
  Asked(ServeBorder& border, std::int32_t live) : border_(border), saved_(border) {
    border_.live = live;
  }
  ~Asked() {
    const std::int32_t change = border_.change;
    border_ = saved_;
    border_.change = change + 1;
  }
  Asked(const Asked&) = delete;
  Asked& operator=(const Asked&) = delete;

 private:
  ServeBorder& border_;
  ServeBorder saved_;
};

/// "scheduler shortest_prompt"
std::string policy_name(lua_State* L, const LuaReference& instance, const char* kind) {
  instance.push();
  if (lua_istable(L, -1)) lua_getfield(L, -1, "name");
  const char* name = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : nullptr;
  const std::string out = name != nullptr ? std::string(kind) + " " + name : kind;
  lua_settop(L, lua_gettop(L) - (lua_istable(L, -1) ? 1 : 2));
  return out;
}

}  // namespace

LuaReference field_reference(lua_State* L, const char* name) {
  lua_getfield(L, -1, name);
  if (!lua_isnil(L, -1)) return LuaReference(L);
  lua_pop(L, 1);
  return {};
}

LuaScheduler::LuaScheduler(lua_State* L, ServeBorder& border) : L_(L), border_(&border) {
  if (!has_field(L, "plan")) throw Error("scheduler", "it has no plan(replica, plan) method");
  has_key_ = has_field(L, "key");
  has_victim_ = has_field(L, "victim");
  lua_getfield(L, -1, "every_step");
  every_step_ = lua_toboolean(L, -1) != 0;
  lua_pop(L, 1);
  instance_ = LuaReference(L);
  call_plan_ = library_function(L, "rooflua.border.views", "plan");
  call_key_ = library_function(L, "rooflua.border.views", "key");
}

void LuaScheduler::plan(const Replica& replica, Plan& plan) {
  const ReplicaView& view = replica.view();
  const Asked asked(*border_, 1);
  border_->requests = view.requests;
  border_->slots = view.slots;
  border_->view = &view;
  border_->plan = &plan;
  border_->plan_view = &plan.view();
  border_->replica = &replica;
  ++border_->change;
  call_plan_.push();
  instance_.push();
  if (lua_pcall(L_, 1, 0, 0) != 0) {
    rethrow(L_, "scheduler, " + seconds_text(view.now_s) + ", replica " +
                    std::to_string(view.index + 1));
  }
}

double LuaScheduler::key(const Request& request) {
  const Asked asked(*border_, 3);
  border_->requests = &request;
  border_->slots = 1;
  border_->view = nullptr;
  border_->replica = nullptr;
  call_key_.push();
  instance_.push();
  lua_pushinteger(L_, 0);
  if (lua_pcall(L_, 2, 1, 0) != 0)
    rethrow(L_, "scheduler, key of request " + std::to_string(request.id));
  const double key = lua_tonumber(L_, -1);
  const bool good = lua_type(L_, -1) == LUA_TNUMBER && std::isfinite(key);
  const std::string found = good ? "" : describe_value(L_, lua_gettop(L_));
  lua_pop(L_, 1);
  if (!good) {
    throw Error(policy_name(L_, instance_, "scheduler"),
                "key(request) must return a finite number; found " + found + " (request " +
                    std::to_string(request.id) + ")");
  }
  return key;
}

LuaRouter::LuaRouter(lua_State* L, ServeBorder& border) : L_(L), border_(&border) {
  if (!has_field(L, "route")) throw Error("router", "it has no route(request, replicas) method");
  lua_getfield(L, -1, "staleness_s");
  staleness_s_ = lua_isnumber(L, -1) ? lua_tonumber(L, -1) : 0;
  lua_pop(L, 1);
  instance_ = LuaReference(L);
  call_route_ = library_function(L, "rooflua.border.routing", "route");
}

std::int32_t LuaRouter::route(const Request&, const RouteView& view) {
  const Asked asked(*border_, 2);
  const Requests& requests = view.source->requests();
  border_->requests = requests.data();
  border_->slots = requests.slots();
  border_->view = nullptr;
  border_->replica = nullptr;
  border_->route = &view;
  call_route_.push();
  instance_.push();
  lua_pushinteger(L_, view.slot);
  if (lua_pcall(L_, 2, 1, 0) != 0) rethrow(L_, "router, " + seconds_text(view.now_s));
  const auto replica = static_cast<std::int32_t>(lua_tointeger(L_, -1));
  lua_pop(L_, 1);
  return replica;
}

LuaStepModel::LuaStepModel(lua_State* L, ServeState& state)
    : L_(L), state_(&state), evidence_s_(context_of(L).ledger.account.seconds) {
  instance_ = LuaReference(L);
  call_price_ = library_function(L, "rooflua.border.pricing", "price");
  call_bounded_ = library_function(L, "rooflua.border.pricing", "bounded");
  call_explain_ = library_function(L, "rooflua.border.pricing", "explain");
}

/// Leaves `results` values on the stack.
void LuaStepModel::call(const LuaReference& function, const Batch& batch, int results) {
  state_->batch = batch;
  state_->border.batch = &batch;
  std::fill_n(evidence_s_, evidence_count, 0.0);
  function.push();
  instance_.push();
  const int status = lua_pcall(L_, 1, results, 0);
  state_->border.batch = nullptr;
  if (status != 0) rethrow(L_, "step model, replica " + std::to_string(batch.replica + 1));
}

void LuaStepModel::price(const Batch& batch, StepPrice& price) {
  if (tells_bounds_) {
    call(call_bounded_, batch, 2);
    price.bound = static_cast<std::int32_t>(lua_tointeger(L_, -1));
    read_price(-2, price);
    lua_pop(L_, 2);
    return;
  }
  call(call_price_, batch, 1);
  read_price(-1, price);
  lua_pop(L_, 1);
}

void LuaStepModel::explain(const Batch& batch, StepPrice& price, std::vector<OpTime>& ops) {
  call(call_explain_, batch, 3);
  price.bound = static_cast<std::int32_t>(lua_tointeger(L_, -2));
  read_price(-3, price);
  const Json rows = to_json(L_, lua_gettop(L_), "step model");
  lua_pop(L_, 3);
  for (const Json& row : rows.is_array() ? rows.items() : Json::Array{}) {
    const Evidence evidence =
        parse_evidence(row.find("evidence")->text()).value_or(Evidence::assumed);
    ops.push_back({row.find("name")->text(), evidence, row.find("seconds")->number()});
  }
}

/// The time at that place of the stack, and the ledger.
void LuaStepModel::read_price(int index, StepPrice& price) const {
  const bool number = lua_type(L_, index) == LUA_TNUMBER;
  price.time_s = lua_tonumber(L_, index);
  if (!number || !(price.time_s >= 0 && std::isfinite(price.time_s))) {
    lua_pop(L_, -index);
    throw Error("steps", "time(batch) must return seconds, finite and >= 0; found " +
                             (number ? json_number(price.time_s) : std::string("another type")));
  }
  double recorded = 0;
  for (int i = 0; i < evidence_count; ++i) recorded += evidence_s_[i];
  // Shares of what was recorded, scaled to the step; a step that records nothing is an assumption.
  for (int i = 0; i < evidence_count; ++i) {
    price.evidence_s[i] = recorded > 0 ? price.time_s * (evidence_s_[i] / recorded) : 0;
  }
  if (!(recorded > 0)) price.evidence_s[static_cast<int>(Evidence::assumed)] = price.time_s;
}

LuaWorkload::LuaWorkload(lua_State* L) : L_(L) {
  if (lua_isfunction(L, -1)) {
    next_ = LuaReference(L);
    return;
  }
  if (!lua_istable(L, -1) || !has_field(L, "next")) {
    throw Error("workload",
                "requests(rng) must return a function, a trace, or a table with next; found " +
                    describe_value(L, lua_gettop(L)));
  }
  next_ = field_reference(L, "next");
  done_ = field_reference(L, "done");
  lua_getfield(L, -1, "shares_content");
  shares_content_ = lua_toboolean(L, -1) != 0;
  lua_pop(L, 1);
  state_ = LuaReference(L);
}

namespace {

std::int32_t whole(lua_State* L, int index, const char* what, std::int64_t number,
                   std::int32_t least) {
  const double value = lua_tonumber(L, index);
  if (lua_type(L, index) == LUA_TNUMBER && value >= least && value == std::floor(value) &&
      value <= std::numeric_limits<std::int32_t>::max()) {
    return static_cast<std::int32_t>(value);
  }
  const bool huge = value > std::numeric_limits<std::int32_t>::max();
  throw Error("workload", "request " + std::to_string(number) + ": " + what +
                              ": expected a whole number " +
                              (huge ? "below 2^31" : ">= " + std::to_string(least)) + ", found " +
                              describe_value(L, index));
}

/// Fields of the table at `index` that are there.
void read_optional(lua_State* L, int index, const char* name, std::int64_t number,
                   std::int32_t least, std::int32_t& value) {
  lua_getfield(L, index, name);
  if (!lua_isnil(L, -1)) value = whole(L, lua_gettop(L), name, number, least);
  lua_pop(L, 1);
}

std::uint64_t content_id(lua_State* L, int index, std::int64_t number) {
  const double value = lua_tonumber(L, index);
  if (lua_type(L, index) != LUA_TNUMBER || !(value >= 0 && value <= 9007199254740992.0)) {
    throw Error("workload", "request " + std::to_string(number) +
                                ": content: expected {id, tokens} with an id from 0 to 2^53");
  }
  return static_cast<std::uint64_t>(value);
}

void read_content(lua_State* L, int index, std::int64_t number, std::vector<Segment>& segments) {
  segments.clear();
  lua_getfield(L, index, "content");
  const int list = lua_gettop(L);
  if (lua_istable(L, list)) {
    const int count = static_cast<int>(lua_objlen(L, list));
    for (int i = 1; i <= count; ++i) {
      lua_rawgeti(L, list, i);
      if (!lua_istable(L, -1)) throw Error("workload", "content: expected a list of {id, tokens}");
      lua_rawgeti(L, -1, 1);
      lua_rawgeti(L, -2, 2);
      const int top = lua_gettop(L);
      segments.push_back(
          {content_id(L, top - 1, number), whole(L, top, "content tokens", number, 1)});
      lua_pop(L, 3);
    }
  }
  lua_pop(L, 1);
}

}  // namespace

/// Results from stack index `first` on: arrival_s, prompt_tokens, output_tokens, fields (a table or
/// nothing). False if the first is nil.
bool LuaWorkload::read_request(int first, RequestSpec& spec) {
  if (lua_isnoneornil(L_, first)) return false;
  ++count_;
  spec = RequestSpec{};
  if (lua_type(L_, first) != LUA_TNUMBER) {
    throw Error("workload", "request " + std::to_string(count_) +
                                ": expected arrival_s, prompt_tokens, output_tokens; found " +
                                describe_value(L_, first));
  }
  spec.arrival_s = lua_tonumber(L_, first);
  spec.prompt_tokens = whole(L_, first + 1, "prompt_tokens", count_, 1);
  spec.output_tokens = whole(L_, first + 2, "output_tokens", count_, 1);
  if (!lua_istable(L_, first + 3)) return true;
  const int fields = first + 3;
  read_optional(L_, fields, "max_output_tokens", count_, 0, spec.max_tokens);
  read_optional(L_, fields, "predicted_output_tokens", count_, 0, spec.predicted_tokens);
  read_optional(L_, fields, "priority", count_, std::numeric_limits<std::int32_t>::min(),
                spec.priority);
  read_optional(L_, fields, "class", count_, 0, spec.klass);
  read_optional(L_, fields, "session", count_, 0, spec.session);
  read_content(L_, fields, count_, segments_);
  spec.segments = segments_;
  lua_getfield(L_, fields, "output_content");
  if (!lua_isnil(L_, -1)) spec.output_content = content_id(L_, lua_gettop(L_), count_);
  lua_pop(L_, 1);
  return true;
}

bool LuaWorkload::next(RequestSpec& spec) {
  const int top = lua_gettop(L_);
  next_.push();
  if (state_) state_.push();
  if (lua_pcall(L_, state_ ? 1 : 0, 4, 0) != 0)
    rethrow(L_, "workload, request " + std::to_string(count_ + 1));
  const bool more = read_request(top + 1, spec);
  lua_settop(L_, top);
  return more;
}

void LuaWorkload::on_done(const RequestDone& done, FollowUps& follow_ups) {
  if (!done_) return;
  const int top = lua_gettop(L_);
  done_.push();
  state_.push();
  lua_pushnumber(L_, seconds(done.now));
  lua_pushinteger(L_, done.session);
  lua_pushinteger(L_, done.klass);
  lua_pushboolean(L_, done.outcome == Outcome::completed);
  if (lua_pcall(L_, 5, 4, 0) != 0)
    rethrow(L_, "workload, after request " + std::to_string(done.id));
  RequestSpec spec;
  if (read_request(top + 1, spec)) follow_ups.send(spec);
  lua_settop(L_, top);
}

std::optional<Unsent> LuaWorkload::left_out() const {
  if (!state_) return std::nullopt;
  const int top = lua_gettop(L_);
  state_.push();
  lua_getfield(L_, -1, "left_out");
  const Json given = to_json(L_, lua_gettop(L_), "workload: left_out");
  lua_settop(L_, top);
  if (given.is_null()) return std::nullopt;
  const Fields fields(given, "workload", "left_out");
  Unsent out{fields.need_text("source"), fields.need_text("unit"), 0, {}};
  out.total = static_cast<std::int64_t>(fields.need_number("total"));
  const Fields reasons = fields.need_table("reasons");
  fields.finish();
  for (const Json::Member& each : reasons.object().members()) {
    const auto count = reasons.integer(each.key).value_or(0);
    if (count > 0) out.reasons.push_back({each.key, count, 0});
  }
  if (out.reasons.empty()) return std::nullopt;
  return out;
}

std::unique_ptr<Workload> LuaWorkload::fork() const {
  if (!state_) return nullptr;
  library_function(L_, "rooflua.border.views", "copy").push();
  state_.push();
  if (lua_pcall(L_, 1, 1, 0) != 0) rethrow(L_, "copying the workload");
  auto copy = std::make_unique<LuaWorkload>(L_);
  copy->count_ = count_;
  return copy;
}

ServeState& serve_state(lua_State* L) {
  static const char key = 0;
  lua_pushlightuserdata(L, const_cast<char*>(&key));
  lua_rawget(L, LUA_REGISTRYINDEX);
  auto* state = static_cast<ServeState*>(lua_touserdata(L, -1));
  lua_pop(L, 1);
  if (state != nullptr) return *state;
  lua_pushlightuserdata(L, const_cast<char*>(&key));
  state = new (lua_newuserdata(L, sizeof(ServeState))) ServeState();
  lua_rawset(L, LUA_REGISTRYINDEX);
  return *state;
}

}  // namespace rooflua::script
