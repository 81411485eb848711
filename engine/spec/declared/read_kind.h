#pragma once
// Reads a kind of layers from its Lua file, with the parameters that a group of layers states.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/fields.h"
#include "spec/declared/kind.h"

namespace rooflua::declared {

/// Folders that have attention/ and mlp/, each before those after it.
using Folders = std::vector<std::filesystem::path>;

/// The file of a kind; empty where there is none.
/// @param of  "attention" or "mlp"
std::filesystem::path file_of(const Folders& folders, std::string_view of, const std::string& name);
/// Names of kinds that have files, sorted.
std::vector<std::string> names_in(const Folders& folders, std::string_view of);

/// @param group  of a model's file: every key that is a parameter is read
/// @throws Error at the line of the file or of the group
KindPointer read_kind(const std::filesystem::path& file, std::string_view of, const Fields& group,
                      const ModelFigures& model);

}  // namespace rooflua::declared
