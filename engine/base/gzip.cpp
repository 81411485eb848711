#include "base/gzip.h"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <utility>
#include <vector>

#include "base/error.h"

namespace rooflua {
namespace {

std::string read_plain(const std::filesystem::path& path, std::size_t most) {
  std::ifstream in(path, std::ios::binary | std::ios::ate);
  if (!in || std::filesystem::is_directory(path)) throw Error(path.string(), "cannot be read");
  const auto size = std::min(static_cast<std::size_t>(in.tellg()), most);
  std::string text(size, '\0');
  in.seekg(0);
  in.read(text.data(), static_cast<std::streamsize>(size));
  if (!in) throw Error(path.string(), "cannot be read to its end");
  return text;
}

/// Frees the state of zlib.
struct Inflater {
  z_stream stream{};
  bool open = false;
  Inflater() {
    constexpr int gzip_only = 15 + 16;
    open = inflateInit2(&stream, gzip_only) == Z_OK;
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() {
    if (open) inflateEnd(&stream);
  }
};

std::string unpacked(const std::filesystem::path& path, std::string packed, std::size_t most) {
  const auto fail = [&](const std::string& what) { throw Error(path.string(), what); };
  if (packed.size() < 2 || packed[0] != '\x1f' || packed[1] != '\x8b') {
    fail("its name ends in .gz, but it is not a gzip file; unpack or rename it");
  }
  Inflater inflater;
  if (!inflater.open) fail("cannot be unpacked: no memory");
  z_stream& stream = inflater.stream;
  stream.next_in = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string text;
  std::array<char, 1 << 16> block;
  while (text.size() < most) {
    stream.next_out = reinterpret_cast<Bytef*>(block.data());
    stream.avail_out = static_cast<uInt>(block.size());
    const int result = inflate(&stream, Z_NO_FLUSH);
    text.append(block.data(), block.size() - stream.avail_out);
    if (result == Z_STREAM_END) {
      if (stream.avail_in == 0) break;
      if (inflateReset(&stream) != Z_OK) fail("cannot be unpacked");
      continue;
    }
    if (result == Z_BUF_ERROR || (result == Z_OK && stream.avail_in == 0 && stream.avail_out > 0)) {
      fail("ends before the packed data does: the file is truncated; copy it again");
    }
    if (result != Z_OK) {
      fail(std::string("is damaged gzip data (") +
           (stream.msg == nullptr ? "unknown fault" : stream.msg) + "); copy it again");
    }
  }
  if (text.size() > most) text.resize(most);
  return text;
}

[[noreturn]] void refuse_long(const std::filesystem::path& path, std::size_t most, bool unpacked) {
  const std::string mib = std::to_string(most >> 20);
  throw Error(path.string(), "has more than " + mib + " MiB of text" +
                                 (unpacked ? " when it is unpacked" : "") +
                                 "; divide it into several files");
}

/// At most `most` bytes.
std::string read(const std::filesystem::path& path, std::size_t most) {
  if (path.extension() != ".gz") return read_plain(path, most);
  std::string packed = read_plain(path, most_text_bytes + 1);
  if (packed.size() > most_text_bytes) refuse_long(path, most_text_bytes, true);
  return unpacked(path, std::move(packed), most);
}

}  // namespace

std::string read_text(const std::filesystem::path& path, std::size_t most) {
  std::string text = read(path, most + 1);
  if (text.size() > most) refuse_long(path, most, path.extension() == ".gz");
  return text;
}

std::string unpack_gzip(std::string packed, const std::filesystem::path& name, std::size_t most) {
  std::string text = unpacked(name, std::move(packed), most + 1);
  if (text.size() > most) refuse_long(name, most, true);
  return text;
}

std::string read_text_start(const std::filesystem::path& path, std::size_t bytes) {
  return read(path, bytes);
}

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
