#pragma once
// What a command leaves behind: files that are whole or an error, and a standard output that was
// really written.

#include <string>

#include "base/json.h"

namespace rooflua::app {

/// A long run must not end with a file that cannot be written.
/// @throws Error if `path` is a folder, or lies in none; "" and "-" are fine
void check_folder(const std::string& path);

/// Writes a whole file, or the standard output for "-". @throws Error if not every byte arrived
void write_text(const std::string& text, const std::string& path);

/// The document with two spaces per level, likewise.
void write_document(const Json& document, const std::string& path);

/// Pushes out what was printed. @throws Error if some of it could not be written
void finish_output();

}  // namespace rooflua::app
