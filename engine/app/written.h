#pragma once
// --write FORMAT=FILE of `rooflua run`: results in the formats of other tools.

#include <cstdint>
#include <string>
#include <vector>

#include "script/scenario.h"
#include "script/vm/vm.h"

namespace rooflua::app {

struct WrittenFile {
  std::string format, path;
};

/// Splits FORMAT=FILE and checks format and folder before a long run begins.
/// @throws Misused for a text without =; Error for an unknown format
std::vector<WrittenFile> written_files(script::Vm& vm, const std::vector<std::string>& texts);

/// Writes each variant that is known; of several, numbered files. A result's uid is a checksum of
/// its document, so the same run has the same uid.
/// @throws Error if a file cannot be written
void write_formats(script::Vm& vm, const script::Scenario& scenario,
                   const std::vector<script::VariantResult>& results, const std::string& file,
                   const std::vector<WrittenFile>& written);

/// "requests.csv" for the only variant, "requests.2.csv" for the second of several.
std::string numbered(const std::string& path, std::int64_t variant, std::int64_t count);

}  // namespace rooflua::app
