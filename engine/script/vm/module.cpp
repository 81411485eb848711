// The library as a C module, for `require "rooflua"` in another LuaJIT interpreter. The module does
// not link LuaJIT: the interpreter that loads it has LuaJIT's symbols.

#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>

#include "base/error.h"
#include "script/published_reader.h"
#include "script/vm/compiler.h"
#include "script/vm/library.h"
#include "script/vm/library_options.h"
#include "script/vm/stack.h"

namespace rooflua::script {

namespace {

namespace fs = std::filesystem;

bool is_home(const fs::path& folder) {
  return fs::exists(folder / "scripts" / "lib" / "rooflua" / "init.lua");
}

/// $ROOFLUA_HOME, else share/rooflua above the folder of this module, else the source tree.
fs::path find_home() {
  if (const char* given = std::getenv("ROOFLUA_HOME"); given != nullptr && is_home(given))
    return given;
  Dl_info self{};
  if (dladdr(reinterpret_cast<void*>(&find_home), &self) != 0 && self.dli_fname != nullptr) {
    std::error_code ignored;
    for (fs::path folder = fs::absolute(self.dli_fname, ignored).parent_path();
         folder != folder.parent_path(); folder = folder.parent_path()) {
      if (is_home(folder / "share" / "rooflua")) return folder / "share" / "rooflua";
    }
  }
  if (is_home(ROOFLUA_SOURCE_DIR)) return ROOFLUA_SOURCE_DIR;
  throw Error(
      "rooflua",
      "cannot find scripts/ and bench_data/; set ROOFLUA_HOME to the folder that holds them");
}

int open_module(lua_State* L) {
  if (!is_luajit(L)) {
    lua_getglobal(L, "_VERSION");
    throw Error("rooflua",
                "it needs LuaJIT: policies are compiled, and read the engine through its "
                "FFI; this interpreter is " +
                    std::string(lua_tostring(L, -1)) + ". Run the script with luajit");
  }
  prepare_compiler(L);
  LibraryOptions options;
  options.home = find_home();
  options.trusted = true;
  read_published_tables(options.home);
  open_library(L, options);
  lua_getglobal(L, "require");
  lua_pushliteral(L, "rooflua.init");
  lua_call(L, 1, 1);
  return 1;
}

}  // namespace

}  // namespace rooflua::script

extern "C" __attribute__((visibility("default"))) int luaopen_rooflua(lua_State* L) {
  return rooflua::script::guarded<rooflua::script::open_module>(L);
}
