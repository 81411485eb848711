#pragma once
// How the runs of a sweep are dealt to shards, and the files in which shards keep them.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace rooflua {

struct Shard {
  std::int64_t index = 0, count = 1;  // index from 0
};

/// Which shard of `count` has each of `total` runs. Positions are shuffled by a fixed hash and then
/// dealt one by one, because neighbours in a sweep take similar times: dealt in order, one shard
/// would get all slow ones. Sizes of shards differ by one run at most.
std::vector<std::int64_t> dealt(std::int64_t total, std::int64_t count);

/// "shard-003-of-016.sqlite"; without shards 0 of 1.
std::string shard_file(Shard shard);

/// Whether --results names a folder, in which every shard has a file: it is one, or the path ends
/// with "/".
bool is_results_folder(const std::string& path);

/// Files of results in a folder (*.sqlite), sorted; those of 0 bytes were begun and have nothing.
/// @throws Error if there is no such folder
std::vector<std::string> result_files(const std::filesystem::path& folder);

}  // namespace rooflua
