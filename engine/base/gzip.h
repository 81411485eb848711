#pragma once
// Files, packed with gzip or plain: whole, or block by block.

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>

namespace rooflua {

/// A packed file of a few MB may unpack to what no memory holds. All shipped tables together are a
/// fifth of this.
constexpr std::size_t most_text_bytes = std::size_t{128} << 20;

/// The text of a file; a name that ends in ".gz" says that the file is packed. Files of several
/// packed parts in a row are read as one text.
/// @param most   more bytes of text are an error
/// @throws Error naming the file if it cannot be read, is not gzip, ends early, is damaged or too
/// long
std::string read_text(const std::filesystem::path& path, std::size_t most = most_text_bytes);

/// What gzip packed into these bytes, one part or several in a row.
/// @param name  stands for the file in messages
/// @throws Error as read_text
std::string unpack_gzip(std::string packed, const std::filesystem::path& name,
                        std::size_t most = most_text_bytes);

/// At most the first `bytes` of the text.
/// @throws Error as read_text
std::string read_text_start(const std::filesystem::path& path, std::size_t bytes);

/// A file block by block, which no memory holds.
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
