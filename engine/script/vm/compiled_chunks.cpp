#include "script/vm/compiled_chunks.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <lua.hpp>
#include <map>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "base/checksum.h"
#include "base/error.h"
#include "base/gzip.h"
#include "base/packed/entries.h"

namespace rooflua::script {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_kept_bytes = std::size_t{32} << 20;

std::string key_of(const std::string& text, const std::string& name) {
  Checksum sum;
  sum.add(name);
  sum.add(text);
  return sum.name();
}

/// Of LuaJIT and of the machine: bytecode of another one is not looked at.
std::string compiler() {
  lua_State* L = luaL_newstate();
  luaL_openlibs(L);
  lua_getglobal(L, "jit");
  std::string out;
  for (const char* key : {"version", "arch", "os"}) {
    lua_getfield(L, -1, key);
    const char* text = lua_tostring(L, -1);
    out += std::string(text == nullptr ? "" : text) + "\n";
    lua_pop(L, 1);
  }
  lua_close(L);
  return out;
}

int append(lua_State*, const void* bytes, std::size_t count, void* out) {
  static_cast<std::string*>(out)->append(static_cast<const char*>(bytes), count);
  return 0;
}

/// The bytecode of the function on top, with its lines and names of variables.
std::string dumped(lua_State* L) {
  std::string out;
  lua_dump(L, append, &out);
  return out;
}

Packed& packed_library() {
  static Packed packed;
  return packed;
}

/// What this process compiled itself. Other threads have states of their own.
struct Kept {
  std::mutex mutex;
  std::unordered_map<std::string, std::string> chunks;
  std::size_t bytes = 0;
};

Kept& kept() {
  static Kept all;
  return all;
}

bool load_bytecode(lua_State* L, std::string_view bytecode, const std::string& name) {
  if (bytecode.empty()) return false;
  if (luaL_loadbufferx(L, bytecode.data(), bytecode.size(), name.c_str(), "b") == 0) return true;
  lua_pop(L, 1);  // of another LuaJIT after all: the text says the same
  return false;
}

void parse(lua_State* L, const std::string& text, const std::string& name) {
  if (luaL_loadbufferx(L, text.data(), text.size(), name.c_str(), "t") != 0)
    throw Error("", lua_tostring(L, -1));
}

/// Names under which the library loads a file of scripts/.
std::vector<std::string> names_of(const std::string& relative) {
  const std::string library = "lib/rooflua/";
  if (!relative.starts_with(library)) return {"@scripts/" + relative};
  std::string module = relative.substr(library.size(), relative.rfind(".lua") - library.size());
  std::replace(module.begin(), module.end(), '/', '.');
  std::vector<std::string> names{"=rooflua." + module};
  if (module == "init") names.push_back("=rooflua");
  return names;
}

}  // namespace

void load_compiled(lua_State* L, const std::string& text, const std::string& name) {
  const std::string key = key_of(text, name);
  if (load_bytecode(L, packed_library().find(key), name)) return;
  const std::lock_guard lock(kept().mutex);
  const auto found = kept().chunks.find(key);
  if (found != kept().chunks.end() && load_bytecode(L, found->second, name)) return;
  parse(L, text, name);
  std::string bytecode = dumped(L);
  if (kept().bytes + bytecode.size() > most_kept_bytes) return;
  kept().bytes += bytecode.size();
  kept().chunks[key] = std::move(bytecode);
}

void use_packed_library(std::string_view packed) {
  static std::once_flag once;  // a library is opened by several threads
  std::call_once(once, [&] {
    const Packed library(packed);
    if (library.stamp() == compiler()) packed_library() = library;
  });
}

std::string pack_library(const fs::path& scripts) {
  lua_State* L = luaL_newstate();
  luaL_openlibs(L);
  std::map<std::string, std::string> chunks;
  for (const auto& entry : fs::recursive_directory_iterator(scripts)) {
    const std::string relative = fs::relative(entry.path(), scripts).generic_string();
    if (entry.path().extension() != ".lua" || relative.starts_with("meta/")) continue;
    const std::string text = read_text(entry.path());
    for (const std::string& name : names_of(relative)) {
      parse(L, text, name);
      chunks[key_of(text, name)] = dumped(L);
      lua_pop(L, 1);
    }
  }
  lua_close(L);
  return Packed::pack(compiler(), chunks);
}

}  // namespace rooflua::script
