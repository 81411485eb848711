#pragma once
// GPUs that a user measured and added with `rooflua data add`: folders with a hardware.toml,
// outside of what is shipped. A shipped name always means the shipped GPU.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace rooflua {

/// The folder of the user's GPUs, there or not: $ROOFLUA_GPUS, else rooflua/gpus in $XDG_DATA_HOME
/// or in ~/.local/share. Empty where the environment names neither a folder nor a home.
std::filesystem::path added_hardware_folder();
/// Names of its folders that hold a hardware.toml, sorted.
std::vector<std::string> added_hardware_names();
/// Names of all GPUs: those that are shipped, then those that were added and have no shipped name.
std::vector<std::string> all_hardware_names(const std::filesystem::path& home);
/// The hardware.toml of an added GPU, by the name of its folder.
std::optional<std::filesystem::path> added_hardware_file(const std::string& name);
/// The same by its name or an alias, as load_hardware() understands names; nothing for a name of a
/// shipped GPU, and where a hardware.toml cannot be read.
std::optional<std::filesystem::path> added_hardware_named(const std::string& name,
                                                          const std::filesystem::path& home);

}  // namespace rooflua
