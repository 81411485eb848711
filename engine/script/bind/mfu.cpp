// MFU databases: opening them, asking for words and reports, and the lookups they are given.

#include "base/error.h"
#include "cost/lookup/lookup.h"
#include "cost/quality/folder_install.h"
#include "cost/quality/verify.h"
#include "script/bind/questions.h"
#include "script/bind/with_lua.h"
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

/// Engines and their libraries in turn, a list at `key`.
Lenders lenders_field(lua_State* L, int index, const char* key) {
  Lenders lenders;
  lua_getfield(L, index, key);
  const int list = lua_gettop(L);
  const int count = lua_istable(L, list) ? static_cast<int>(lua_objlen(L, list)) : 0;
  for (int i = 1; i + 1 <= count; i += 2) {
    lua_rawgeti(L, list, i);
    lua_rawgeti(L, list, i + 1);
    lenders.push_back({check_text(L, list + 1, key), check_text(L, list + 2, key)});
    lua_settop(L, list);
  }
  lua_settop(L, list - 1);
  return lenders;
}

/// open_database{path=, layout=, gpu=, lookup=, engine=, lenders=, hardware=Hardware, default_mfu=,
/// tables=}
int open_database(lua_State* L) {
  if (lua_type(L, 1) != LUA_TTABLE) wrong_type(L, 1, "mfu.open", "a table");
  DatabaseOptions options;
  options.gpu = text_field(L, 1, "gpu").value_or("");
  options.hardware = hardware_field(L, 1, options.gpu);
  options.path = text_field(L, 1, "path").value_or("");
  if (const auto layout = text_field(L, 1, "layout")) {
    const auto parsed = parse_layout(*layout);
    if (!parsed) {
      const std::vector<std::string> known(layout_names.begin(), layout_names.end());
      throw Error("mfu.open: layout", unknown_name("layout", *layout, known));
    }
    options.layout = *parsed;
  }
  options.lookup = text_field(L, 1, "lookup").value_or(options.lookup);
  options.engine = text_field(L, 1, "engine").value_or("");
  options.lenders = lenders_field(L, 1, "lenders");
  lua_getfield(L, 1, "default_mfu");
  if (lua_isnil(L, -1) == 0) options.default_mfu = check_number(L, lua_gettop(L), "default_mfu");
  if (options.path.empty() && !options.hardware) {
    throw Error("mfu.open", "needs a GPU that is shipped, or a path");
  }
  lua_getfield(L, 1, "tables");
  const bool modelled = lua_isnil(L, -1) == 0 && lua_toboolean(L, -1) == 0;
  if (modelled && !options.hardware) throw Error("mfu.open: tables", "false needs a GPU");
  if (modelled) options.hardware->tables_from.clear();
  push_object(L, modelled ? MfuDatabase::from_tables({}, options) : MfuDatabase::open(options));
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
  const std::string place = lua_isfunction(L, 5) ? place_of_function(L, 5) : "";
  push_object(L,
              database.with_lookup(name, lua_lookup(L, 3, lua_toboolean(L, 4) != 0, name, place)));
  return 1;
}

int of_engine(lua_State* L) {
  const MfuDatabase& database = database_at(L, "db:of_engine");
  push_object(L, database.of_engine(check_text(L, 2, "db:of_engine: engine")));
  return 1;
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

/// {engine, lookup, layout, tables_loaded, hardware}
int database_fields(lua_State* L) {
  const MfuDatabase& database = database_at(L, "database");
  lua_createtable(L, 0, 5);
  set_text(L, "engine", database.engine());
  set_text(L, "lookup", database.lookup());
  set_text(L, "layout", name(database.layout()));
  lua_pushnumber(L, database.tables_loaded());
  lua_setfield(L, -2, "tables_loaded");
  if (database.hardware()) {
    push_object(L, std::make_shared<const Hardware>(*database.hardware()));
    lua_setfield(L, -2, "hardware");
  }
  return 1;
}

Op op_at(lua_State* L, int index, const char* what) {
  const std::string wanted = check_text(L, index, what);
  std::vector<std::string> known;
  for (const OpDeclaration& op : declared_ops()) {
    if (op.name == wanted) return static_cast<Op>(known.size());
    known.emplace_back(op.name);
  }
  throw Error(what, unknown_name("op", wanted, known));
}

/// database_includes(database, op, dtype, part) -> boolean
int database_includes(lua_State* L) {
  const MfuDatabase& database = database_at(L, "db:includes");
  const Op op = op_at(L, 2, "db:includes");
  const Dtype dtype = require_dtype(check_text(L, 3, "db:includes: dtype"), "db:includes");
  lua_pushboolean(L, database.includes(op, dtype, check_text(L, 4, "db:includes: part")) ? 1 : 0);
  return 1;
}

/// database_measures(database, op) -> boolean
int database_measures(lua_State* L) {
  const MfuDatabase& database = database_at(L, "db:measures");
  lua_pushboolean(L, database.only_models(op_at(L, 2, "db:measures")) ? 0 : 1);
  return 1;
}

/// database_is_rehearsal(database) -> boolean
int database_is_rehearsal(lua_State* L) {
  lua_pushboolean(L, database_at(L, "db:is_rehearsal").is_rehearsal() ? 1 : 0);
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
  return push_json(L, out, false);
}

/// add_folder{folder, name, to, replace, dry_run} -> as docs/schema/data_add.json, without schema
int add_folder(lua_State* L) {
  const int given = 1;
  const auto flag = [&](const char* key) {
    lua_getfield(L, given, key);
    const bool out = lua_toboolean(L, -1) != 0;
    lua_pop(L, 1);
    return out;
  };
  const FolderAsked asked{text_field(L, given, "folder").value_or(""),
                          text_field(L, given, "name").value_or(""),
                          text_field(L, given, "to").value_or(""), flag("replace")};
  const std::filesystem::path& home = context_of(L).options.home;
  const FolderReport report = check_folder(asked.folder, home);
  Json out = folder_json(asked.folder, report);
  if (report.errors() == 0) {
    const std::string name = name_of_added(asked, report, home);
    out["name"] = name;
    if (!flag("dry_run")) {
      const FolderInstalled installed = install_folder(asked, name);
      out["installed"] = installed.path.string();
      if (!installed.before.empty()) out["set_aside"] = installed.before.string();
    }
  }
  return push_json(L, out, false);
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

}  // namespace

void bind_mfu(lua_State* L) {
  bind_ops(L);
  bind_tables(L);
  set_function(L, "open_database", guarded<open_database>);
  set_function(L, "with_lookup", guarded<with_lookup>);
  set_function(L, "database_of_engine", guarded<of_engine>);
  set_function(L, "describe_last", guarded<describe_last>);
  set_function(L, "retry", guarded<retry>);
  set_function(L, "database_fields", guarded<database_fields>);
  set_function(L, "database_report", guarded<database_report>);
  set_function(L, "database_includes", guarded<database_includes>);
  set_function(L, "database_measures", guarded<database_measures>);
  set_function(L, "database_is_rehearsal", guarded<database_is_rehearsal>);
  set_function(L, "database_peak", guarded<database_peak>);
  set_function(L, "last_failure", guarded<last_failure>);
  set_function(L, "add_folder", guarded<add_folder>);
  set_function(L, "list_lookups", guarded<list_lookups>);
}

}  // namespace rooflua::script
