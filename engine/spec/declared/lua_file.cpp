#include "spec/declared/lua_file.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <lua.hpp>
#include <sstream>
#include <utility>

#include "base/error.h"

namespace rooflua::declared {

namespace {

constexpr int most_instructions = 5'000'000, between_looks = 1000;
constexpr std::size_t most_memory = std::size_t{64} << 20, longest_file = std::size_t{1} << 18;
constexpr int most_deep = 16, most_values = 20'000;

/// What `ops` gets. Sums are lists of {symbol, factor, bound}; each operation keeps its line.
constexpr const char* asking = R"(
local line_of_caller = ...
local sum = {}
local function of(terms) return setmetatable({ terms = terms }, sum) end
local function terms_of(value)
  if type(value) == "number" then return { { symbol = "one", factor = value } } end
  if getmetatable(value) ~= sum then error("expected a number or a symbol, found a " .. type(value), 3) end
  return value.terms
end
local function plus(a, b, sign)
  local out = {}
  for _, each in ipairs(terms_of(a)) do out[#out + 1] = each end
  for _, each in ipairs(terms_of(b)) do
    out[#out + 1] = { symbol = each.symbol, factor = sign * each.factor, bound = each.bound }
  end
  if #out > 100 then error("a sum of more than 100 symbols", 2) end
  return of(out)
end
local function times(a, b)
  if type(a) == "number" then a, b = b, a end
  if type(b) ~= "number" then error("two symbols cannot be multiplied; a symbol has a number as its factor", 2) end
  local out = {}
  for i, each in ipairs(terms_of(a)) do
    out[i] = { symbol = each.symbol, factor = each.factor * b, bound = each.bound }
  end
  return of(out)
end
function sum.__add(a, b) return plus(a, b, 1) end
function sum.__sub(a, b) return plus(a, b, -1) end
function sum.__mul(a, b) return times(a, b) end
function sum.__div(a, b)
  if type(b) ~= "number" then error("a sum is divided by a number only", 2) end
  return times(a, 1 / b)
end
local function symbol(name, bound) return of { { symbol = name, factor = 1, bound = bound } } end
local function of_tokens(name)
  return function(bound)
    if bound ~= nil and type(bound) ~= "table" then
      error("ask." .. name .. ": expected a table such as { window = 128 }", 2)
    end
    return symbol(name, bound)
  end
end
local ask = { tokens = symbol "tokens", requests = symbol "requests", pairs = of_tokens "pairs",
  context = of_tokens "context" }
for _, op in ipairs { "gemm", "attention", "compute", "read", "elementwise" } do
  ask[op] = function(given)
    if type(given) ~= "table" then error("ask." .. op .. ": expected a table", 2) end
    local out = { op = op, line = line_of_caller(), weights = {} }
    for key, value in pairs(given) do
      if type(key) == "number" then
        out.weights[key] = value
      elseif key == "op" or key == "line" or key == "weights" then
        error("ask." .. op .. ": unknown key '" .. key .. "'", 2)
      else
        out[key] = value
      end
    end
    return out
  end
end
return ask
)";

/// The line of the file in which the function of `ask` was called; that of the innermost function
/// of the file after a tail call.
int line_of_caller(lua_State* L) {
  lua_Debug each{};
  for (int level = 1; lua_getstack(L, level, &each) != 0; ++level) {
    lua_getinfo(L, "Sl", &each);
    if (each.source[0] != '@' || each.currentline < 0) continue;
    lua_pushinteger(L, each.currentline);
    return 1;
  }
  lua_pushinteger(L, 0);
  return 1;
}

const char* const kept[] = {"assert",   "error", "ipairs", "next", "pairs", "select", "tonumber",
                            "tostring", "type",  "unpack", "math", "table", "string"};
const char* const kept_of_string[] = {"format", "sub", "lower", "upper"};

/// Leaves out of the globals everything that is not kept, and the methods of texts.
void close_globals(lua_State* L) {
  lua_getfield(L, LUA_GLOBALSINDEX, "string");
  lua_newtable(L);
  for (const char* name : kept_of_string) {
    lua_getfield(L, -2, name);
    lua_setfield(L, -2, name);
  }
  lua_setfield(L, LUA_GLOBALSINDEX, "string");
  lua_pop(L, 1);
  lua_pushliteral(L, "");
  lua_pushnil(L);
  lua_setmetatable(L, -2);
  lua_pop(L, 1);
  lua_newtable(L);
  for (const char* name : kept) {
    lua_getfield(L, LUA_GLOBALSINDEX, name);
    lua_setfield(L, -2, name);
  }
  lua_getfield(L, -1, "math");
  for (const char* name : {"random", "randomseed"}) {  // the same file says the same
    lua_pushnil(L);
    lua_setfield(L, -2, name);
  }
  lua_pop(L, 1);
}

/// Sets the line of a value and of all in it, but of operations, which have their own.
void place(Json& value, int line) {
  if (const Json* own = value.find("line"); own != nullptr && own->is_number())
    line = static_cast<int>(own->number());
  value.line = line;
  if (value.is_array()) {
    Json::Array items = value.items();
    for (Json& each : items) place(each, line);
    value = Json(std::move(items));
  } else if (value.is_object()) {
    Json::Object members = value.members();
    for (Json::Member& each : members) place(each.value, line);
    value = Json(std::move(members));
  }
  value.line = line;
}

}  // namespace

struct LuaFile::State {
  std::string shown;
  lua_State* L = nullptr;
  lua_Alloc allocate = nullptr;
  void* arena = nullptr;
  std::size_t used = 0;
  bool runs = false;  // the limit of memory holds while the file does, where Lua can report it
  int instructions = 0;
  mutable int values = 0;

  static void* limited(void* own, void* block, std::size_t old_size, std::size_t size) {
    auto& state = *static_cast<State*>(own);
    if (state.runs && size > old_size && state.used + (size - old_size) > most_memory)
      return nullptr;
    void* moved = state.allocate(state.arena, block, old_size, size);
    if (moved != nullptr || size == 0) state.used += size - old_size;
    return moved;
  }

  static void look(lua_State* L, lua_Debug* at) {
    lua_getfield(L, LUA_REGISTRYINDEX, "rooflua.state");
    auto* state = static_cast<State*>(lua_touserdata(L, -1));
    lua_pop(L, 1);
    if (state->instructions += between_looks; state->instructions <= most_instructions) return;
    lua_getinfo(L, "Sl", at);
    lua_pushfstring(
        L, "%s:%d: ran %d instructions without an end; a description needs a few hundred",
        at->source[0] == '@' ? at->source + 1 : at->source, at->currentline, most_instructions);
    lua_error(L);
  }

  /// Runs what lies on the stack: a function and its arguments.
  void run(int arguments, int results) {
    runs = true;
    const int status = lua_pcall(L, arguments, results, 0);
    runs = false;
    if (status != 0) fail(status);
  }

  /// Throws what lies on the stack as the message of an error.
  [[noreturn]] void fail(int status) {
    const char* said = lua_tostring(L, -1);
    std::string message = said == nullptr ? "an error that is not a text" : said;
    lua_settop(L, 1);
    if (status == LUA_ERRMEM)
      throw Error(shown, "takes more than " + std::to_string(most_memory >> 20) + " MiB of memory");
    if (message.starts_with(shown + ":")) message = message.substr(shown.size() + 1);
    const auto colon = message.find(": ");
    const bool has_line =
        colon != std::string::npos && colon > 0 && message.find_first_not_of("0123456789") == colon;
    if (has_line) throw Error(shown + ":" + message.substr(0, colon), message.substr(colon + 2));
    throw Error(shown, message);
  }

  void push(const Json& value) {
    switch (value.kind()) {
      case Json::Kind::boolean:
        return lua_pushboolean(L, value.boolean() ? 1 : 0);
      case Json::Kind::integer:
      case Json::Kind::number:
        return lua_pushnumber(L, value.number());
      case Json::Kind::text:
        lua_pushlstring(L, value.text().data(), value.text().size());
        return;
      case Json::Kind::object:
        lua_newtable(L);
        for (const Json::Member& each : value.members()) {
          push(each.value);
          lua_setfield(L, -2, each.key.c_str());
        }
        return;
      default:
        lua_pushnil(L);
    }
  }

  Json value_at(int index, int deep) const {
    if (++values > most_values)
      throw Error(shown, "returns more than " + std::to_string(most_values) + " values");
    switch (lua_type(L, index)) {
      case LUA_TBOOLEAN:
        return Json(lua_toboolean(L, index) != 0);
      case LUA_TNUMBER:
        return Json(static_cast<double>(lua_tonumber(L, index)));
      case LUA_TSTRING: {
        std::size_t size = 0;
        const char* text = lua_tolstring(L, index, &size);
        return Json(std::string(text, size));
      }
      case LUA_TTABLE:
        return table_at(index < 0 ? lua_gettop(L) + 1 + index : index, deep + 1);
      default:
        return Json("a " + std::string(lua_typename(L, lua_type(L, index))));
    }
  }

  Json table_at(int index, int deep) const {
    if (deep > most_deep || lua_checkstack(L, 8) == 0)
      throw Error(shown, "returns tables within tables of more than " + std::to_string(most_deep) +
                             " levels");
    Json::Object named;
    std::vector<std::pair<double, Json>> listed;
    for (lua_pushnil(L); lua_next(L, index) != 0; lua_pop(L, 1)) {
      if (lua_isfunction(L, -1)) continue;
      if (lua_type(L, -2) == LUA_TNUMBER)
        listed.emplace_back(lua_tonumber(L, -2), value_at(-1, deep));
      else if (lua_type(L, -2) == LUA_TSTRING)
        named.push_back({lua_tostring(L, -2), value_at(-1, deep)});
      else
        throw Error(shown, "a table has a key that is neither a name nor a number");
    }
    const auto before = [](const auto& a, const auto& b) { return a.first < b.first; };
    std::sort(listed.begin(), listed.end(), before);
    if (named.empty() && !listed.empty()) {
      Json::Array items;
      for (auto& [place, item] : listed) items.push_back(std::move(item));
      return Json(std::move(items));
    }
    for (auto& [place, item] : listed) named.push_back({json_number(place), std::move(item)});
    std::sort(named.begin(), named.end(),
              [](const Json::Member& a, const Json::Member& b) { return a.key < b.key; });
    return Json(std::move(named));
  }

  ~State() {
    if (L == nullptr) return;
    if (allocate != nullptr) lua_setallocf(L, allocate, arena);
    lua_close(L);
  }
};

LuaFile::LuaFile(const std::filesystem::path& path, std::string shown)
    : state_(std::make_unique<State>()) {
  State& state = *state_;
  state.shown = std::move(shown);
  std::ifstream in(path, std::ios::binary);
  std::ostringstream read;
  if (!in || !(read << in.rdbuf())) throw Error(state.shown, "cannot be read");
  const std::string text = read.str();
  if (text.size() > longest_file)
    throw Error(state.shown,
                "is longer than a description: " + std::to_string(text.size()) + " bytes");
  if (text.starts_with("\x1bLJ")) throw Error(state.shown, "is bytecode; a description is text");
  lua_State* L = state.L = luaL_newstate();
  if (L == nullptr) throw Error(state.shown, "not enough memory for a Lua state");
  luaL_openlibs(L);
  // Compiled code calls no hook. The libraries switch the compiler on, so this comes after them.
  luaJIT_setmode(L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_OFF);
  lua_pushlightuserdata(L, &state);
  lua_setfield(L, LUA_REGISTRYINDEX, "rooflua.state");
  state.used = static_cast<std::size_t>(lua_gc(L, LUA_GCCOUNT, 0)) << 10;
  state.allocate = lua_getallocf(L, &state.arena);
  lua_setallocf(L, &State::limited, &state);
  if (luaL_loadbuffer(L, asking, std::char_traits<char>::length(asking), "=ask") != 0)
    throw Error("ask", lua_tostring(L, -1));
  lua_pushcfunction(L, line_of_caller);
  state.run(1, 1);
  lua_setfield(L, LUA_REGISTRYINDEX, "rooflua.ask");
  close_globals(L);  // leaves the environment of the file on the stack
  lua_sethook(L, &State::look, LUA_MASKCOUNT, between_looks);
  if (luaL_loadbuffer(L, text.data(), text.size(), ("@" + state.shown).c_str()) != 0)
    state.fail(LUA_ERRSYNTAX);
  lua_insert(L, 1);
  lua_setfenv(L, 1);
  state.run(0, 1);
  if (!lua_istable(L, 1))
    throw Error(state.shown,
                "expected a table with weights, cache and ops as what the file "
                "returns, found a " +
                    std::string(luaL_typename(L, 1)));
  lua_settop(L, 1);
}

LuaFile::~LuaFile() = default;

Json LuaFile::table() const {
  Json out = state_->table_at(1, 0);
  if (out.is_array()) out = Json::object();
  place(out, 1);
  return out;
}

bool LuaFile::has(const std::string& function) const {
  lua_getfield(state_->L, 1, function.c_str());
  const bool is = lua_isfunction(state_->L, -1);
  lua_settop(state_->L, 1);
  return is;
}

Json LuaFile::call(const std::string& function, const Json& parameters, const Json& model) const {
  State& state = *state_;
  lua_State* L = state.L;
  lua_getfield(L, 1, function.c_str());
  if (!lua_isfunction(L, -1)) {
    const std::string found = luaL_typename(L, -1);
    lua_settop(L, 1);
    throw Error(state.shown + ": " + function, "expected a function, found a " + found);
  }
  lua_Debug about{};
  lua_pushvalue(L, -1);
  lua_getinfo(L, ">S", &about);
  state.push(parameters);
  state.push(model);
  if (function == "ops") {
    lua_getfield(L, LUA_REGISTRYINDEX, "rooflua.ask");
    lua_insert(L, -2);
    lua_setfield(L, -2, "model");
  }
  state.run(2, 1);
  if (!lua_istable(L, -1)) {
    const std::string found = luaL_typename(L, -1);
    lua_settop(L, 1);
    throw Error(at(state.shown, about.linedefined),
                function + ": expected a list, found a " + found);
  }
  Json out = state.table_at(lua_gettop(L), 0);
  lua_settop(L, 1);
  place(out, about.linedefined);
  return out;
}

}  // namespace rooflua::declared
