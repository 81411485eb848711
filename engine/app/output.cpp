#include "app/output.h"

#include <cstdio>
#include <filesystem>
#include <fstream>

#include "base/error.h"

namespace rooflua::app {

void check_folder(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  if (!folder.empty() && !std::filesystem::is_directory(folder)) {
    throw Error(path, "cannot be written: there is no folder " + folder.string());
  }
}

void write_text(const std::string& text, const std::string& path) {
  if (path == "-") {
    const bool whole = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    if (!whole || std::fflush(stdout) != 0) throw Error("stdout", "cannot be written");
    return;
  }
  std::ofstream out(path, std::ios::binary);
  if (!(out << text).flush()) throw Error(path, "cannot be written");
}

void write_document(const Json& document, const std::string& path) {
  write_text(dump_json(document, 2) + "\n", path);
}

}  // namespace rooflua::app
