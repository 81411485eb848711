#include "measure/store/shards.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "base/error.h"

namespace rooflua {

namespace {

/// The finaliser of SplitMix64: neighbouring numbers become unrelated ones.
/// @source Steele, Lea, Flood. "Fast splittable pseudorandom number generators", OOPSLA 2014
std::uint64_t scattered(std::uint64_t x) {
  x += 0x9E3779B97F4A7C15ull;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
  return x ^ (x >> 31);
}

}  // namespace

std::vector<std::int64_t> dealt(std::int64_t total, std::int64_t count) {
  std::vector<std::size_t> order(static_cast<std::size_t>(total));
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(),
            [](std::size_t a, std::size_t b) { return scattered(a) < scattered(b); });
  std::vector<std::int64_t> shards(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    shards[order[i]] = static_cast<std::int64_t>(i) % count;
  return shards;
}

std::string shard_file(Shard shard) {
  char name[60];
  std::snprintf(name, sizeof name, "shard-%03lld-of-%03lld.sqlite",
                static_cast<long long>(shard.index), static_cast<long long>(shard.count));
  return name;
}

bool is_results_folder(const std::string& path) {
  return !path.empty() && (path.back() == '/' || std::filesystem::is_directory(path));
}

std::vector<std::string> result_files(const std::filesystem::path& folder) {
  if (!std::filesystem::is_directory(folder))
    throw Error(folder.string(), "there is no such folder of results");
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.path().extension() == ".sqlite" && entry.file_size() > 0)
      out.push_back(entry.path().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace rooflua
