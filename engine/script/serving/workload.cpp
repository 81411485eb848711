#include "script/serving/workload.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/fields.h"
#include "script/serving/policy_call.h"
#include "script/serving/request_fields.h"
#include "script/vm/context.h"

namespace rooflua::script {

LuaWorkload::LuaWorkload(Asking& asking)
    : asking_(&asking), asked_(&serve_state(asking.L).follow_up) {
  lua_State* L = asking.L;
  if (lua_isfunction(L, -1)) {
    next_ = LuaReference(L);
    call_next_ = made_function(L, "rooflua.border.workloads", "next_of", {&next_, &state_});
    return;
  }
  if (!lua_istable(L, -1) || !has_field(L, "next")) {
    throw Error("workload",
                "requests(rng) must return a function, a trace, or a table with next; found " +
                    describe_value(L, lua_gettop(L)));
  }
  for (const char* name : {"next", "done", "more", "cancels"}) {
    lua_getfield(L, -1, name);
    if (!lua_isfunction(L, -1) && !lua_isnil(L, -1)) {
      throw Error("workload", std::string("requests(rng) returned a table whose ") + name +
                                  " is no function but " + describe_value(L, lua_gettop(L)));
    }
    lua_pop(L, 1);
  }
  next_ = field_reference(L, "next");
  done_ = field_reference(L, "done");
  more_ = field_reference(L, "more");
  cancels_ = field_reference(L, "cancels");
  for (const auto& [asked, name] : {std::pair{&more_, "more"}, std::pair{&cancels_, "cancels"}}) {
    if (!*asked || done_) continue;
    throw Error("workload", "requests(rng) returned a table with " + std::string(name) +
                                " and without done; " + name + " is asked after done");
  }
  lua_getfield(L, -1, "shares_content");
  shares_content_ = lua_toboolean(L, -1) != 0;
  lua_pop(L, 1);
  state_ = LuaReference(L);
  call_next_ = made_function(L, "rooflua.border.workloads", "next_of", {&next_, &state_});
  if (!done_) return;
  call_done_ = made_function(L, "rooflua.border.workloads", "done_of", {&done_, &state_});
  if (!more_) return;
  call_more_ = made_function(L, "rooflua.border.workloads", "next_of", {&more_, &state_});
}

/// A request from the results at stack index `first`: arrival_s, prompt_tokens, output_tokens,
/// fields (a table or nothing). False if the first is nil.
bool LuaWorkload::read_request(int first, RequestSpec& spec) {
  lua_State* L = asking_->L;
  if (lua_isnoneornil(L, first)) return false;
  ++count_;
  spec = RequestSpec{};
  if (lua_type(L, first) != LUA_TNUMBER) {
    throw Error("workload", "request " + std::to_string(count_) +
                                ": expected arrival_s, prompt_tokens, output_tokens; found " +
                                describe_value(L, first));
  }
  spec.arrival_s = lua_tonumber(L, first);
  spec.prompt_tokens = whole_field(L, first + 1, "prompt_tokens", count_, 1);
  spec.output_tokens = whole_field(L, first + 2, "output_tokens", count_, 1);
  if (!lua_istable(L, first + 3)) return true;
  const int fields = first + 3;
  read_fields(L, fields, count_, spec, segments_);
  if (!shares_content_ && (!segments_.empty() || spec.output_content != 0)) {
    throw Error("workload", "request " + std::to_string(count_) +
                                ": has content, which nothing reads: the table that "
                                "requests(rng) returns does not say shares_content = true");
  }
  return true;
}

/// The same for what `function` returned. @throws Error with file and line of that function
bool LuaWorkload::read_answer(const LuaReference& function, int first, RequestSpec& spec) {
  try {
    return read_request(first, spec);
  } catch (const Error& wrong) {
    lua_State* L = asking_->L;
    function.push(L);
    const std::string place = place_of_function(L, lua_gettop(L));
    lua_pop(L, 1);
    throw Error(place, wrong.what());
  }
}

/// Three numbers, as rooflua.border.workloads wrote them. False: they are no request, and lie on
/// top of the stack now, so that the error is that of any other answer.
bool LuaWorkload::read_numbers(RequestSpec& spec) {
  const auto tokens = [](double value) {
    constexpr double most = std::numeric_limits<std::int32_t>::max();
    return value >= 1 && value <= most ? static_cast<std::int32_t>(value) : 0;
  };
  spec.arrival_s = asked_->arrival_s;
  spec.prompt_tokens = tokens(asked_->prompt_tokens);
  spec.output_tokens = tokens(asked_->output_tokens);
  if (spec.prompt_tokens > 0 && spec.prompt_tokens == asked_->prompt_tokens &&
      spec.output_tokens > 0 && spec.output_tokens == asked_->output_tokens) {
    ++count_;
    return true;
  }
  for (const double value : {asked_->arrival_s, asked_->prompt_tokens, asked_->output_tokens})
    lua_pushnumber(asking_->L, value);
  return false;
}

/// Calls `function` by `call`, which is made of it. False if it has no request; where `done`
/// returned a list, that is on top of the stack then.
/// @param ended  the request that ended; -1: none did
bool LuaWorkload::ask(const LuaReference& call, const LuaReference& function, std::int32_t ended,
                      RequestSpec& spec) {
  enum { none, numbers, returned };
  lua_State* L = asking_->L;
  const int top = lua_gettop(L);
  call.push(L);
  if (lua_pcall(L, 0, LUA_MULTRET, 0) != 0) {
    rethrow(L, ended < 0 ? "workload, request " + std::to_string(count_ + 1)
                         : "workload, after request " + std::to_string(ended));
  }
  if (asked_->answer == none) return false;
  if (asked_->answer == numbers && read_numbers(spec)) return true;
  if (&function == &done_ && lua_istable(L, top + 1))
    return lua_settop(L, top + 1), false;  // a list of them
  const bool more = read_answer(function, top + 1, spec);
  lua_settop(L, top);
  return more;
}

/// What `done` returned as a list: {arrival_s, prompt_tokens, output_tokens, fields} of each.
void LuaWorkload::send_list(int list, FollowUps& follow_ups) {
  lua_State* L = asking_->L;
  RequestSpec spec;
  const int count = static_cast<int>(lua_objlen(L, list));
  for (int i = 1; i <= count; ++i) {
    lua_rawgeti(L, list, i);
    const int entry = lua_gettop(L);
    if (!lua_istable(L, entry))
      throw Error("workload",
                  "done: expected a list of {arrival_s, prompt_tokens, output_tokens, "
                  "fields}; its entry " +
                      std::to_string(i) + " is " + describe_value(L, entry));
    for (int field = 1; field <= 4; ++field) lua_rawgeti(L, entry, field);
    if (read_answer(done_, entry + 1, spec)) follow_ups.send(spec);
    lua_settop(L, list);
  }
}

bool LuaWorkload::next(RequestSpec& spec) {
  const Ask ask(*asking_, "its workload (next)");
  return this->ask(call_next_, next_, -1, spec);
}

void LuaWorkload::on_done(const RequestDone& done, FollowUps& follow_ups) {
  if (!done_) return;
  const Ask ask(*asking_, "its workload (done)");
  asked_->now_s = seconds(done.now);
  asked_->session = done.session;
  asked_->klass = done.klass;
  asked_->completed = done.outcome == Outcome::completed;
  asked_->landed_tokens = done.output_tokens;
  RequestSpec spec;
  const int top = lua_gettop(asking_->L);
  if (this->ask(call_done_, done_, done.id, spec)) {
    follow_ups.send(spec);
  } else if (lua_gettop(asking_->L) > top) {
    send_list(top + 1, follow_ups);
    lua_settop(asking_->L, top);
  }
  while (more_ && this->ask(call_more_, more_, done.id, spec)) follow_ups.send(spec);
  if (cancels_) ask_cancels(done.now);
}

/// Sessions whose client goes away now.
void LuaWorkload::ask_cancels(Picoseconds now) {
  lua_State* L = asking_->L;
  const int top = lua_gettop(L);
  while (true) {
    cancels_.push(L);
    state_.push(L);
    if (lua_pcall(L, 1, 1, 0) != 0) rethrow(L, "workload, cancels");
    if (lua_isnil(L, -1)) break;
    const double session = lua_tonumber(L, -1);
    constexpr double most = std::numeric_limits<std::int32_t>::max();
    if (lua_type(L, -1) != LUA_TNUMBER || !(session >= 0 && session <= most) ||
        session != std::floor(session)) {
      throw Error("workload",
                  "cancels: expected the number of a session, found " + describe_value(L, -1));
    }
    cancelled_.push_back({now, static_cast<std::int32_t>(session)});
    lua_settop(L, top);
  }
  lua_settop(L, top);
}

Picoseconds LuaWorkload::due() const {
  Picoseconds first = never;
  for (const Cancelled& each : cancelled_) first = std::min(first, each.time);
  return first;
}

void LuaWorkload::on_due(Picoseconds now, Client& client) {
  std::vector<std::int32_t> sessions;
  std::erase_if(cancelled_, [&](const Cancelled& each) {
    if (each.time > now) return false;
    sessions.push_back(each.session);
    return true;
  });
  client.cancel_sessions(sessions);
}

std::vector<std::string> LuaWorkload::notes() const {
  return state_ ? notes_of(*asking_, state_) : std::vector<std::string>{};
}

std::optional<Unsent> LuaWorkload::left_out() const {
  return state_ ? left_out_of(*asking_, state_) : std::nullopt;
}

std::optional<Unsent> left_out_of(const Asking& asking, const LuaReference& state) {
  lua_State* L = asking.L;
  const int top = lua_gettop(L);
  state.push(L);
  lua_getfield(L, -1, "left_out");
  const Json given = to_json(L, lua_gettop(L), "workload: left_out");
  lua_settop(L, top);
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

std::vector<std::string> notes_of(const Asking& asking, const LuaReference& state) {
  lua_State* L = asking.L;
  const int top = lua_gettop(L);
  std::vector<std::string> out;
  state.push(L);
  lua_getfield(L, -1, "notes");
  if (lua_isfunction(L, -1)) {
    lua_pushvalue(L, top + 1);
    if (lua_pcall(L, 1, 1, 0) != 0) rethrow(L, "workload, notes");
  }
  if (lua_istable(L, -1)) {
    for (int i = 1; i <= static_cast<int>(lua_objlen(L, -1)); ++i) {
      lua_rawgeti(L, -1, i);
      if (lua_type(L, -1) == LUA_TSTRING) out.emplace_back(lua_tostring(L, -1));
      lua_pop(L, 1);
    }
  }
  lua_settop(L, top);
  return out;
}

std::vector<std::string> classes_of(const Asking& asking, int state) {
  lua_State* L = asking.L;
  std::vector<std::string> out;
  if (!lua_istable(L, state)) return out;
  const int top = lua_gettop(L);
  lua_getfield(L, state, "classes");
  const Json names = to_json(L, top + 1, "workload: classes");
  lua_settop(L, top);
  if (names.is_null()) return out;
  const auto is_name = [](const Json& each) { return each.is_text(); };
  if (!names.is_array() || !std::all_of(names.items().begin(), names.items().end(), is_name))
    throw Error("workload", "classes: expected a list of names, that of class 0 first");
  for (const Json& each : names.items()) out.push_back(each.text());
  return out;
}

std::unique_ptr<Workload> LuaWorkload::fork() const {
  push_twin(asking_->L, state_ ? state_ : next_);
  auto copy = std::make_unique<LuaWorkload>(*asking_);
  copy->count_ = count_;
  copy->cancelled_ = cancelled_;
  return copy;
}

void push_twin(lua_State* L, const LuaReference& state) {
  library_function(L, "rooflua.serving.twins", "of_workload").push(L);
  state.push(L);
  if (lua_pcall(L, 1, 1, 0) != 0) rethrow(L, "copying the workload");
}

}  // namespace rooflua::script
