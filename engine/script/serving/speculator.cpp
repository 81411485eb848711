#include "script/serving/speculator.h"

#include <cmath>
#include <string>
#include <utility>

#include "base/error.h"

namespace rooflua::script {

namespace {

constexpr std::int32_t speculation_asks = 4;  // ServeBorder::live

LuaReference library(lua_State* L, const char* name) {
  return library_function(L, "rooflua.border.speculating", name);
}

/// One request is visible, and nothing else.
void show(ServeBorder& border, const Request& request) {
  border.requests = &request;
  border.slots = 1;
  border.view = nullptr;
  border.replica = nullptr;
}

/// A whole number from 0 to `most` on top of the stack, popped; -1 and `found` where it is none.
int pop_count(lua_State* L, int most, std::string& found) {
  const double value = lua_tonumber(L, -1);
  const bool good =
      lua_type(L, -1) == LUA_TNUMBER && value >= 0 && value <= most && value == std::floor(value);
  if (!good) found = describe_value(L, lua_gettop(L));
  lua_pop(L, 1);
  return good ? static_cast<int>(value) : -1;
}

}  // namespace

// --- how many

LuaSpeculator::LuaSpeculator(Asking& asking, ServeState& state, int depth)
    : asking_(&asking), state_(&state), depth_(depth) {
  lua_State* L = asking.L;
  has_draft_ = has_field(L, "draft");
  has_landed_ = has_field(L, "landed");
  instance_ = LuaReference(L);
  call_drafts_ = library(L, "drafts");
  call_draft_ = library(L, "draft");
  call_landed_ = library(L, "landed");
}

int LuaSpeculator::counted(const char* call) {
  lua_State* L = asking_->L;
  std::string found;
  const int k = pop_count(L, depth_, found);
  if (k >= 0) return k;
  throw Error(policy_name(L, instance_, "speculator"),
              std::string(call) + " must return a whole number from 0 to its depth, " +
                  std::to_string(depth_) + "; found " + found);
}

int LuaSpeculator::drafts(const Batch& batch, const ReplicaView& view) {
  lua_State* L = asking_->L;
  const Ask ask(*asking_, "its speculator (drafts)");
  const BorderScope scope(state_->border, speculation_asks);
  state_->border.requests = view.requests;
  state_->border.slots = view.slots;
  state_->border.view = &view;
  state_->border.replica = nullptr;
  state_->border.batch = &batch;
  ++state_->border.change;
  call_drafts_.push(L);
  instance_.push(L);
  const int status = lua_pcall(L, 1, 1, 0);
  state_->border.batch_live = 0;
  if (status != 0) rethrow(L, "speculator, " + seconds_text(view.now_s));
  return counted("drafts(batch)");
}

int LuaSpeculator::draft(const Request& request, int k) {
  lua_State* L = asking_->L;
  const Ask ask(*asking_, "its speculator (draft)");
  const BorderScope scope(state_->border, speculation_asks);
  show(state_->border, request);
  call_draft_.push(L);
  instance_.push(L);
  lua_pushinteger(L, k);
  if (lua_pcall(L, 2, 1, 0) != 0)
    rethrow(L, "speculator, draft of request " + std::to_string(request.id));
  return counted("draft(request, k)");
}

void LuaSpeculator::landed(const SpecSeen& seen) {
  if (!has_landed_) return;
  lua_State* L = asking_->L;
  const Ask ask(*asking_, "its speculator (landed)");
  luaL_checkstack(L, 8 + static_cast<int>(seen.accepted_at.size()), "speculator");
  call_landed_.push(L);
  instance_.push(L);
  lua_pushnumber(L, seen.now_s);
  for (const std::int32_t count : {seen.rows, seen.drafted, seen.accepted, seen.decodes})
    lua_pushinteger(L, count);
  for (const std::int32_t count : seen.accepted_at) lua_pushinteger(L, count);
  if (lua_pcall(L, 6 + static_cast<int>(seen.accepted_at.size()), 0, 0) != 0)
    rethrow(L, "speculator, " + seconds_text(seen.now_s));
}

// --- which

LuaAcceptance::LuaAcceptance(Asking& asking, ServeState& state, std::uint64_t seed)
    : asking_(&asking), state_(&state), seed_(static_cast<double>(seed)) {
  lua_State* L = asking.L;
  has_accept_ = has_field(L, "accept");
  lua_getfield(L, -1, "scope");
  per_step_ = lua_type(L, -1) == LUA_TSTRING && std::string(lua_tostring(L, -1)) == "step";
  lua_pop(L, 1);
  instance_ = LuaReference(L);
  call_curve_ = library(L, "curve");
  call_accept_ = library(L, "accept");
}

void LuaAcceptance::refuse_curve(const std::string& what) const {
  throw Error(policy_name(asking_->L, instance_, "acceptance"), "curve(request, rng): " + what);
}

/// The table on top of the stack is a list, or has `rounds` and nothing else.
void LuaAcceptance::check_fields() const {
  lua_State* L = asking_->L;
  const int table = lua_gettop(L);
  std::size_t entries = 0;
  bool rounds = false;
  for (lua_pushnil(L); lua_next(L, table) != 0; lua_pop(L, 1)) {
    const bool text = lua_type(L, -2) == LUA_TSTRING;
    const std::string key = text ? lua_tostring(L, -2) : "";
    entries += lua_type(L, -2) == LUA_TNUMBER;
    rounds = rounds || key == "rounds";
    if (lua_type(L, -2) == LUA_TNUMBER || key == "rounds") continue;
    refuse_curve("found the field " + (text ? key : describe_value(L, lua_gettop(L) - 1)) +
                 "; a list of probabilities, or {rounds = a list of tokens per round}, is right");
  }
  if (entries != lua_objlen(L, table)) refuse_curve("the list has a hole or a fraction as a place");
  if (rounds && entries > 0)
    refuse_curve("found probabilities beside rounds; one of the two is right");
}

/// Of the table on top of the stack.
std::shared_ptr<const Curve> LuaAcceptance::read_curve() const {
  lua_State* L = asking_->L;
  auto curve = std::make_shared<Curve>();
  check_fields();
  const auto read = [&](int table, auto& list, double least, double most, const char* expected) {
    using Entry = typename std::decay_t<decltype(list)>::value_type;
    const int count = static_cast<int>(lua_objlen(L, table));
    for (int i = 1; i <= count; ++i) {
      lua_rawgeti(L, table, i);
      const double value = lua_tonumber(L, -1);
      const bool good = lua_type(L, -1) == LUA_TNUMBER && value >= least && value <= most;
      if (!good || static_cast<double>(static_cast<Entry>(value)) != value) {
        refuse_curve("entry " + std::to_string(i) + ": found " + describe_value(L, lua_gettop(L)) +
                     "; " + expected + " is right");
      }
      list.push_back(static_cast<Entry>(value));
      lua_pop(L, 1);
    }
  };
  lua_getfield(L, -1, "rounds");
  if (!lua_isnil(L, -1)) {
    if (!lua_istable(L, -1)) {
      refuse_curve("rounds: found " + describe_value(L, lua_gettop(L)) +
                   "; a list of tokens per round is right");
    }
    read(lua_gettop(L), curve->rounds, 1, 1e6, "a whole number of tokens from 1");
    if (curve->rounds.empty()) refuse_curve("rounds: the list is empty");
  }
  lua_pop(L, 1);
  if (curve->rounds.empty())
    read(lua_gettop(L), curve->accepted, 0, 1, "a probability from 0 to 1");
  return curve;
}

std::shared_ptr<const Curve> LuaAcceptance::curve(const Request& request, RandomStream&) {
  lua_State* L = asking_->L;
  const Ask ask(*asking_, "its acceptance (curve)");
  const BorderScope scope(state_->border, speculation_asks);
  show(state_->border, request);
  call_curve_.push(L);
  instance_.push(L);
  lua_pushnumber(L, seed_);
  lua_pushstring(L, curve_stream);
  if (lua_pcall(L, 3, 1, 0) != 0)
    rethrow(L, "acceptance, curve of request " + std::to_string(request.id));
  if (!lua_istable(L, -1)) {
    throw Error(policy_name(L, instance_, "acceptance"),
                "curve(request, rng) must return a list of probabilities; found " +
                    describe_value(L, lua_gettop(L)));
  }
  const void* address = lua_topointer(L, -1);
  for (const Known& each : known_) {
    if (each.address != address) continue;
    lua_pop(L, 1);
    return each.curve;
  }
  Known& known = known_[next_known_++ % known_.size()];
  known.curve = read_curve();
  known.address = address;
  known.table = LuaReference(L);
  return known.curve;
}

std::int32_t LuaAcceptance::accept(const Request& request, const Round& round, const Curve& curve) {
  if (!has_accept_) return AcceptanceModel::accept(request, round, curve);
  lua_State* L = asking_->L;
  const Ask ask(*asking_, "its acceptance (accept)");
  const BorderScope scope(state_->border, speculation_asks);
  show(state_->border, request);
  call_accept_.push(L);
  instance_.push(L);
  lua_pushnumber(L, seed_);
  lua_pushstring(L, acceptance_stream);
  lua_pushinteger(L, round.drafted);
  lua_pushinteger(L, round.emitted);
  if (lua_pcall(L, 5, 1, 0) != 0)
    rethrow(L, "acceptance, a round of request " + std::to_string(request.id));
  std::string found;
  const int accepted = pop_count(L, round.drafted, found);
  if (accepted >= 0) return accepted;
  throw Error(
      policy_name(L, instance_, "acceptance"),
      "accept(request, drafted, emitted, u) must return a whole number from 0 to drafted, " +
          std::to_string(round.drafted) + "; found " + found);
}

LuaSpeculation read_speculation(Asking& asking, ServeState& state, std::uint64_t seed) {
  lua_State* L = asking.L;
  LuaSpeculation out;
  lua_getfield(L, -1, "depth");
  const int depth = static_cast<int>(lua_tointeger(L, -1));
  lua_pop(L, 1);
  lua_getfield(L, -1, "speculator");
  out.speculator = std::make_unique<LuaSpeculator>(asking, state, depth);
  lua_getfield(L, -1, "acceptance");
  out.acceptance = std::make_unique<LuaAcceptance>(asking, state, seed);
  return out;
}

}  // namespace rooflua::script
