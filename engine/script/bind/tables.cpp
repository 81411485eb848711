// Kernel tables and their rows as Lua sees them.

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "cost/lookup/near_rows.h"
#include "script/bind/questions.h"
#include "script/vm/context.h"

namespace rooflua::script {

namespace {

void push_row(lua_State* L, const KernelTable& table, const KernelRow& row,
              double peak_flop_per_s) {
  lua_createtable(L, 0, static_cast<int>(table.axes.size()) + 5);
  for (std::size_t i = 0; i < table.axes.size(); ++i)
    set_number(L, table.axes[i].c_str(), row.shape[i]);
  set_number(L, "line", row.line);
  set_number(L, "latency_s", row.latency_s);
  const double mfu = derived_mfu(table, row, FlopPerSecond(peak_flop_per_s));
  if (std::isfinite(mfu)) set_number(L, "mfu", mfu);
  if (std::isfinite(row.listed_mfu)) set_number(L, "listed_mfu", row.listed_mfu);
  set_text(L, "kv_dtype", name(row.kv_dtype));
}

/// {axis = {least, most}}
void push_ranges(lua_State* L, const KernelTable& table) {
  lua_createtable(L, 0, static_cast<int>(table.axes.size()));
  for (std::size_t i = 0; i < table.axes.size() && !table.rows.empty(); ++i) {
    const auto [least, most] =
        std::minmax_element(table.rows.begin(), table.rows.end(),
                            [i](const auto& a, const auto& b) { return a.shape[i] < b.shape[i]; });
    lua_createtable(L, 0, 2);
    set_number(L, "least", least->shape[i]);
    set_number(L, "most", most->shape[i]);
    lua_setfield(L, -2, table.axes[i].c_str());
  }
}

double peak_of(const TableView& view) {
  if (!view.peak_flop_per_s) {
    view.peak_flop_per_s = implied_peak(*view.table).median.in_base_units();
  }
  return *view.peak_flop_per_s;
}

/// list_tables(database, whether also tables that lookups do not use)
/// -> {{name, path, op, dtype, rows, answers}, ...}
int list_tables(lua_State* L) {
  std::vector<const KernelTable*> tables = check_object<MfuDatabase>(L, 1, "db:tables")->tables();
  if (lua_toboolean(L, 2) == 0) {
    std::erase_if(tables, [](const KernelTable* table) { return !table->answers; });
  }
  lua_createtable(L, static_cast<int>(tables.size()), 0);
  for (std::size_t i = 0; i < tables.size(); ++i) {
    lua_createtable(L, 0, 6);
    set_text(L, "name", tables[i]->name);
    set_text(L, "path", tables[i]->path.string());
    set_text(L, "op", name(tables[i]->op));
    set_text(L, "dtype", name(tables[i]->dtype));
    set_number(L, "rows", static_cast<double>(tables[i]->rows.size()));
    lua_pushboolean(L, tables[i]->answers ? 1 : 0);
    lua_setfield(L, -2, "answers");
    lua_rawseti(L, -2, static_cast<int>(i) + 1);
  }
  return 1;
}

/// table_rows(database, name of a table)
int table_rows(lua_State* L) {
  const MfuDatabase& database = *check_object<MfuDatabase>(L, 1, "db:rows");
  const std::string wanted = check_text(L, 2, "db:rows: table");
  std::vector<std::string> known;
  for (const KernelTable* table : database.tables()) {
    if (table->name == wanted) {
      push_rows(L, *table, database.peak(table->dtype).in_base_units());
      return 1;
    }
    known.push_back(table->name);
  }
  throw Error("db:rows", unknown_name("table", wanted, known));
}

/// view_rows(view)
int view_rows(lua_State* L) {
  const TableView& view = *check_object<TableView>(L, 1, "table.rows");
  push_rows(L, *view.table, peak_of(view));
  return 1;
}

/// view_near(view, query, count) -> rows with `distance`, nearest first
int view_near(lua_State* L) {
  const TableView& view = *check_object<TableView>(L, 1, "table:near");
  if (lua_type(L, 2) != LUA_TTABLE) wrong_type(L, 2, "table:near: query", "a table");
  const double count = check_number(L, 3, "table:near: count");
  if (!(count >= 1 && count <= 1e9)) {
    throw Error("table:near: count",
                "expected a number of rows above 0, found " + json_number(count));
  }
  const KernelTable& table = *view.table;
  const Query query = check_query(L, 2, table.op, "table:near: query");
  if (view.near == nullptr) view.near = std::make_shared<const NearRows>(table);
  const auto found = view.near->near(query, static_cast<std::size_t>(count));
  const double peak_flop_per_s = peak_of(view);
  lua_createtable(L, static_cast<int>(found.size()), 0);
  for (std::size_t i = 0; i < found.size(); ++i) {
    push_row(L, table, table.rows[static_cast<std::size_t>(found[i].row)], peak_flop_per_s);
    set_number(L, "distance", found[i].distance);
    lua_rawseti(L, -2, static_cast<int>(i) + 1);
  }
  return 1;
}

}  // namespace

void push_rows(lua_State* L, const KernelTable& table, double peak_flop_per_s) {
  lua_createtable(L, static_cast<int>(table.rows.size()), 0);
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    push_row(L, table, table.rows[i], peak_flop_per_s);
    lua_rawseti(L, -2, static_cast<int>(i) + 1);
  }
}

void set_texts(lua_State* L, const char* key, const std::vector<std::string>& texts) {
  lua_createtable(L, static_cast<int>(texts.size()), 0);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    lua_pushstring(L, texts[i].c_str());
    lua_rawseti(L, -2, static_cast<int>(i) + 1);
  }
  lua_setfield(L, -2, key);
}

void push_view(lua_State* L, const std::shared_ptr<const TableStore>& store,
               const KernelTable& table) {
  lua_createtable(L, 0, 10);
  set_text(L, "name", table.name);
  set_text(L, "path", table.path.string());
  set_text(L, "op", name(table.op));
  set_text(L, "dtype", name(table.dtype));
  set_text(L, "variant", table.variant);
  set_text(L, "engine", table.engine);
  set_texts(L, "includes", table.includes);
  set_texts(L, "axes", table.axes);
  set_number(L, "count", static_cast<double>(table.rows.size()));
  push_ranges(L, table);
  lua_setfield(L, -2, "ranges");
  auto view = std::make_shared<TableView>();
  view->store = store;
  view->table = &table;
  push_object<TableView>(L, std::move(view));
  lua_setfield(L, -2, "view");
}

void bind_tables(lua_State* L) {
  set_function(L, "list_tables", guarded<list_tables>);
  set_function(L, "table_rows", guarded<table_rows>);
  set_function(L, "view_rows", guarded<view_rows>);
  set_function(L, "view_near", guarded<view_near>);
}

}  // namespace rooflua::script
