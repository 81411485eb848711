#include "app/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/terminal.h"
#include "measure/write/fitted.h"
#include "measure/write/result.h"

namespace rooflua::app {

namespace fs = std::filesystem;

namespace {

/// ": No space left on device"
std::string reason() {
  return errno != 0 ? std::string(": ") + std::strerror(errno) : "";
}

}  // namespace

void check_folder(const std::string& path) {
  if (path.empty() || path == "-") return;
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) throw Error(path, "cannot be written: it is a folder");
  const fs::path folder = fs::path(path).parent_path();
  if (!folder.empty() && !fs::is_directory(folder, ignored)) {
    throw Error(path, "cannot be written: there is no folder " + folder.string());
  }
}

namespace {

/// Devices and pipes may get several outputs.
bool are_one_file(const std::string& a, const std::string& b) {
  std::error_code ignored;
  if (a.empty() || b.empty() || a == "-" || b == "-") return false;
  if (fs::exists(a, ignored) || fs::exists(b, ignored))
    return fs::is_regular_file(a, ignored) && fs::equivalent(a, b, ignored);
  return fs::weakly_canonical(a, ignored) == fs::weakly_canonical(b, ignored);
}

}  // namespace

void check_files(const std::vector<std::string>& written, const std::vector<std::string>& read) {
  for (std::size_t i = 0; i < written.size(); ++i) {
    const std::string& path = written[i];
    check_folder(path);
    for (const std::string& each : read) {
      if (are_one_file(path, each))
        throw Error(path, "cannot be written: the command reads it; name another file");
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (are_one_file(path, written[j]))
        throw Error(path, "cannot be written: two outputs would go to it; name another file");
    }
  }
}

void make_folder(const std::string& path) {
  std::error_code problem;
  fs::create_directories(path, problem);
  if (problem)
    throw Error(path, "this folder cannot be made: " + problem.message() + "; name another");
}

void write_text(const std::string& text, const std::string& path) {
  if (path == "-") {
    std::fwrite(text.data(), 1, text.size(), stdout);
    return finish_output();
  }
  errno = 0;
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.close();  // flushes, so that a full disk is noticed here
  if (!out) throw Error(path, "cannot be written" + reason());
}

void write_document(const Json& document, const std::string& path) {
  write_text(dump_json(with_build(document), 2) + "\n", path);
}

namespace {

/// @param option  shows the columns that do not fit
void print_fitted(std::string_view text, int columns, std::string_view option,
                  const NamedColumns& named = {}) {
  std::string shown = fitted(text, columns, option, named);
  if (wants_colour(STDOUT_FILENO)) shown = painted(shown);
  std::fwrite(shown.data(), 1, shown.size(), stdout);
}

}  // namespace

void print_report(std::string_view text, bool wide, const NamedColumns& named) {
  print_fitted(text, wide ? 0 : terminal_columns(STDOUT_FILENO), "--wide", named);
}

void print_tables(std::string_view text) {
  print_fitted(text, terminal_columns(STDOUT_FILENO), "a pipe");
}

void finish_output() {
  errno = 0;
  const bool whole = std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
  if (!whole) throw Error("standard output", "could not be written" + reason());
}

}  // namespace rooflua::app
