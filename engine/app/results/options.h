#pragma once
// The options of `rooflua results`.

#include <CLI/CLI.hpp>
#include <filesystem>
#include <functional>

namespace rooflua::app {

/// Adds the command. `door` becomes the chosen one of its functions.
void add_results(CLI::App& app, std::function<int(const std::filesystem::path& home)>& door);

}  // namespace rooflua::app
