#pragma once
// Builds a Json from the events of a reader of JSON: values, keys, and ends of containers.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "base/json/packed_lists.h"

namespace rooflua {

/// What a reader of JSON needs to know besides the text.
struct JsonReading {
  const std::string& name;       // of the text, in errors
  bool marks = false;            // texts that are marks of number_words stand for numbers
  std::string_view packed_key;   // arrays at this key become texts (parse_json_packed); empty: none
  int most_deep = 512;           // containers inside of each other
  TextCursor* cursor = nullptr;  // of the reader, which packed arrays move (packed_lists.h)
};

/// The reader calls these in the order of the text. Each throws Error for what JSON allows and a
/// document may not have: a key that occurs twice in one object, too many containers inside of each
/// other, anything but whole numbers in a packed array.
class JsonBuilder {
 public:
  explicit JsonBuilder(const JsonReading& reading) : reading_(reading), lists_(reading.cursor) {}

  /// The document, when its last event was told.
  Json take() { return std::move(root_); }

  void add(Json value);
  void whole(std::int64_t value);
  /// A whole number beyond 2^63 - 1 is a double, as one with a fraction is.
  void whole(std::uint64_t value);
  void number(double value);
  void text(std::string value);
  void key(std::string name);
  void open_object() { open(); }
  void close_object();
  void open_array();
  void close_array();

 private:
  [[noreturn]] void refuse_packed() const;
  void open();
  void close(Json container);
  void check_keys();

  JsonReading reading_;
  Json root_;
  // One list for all open containers, so that each container is made once, in its size.
  std::vector<Json::Member> values_;
  std::vector<std::size_t> open_;  // where the values of each open container begin
  bool key_waits_ = false;         // the last of values_ has its key and no value
  std::vector<std::string_view> names_;
  PackedLists lists_;
  bool packing_ = false;  // inside of such an array
};

}  // namespace rooflua
