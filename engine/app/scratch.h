#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/error.h"

namespace rooflua::app {

/// A temporary folder, removed with all its files by the destructor.
struct Scratch {
  std::filesystem::path path;
  Scratch() {
    std::string name = (std::filesystem::temp_directory_path() / "rooflua-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw Error(name, "cannot be made");
    path = name;
  }
  ~Scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
};

}  // namespace rooflua::app
