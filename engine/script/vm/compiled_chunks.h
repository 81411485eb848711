#pragma once
// Chunks of Lua that are compiled already: those of the library when the program was built, every
// other one when this process loaded it first. A file that was edited since then is parsed: what a
// chunk is found by is a checksum of its name and its whole text.

#include <filesystem>
#include <string>
#include <string_view>

struct lua_State;

namespace rooflua::script {

/// Pushes the function of a text. Only text is parsed: a file that holds bytecode is refused.
/// @param name  as luaL_loadbuffer takes it: "@scripts/steps/kernels.lua", "=rooflua.cost"
/// @throws Error with the syntax error
void load_compiled(lua_State* L, const std::string& text, const std::string& name);

/// What pack_library() made of the library; it lives as long as the process. Before the first
/// state is made; the first call counts.
void use_packed_library(std::string_view packed);

/// All chunks that a folder `scripts` holds, compiled by this LuaJIT, with what they are found by.
/// @throws Error naming the file that cannot be read or parsed
std::string pack_library(const std::filesystem::path& scripts);

}  // namespace rooflua::script
