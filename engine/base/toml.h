#pragma once
// TOML files as values that know their line. Read their tables with Fields (base/fields.h).

#include <filesystem>
#include <string>
#include <string_view>

#include "base/json.h"

namespace rooflua {

/// Tables become objects in the order of the file; every value carries its line.
/// @throws Error "name:line:column: ..." on bad syntax, and on dates, which are not supported
Json parse_toml(std::string_view text, const std::string& name);
/// @throws Error as parse_toml() does, or if the file cannot be read
Json read_toml(const std::filesystem::path& path);

}  // namespace rooflua
