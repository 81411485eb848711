#include "base/staged_files.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "base/error.h"

namespace rooflua {

namespace fs = std::filesystem;

StagedFiles::~StagedFiles() {
  std::error_code ignored;
  for (const auto& [staged, path] : files_) fs::remove(staged, ignored);
}

void StagedFiles::add(const fs::path& path, std::string_view text) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    throw Error(path.string(), "cannot be written: it is a folder");
  }
  fs::path staged = path;
  staged += ".part" + std::to_string(::getpid());  // two programs may write the same file
  files_.emplace_back(staged, path);
  errno = 0;
  std::ofstream out(staged, std::ios::binary);
  out << text;
  out.close();  // flushes, so that a full disk is noticed here
  if (!out) {
    const std::string reason = errno != 0 ? std::string(": ") + std::strerror(errno) : "";
    throw Error(path.string(), "cannot be written" + reason);
  }
}

void StagedFiles::publish() {
  for (const auto& [staged, path] : files_) {
    std::error_code problem;
    fs::rename(staged, path, problem);
    if (problem) throw Error(path.string(), "cannot be written: " + problem.message());
  }
  files_.clear();
}

}  // namespace rooflua
