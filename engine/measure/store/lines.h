#pragma once
// Results as lines of JSON, one per run: for machines that share no file system. What a program
// prints between the marks BEGIN ROOFLUA RESULTS and END ROOFLUA RESULTS is found in any log.
//
//     {run_hash, build, seed, scenario, parameters, document, report, drawing, host, checksum,
//      sets: [{set_hash, title, total, file, position, name}]}
//     {failure: {set_hash, title, total, file, position, host, problem, tries}}

#include <filesystem>
#include <functional>
#include <string>

#include "measure/store/result_store.h"

namespace rooflua {

inline constexpr const char* lines_begin = "BEGIN ROOFLUA RESULTS";
inline constexpr const char* lines_end = "END ROOFLUA RESULTS";

struct RunLine {
  ResultRow row;
  bool sound = true;
  std::vector<std::pair<ResultSet, SetMember>> sets;
};

/// Everything that the file holds. @param write  gets each line, with its line break
void write_lines(const ResultStore& store, const std::function<void(const std::string&)>& write);

/// Reads such lines, and the part between the marks of a file that has them.
/// @throws Error with the line's number if one is no such line
void read_lines(const std::filesystem::path& file,
                const std::function<void(const RunLine&)>& take_run,
                const std::function<void(const ResultSet&, const RunFailure&)>& take_failure);

}  // namespace rooflua
