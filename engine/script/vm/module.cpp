// The library as a C module, for `require "rooflua"` in another LuaJIT interpreter. The module does
// not link LuaJIT: the interpreter that loads it has LuaJIT's symbols.

#include "base/error.h"
#include "script/published_reader.h"
#include "script/vm/compiler.h"
#include "script/vm/home.h"
#include "script/vm/library.h"
#include "script/vm/library_options.h"
#include "script/vm/stack.h"

namespace rooflua::script {

namespace {

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
  options.home = home_of(reinterpret_cast<const void*>(&open_module), ROOFLUA_SOURCE_DIR);
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
