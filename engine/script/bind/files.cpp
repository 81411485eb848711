// Natives for files: their text, the names in a folder, and files as Lua chunks.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/toml.h"
#include "base/user/text.h"
#include "script/vm/compiled_chunks.h"
#include "script/vm/context.h"

namespace rooflua::script {

namespace {

namespace fs = std::filesystem;

/// Everything of a stream, or its first bytes where there are more than `most`.
std::string up_to(std::istream& in, std::size_t most) {
  std::string all;
  std::vector<char> piece(std::size_t{1} << 16);
  while (all.size() <= most && in) {
    in.read(piece.data(), static_cast<std::streamsize>(std::min(piece.size(), most + 1 - all.size())));
    all.append(piece.data(), static_cast<std::size_t>(in.gcount()));
  }
  return all;
}

/// False, and the reason, if the file cannot be read or has more than `most` bytes (0: any).
bool read_whole(const std::string& path, std::string& text, std::string& reason,
                std::size_t most = 0) {
  std::error_code problem;
  if (fs::is_directory(path, problem)) {
    reason = path + " is a folder";
    return false;
  }
  std::ifstream in(path, std::ios::binary);
  if (in && most > 0) {
    text = up_to(in, most);
    if (text.size() <= most) return true;
    reason = path + " has more than " + std::to_string(most) + " bytes";
    return false;
  }
  std::ostringstream all;
  if (in) all << in.rdbuf();
  if (in) {
    text = std::move(all).str();
    return true;
  }
  const bool there = fs::exists(path, problem);
  reason = "cannot read " + path + (there ? "" : ": there is no such file" + files_like(path));
  return false;
}

/// read_file(path, most) -> text, or nil and the reason if the file cannot be read, or has more
/// bytes than `most`.
int read_file(lua_State* L) {
  std::string text, reason;
  const auto most = static_cast<std::size_t>(luaL_optnumber(L, 2, 0));
  if (read_whole(check_text(L, 1, "path"), text, reason, most)) {
    lua_pushlstring(L, text.data(), text.size());
    return 1;
  }
  lua_pushnil(L);
  lua_pushlstring(L, reason.data(), reason.size());
  return 2;
}

/// read_head(path, bytes) -> the first line, or as much of it as lies in so many bytes.
int read_head(lua_State* L) {
  const std::string path = check_text(L, 1, "path");
  std::string text(static_cast<std::size_t>(luaL_checknumber(L, 2)), '\0');
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error("", "cannot read " + path);
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(in.gcount()));
  const std::size_t size = std::min(text.find('\n'), text.size());
  lua_pushlstring(L, text.data(), size);
  return 1;
}

/// read_user_text(path) -> the text of a user's file in UTF-8 (base/user/text.h). Raises an error
/// that says what the file is where it is none.
int user_text_of(lua_State* L) {
  const std::string path = check_text(L, 1, "path");
  std::error_code problem;
  if (!fs::exists(path, problem))
    throw Error("", "cannot read " + path + ": there is no such file" + files_like(path));
  const std::string text = read_user_text(path);
  lua_pushlstring(L, text.data(), text.size());
  return 1;
}

/// read_toml(path) -> its tables and values. Raises an error with the line of bad syntax.
int read_toml_file(lua_State* L) {
  return push_json(L, read_toml(check_text(L, 1, "path")), true);
}

int file_exists(lua_State* L) {
  std::error_code ignored;
  lua_pushboolean(L, fs::is_regular_file(check_text(L, 1, "path"), ignored) ? 1 : 0);
  return 1;
}

/// is_same_file(a, b) -> whether both paths are of one file.
int is_same_file(lua_State* L) {
  std::error_code ignored;
  lua_pushboolean(
      L, fs::equivalent(check_text(L, 1, "path"), check_text(L, 2, "path"), ignored) ? 1 : 0);
  return 1;
}

/// list_folder(folder, suffix) -> the sorted names that end in the suffix, with the suffix cut off.
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
  return push_texts(L, names);
}

/// What lies below a folder, in the order of names. Links are followed, but no folder is entered
/// twice.
struct Below {
  std::string suffix;
  std::set<fs::path> entered;
  std::vector<std::string> files, closed;  // paths from the folder; closed: folders not readable

  void enter(const fs::path& folder, const std::string& prefix) {
    std::error_code problem, ignored;
    if (!entered.insert(fs::canonical(folder, ignored)).second) return;
    std::set<std::string> names;
    for (const auto& entry : fs::directory_iterator(folder, problem))
      names.insert(entry.path().filename().string());
    if (problem) closed.push_back(prefix.empty() ? "." : prefix.substr(0, prefix.size() - 1));
    for (const std::string& name : names) {
      if (name.starts_with('.')) continue;
      if (fs::is_directory(folder / name, ignored)) {
        enter(folder / name, prefix + name + "/");
      } else if (name.ends_with(suffix) && fs::is_regular_file(folder / name, ignored)) {
        files.push_back(prefix + name);
      }
    }
  }
};

/// files_below(folder, suffix) -> the sorted paths, from the folder, of files in it and in folders
/// below it that end in the suffix; and the paths of folders that cannot be read. Names that begin
/// with a dot are left out.
int files_below(lua_State* L) {
  Below below{check_text(L, 2, "suffix"), {}, {}, {}};
  below.enter(check_text(L, 1, "folder"), "");
  std::sort(below.files.begin(), below.files.end());
  push_texts(L, below.files);
  push_texts(L, below.closed);
  return 2;
}

/// load_chunk(path, chunk name) -> function, text chunks only. Raises syntax errors.
int load_chunk(lua_State* L) {
  const std::string path = check_text(L, 1, "path");
  const std::string name = check_text(L, 2, "chunk name");
  std::string text, problem;
  if (!read_whole(path, text, problem)) throw Error("", problem);
  if (text.rfind("\xEF\xBB\xBF", 0) == 0) text.erase(0, 3);
  if (text.rfind('#', 0) == 0) text.insert(0, "--");  // a #! line
  load_compiled(L, text, name);
  return 1;
}

/// load_text(text, chunk name) -> function, or nil and the syntax error.
int load_text(lua_State* L) {
  const std::string text = check_text(L, 1, "text");
  const std::string name = check_text(L, 2, "chunk name");
  if (luaL_loadbufferx(L, text.data(), text.size(), name.c_str(), "t") == 0) return 1;
  lua_pushnil(L);
  lua_insert(L, -2);
  return 2;
}

}  // namespace

void bind_files(lua_State* L) {
  set_function(L, "read_file", guarded<read_file>);
  set_function(L, "read_head", guarded<read_head>);
  set_function(L, "read_user_text", guarded<user_text_of>);
  set_function(L, "read_toml", guarded<read_toml_file>);
  set_function(L, "file_exists", guarded<file_exists>);
  set_function(L, "is_same_file", guarded<is_same_file>);
  set_function(L, "list_folder", guarded<list_folder>);
  set_function(L, "files_below", guarded<files_below>);
  set_function(L, "load_chunk", guarded<load_chunk>);
  set_function(L, "load_text", guarded<load_text>);
  // The searcher of `require` takes it from here (vm/library.cpp).
  lua_pushcfunction(L, guarded<load_chunk>);
  lua_setfield(L, LUA_REGISTRYINDEX, "rooflua.load_chunk");
}

}  // namespace rooflua::script
