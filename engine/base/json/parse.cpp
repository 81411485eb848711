// JSON by nlohmann's reader.

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/json.h"
#include "base/json/builder.h"
#include "base/json/cursor_input.h"
#include "base/numbers/number_words.h"

namespace rooflua {

namespace {

std::string place(std::string_view text, std::size_t position, const std::string& name) {
  position = std::min(position, text.size());
  const std::string_view before = text.substr(0, position);
  const auto line = 1 + std::count(before.begin(), before.end(), '\n');
  const std::size_t start = before.find_last_of('\n');
  const std::size_t column = position - (start == std::string_view::npos ? 0 : start + 1);
  return name + ":" + std::to_string(line) + ":" + std::to_string(std::max<std::size_t>(column, 1));
}

constexpr int number_overflow = 406;  // nlohmann's json.exception.out_of_range.406

/// Tells a builder what nlohmann's reader finds.
class Events : public nlohmann::json_sax<nlohmann::json> {
 public:
  Events(std::string_view text, const JsonReading& reading)
      : text_(text), name_(reading.name), builder_(reading) {}
  Json take() { return builder_.take(); }

  bool null() override {
    builder_.add(Json());
    return true;
  }
  bool boolean(bool value) override {
    builder_.add(value);
    return true;
  }
  bool number_integer(number_integer_t value) override {
    builder_.whole(std::int64_t{value});
    return true;
  }
  bool number_unsigned(number_unsigned_t value) override {
    builder_.whole(std::uint64_t{value});
    return true;
  }
  bool number_float(number_float_t value, const string_t&) override {
    builder_.number(value);
    return true;
  }
  bool string(string_t& value) override {
    builder_.text(std::move(value));
    return true;
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override {
    builder_.open_object();
    return true;
  }
  bool end_object() override {
    builder_.close_object();
    return true;
  }
  bool start_array(std::size_t) override {
    builder_.open_array();
    return true;
  }
  bool end_array() override {
    builder_.close_array();
    return true;
  }
  bool key(string_t& value) override {
    builder_.key(std::move(value));
    return true;
  }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& problem) override {
    if (problem.id == number_overflow)
      throw Error(place(text_, position, name_),
                  "the number is beyond the range of a double, 1.8e308");
    std::string what =
        problem.what();  // "[json.exception...] parse error at line 1, column 2: syntax error ..."
    const std::size_t bracket = what.find("] "), colon = what.find(": ");
    if (colon != std::string::npos) {
      what.erase(0, colon + 2);
    } else if (bracket != std::string::npos) {
      what.erase(0, bracket + 2);  // "[json.exception...] number overflow parsing '1e999'"
    }
    throw Error(place(text_, position, name_), what);
  }

 private:
  std::string_view text_;
  const std::string& name_;
  JsonBuilder builder_;
};

enum class Common { read, skipped };

/// @param common  what packed lists have in common
Json read(std::string_view text, JsonReading reading, Common common = Common::read) {
  TextCursor cursor{text.data(), text.data() + text.size()};
  if (common == Common::skipped) reading.cursor = &cursor;
  Events events(text, reading);
  nlohmann::json::sax_parse(CursorInput(cursor), CursorInput<TextCursor>(), &events);
  return events.take();
}

}  // namespace

Json parse_json(std::string_view text, const std::string& name, NumberWords words) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const bool marks = words == NumberWords::of_python && needs_marks(text);
  const std::string marked = marks ? with_marks(text) : "";
  if (marks) text = marked;
  return read(text, {name, marks, {}});
}

Json parse_json_packed(std::string_view text, const std::string& name, std::string_view key,
                       int most_deep) {
  const JsonReading reading{name, false, key, most_deep};
  try {
    return read(text, reading, Common::skipped);
  } catch (const Error&) {
    // A reader that was moved does not know where it stands: the text is read as a whole.
    return read(text, reading);
  }
}

}  // namespace rooflua
