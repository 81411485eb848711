#pragma once
// A file block by block, packed with gzip or plain, for files that no memory holds.

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

namespace rooflua {

class GzipBlocks {
 public:
  /// @throws Error naming the file if it cannot be opened, or if its name ends in .gz and it is not
  /// packed
  explicit GzipBlocks(const std::filesystem::path& path);
  ~GzipBlocks();
  GzipBlocks(const GzipBlocks&) = delete;
  GzipBlocks& operator=(const GzipBlocks&) = delete;

  /// The next bytes of the text; none at its end.
  /// @throws Error naming the file if it is damaged or ends before the packed data does
  std::span<const char> next();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rooflua
