#pragma once
// Where scripts and data of an installed program, module or library lie.

#include <filesystem>

namespace rooflua::script {

/// Whether a folder holds scripts/lib/rooflua and bench_data.
bool is_home(const std::filesystem::path& folder);

/// The folder that the environment variable ROOFLUA_HOME names; empty if it is not set.
/// @throws Error if that folder holds no scripts and data
std::filesystem::path stated_home();

/// Of a shared object: the stated one, else share/rooflua beside one of the folders above the
/// object, else the source tree.
/// @param address  of a function of the object
/// @throws Error if there is none
std::filesystem::path home_of(const void* address, const std::filesystem::path& source_tree);

}  // namespace rooflua::script
