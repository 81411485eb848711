#pragma once
// Files and standard output of a command: written completely, or an error is thrown.

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "measure/write/fitted.h"

namespace rooflua::app {

/// Checks an output path before a long run begins.
/// @throws Error if `path` is a folder, or lies in none; "" and "-" are fine
void check_folder(const std::string& path);

/// The same of all files that a command writes, where none stands for two of them, and none is a
/// file that it reads.
/// @param read  may have names that are no files
/// @throws Error for one that would be lost
void check_files(const std::vector<std::string>& written, const std::vector<std::string>& read);

/// Makes a folder with those that it lies in, if it is not there. @throws Error if it cannot be
/// made
void make_folder(const std::string& path);

/// Writes a whole file, or the standard output for "-". @throws Error if not every byte arrived
void write_text(const std::string& text, const std::string& path);

/// Writes the document as JSON with two spaces per level. It gets the key `build`, the build stamp,
/// after `schema`. @throws Error as write_text() does
void write_document(const Json& document, const std::string& path);

/// Prints a report. For a terminal its tables lose the columns that do not fit, unless `wide`, and
/// it gets colour where the terminal wants it. Elsewhere it is printed as it is.
/// @param named  heads of columns that the user asked for: they stay
void print_report(std::string_view text, bool wide, const NamedColumns& named = {});

/// The same for a command without --wide: a pipe gets all columns.
void print_tables(std::string_view text);

/// Flushes the standard output. @throws Error if some of it could not be written
void finish_output();

}  // namespace rooflua::app
