#pragma once
// A folder of tables that was measured becomes a GPU with a name: it is copied to where GPUs of a
// user are found (added_hardware.h).

#include <filesystem>
#include <string>

#include "base/json.h"
#include "cost/quality/folder_check.h"

namespace rooflua {

struct FolderAsked {
  std::filesystem::path folder;
  std::string name;               // of the GPU; empty: that of the folder
  std::filesystem::path to = {};  // where folders of GPUs are; empty: added_hardware_folder()
  bool replace = false;           // an older folder of this name is put aside
};

struct FolderInstalled {
  std::filesystem::path path;
  std::filesystem::path before = {};  // where the older folder is now; empty: there was none
  bool was_there = false;             // with the same content, so that nothing was written
};

/// The name that the GPU gets.
/// @throws Error for one that cannot be a folder's or that a shipped GPU has, for aliases that
///   another GPU has, and where neither `to` nor the environment names a place
std::string name_of_added(const FolderAsked& asked, const FolderReport& report,
                          const std::filesystem::path& home);
/// Copies the whole folder, which appears whole or not at all.
/// @param name  of name_of_added
/// @throws Error where another folder has the name and `replace` is false, or nothing can be
/// written
FolderInstalled install_folder(const FolderAsked& asked, const std::string& name);

/// {folder, tables, errors, notes, problems} of docs/schema/data_add.json.
Json folder_json(const std::filesystem::path& folder, const FolderReport& report);

}  // namespace rooflua
