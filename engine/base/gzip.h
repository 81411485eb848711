#pragma once
// Whole files, packed with gzip or plain.

#include <cstddef>
#include <filesystem>
#include <string>

namespace rooflua {

/// The text of a file; a name that ends in ".gz" says that the file is packed. Files of several
/// packed parts in a row are read as one text.
/// @throws Error naming the file if it cannot be read, is not gzip, ends early or is damaged
std::string read_text(const std::filesystem::path& path);

/// At most the first `bytes` of the text.
/// @throws Error as read_text
std::string read_text_start(const std::filesystem::path& path, std::size_t bytes);

}  // namespace rooflua
