// Natives for tables of other projects: their cells by column, the rows that a script makes of
// them, and the files that are written from rows.

#include "script/bind/table_files.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/gzip.h"
#include "cost/tables/cells.h"
#include "cost/tables/described_table.h"
#include "cost/tables/lines.h"
#include "cost/tables/own_columns.h"
#include "script/vm/context.h"

namespace rooflua::script {

template <>
struct TypeName<Cells> {
  static constexpr const char* value = "rooflua.Cells";
  static constexpr const char* article = "cells of a table";
};

namespace {

template <class Number>
void push_array(lua_State* L, const std::vector<Number>& numbers) {
  lua_pushlstring(L, reinterpret_cast<const char*>(numbers.data()),
                  numbers.size() * sizeof(Number));
}

/// The array that field `key` of the table at `index` holds; zeros where there is none.
template <class Number>
std::vector<Number> array_field(lua_State* L, int index, const char* key, std::size_t count) {
  std::vector<Number> numbers(count);
  lua_getfield(L, index, key);
  if (lua_isnil(L, -1) == 0) {
    const std::string bytes = check_text(L, lua_gettop(L), key);
    ROOFLUA_ASSERT(bytes.size() == count * sizeof(Number));
    if (count > 0) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  }
  lua_pop(L, 1);
  return numbers;
}

/// table_cells(path) -> cells, {header = {name, ...}, header_line, rows, lines = array of int32,
/// short_line, short_cells}. The last two are of a row with fewer cells than the header, at which
/// reading stops.
int table_cells(lua_State* L) {
  const auto cells = std::make_shared<const Cells>(check_text(L, 1, "path"));
  push_object<Cells>(L, cells);
  lua_createtable(L, 0, 6);
  lua_createtable(L, static_cast<int>(cells->header().size()), 0);
  for (std::size_t i = 0; i < cells->header().size(); ++i) {
    lua_pushlstring(L, cells->header()[i].data(), cells->header()[i].size());
    lua_rawseti(L, -2, static_cast<int>(i) + 1);
  }
  lua_setfield(L, -2, "header");
  const auto set = [&](const char* key, double value) {
    lua_pushnumber(L, value);
    lua_setfield(L, -2, key);
  };
  set("header_line", cells->header_line());
  set("rows", static_cast<double>(cells->lines().size()));
  push_array(L, cells->lines());
  lua_setfield(L, -2, "lines");
  if (const auto& row = cells->short_row()) {
    set("short_line", row->line);
    set("short_cells", static_cast<double>(row->cells));
  }
  return 2;
}

std::size_t column_at(lua_State* L, int index, const Cells& cells) {
  const double column = check_number(L, index, "column");
  ROOFLUA_ASSERT(column >= 1 && column <= static_cast<double>(cells.header().size()));
  return static_cast<std::size_t>(column) - 1;
}

/// cell_numbers(cells, column from 1) -> array of doubles, NaN where a cell is no number
int cell_numbers(lua_State* L) {
  const auto cells = check_object<Cells>(L, 1, "cell_numbers");
  push_array(L, cells->numbers(column_at(L, 2, *cells)));
  return 1;
}

/// cell_words(cells, column from 1) -> array of int32: the place, from 0, of each row's word in the
/// second result, a list of words
int cell_words(lua_State* L) {
  const auto cells = check_object<Cells>(L, 1, "cell_words");
  const WordsOfColumn words = cells->words(column_at(L, 2, *cells));
  push_array(L, words.codes);
  lua_createtable(L, static_cast<int>(words.texts.size()), 0);
  for (std::size_t i = 0; i < words.texts.size(); ++i) {
    lua_pushlstring(L, words.texts[i].data(), words.texts[i].size());
    lua_rawseti(L, -2, static_cast<int>(i) + 1);
  }
  return 2;
}

/// cell_text(cells, row from 0, column from 1)
int cell_text(lua_State* L) {
  const auto cells = check_object<Cells>(L, 1, "cell_text");
  const double row = check_number(L, 2, "row");
  ROOFLUA_ASSERT(row >= 0 && row < static_cast<double>(cells->lines().size()));
  const std::string_view text = cells->cell(static_cast<std::size_t>(row), column_at(L, 3, *cells));
  lua_pushlstring(L, text.data(), text.size());
  return 1;
}

/// table_number(text) -> the number that a cell says, or nil
int table_number(lua_State* L) {
  const auto value = as_number(check_text(L, 1, "cell"));
  if (!value) return 0;
  lua_pushnumber(L, *value);
  return 1;
}

/// table_columns(path) -> the names in the first line of a table file
int table_columns(lua_State* L) {
  return push_texts(L, column_names(check_text(L, 1, "path")));
}

/// count_lines(path) -> line breaks in a file, which may be packed
int count_lines(lua_State* L) {
  const std::string text = read_text(check_text(L, 1, "path"));
  lua_pushnumber(L, static_cast<double>(std::count(text.begin(), text.end(), '\n')));
  return 1;
}

int is_same_gpu(lua_State* L) {
  lua_pushboolean(L, same_gpu(check_text(L, 1, "GPU"), check_text(L, 2, "GPU")) ? 1 : 0);
  return 1;
}

/// op_tables() -> {[op] = {file, dtype_in_name, format_of_kv, flop, columns = {{name, place, word,
/// kv}}}}: how the tables of an op are called, and their columns in front of the latency. `place`
/// counts from 1 among the axes.
int op_tables(lua_State* L) {
  Json out = Json::object();
  for (const OpDeclaration& op : declared_ops()) {
    Json entry = Json::object();
    entry["file"] = op.file;
    entry["dtype_in_name"] = op.dtype_in_name;
    entry["format_of_kv"] = op.format_of_kv;
    entry["flop"] = name(op.convention);
    Json columns = Json::array();
    for (const OwnColumn& own : own_columns(op)) {
      Json column = Json::object();
      column["name"] = own.field->column_name();
      column["place"] = static_cast<double>(own.place + 1);
      column["word"] = own.field->kind == FieldKind::word;
      column["kv"] = own.field->is_kv();
      columns.push_back(std::move(column));
    }
    entry["columns"] = std::move(columns);
    out[op.name] = std::move(entry);
  }
  push_json(L, out, false);
  return 1;
}

Op op_called(const std::string& wanted) {
  const auto ops = declared_ops();
  const auto found =
      std::find_if(ops.begin(), ops.end(), [&](const auto& op) { return op.name == wanted; });
  ROOFLUA_ASSERT(found != ops.end());
  return static_cast<Op>(found - ops.begin());
}

/// kernel_table(file, rows) -> a table. `file` is what the script lists a table as; `rows` has
/// count, labels, line and kv_dtype (arrays of int32), latency_s and [place of an axis from 1]
/// (arrays of doubles).
int make_kernel_table(lua_State* L) {
  auto table =
      std::make_shared<KernelTable>(described_table(published_file(to_json(L, 1, "file"))));
  lua_getfield(L, 2, "count");
  const auto count = static_cast<std::size_t>(check_number(L, lua_gettop(L), "count"));
  lua_getfield(L, 2, "labels");
  for (std::size_t i = 1; i <= lua_objlen(L, -1); ++i) {
    lua_rawgeti(L, -1, static_cast<int>(i));
    table->labels.push_back(check_text(L, lua_gettop(L), "label"));
    lua_pop(L, 1);
  }
  const auto lines = array_field<std::int32_t>(L, 2, "line", count);
  const auto formats = array_field<std::int32_t>(L, 2, "kv_dtype", count);
  const auto latencies_s = array_field<double>(L, 2, "latency_s", count);
  table->rows.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    table->rows[i].line = lines[i];
    table->rows[i].kv_dtype = static_cast<Dtype>(formats[i]);
    table->rows[i].latency_s = latencies_s[i];
  }
  for (std::size_t place = 0; place < max_axes; ++place) {
    const auto values =
        array_field<double>(L, 2, ("axis" + std::to_string(place + 1)).c_str(), count);
    for (std::size_t i = 0; i < count; ++i) table->rows[i].shape[place] = values[i];
  }
  push_object<KernelTable>(L, std::move(table));
  return 1;
}

/// Rows that were not written, for Lua.
struct RowsLeftOut {
  std::vector<std::int32_t> rows;  // table from 1, line, place of the reason from 1
  std::vector<std::string> reasons;

  void add(std::int32_t table, int line, std::string_view reason) {
    auto found = std::find(reasons.begin(), reasons.end(), reason);
    if (found == reasons.end()) found = reasons.emplace(found, reason);
    rows.insert(rows.end(), {table, line, static_cast<std::int32_t>(found - reasons.begin()) + 1});
  }
};

/// write_tables(folder, tolerance, tables, {[name of a file] = keys of tables.toml})
/// -> {{path, rows}, ...}, array of int32 (table, line, reason) for each row that was left out,
/// reasons
int write_table_files(lua_State* L) {
  WriteOptions options;
  options.tolerance = check_number(L, 2, "tolerance");
  std::vector<std::shared_ptr<const KernelTable>> held;
  std::vector<const KernelTable*> tables;
  for (std::size_t i = 1; i <= lua_objlen(L, 3); ++i) {
    lua_rawgeti(L, 3, static_cast<int>(i));
    held.push_back(check_object<KernelTable>(L, lua_gettop(L), "write_tables"));
    tables.push_back(held.back().get());
    lua_pop(L, 1);
  }
  for (lua_pushnil(L); lua_next(L, 4) != 0; lua_pop(L, 1))
    options.described[check_text(L, -2, "name of a table")] = check_text(L, -1, "tables.toml");
  RowsLeftOut left_out;
  options.not_written = [&](const KernelTable& table, const KernelRow& row,
                            std::string_view reason) {
    const auto found = std::find(tables.begin(), tables.end(), &table);
    left_out.add(static_cast<std::int32_t>(found - tables.begin()) + 1, row.line, reason);
  };
  const auto written = write_tables(tables, check_text(L, 1, "folder"), Layout::aic, options);
  lua_createtable(L, static_cast<int>(written.size()), 0);
  for (std::size_t i = 0; i < written.size(); ++i) {
    lua_createtable(L, 0, 2);
    lua_pushstring(L, written[i].path.c_str());
    lua_setfield(L, -2, "path");
    lua_pushnumber(L, static_cast<double>(written[i].rows));
    lua_setfield(L, -2, "rows");
    lua_rawseti(L, -2, static_cast<int>(i) + 1);
  }
  push_array(L, left_out.rows);
  push_texts(L, left_out.reasons);
  return 3;
}

}  // namespace

const Json::Array& list_of(const Json& value) {
  static const Json::Array none;
  return value.is_array() ? value.items() : none;
}

TableFile published_file(const Json& document) {
  const auto text = [&](const char* key) { return document.find(key)->text(); };
  const auto texts = [&](const char* key) {
    std::vector<std::string> all;
    for (const Json& each : list_of(*document.find(key))) all.push_back(each.text());
    return all;
  };
  TableFile file;
  file.form = TableForm::published;
  file.name = text("name");
  file.path = text("path");
  file.op = op_called(text("op"));
  file.dtype = require_dtype(text("dtype"), "dtype");
  file.engine = text("engine");
  file.engines = texts("engines");
  file.includes = texts("includes");
  file.published = std::make_shared<const Json>(document);
  return file;
}

void bind_table_files(lua_State* L) {
  set_function(L, "table_cells", guarded<table_cells>);
  set_function(L, "cell_numbers", guarded<cell_numbers>);
  set_function(L, "cell_words", guarded<cell_words>);
  set_function(L, "cell_text", guarded<cell_text>);
  set_function(L, "table_number", guarded<table_number>);
  set_function(L, "table_columns", guarded<table_columns>);
  set_function(L, "count_lines", guarded<count_lines>);
  set_function(L, "same_gpu", guarded<is_same_gpu>);
  set_function(L, "op_tables", guarded<op_tables>);
  set_function(L, "kernel_table", guarded<make_kernel_table>);
  set_function(L, "write_tables", guarded<write_table_files>);
}

}  // namespace rooflua::script
