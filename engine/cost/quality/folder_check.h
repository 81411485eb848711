#pragma once
// What a folder of kernel tables must be before a scenario may rest on it: everything that verify()
// finds, and what only the whole folder or the unit of a column can show.
//
//   errors  no hardware.toml, or a figure in it that no GPU has; no table; a CSV that is no table;
//           an entry of tables.toml without its table; a column that nothing reads; latencies in
//           another unit; a row faster than its bytes outside of the cache allow; more work in less
//           than half the time; every error of verify()
//   notes   files that nothing reads; tables that a rehearsal wrote (measured = false); a GPU that
//   is shipped; every note of verify() but holes

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cost/quality/verify.h"

namespace rooflua {

struct FolderProblem {
  bool is_error = true;
  std::string kind;            // "unknown_column", or a name of verify()
  std::filesystem::path file;  // where it is
  int line = 0;                // 0: of the whole file
  std::string text;            // what was found
  std::string advice;          // what would be right; empty where the text says it

  /// "my-gpu/gemm_bf16.csv:12: duplicate_key: ...; ..."
  std::string message() const;
};

struct FolderReport {
  std::optional<Hardware> hardware;  // nothing where it cannot be read
  std::vector<TableReport> tables;
  std::vector<FolderProblem> problems;  // errors first

  int errors() const;
  int notes() const;
};

/// @param home  where the families of GPUs are
/// @throws Error if the folder is not there
FolderReport check_folder(const std::filesystem::path& folder, const std::filesystem::path& home);

}  // namespace rooflua
