#pragma once
// Files that commands write: whole, or an error.

#include <string>

#include "base/json.h"

namespace rooflua::app {

/// @throws Error if there is no folder for the file: a long run must not end with that.
void check_folder(const std::string& path);

/// @param path  a file, or "-" for stdout
/// @throws Error if not all of it could be written
void write_text(const std::string& text, const std::string& path);
/// Indented, with a line's end.
void write_document(const Json& document, const std::string& path);

}  // namespace rooflua::app
