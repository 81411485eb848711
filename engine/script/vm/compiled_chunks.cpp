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

namespace rooflua::script {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t key_bytes = 32, number_bytes = 8;
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

void add_number(std::string& out, std::size_t number) {
  const std::uint64_t wide = number;
  char bytes[number_bytes];
  std::memcpy(bytes, &wide, number_bytes);
  out.append(bytes, number_bytes);
}

std::size_t number_at(std::string_view bytes, std::size_t place) {
  std::uint64_t wide = 0;
  std::memcpy(&wide, bytes.data() + place, number_bytes);
  return static_cast<std::size_t>(wide);
}

/// A packed library: the text of compiler() after its length, the number of chunks, then for
/// each its key, where its bytecode begins and how long it is, in the order of keys; then all
/// bytecode.
class PackedLibrary {
 public:
  explicit PackedLibrary(std::string_view packed) : packed_(packed) {
    if (packed.empty()) return;
    const std::size_t length = number_at(packed, 0);
    compiler_ = packed.substr(number_bytes, length);
    count_ = number_at(packed, number_bytes + length);
    first_ = 2 * number_bytes + length;
  }
  std::string_view compiler() const { return compiler_; }
  /// Empty if there is none.
  std::string_view find(std::string_view key) const {
    std::size_t low = 0, high = count_;
    while (low < high) {
      const std::size_t middle = (low + high) / 2;
      const std::string_view found = packed_.substr(place(middle), key_bytes);
      if (found == key) return bytecode(middle);
      (found < key ? low : high) = found < key ? middle + 1 : middle;
    }
    return {};
  }

 private:
  static constexpr std::size_t entry_bytes = key_bytes + 2 * number_bytes;
  std::size_t place(std::size_t i) const { return first_ + i * entry_bytes; }
  std::string_view bytecode(std::size_t i) const {
    const std::size_t at = place(i) + key_bytes;
    return packed_.substr(number_at(packed_, at), number_at(packed_, at + number_bytes));
  }

  std::string_view packed_, compiler_;
  std::size_t count_ = 0, first_ = 0;
};

PackedLibrary& packed_library() {
  static PackedLibrary packed{std::string_view()};
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

std::string packed_text(const std::string& compiler,
                        const std::map<std::string, std::string>& chunks) {
  std::string out;
  add_number(out, compiler.size());
  out += compiler;
  add_number(out, chunks.size());
  std::size_t begin = out.size() + chunks.size() * (key_bytes + 2 * number_bytes);
  for (const auto& [key, bytecode] : chunks) {
    out += key;
    add_number(out, begin);
    add_number(out, bytecode.size());
    begin += bytecode.size();
  }
  for (const auto& [key, bytecode] : chunks) out += bytecode;
  return out;
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
    const PackedLibrary library(packed);
    if (library.compiler() == compiler()) packed_library() = library;
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
  return packed_text(compiler(), chunks);
}

}  // namespace rooflua::script
