#pragma once
// Files that appear whole or not at all.

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rooflua {

/// Texts are written beside their files first, under another name. publish() then gives all of
/// them their names. Without it, as after an error, nothing is left and older files stay.
class StagedFiles {
 public:
  StagedFiles() = default;
  StagedFiles(const StagedFiles&) = delete;
  StagedFiles& operator=(const StagedFiles&) = delete;
  ~StagedFiles();

  /// @throws Error if the text cannot be written, with the system's reason (a full disk), or if
  /// `path` is a folder
  void add(const std::filesystem::path& path, std::string_view text);
  /// @throws Error if a file cannot get its name
  void publish();

 private:
  std::vector<std::pair<std::filesystem::path, std::filesystem::path>> files_;  // staged, final
};

}  // namespace rooflua
