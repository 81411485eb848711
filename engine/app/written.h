#pragma once
// --write FORMAT=FILE of `rooflua run`: results in the formats of other tools.

#include <cstdint>
#include <string>
#include <vector>

#include "script/scenario.h"
#include "script/vm/vm.h"

namespace rooflua::app {

/// The files that --write names. Some formats have a row per request: the engine then writes the
/// requests to a file beside them, which is removed with this object.
class WrittenFiles {
 public:
  /// Splits FORMAT=FILE and checks format and folder before a long run begins.
  /// @throws Misused for a text without =; Error for an unknown format
  WrittenFiles(script::Vm& vm, const std::vector<std::string>& texts);
  ~WrittenFiles();
  WrittenFiles(const WrittenFiles&) = delete;
  WrittenFiles& operator=(const WrittenFiles&) = delete;

  /// Checks that each variant can be written. @throws Error if a format has no place for its load
  void check(script::Scenario& scenario);

  /// Where the engine writes the requests of a variant; "" where no format needs them.
  std::string rows(std::int64_t position, std::int64_t total) const;

  /// Writes each variant that is known; of several, numbered files. A result's uid is a checksum
  /// of its document, so the same run has the same uid.
  /// @param file  the scenario's
  /// @return false if the requests of a variant are missing, because its run was kept before:
  /// printed
  ///         on stderr
  /// @throws Error if a file cannot be written
  bool write(script::Scenario& scenario, const std::vector<script::VariantResult>& results,
             const std::string& file) const;

 private:
  struct File {
    std::string format, path;
    bool requests = false;  // whether it has a row per request
  };
  /// Whether the requests of a variant are not there; prints it.
  static bool lacks_requests(const File& each, const std::string& rows, const std::string& to);

  script::Vm* vm_;
  std::vector<File> files_;
  std::string rows_;  // "" where no format needs them
  std::int64_t total_ = 0;
};

/// "requests.csv" for the only variant, "requests.2.csv" for the second of several.
std::string numbered(const std::string& path, std::int64_t variant, std::int64_t count);

}  // namespace rooflua::app
