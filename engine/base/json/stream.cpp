#include "base/json/stream.h"

#include <nlohmann/json.hpp>
#include <span>

#include "base/error.h"
#include "base/gzip.h"
#include "base/json/cursor_input.h"

namespace rooflua {

namespace {

/// Where the reader stands, and what it may still read before something is complete.
struct Reading {
  GzipBlocks blocks;
  JsonStreamLimits limits;
  std::uint64_t& position;                                     // of the last event, for errors
  const char *begin = nullptr, *at = nullptr, *end = nullptr;  // of the block
  std::uint64_t before = 0, told = 0;  // bytes before the block, and up to the last event
  int deep = 0;

  std::uint64_t now() const { return before + static_cast<std::uint64_t>(at - begin); }
  bool is_too_long() const { return now() - told > limits.most_token_bytes; }
  bool is_over() { return at == end && (is_too_long() || !fill()); }
  /// Whether there is a byte at the cursor.
  bool fill() {
    if (at != end) return true;
    before += static_cast<std::uint64_t>(end - begin);
    const std::span<const char> block = blocks.next();
    begin = at = block.data();
    end = begin + block.size();
    return !block.empty();
  }
};

class Told : public nlohmann::json_sax<nlohmann::json> {
 public:
  Told(Reading& reading, JsonEvents& events, std::string file)
      : reading_(reading), events_(events), file_(std::move(file)) {}

  bool null() override { return word(); }
  bool boolean(bool) override { return word(); }
  bool number_integer(number_integer_t value) override {
    note();
    events_.whole(value);
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    note();
    if (value <= static_cast<std::uint64_t>(INT64_MAX)) {
      events_.whole(static_cast<std::int64_t>(value));
    } else {
      events_.number(static_cast<double>(value), "");
    }
    return true;
  }
  bool number_float(number_float_t value, const string_t& written) override {
    note();
    events_.number(value, written);
    return true;
  }
  bool string(string_t& value) override {
    note();
    events_.text(value);
    return true;
  }
  bool key(string_t& value) override {
    note();
    events_.key(value);
    return true;
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override {
    deeper();
    events_.open_object();
    return true;
  }
  bool end_object() override {
    note();
    --reading_.deep;
    events_.close_object();
    return true;
  }
  bool start_array(std::size_t) override {
    deeper();
    events_.open_array();
    return true;
  }
  bool end_array() override {
    note();
    --reading_.deep;
    events_.close_array();
    return true;
  }
  bool parse_error(std::size_t, const std::string&,
                   const nlohmann::detail::exception& problem) override {
    reading_.position = reading_.now();
    if (reading_.is_too_long())
      fail("a text or number of more than " +
           std::to_string(reading_.limits.most_token_bytes >> 20) + " MiB");
    if (!reading_.fill()) fail("the file ends inside of the JSON: it is truncated; copy it again");
    std::string what = problem.what();
    const std::size_t colon = what.find(": ");
    if (colon != std::string::npos) what.erase(0, colon + 2);
    fail(what);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(file_ + ": byte " + std::to_string(reading_.position), what);
  }
  void note() { reading_.told = reading_.position = reading_.now(); }
  void deeper() {
    note();
    if (++reading_.deep > reading_.limits.most_deep)
      fail("nested more than " + std::to_string(reading_.limits.most_deep) + " deep");
  }
  bool word() {
    note();
    events_.word();
    return true;
  }

  Reading& reading_;
  JsonEvents& events_;
  std::string file_;
};

}  // namespace

JsonStream::JsonStream(const std::filesystem::path& path, JsonStreamLimits limits)
    : path_(path), limits_(limits) {}

void JsonStream::read(JsonEvents& events) {
  Reading reading{GzipBlocks(path_), limits_, position_};
  Told told(reading, events, path_.string());
  nlohmann::json::sax_parse(CursorInput(reading), CursorInput<Reading>(), &told);
}

std::string JsonStream::place() const {
  return path_.string() + ": byte " + std::to_string(position_);
}

}  // namespace rooflua
