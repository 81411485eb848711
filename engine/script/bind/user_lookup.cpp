// Lookups written in Lua: what they see of the tables and of the question, and what they answer.

#include <cmath>
#include <map>

#include "base/error.h"
#include "cost/lookup/lookup.h"
#include "script/bind/questions.h"
#include "script/vm/context.h"

namespace rooflua::script {

namespace {

/// The Lua function of one lookup, and the tables that it has seen, as Lua sees them. This object
/// lives no longer than the lookup, whose store owns the tables: the address of a table is not
/// taken by another one meanwhile. A database may outlive its userdata inside the engine.
struct TableViews {
  std::weak_ptr<Context> home;
  int function;  // a reference
  std::map<const KernelTable*, int> references;

  TableViews(std::weak_ptr<Context> context, int reference)
      : home(std::move(context)), function(reference) {}
  ~TableViews() {  // perhaps inside a garbage collection: the next push lets go of the views
    const auto context = home.lock();
    if (context == nullptr) return;
    context->stale_views.push_back(function);
    for (const auto& [table, reference] : references) context->stale_views.push_back(reference);
  }
  TableViews(const TableViews&) = delete;
  TableViews& operator=(const TableViews&) = delete;

  void push(lua_State* L, Context& context, const std::shared_ptr<const TableStore>& store,
            const KernelTable& table) {
    for (const int stale : context.stale_views) luaL_unref(L, LUA_REGISTRYINDEX, stale);
    context.stale_views.clear();
    const auto found = references.find(&table);
    if (found != references.end()) {
      lua_rawgeti(L, LUA_REGISTRYINDEX, found->second);
      return;
    }
    push_view(L, store, table);
    lua_pushvalue(L, -1);
    references[&table] = luaL_ref(L, LUA_REGISTRYINDEX);
  }
};

UserAnswer read_answer(lua_State* L, bool returns_mfu, const std::string& name) {
  const std::string where = "lookup " + name;
  if (lua_type(L, -2) != LUA_TNUMBER) wrong_type(L, -2, where.c_str(), "a number as first result");
  UserAnswer out;
  out.value = lua_tonumber(L, -2);
  out.is_mfu = returns_mfu;
  if (!(std::isfinite(out.value) && out.value > 0)) {
    throw Error(where, "returned " + json_number(out.value) + "; expected a positive number");
  }
  if (lua_isnil(L, -1) == 0) {
    const std::string evidence = check_text(L, lua_gettop(L), (where + ": evidence").c_str());
    const auto parsed = parse_evidence(evidence);
    if (!parsed) {
      const std::vector<std::string> known = {"measured", "interpolated", "extrapolated",
                                              "stand_in", "modelled",     "assumed"};
      throw Error(where, unknown_name("evidence", evidence, known));
    }
    out.evidence = *parsed;
  }
  return out;
}

/// Pushes what a field says, in the words of scripts.
void push_value(lua_State* L, const Field& field, double value) {
  const std::size_t word = value >= 1 ? static_cast<std::size_t>(value) - 1 : 0;
  if (field.kind == FieldKind::flag) {
    lua_pushboolean(L, value != 0 ? 1 : 0);
  } else if (field.kind == FieldKind::word && word < field.words.size()) {
    lua_pushlstring(L, field.words[word].name.data(), field.words[word].name.size());
  } else {
    lua_pushnumber(L, value);
  }
}

double check_value(lua_State* L, const Field& field, const char* what) {
  const std::string where = std::string(what) + ": " + std::string(field.name);
  if (lua_isnil(L, -1) != 0) return field.otherwise;
  if (field.kind == FieldKind::flag) return lua_toboolean(L, -1) != 0 ? 1 : 0;
  if (field.kind == FieldKind::word)
    return code_of(field, check_text(L, lua_gettop(L), where.c_str()));
  return check_number(L, lua_gettop(L), where.c_str());
}

}  // namespace

void push_query(lua_State* L, const Query& query) {
  const OpDeclaration& op = declaration_of(query.op);
  lua_createtable(L, 0, 16);
  set_text(L, "op", op.name);
  set_text(L, "dtype", name(query.dtype));
  set_text(L, "kv_dtype", name(query.kv_dtype));
  lua_pushnumber(L, op.find("tp") == nullptr ? 1 : query.tp);
  lua_setfield(L, -2, "tp");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "decode");
  for (const Field& field : op.fields) {
    if (!field.number || field.number(query) == 0) continue;
    push_value(L, field, field.number(query));
    lua_setfield(L, -2, std::string(field.name).c_str());
  }
}

Query check_query(lua_State* L, int index, Op op, const char* what) {
  Query query;
  query.op = op;
  for (const auto& [key, dtype] :
       {std::pair{"dtype", &query.dtype}, {"kv_dtype", &query.kv_dtype}}) {
    lua_getfield(L, index, key);
    if (lua_isnil(L, -1) == 0) *dtype = require_dtype(check_text(L, lua_gettop(L), key), what);
    lua_pop(L, 1);
  }
  for (const Field& field : declaration_of(op).fields) {
    if (!field.number) continue;
    lua_getfield(L, index, std::string(field.name).c_str());
    field.number(query) = check_value(L, field, what);
    lua_pop(L, 1);
  }
  return query;
}

UserLookup lua_lookup(lua_State* L, int function_index, bool returns_mfu, const std::string& name,
                      const std::string& place) {
  lua_pushvalue(L, function_index);
  const int reference = luaL_ref(L, LUA_REGISTRYINDEX);
  const std::weak_ptr<Context> home = context_of(L).weak_from_this();
  const auto views = std::make_shared<TableViews>(home, reference);
  return [=](const UserQuestion& asked) -> UserAnswer {
    const auto context = home.lock();
    if (context == nullptr) throw Error("lookup " + name, "its Lua state was closed");
    if (!context->may_call_lua) throw NeedsLua{};
    lua_State* state = context->L;
    const int top = lua_gettop(state);
    lua_rawgeti(state, LUA_REGISTRYINDEX, views->function);
    views->push(state, *context, asked.store, asked.table);
    push_query(state, asked.query);
    const auto tables = asked.store->tables_of(asked.query.op);
    lua_createtable(state, static_cast<int>(tables.size()), 0);
    for (std::size_t i = 0; i < tables.size(); ++i) {
      views->push(state, *context, asked.store, *tables[i]);
      lua_rawseti(state, -2, static_cast<int>(i) + 1);
    }
    context->may_call_lua = false;
    const int status = lua_pcall(state, 3, 2, 0);
    context->may_call_lua = true;
    if (status != 0) {
      const bool text = lua_isstring(state, -1) != 0;
      const std::string problem =
          text ? lua_tostring(state, -1)
               : "an error that is not text but " + describe_value(state, lua_gettop(state));
      lua_settop(state, top);
      if (text) throw PlacedError("", problem + " (lookup " + name + ")");
      throw PlacedError(place, "lookup " + name + ": " + problem);
    }
    try {
      const UserAnswer out = read_answer(state, returns_mfu, name);
      lua_settop(state, top);
      return out;
    } catch (const Error& wrong) {
      lua_settop(state, top);
      throw PlacedError(place, wrong.what());
    }
  };
}

}  // namespace rooflua::script
