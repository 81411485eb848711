// MFU databases: opening them, their tables and rows, and lookups written in Lua.

#include <cmath>
#include <map>
#include <utility>

#include "base/error.h"
#include "cost/lookup/lookup.h"
#include "cost/quality/verify.h"
#include "script/vm/context.h"

namespace rooflua::script {

namespace {

std::optional<std::string> text_field(lua_State* L, int index, const char* key) {
  lua_getfield(L, index, key);
  std::optional<std::string> out;
  if (lua_isnil(L, -1) == 0) out = check_text(L, lua_gettop(L), key);
  lua_pop(L, 1);
  return out;
}

/// The hardware that was given, else the one that the GPU's name means, if any.
std::optional<Hardware> hardware_field(lua_State* L, int index, const std::string& gpu) {
  lua_getfield(L, index, "hardware");
  std::optional<Hardware> out;
  if (lua_isnil(L, -1) == 0) {
    out = *check_object<Hardware>(L, lua_gettop(L), "mfu.open: hardware");
  } else if (!gpu.empty()) {
    try {
      out = load_hardware(gpu, context_of(L).options.home);
    } catch (const Error&) {
      // tables of a GPU that we have no datasheet of: their own peaks will do
    }
  }
  lua_pop(L, 1);
  return out;
}

/// open_database{path=, layout=, gpu=, lookup=, hardware=Hardware, default_mfu=}
int open_database(lua_State* L) {
  if (lua_type(L, 1) != LUA_TTABLE) wrong_type(L, 1, "mfu.open", "a table");
  DatabaseOptions options;
  options.gpu = text_field(L, 1, "gpu").value_or("");
  options.hardware = hardware_field(L, 1, options.gpu);
  options.path = text_field(L, 1, "path").value_or("");
  if (const auto layout = text_field(L, 1, "layout")) {
    const auto parsed = parse_layout(*layout);
    if (!parsed) {
      const std::vector<std::string> known = {"rooflua", "infersim", "blis", "aic"};
      throw Error("mfu.open: layout", unknown_name("layout", *layout, known));
    }
    options.layout = *parsed;
  }
  options.lookup = text_field(L, 1, "lookup").value_or(options.lookup);
  lua_getfield(L, 1, "default_mfu");
  if (lua_isnil(L, -1) == 0) options.default_mfu = check_number(L, lua_gettop(L), "default_mfu");
  if (options.path.empty() && !options.hardware) {
    throw Error("mfu.open", "needs a GPU that is shipped, or a path");
  }
  push_object(L, MfuDatabase::open(options));
  return 1;
}

const MfuDatabase& database_at(lua_State* L, const char* what) {
  return *check_object<MfuDatabase>(L, 1, what);
}

int with_lookup(lua_State* L) {
  const MfuDatabase& database = database_at(L, "db:with");
  const std::string name = check_text(L, 2, "db:with: lookup");
  if (lua_isnoneornil(L, 3) != 0) {
    push_object(L, database.with_lookup(name));
    return 1;
  }
  if (lua_type(L, 3) != LUA_TFUNCTION) wrong_type(L, 3, "db:with", "a function");
  push_object(L, database.with_lookup(name, lua_lookup(L, 3, lua_toboolean(L, 4) != 0, name)));
  return 1;
}

/// Runs `call` where a lookup in Lua may run: it finds this state in the context, and the
/// permission.
template <class Call>
auto with_lua(lua_State* L, Call call) {
  struct Restore {
    Context& context;
    lua_State* state;
    bool allowed;
    ~Restore() {
      context.L = state;
      context.may_call_lua = allowed;
    }
  };
  Context& context = context_of(L);
  const Restore restore{context, context.L, context.may_call_lua};
  context.L = L;
  context.may_call_lua = true;
  return call();
}

int describe_last(lua_State* L) {
  const MfuDatabase& database = database_at(L, "estimate.note");
  const Query query = context_of(L).query;  // a user's lookup may ask questions of its own
  const std::string text = with_lua(L, [&] { return database.describe(query); });
  context_of(L).query = query;
  lua_pushlstring(L, text.data(), text.size());
  return 1;
}

/// retry(database, address of an rooflua_estimate): the last question again, where Lua may run
int retry(lua_State* L) {
  const auto database = check_object<MfuDatabase>(L, 1, "db:with");
  auto* out = static_cast<rooflua_estimate*>(const_cast<void*>(lua_topointer(L, 2)));
  with_lua(L, [&] { answer(context_of(L), *database, out); });
  return 0;
}

void push_row(lua_State* L, const KernelTable& table, const KernelRow& row,
              double peak_flop_per_s) {
  lua_createtable(L, 0, static_cast<int>(table.axes.size()) + 4);
  for (std::size_t i = 0; i < table.axes.size(); ++i) {
    lua_pushnumber(L, row.shape[i]);
    lua_setfield(L, -2, table.axes[i].c_str());
  }
  lua_pushnumber(L, row.line);
  lua_setfield(L, -2, "line");
  lua_pushnumber(L, row.latency_s);
  lua_setfield(L, -2, "latency_s");
  const double mfu = derived_mfu(table, row, FlopPerSecond(peak_flop_per_s));
  if (std::isfinite(mfu)) {
    lua_pushnumber(L, mfu);
    lua_setfield(L, -2, "mfu");
  }
  if (std::isfinite(row.listed_mfu)) {
    lua_pushnumber(L, row.listed_mfu);
    lua_setfield(L, -2, "listed_mfu");
  }
  const std::string_view kv = name(row.kv_dtype);
  lua_pushlstring(L, kv.data(), kv.size());
  lua_setfield(L, -2, "kv_dtype");
}

void set_text(lua_State* L, const char* key, std::string_view text) {
  lua_pushlstring(L, text.data(), text.size());
  lua_setfield(L, -2, key);
}

/// {name, path, op, dtype, variant, axes = {...}, rows = {{...}, ...}}
void push_table(lua_State* L, const KernelTable& table, double peak_flop_per_s) {
  lua_createtable(L, 0, 8);
  set_text(L, "name", table.name);
  set_text(L, "path", table.path.string());
  set_text(L, "op", name(table.op));
  set_text(L, "dtype", name(table.dtype));
  set_text(L, "variant", table.variant);
  lua_createtable(L, static_cast<int>(table.axes.size()), 0);
  for (std::size_t i = 0; i < table.axes.size(); ++i) {
    lua_pushstring(L, table.axes[i].c_str());
    lua_rawseti(L, -2, static_cast<int>(i) + 1);
  }
  lua_setfield(L, -2, "axes");
  lua_createtable(L, static_cast<int>(table.rows.size()), 0);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    push_row(L, table, table.rows[i], peak_flop_per_s);
    lua_rawseti(L, -2, static_cast<int>(i) + 1);
  }
  lua_setfield(L, -2, "rows");
}

int list_tables(lua_State* L) {
  const auto& tables = database_at(L, "db:tables").tables();
  lua_createtable(L, static_cast<int>(tables.size()), 0);
  for (std::size_t i = 0; i < tables.size(); ++i) {
    lua_createtable(L, 0, 6);
    set_text(L, "name", tables[i]->name);
    set_text(L, "path", tables[i]->path.string());
    set_text(L, "op", name(tables[i]->op));
    set_text(L, "dtype", name(tables[i]->dtype));
    lua_pushnumber(L, static_cast<double>(tables[i]->rows.size()));
    lua_setfield(L, -2, "rows");
    lua_rawseti(L, -2, static_cast<int>(i) + 1);
  }
  return 1;
}

int table_rows(lua_State* L) {
  const MfuDatabase& database = database_at(L, "db:rows");
  const std::string wanted = check_text(L, 2, "db:rows: table");
  std::vector<std::string> known;
  for (const KernelTable* table : database.tables()) {
    if (table->name == wanted) {
      push_table(L, *table, database.peak(table->dtype).in_base_units());
      lua_getfield(L, -1, "rows");
      return 1;
    }
    known.push_back(table->name);
  }
  throw Error("db:rows", unknown_name("table", wanted, known));
}

/// {lookup, layout, gpu, tables_loaded, hardware}
int database_fields(lua_State* L) {
  const MfuDatabase& database = database_at(L, "database");
  lua_createtable(L, 0, 5);
  set_text(L, "lookup", database.lookup());
  set_text(L, "layout", name(database.layout()));
  lua_pushboolean(L, database.quantizes() ? 1 : 0);
  lua_setfield(L, -2, "quantizes");
  lua_pushnumber(L, database.tables_loaded());
  lua_setfield(L, -2, "tables_loaded");
  if (database.hardware()) {
    push_object(L, std::make_shared<const Hardware>(*database.hardware()));
    lua_setfield(L, -2, "hardware");
  }
  return 1;
}

int database_peak(lua_State* L) {
  const Dtype dtype = require_dtype(check_text(L, 2, "db:peak: dtype"), "db:peak");
  lua_pushnumber(L, database_at(L, "db:peak").peak(dtype).in_base_units());
  return 1;
}

int last_failure(lua_State* L) {
  Context& context = context_of(L);
  if (context.failure.empty()) return 0;
  lua_pushstring(L, context.failure.c_str());
  return 1;
}

/// {errors, notes, text, findings = {{kind, error, table, count, text}, ...}}
int database_report(lua_State* L) {
  const VerifyReport found = verify(database_at(L, "db:report"));
  Json out = Json::object();
  out["errors"] = found.errors();
  out["notes"] = found.notes();
  out["text"] = found.text();
  Json findings = Json::array();
  for (const Finding& each : found.findings) {
    Json finding = Json::object();
    finding["kind"] = name(each.kind);
    finding["error"] = is_error(each.kind);
    finding["table"] = each.table;
    finding["count"] = each.count;
    finding["text"] = each.text;
    findings.push_back(std::move(finding));
  }
  out["findings"] = std::move(findings);
  push_json(L, out, false);
  return 1;
}

int list_lookups(lua_State* L) {
  const auto names = lookup_names();
  lua_createtable(L, static_cast<int>(names.size()), 0);
  for (std::size_t i = 0; i < names.size(); ++i) {
    lua_pushstring(L, names[i].c_str());
    lua_rawseti(L, -2, static_cast<int>(i) + 1);
  }
  return 1;
}

/// The tables that one lookup has seen, as Lua sees them. It lives no longer than the lookup, which
/// keeps its tables: an address is not taken by another table meanwhile.
struct TableViews {
  std::weak_ptr<Context> home;
  std::map<const KernelTable*, int> references;

  explicit TableViews(std::weak_ptr<Context> context) : home(std::move(context)) {}
  ~TableViews() {  // perhaps inside a garbage collection: the next push lets go of the views
    const auto context = home.lock();
    if (context == nullptr) return;
    for (const auto& [table, reference] : references) context->stale_views.push_back(reference);
  }
  TableViews(const TableViews&) = delete;
  TableViews& operator=(const TableViews&) = delete;

  void push(lua_State* L, Context& context, const KernelTable& table) {
    for (const int stale : context.stale_views) luaL_unref(L, LUA_REGISTRYINDEX, stale);
    context.stale_views.clear();
    const auto found = references.find(&table);
    if (found != references.end()) {
      lua_rawgeti(L, LUA_REGISTRYINDEX, found->second);
      return;
    }
    push_table(L, table, implied_peak(table).median.in_base_units());
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

}  // namespace

void push_query(lua_State* L, const Query& query) {
  lua_createtable(L, 0, 16);
  set_text(L, "op", name(query.op));
  set_text(L, "dtype", name(query.dtype));
  set_text(L, "kv_dtype", name(query.kv_dtype));
  const std::pair<const char*, double> numbers[] = {{"m", query.m},
                                                    {"k", query.k},
                                                    {"n", query.n},
                                                    {"heads", query.heads},
                                                    {"kv_heads", query.kv_heads},
                                                    {"head_dim", query.head_dim},
                                                    {"tp", query.tp},
                                                    {"batch", query.batch},
                                                    {"new_tokens", query.new_tokens},
                                                    {"context_tokens", query.context_tokens},
                                                    {"experts", query.experts},
                                                    {"ranks", query.ranks},
                                                    {"experts_per_token", query.experts_per_token},
                                                    {"hidden_size", query.hidden_size},
                                                    {"intermediate_size", query.intermediate_size},
                                                    {"tokens", query.tokens},
                                                    {"kv_lora_rank", query.kv_lora_rank},
                                                    {"qk_nope_head_dim", query.qk_nope_head_dim},
                                                    {"qk_rope_head_dim", query.qk_rope_head_dim},
                                                    {"v_head_dim", query.v_head_dim},
                                                    {"conv", query.conv},
                                                    {"key_heads", query.key_heads},
                                                    {"key_head_dim", query.key_head_dim},
                                                    {"value_heads", query.value_heads},
                                                    {"value_head_dim", query.value_head_dim},
                                                    {"bytes", query.bytes},
                                                    {"width", query.width}};
  for (const auto& [key, value] : numbers) {
    if (value == 0) continue;
    lua_pushnumber(L, value);
    lua_setfield(L, -2, key);
  }
  lua_pushboolean(L, query.decode ? 1 : 0);
  lua_setfield(L, -2, "decode");
}

UserLookup lua_lookup(lua_State* L, int function_index, bool returns_mfu, const std::string& name) {
  lua_pushvalue(L, function_index);
  // Kept until the state closes: a database may outlive its userdata inside the engine.
  const int reference = luaL_ref(L, LUA_REGISTRYINDEX);
  const std::weak_ptr<Context> home = context_of(L).weak_from_this();
  const auto views = std::make_shared<TableViews>(home);
  return [=](const KernelTable& table, const Query& query) -> UserAnswer {
    const auto context = home.lock();
    if (context == nullptr) throw Error("lookup " + name, "its Lua state was closed");
    if (!context->may_call_lua) throw NeedsLua{};
    lua_State* state = context->L;
    const int top = lua_gettop(state);
    lua_rawgeti(state, LUA_REGISTRYINDEX, reference);
    views->push(state, *context, table);
    push_query(state, query);
    context->may_call_lua = false;
    const int status = lua_pcall(state, 2, 2, 0);
    context->may_call_lua = true;
    if (status != 0) {
      const std::string problem =
          lua_isstring(state, -1) != 0 ? lua_tostring(state, -1) : "an error that is not text";
      lua_settop(state, top);
      throw Error("lookup " + name, problem);
    }
    const UserAnswer out = read_answer(state, returns_mfu, name);
    lua_settop(state, top);
    return out;
  };
}

void bind_mfu(lua_State* L) {
  set_function(L, "open_database", guarded<open_database>);
  set_function(L, "with_lookup", guarded<with_lookup>);
  set_function(L, "describe_last", guarded<describe_last>);
  set_function(L, "retry", guarded<retry>);
  set_function(L, "list_tables", guarded<list_tables>);
  set_function(L, "table_rows", guarded<table_rows>);
  set_function(L, "database_fields", guarded<database_fields>);
  set_function(L, "database_report", guarded<database_report>);
  set_function(L, "database_peak", guarded<database_peak>);
  set_function(L, "last_failure", guarded<last_failure>);
  set_function(L, "list_lookups", guarded<list_lookups>);
}

}  // namespace rooflua::script
