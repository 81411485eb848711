// How far an MFU database can be trusted: rows left out, and one database held against another.

#include <algorithm>

#include "base/error.h"
#include "cost/quality/compare.h"
#include "cost/quality/leave_out.h"
#include "script/bind/questions.h"
#include "script/bind/with_lua.h"
#include "script/vm/context.h"

namespace rooflua::script {

namespace {

const KernelTable& table_named(const MfuDatabase& database, const std::string& wanted) {
  std::vector<std::string> known;
  for (const KernelTable* table : database.tables()) {
    if (table->name == wanted) return *table;
    known.push_back(table->name);
  }
  throw Error("db:leave_one_out", unknown_name("table", wanted, known));
}

/// What makes the engine's form of a lookup in Lua: {function, whether it returns MFUs, the
/// function that the user wrote} at `first` and after it; empty where there is none.
std::function<UserLookup()> own_lookup(lua_State* L, int first, const std::string& name) {
  if (lua_isnoneornil(L, first) != 0) return {};
  if (lua_type(L, first) != LUA_TFUNCTION) wrong_type(L, first, "db:leave_one_out", "a function");
  const bool returns_mfu = lua_toboolean(L, first + 1) != 0;
  const std::string place = lua_isfunction(L, first + 2) ? place_of_function(L, first + 2) : "";
  return [=] { return lua_lookup(L, first, returns_mfu, name, place); };
}

/// leave_one_out(database, table, lookup, "row" | "shape", most rows, own lookup in Lua...)
int leave_one_out(lua_State* L) {
  const auto database = check_object<MfuDatabase>(L, 1, "db:leave_one_out");
  const KernelTable& table = table_named(*database, check_text(L, 2, "db:leave_one_out: table"));
  const std::string lookup = check_text(L, 3, "db:leave_one_out: lookup");
  const std::string leave = check_text(L, 4, "db:leave_one_out: leave");
  if (leave != "row" && leave != "shape") {
    const std::vector<std::string> known = {"row", "shape"};
    throw Error("db:leave_one_out: leave", unknown_name("choice", leave, known));
  }
  const double most = std::clamp(check_number(L, 5, "db:leave_one_out: most_rows"), 1.0, 1e9);
  const auto own = own_lookup(L, 6, lookup);
  const auto rows = with_lua(L, [&] {
    return leave_out(table, lookup, database->hardware(),
                     leave == "row" ? Leave::row : Leave::shape, static_cast<int>(most),
                     database->lenders(), own);
  });
  lua_createtable(L, static_cast<int>(rows.size()), 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const KernelRow& row = table.rows[static_cast<std::size_t>(rows[i].row)];
    lua_createtable(L, 0, static_cast<int>(table.axes.size()) + 6);
    for (std::size_t axis = 0; axis < table.axes.size(); ++axis)
      set_number(L, table.axes[axis].c_str(), row.shape[axis]);
    set_number(L, "line", row.line);
    set_number(L, "measured_s", rows[i].measured_s);
    set_number(L, "predicted_s", rows[i].predicted_s);
    set_number(L, "error", rows[i].error());
    set_number(L, "distance", rows[i].distance);
    set_text(L, "evidence", name(rows[i].evidence));
    lua_rawseti(L, -2, static_cast<int>(i) + 1);
  }
  return 1;
}

/// compare_databases(answers, reference)
int compare_databases(lua_State* L) {
  const auto answers = check_object<MfuDatabase>(L, 1, "db:compare");
  const auto reference = check_object<MfuDatabase>(L, 2, "db:compare: reference");
  const auto found = compare(*answers, *reference);
  lua_createtable(L, static_cast<int>(found.size()), 0);
  for (std::size_t i = 0; i < found.size(); ++i) {
    lua_createtable(L, 0, 8);
    set_text(L, "table", found[i].table);
    set_text(L, "evidence", name(found[i].evidence));
    set_number(L, "rows", found[i].rows);
    set_number(L, "p10", found[i].p10);
    set_number(L, "median", found[i].median);
    set_number(L, "p90", found[i].p90);
    set_number(L, "worst", found[i].worst);
    set_number(L, "worst_line", found[i].worst_line);
    lua_rawseti(L, -2, static_cast<int>(i) + 1);
  }
  return 1;
}

}  // namespace

void bind_trust(lua_State* L) {
  set_function(L, "leave_one_out", guarded<leave_one_out>);
  set_function(L, "compare_databases", guarded<compare_databases>);
}

}  // namespace rooflua::script
