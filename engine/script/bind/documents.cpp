// Natives for documents: JSON, CSV, and numbers as JSON writes them.

#include <fstream>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/csv.h"
#include "base/error.h"
#include "base/printable.h"
#include "base/user/json_documents.h"
#include "base/user/text.h"
#include "base/yaml.h"
#include "script/vm/context.h"

namespace rooflua::script {

namespace {

/// A limit on nesting: no written document reaches it, and a recursion that deep fits on the stack.
constexpr int most_deep = 150;

void check_depth(const std::string& text, const std::string& name) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
      continue;
    }
    if (c == '"') quoted = true;
    if (c == ']' || c == '}') --depth;
    if ((c == '[' || c == '{') && ++depth > most_deep) {
      throw Error(name, "nested more than " + std::to_string(most_deep) + " levels deep");
    }
  }
}

int json_decode(lua_State* L) {
  const std::string text = check_text(L, 1, "json.decode");
  check_depth(text, "json.decode");
  const std::string name = lua_isnoneornil(L, 2) ? "json" : check_text(L, 2, "name");
  return push_json(L, parse_json(text, name), true);
}

struct Line {
  std::string text;
  double behind = 0;  // the byte after it
};

/// Reads the line of a file that begins at that byte; false at the end of the file.
bool read_line(const std::string& path, double offset, Line& line) {
  std::ifstream in(path, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(offset));
  if (!in) throw Error("", "cannot read " + path);
  if (!std::getline(in, line.text)) return false;
  line.behind = offset + static_cast<double>(line.text.size()) + (in.eof() ? 0 : 1);
  if (!line.text.empty() && line.text.back() == '\r') line.text.pop_back();
  return true;
}

/// packed_json_line(path, offset, name, key) -> the byte after the line that begins at that byte,
/// and its value, in which an array at that key is a text of whole numbers, four bytes each
/// (base/json.h); no value for an empty line, nothing at the end of the file. For files that are
/// larger than what a run takes of them.
int packed_json_line(lua_State* L) {
  const std::string path = check_text(L, 1, "path"), name = check_text(L, 3, "name");
  // Kept from line to line: the pages of a new one cost as much as the reading.
  thread_local Line line;
  if (!read_line(path, check_number(L, 2, "offset"), line)) return 0;
  lua_pushnumber(L, line.behind);
  if (line.text.empty()) return 1;
  const Json value = parse_json_packed(line.text, name, check_text(L, 4, "key"), most_deep);
  if (line.text.size() > (std::size_t{128} << 20)) std::string().swap(line.text);
  push_json(L, value, true);
  return 2;
}

/// json_documents(text, name) -> {{line, value}, ...}: every document of the text (base/user/
/// json_documents.h). Raises an error with the line of bad syntax.
int json_documents(lua_State* L) {
  const std::string text = check_text(L, 1, "text"), name = check_text(L, 2, "name");
  check_depth(text, name);
  const std::vector<JsonDocument> documents = parse_json_documents(text, name);
  lua_createtable(L, static_cast<int>(documents.size()), 0);
  int count = 0;
  for (const JsonDocument& each : documents) {
    lua_createtable(L, 0, 2);
    lua_pushinteger(L, each.line);
    lua_setfield(L, -2, "line");
    push_json(L, each.value, true);
    lua_setfield(L, -2, "value");
    lua_rawseti(L, -2, ++count);
  }
  return 1;
}

/// yaml_decode(text, name) -> value. Raises an error with the line of bad syntax.
int yaml_decode(lua_State* L) {
  const std::string text = check_text(L, 1, "yaml.decode");
  return push_json(L, parse_yaml(text, check_text(L, 2, "name")), true);
}

constexpr std::size_t longest_path = 1024;

/// Sets lines[path] of a value and of all in it; a path is "spec.containers[1].image". Those with
/// long paths have no line.
void set_lines(lua_State* L, const Json& value, const std::string& path) {
  if (path.size() > longest_path) return;
  lua_pushlstring(L, path.data(), path.size());
  lua_pushinteger(L, value.line);
  lua_rawset(L, -3);
  if (value.is_array()) {
    int index = 0;
    for (const Json& item : value.items())
      set_lines(L, item, path + "[" + std::to_string(++index) + "]");
  }
  if (!value.is_object()) return;
  for (const Json::Member& member : value.members())
    set_lines(L, member.value, path.empty() ? member.key : path + "." + member.key);
}

/// yaml_documents(text, name) -> {{value, lines = {path = line}}, ...}: every document of a text,
/// with aliases (base/yaml.h). Raises an error with the line of bad syntax.
int yaml_documents(lua_State* L) {
  const std::string text = check_text(L, 1, "text"), name = check_text(L, 2, "name");
  const std::vector<Json> documents = parse_yaml_documents(text, name);
  lua_createtable(L, static_cast<int>(documents.size()), 0);
  int count = 0;
  for (const Json& each : documents) {
    lua_createtable(L, 0, 2);
    push_json(L, each, true);
    lua_setfield(L, -2, "value");
    lua_newtable(L);
    set_lines(L, each, "");
    lua_setfield(L, -2, "lines");
    lua_rawseti(L, -2, ++count);
  }
  return 1;
}

/// JSON has UTF-8 only. @throws Error for a text that is not
void check_texts(const Json& value) {
  const auto check = [](const std::string& text) {
    if (valid_utf8(text) != text)
      throw Error("json.encode", "the text \"" + text + "\" is not UTF-8");
  };
  if (value.is_text()) check(value.text());
  if (value.is_array()) {
    for (const Json& item : value.items()) check_texts(item);
  }
  if (!value.is_object()) return;
  for (const Json::Member& member : value.members()) {
    check(member.key);
    check_texts(member.value);
  }
}

int json_encode(lua_State* L) {
  const double indent = lua_isnoneornil(L, 2) ? -1 : check_number(L, 2, "json.encode: indent");
  if (!(indent >= -1 && indent <= 16)) throw Error("json.encode: indent", "expected 0 .. 16");
  const Json given = to_json(L, 1, "json.encode");
  check_texts(given);
  const std::string text = dump_json(given, static_cast<int>(indent));
  lua_pushlstring(L, text.data(), text.size());
  return 1;
}

/// The names in a list of texts at a stack index; none where there is no list.
std::set<std::string> names_at(lua_State* L, int index) {
  std::set<std::string> names;
  if (!lua_istable(L, index)) return names;
  for (std::size_t i = 1; i <= lua_objlen(L, index); ++i) {
    lua_rawgeti(L, index, static_cast<int>(i));
    names.insert(check_text(L, -1, "csv.read: names of columns"));
    lua_pop(L, 1);
  }
  return names;
}

/// csv_read(path, keep, texts, text) -> rows, names of the columns. A row is a table by column
/// name, with its `line`. A row that is longer than the header is an error; with `keep` it has
/// `cells`, how many it has. A cell that reads as a number is a number, but not in the columns that
/// the list `texts` names: there "0.10" is a release, not 0.1. An empty cell is left out. With
/// `text` the file is not read: `path` is its name, and the text a part of it.
int csv_read(lua_State* L) {
  const bool keep = lua_toboolean(L, 2) != 0;
  const std::set<std::string> texts = names_at(L, 3);
  const std::string path = check_text(L, 1, "csv.read");
  const std::string given =
      lua_isnoneornil(L, 4) ? read_user_text(path) : check_text(L, 4, "csv.read");
  const CsvFile file = parse_csv(given, path, keep ? LongRows::kept : LongRows::refused);
  lua_createtable(L, static_cast<int>(file.rows.size()), 0);
  int count = 0;
  for (const CsvRow& row : file.rows) {
    lua_createtable(L, 0, static_cast<int>(row.cells.size()) + 1);
    lua_pushinteger(L, row.line);
    lua_setfield(L, -2, "line");
    if (!file.header.empty() && row.cells.size() > file.header.size()) {
      lua_pushinteger(L, static_cast<lua_Integer>(row.cells.size()));
      lua_setfield(L, -2, "cells");
    }
    for (std::size_t i = 0; i < row.cells.size() && i < file.header.size(); ++i) {
      const std::string& cell = row.cells[i];
      if (cell.empty()) continue;
      const auto number = parse_number(cell);
      if (number && !texts.contains(file.header[i])) {
        lua_pushnumber(L, *number);
      } else {
        lua_pushlstring(L, cell.data(), cell.size());
      }
      lua_setfield(L, -2, file.header[i].c_str());
    }
    lua_rawseti(L, -2, ++count);
  }
  push_texts(L, file.header);
  return 2;
}

/// csv_header(path) -> names of the columns, without reading the rows. Raises an error if the file
/// cannot be read.
int csv_header(lua_State* L) {
  return push_texts(L, read_csv_header(check_text(L, 1, "csv_header")));
}

/// number_text(number) -> the shortest decimal that reads back as the same number.
int number_text(lua_State* L) {
  lua_pushstring(L, json_number(check_number(L, 1, "number")).c_str());
  return 1;
}

/// json_marks(null, array metatable): tells the C side which values mean null and [].
int json_marks(lua_State* L) {
  lua_pushvalue(L, 1);
  lua_setfield(L, LUA_REGISTRYINDEX, null_mark_key);
  luaL_newmetatable(L, array_mark);
  return 1;
}

}  // namespace

void bind_documents(lua_State* L) {
  set_function(L, "json_decode", guarded<json_decode>);
  set_function(L, "packed_json_line", guarded<packed_json_line>);
  set_function(L, "json_documents", guarded<json_documents>);
  set_function(L, "yaml_decode", guarded<yaml_decode>);
  set_function(L, "yaml_documents", guarded<yaml_documents>);
  set_function(L, "json_encode", guarded<json_encode>);
  set_function(L, "json_marks", guarded<json_marks>);
  set_function(L, "csv_read", guarded<csv_read>);
  set_function(L, "csv_header", guarded<csv_header>);
  set_function(L, "number_text", guarded<number_text>);
}

}  // namespace rooflua::script
