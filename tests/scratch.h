#pragma once
// Where a test program writes: one folder of its own, gone when the program ends; and what it reads
// there.

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>

namespace rooflua::test {

/// A folder that nobody else uses, removed with everything in it by the process that made it.
class ScratchFolder {
 public:
  ScratchFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "rooflua_test_XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error(name + ": cannot be made");
    path_ = name;
  }
  ~ScratchFolder() {
    std::error_code ignored;
    if (getpid() == owner_) std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  pid_t owner_ = getpid();
  std::filesystem::path path_;
};

/// The folder of this program.
inline const std::filesystem::path& scratch() {
  static const ScratchFolder folder;
  return folder.path();
}

/// A folder in it.
inline std::filesystem::path scratch(const std::string& name) {
  const auto path = scratch() / name;
  std::filesystem::create_directories(path);
  return path;
}

inline std::string file_text(const std::filesystem::path& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

}  // namespace rooflua::test
