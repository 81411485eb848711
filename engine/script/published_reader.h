#pragma once
// Published tables, read by scripts/lib/rooflua/tables in a Lua state of their own.

#include <filesystem>

namespace rooflua::script {

/// From now on scripts below `home` read tables of layout aic, unless others do already. The Lua
/// state is opened with the first table.
void read_published_tables(const std::filesystem::path& home);

}  // namespace rooflua::script
