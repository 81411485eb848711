// Natives that the Lua side needs of the world: where the user is, files, names, JSON.

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

#include "base/csv.h"
#include "base/error.h"
#include "script/vm/context.h"
#include "script/vm/interrupt.h"
#include "serve/clock.h"

namespace rooflua::script {

namespace {

namespace fs = std::filesystem;

int where(lua_State* L) {
  lua_pushstring(L, user_line(L).c_str());
  return 1;
}

int fail(lua_State* L) {
  const std::string message = check_text(L, 1, "error message");
  throw Error("", message);
}

std::vector<std::string> check_texts(lua_State* L, int index) {
  std::vector<std::string> out;
  if (lua_type(L, index) != LUA_TTABLE) wrong_type(L, index, "names", "a list of text");
  const int size = static_cast<int>(lua_objlen(L, index));
  for (int i = 1; i <= size; ++i) {
    lua_rawgeti(L, index, i);
    out.push_back(check_text(L, lua_gettop(L), "name"));
    lua_pop(L, 1);
  }
  return out;
}

int name_error(lua_State* L) {
  const std::string kind = check_text(L, 1, "kind");
  const std::string found = check_text(L, 2, "name");
  lua_pushstring(L, unknown_name(kind, found, check_texts(L, 3)).c_str());
  return 1;
}

/// "; did you mean 'chat.lua'?" of a file that is not there; "" where no other is called like it.
std::string others_like(const fs::path& path) {
  constexpr std::size_t most_looked_at = 10000;
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry :
       fs::directory_iterator(path.has_parent_path() ? path.parent_path() : ".", ignored)) {
    if (names.size() == most_looked_at) break;
    names.push_back(entry.path().filename().string());
  }
  const std::vector<std::string> near = suggestions(path.filename().string(), names);
  return near.empty() ? "" : "; did you mean '" + (path.parent_path() / near[0]).string() + "'?";
}

/// Text of a file: nil and why, where it cannot be read.
int read_file(lua_State* L) {
  const std::string path = check_text(L, 1, "path");
  std::error_code problem;
  if (fs::is_directory(path, problem)) {
    lua_pushnil(L);
    lua_pushfstring(L, "%s is a folder", path.c_str());
    return 2;
  }
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  if (!in) {
    const bool there = fs::exists(path, problem);
    lua_pushnil(L);
    lua_pushfstring(L, there ? "cannot read %s" : "cannot read %s: there is no such file%s",
                    path.c_str(), there ? "" : others_like(path).c_str());
    return 2;
  }
  const std::string content = std::move(text).str();
  lua_pushlstring(L, content.data(), content.size());
  return 1;
}

int file_exists(lua_State* L) {
  std::error_code ignored;
  lua_pushboolean(L, fs::is_regular_file(check_text(L, 1, "path"), ignored) ? 1 : 0);
  return 1;
}

/// Names in a folder that end in `suffix`, without it, sorted.
int list_folder(lua_State* L) {
  const fs::path folder = check_text(L, 1, "folder");
  const std::string suffix = check_text(L, 2, "suffix");
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.size() > suffix.size() && name.ends_with(suffix)) {
      names.push_back(name.substr(0, name.size() - suffix.size()));
    }
  }
  std::sort(names.begin(), names.end());
  lua_createtable(L, static_cast<int>(names.size()), 0);
  for (std::size_t i = 0; i < names.size(); ++i) {
    lua_pushstring(L, names[i].c_str());
    lua_rawseti(L, -2, static_cast<int>(i) + 1);
  }
  return 1;
}

/// load_chunk(path, chunk name) -> function, text chunks only. Raises syntax errors.
int load_chunk(lua_State* L) {
  const std::string path = check_text(L, 1, "path");
  const std::string name = check_text(L, 2, "chunk name");
  lua_pushcfunction(L, guarded<read_file>);
  lua_pushstring(L, path.c_str());
  lua_call(L, 1, 2);
  if (lua_isnil(L, -2) != 0) throw Error("", lua_tostring(L, -1));
  lua_pop(L, 1);
  std::string text = check_text(L, lua_gettop(L), "chunk");
  if (text.rfind("\xEF\xBB\xBF", 0) == 0) text.erase(0, 3);
  if (text.rfind('#', 0) == 0) text.insert(0, "--");  // a #! line
  if (luaL_loadbufferx(L, text.data(), text.size(), name.c_str(), "t") != 0) {
    throw Error("", lua_tostring(L, -1));
  }
  return 1;
}

int load_text(lua_State* L) {
  const std::string text = check_text(L, 1, "text");
  const std::string name = check_text(L, 2, "chunk name");
  if (luaL_loadbufferx(L, text.data(), text.size(), name.c_str(), "t") == 0) return 1;
  lua_pushnil(L);
  lua_insert(L, -2);
  return 2;
}

int print_line(lua_State* L) {
  const std::string text = check_text(L, 1, "text");
  FILE* stream = context_of(L).options.print_to_stderr ? stderr : stdout;
  std::fwrite(text.data(), 1, text.size(), stream);
  std::fputc('\n', stream);
  return 0;
}

// --- loading limits -------------------------------------------------------------------------

constexpr int hook_period = 100000;
constexpr double library_grace = 10.0 * hook_period;  // to come back, say from the end of loading

/// Once the budget is spent, raises at every instruction of the user's, so that a script that
/// catches this gets nowhere. The library may unwind: begin_loading and end_loading are its own.
void load_hook(lua_State* L, lua_Debug*) {
  Context& context = context_of(L);
  if (!context.load_spent) context.load_budget -= hook_period;
  if (context.load_budget > 0) return;
  const bool grace = context.load_spent || context.load_budget > -library_grace;
  if (grace && !in_user_code(L)) return;
  if (!context.load_spent) lua_sethook(L, load_hook, LUA_MASKCOUNT, 1);
  context.load_spent = true;
  raise(L, context.load_words.c_str());
}

/// begin_loading(words): while a scenario is loaded or checked, the compiler is off and a count
/// hook bounds it; `words` is the error.
int begin_loading(lua_State* L) {
  Context& context = context_of(L);
  context.load_words = check_text(L, 1, "begin_loading");
  if (context.options.load_instructions <= 0) return 0;
  luaJIT_setmode(L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_OFF);
  context.load_budget = context.options.load_instructions;
  context.load_spent = false;
  if (lua_gethook(L) == nullptr) lua_sethook(L, load_hook, LUA_MASKCOUNT, hook_period);
  return 0;
}

int end_loading(lua_State* L) {
  const LibraryOptions& options = context_of(L).options;
  if (lua_gethook(L) == load_hook) lua_sethook(L, nullptr, 0, 0);
  if (options.jit) luaJIT_setmode(L, 0, LUAJIT_MODE_ENGINE | LUAJIT_MODE_ON);
  return 0;
}

// --- documents ------------------------------------------------------------------------------

/// Deeper than anybody writes, shallow enough for every recursion over documents.
void check_depth(const std::string& text) {
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
    if ((c == '[' || c == '{') && ++depth > 150) {
      throw Error("json.decode", "nested more than 150 levels deep");
    }
  }
}

int json_decode(lua_State* L) {
  const std::string text = check_text(L, 1, "json.decode");
  check_depth(text);
  const std::string name = lua_isnoneornil(L, 2) ? "json" : check_text(L, 2, "name");
  push_json(L, parse_json(text, name), true);
  return 1;
}

int json_encode(lua_State* L) {
  const double indent = lua_isnoneornil(L, 2) ? -1 : check_number(L, 2, "json.encode: indent");
  if (!(indent >= -1 && indent <= 16)) throw Error("json.encode: indent", "expected 0 .. 16");
  const std::string text = dump_json(to_json(L, 1, "json.encode"), static_cast<int>(indent));
  lua_pushlstring(L, text.data(), text.size());
  return 1;
}

/// csv_read(path) -> rows, each a table by column name (numbers where the cell is one, nothing
/// where it is empty) with its `line`; and the names of the columns.
int csv_read(lua_State* L) {
  const CsvFile file = read_csv(check_text(L, 1, "csv.read"));
  lua_createtable(L, static_cast<int>(file.rows.size()), 0);
  int count = 0;
  for (const CsvRow& row : file.rows) {
    lua_createtable(L, 0, static_cast<int>(row.cells.size()) + 1);
    lua_pushinteger(L, row.line);
    lua_setfield(L, -2, "line");
    for (std::size_t i = 0; i < row.cells.size() && i < file.header.size(); ++i) {
      const std::string& cell = row.cells[i];
      if (cell.empty()) continue;
      if (const auto number = parse_number(cell)) {
        lua_pushnumber(L, *number);
      } else {
        lua_pushlstring(L, cell.data(), cell.size());
      }
      lua_setfield(L, -2, file.header[i].c_str());
    }
    lua_rawseti(L, -2, ++count);
  }
  lua_createtable(L, static_cast<int>(file.header.size()), 0);
  for (std::size_t i = 0; i < file.header.size(); ++i) {
    lua_pushstring(L, file.header[i].c_str());
    lua_rawseti(L, -2, static_cast<int>(i) + 1);
  }
  return 2;
}

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

/// string_metatable(methods): what ("x"):upper() finds from now on.
int string_methods(lua_State* L) {
  lua_pushliteral(L, "");
  lua_createtable(L, 0, 2);
  lua_pushvalue(L, 1);
  lua_setfield(L, -2, "__index");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_setmetatable(L, -2);
  return 0;
}

}  // namespace

void bind_support(lua_State* L) {
  Context& context = context_of(L);
  set_function(L, "where", guarded<where>);
  set_function(L, "fail", guarded<fail>);
  set_function(L, "unknown_name", guarded<name_error>);
  set_function(L, "read_file", guarded<read_file>);
  set_function(L, "file_exists", guarded<file_exists>);
  set_function(L, "list_folder", guarded<list_folder>);
  set_function(L, "load_chunk", guarded<load_chunk>);
  set_function(L, "load_text", guarded<load_text>);
  set_function(L, "print_line", guarded<print_line>);
  set_function(L, "begin_loading", guarded<begin_loading>);
  set_function(L, "end_loading", guarded<end_loading>);
  set_function(L, "json_decode", guarded<json_decode>);
  set_function(L, "json_encode", guarded<json_encode>);
  set_function(L, "json_marks", guarded<json_marks>);
  set_function(L, "csv_read", guarded<csv_read>);
  set_function(L, "number_text", guarded<number_text>);
  set_function(L, "string_methods", guarded<string_methods>);
  lua_pushstring(L, context.options.home.c_str());
  lua_setfield(L, -2, "home");
  lua_pushboolean(L, context.options.trusted ? 1 : 0);
  lua_setfield(L, -2, "trusted");
  lua_pushnumber(L, latest_s);
  lua_setfield(L, -2, "latest_s");
  lua_pushlightuserdata(L, &context.abi);
  lua_setfield(L, -2, "abi");
  lua_pushlightuserdata(L, &context.ledger.state());
  lua_setfield(L, -2, "ledger");
  lua_pushcfunction(L, guarded<load_chunk>);
  lua_setfield(L, LUA_REGISTRYINDEX, "rooflua.load_chunk");
}

}  // namespace rooflua::script
