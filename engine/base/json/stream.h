#pragma once
// JSON that no memory holds: its values are told one by one while the file is read.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace rooflua {

/// What a reader hears of a document, in the order of the file.
class JsonEvents {
 public:
  virtual ~JsonEvents() = default;
  virtual void open_object() = 0;
  virtual void close_object() = 0;
  virtual void open_array() = 0;
  virtual void close_array() = 0;
  virtual void key(std::string& name) = 0;
  virtual void text(std::string& value) = 0;
  /// @param written  as it stands in the file: more digits than a double holds
  virtual void number(double value, std::string_view written) = 0;
  virtual void whole(std::int64_t value) = 0;
  virtual void word() = 0;  // true, false or null
};

struct JsonStreamLimits {
  int most_deep = 64;                                    // containers inside of each other
  std::size_t most_token_bytes = std::size_t{16} << 20;  // of one text or number
};

/// A file of JSON, plain or packed with gzip, whatever its name. A name that ends in .gz says that
/// the file is packed.
class JsonStream {
 public:
  /// @throws Error naming the file if it cannot be opened or is not what its name says
  explicit JsonStream(const std::filesystem::path& path, JsonStreamLimits limits = {});

  /// Reads the file to its end. What the events throw passes through.
  /// @throws Error with the place, for bad syntax, a file that ends early, damaged gzip data, and
  /// what is beyond the limits
  void read(JsonEvents& events);

  /// Where the reader stands: "trace.json: byte 1234", counted in the unpacked text.
  std::string place() const;

 private:
  std::filesystem::path path_;
  JsonStreamLimits limits_;
  std::uint64_t position_ = 0;
};

}  // namespace rooflua
