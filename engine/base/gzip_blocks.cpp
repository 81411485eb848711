#include "base/gzip_blocks.h"

#include <zlib.h>

#include <string>
#include <vector>

#include "base/error.h"

namespace rooflua {

namespace {

constexpr std::size_t block_bytes = std::size_t{1} << 20;

}  // namespace

struct GzipBlocks::State {
  std::filesystem::path path;
  gzFile file = nullptr;
  std::vector<char> block = std::vector<char>(block_bytes);

  ~State() {
    if (file != nullptr) gzclose(file);
  }
};

GzipBlocks::GzipBlocks(const std::filesystem::path& path) : state_(std::make_unique<State>()) {
  state_->path = path;
  std::error_code ignored;
  if (!std::filesystem::is_directory(path, ignored)) state_->file = gzopen(path.c_str(), "rb");
  if (state_->file == nullptr) throw Error(path.string(), "cannot be read");
  gzbuffer(state_->file, static_cast<unsigned>(block_bytes));
  if (path.extension() == ".gz" && gzdirect(state_->file) != 0)
    throw Error(path.string(),
                "its name ends in .gz, but it is not a gzip file; unpack or rename it");
}

GzipBlocks::~GzipBlocks() = default;

std::span<const char> GzipBlocks::next() {
  const int count = gzread(state_->file, state_->block.data(), static_cast<unsigned>(block_bytes));
  int problem = Z_OK;
  const char* told = gzerror(state_->file, &problem);
  if (problem == Z_BUF_ERROR)
    throw Error(state_->path.string(),
                "ends before the packed data does: the file is truncated; copy it again");
  if (count < 0 || problem != Z_OK)
    throw Error(state_->path.string(),
                "cannot be read to its end (" + std::string(told) + "); copy it again");
  return {state_->block.data(), static_cast<std::size_t>(count)};
}

}  // namespace rooflua
