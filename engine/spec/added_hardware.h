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
/// Names of the folders in a folder that hold a hardware.toml, sorted.
std::vector<std::string> hardware_names_in(const std::filesystem::path& folder);
/// The same of the user's GPUs.
std::vector<std::string> added_hardware_names();
/// The hardware.toml of an added GPU, by the name of its folder.
std::optional<std::filesystem::path> added_hardware_file(const std::string& name);

}  // namespace rooflua
