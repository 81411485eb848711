#pragma once
// A document as a value: null, true, 12, 1.5, "text", arrays, and objects that keep their order.
// JSON is read here and TOML in base/toml.h. Documents are written as JSON. A number is written
// with the shortest decimal that reads back as the same double, so equal values give equal bytes.

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace rooflua {

class Json {
 public:
  struct Member;
  using Array = std::vector<Json>;
  using Object = std::vector<Member>;
  enum class Kind { null, boolean, integer, number, text, array, object };

  Json();
  Json(std::nullptr_t);
  Json(bool value);
  Json(int value);
  Json(std::int64_t value);
  Json(double value);
  Json(const char* value);
  Json(std::string_view value);
  Json(std::string value);
  Json(Array value);
  Json(Object value);

  static Json object();
  static Json array();

  Kind kind() const { return static_cast<Kind>(value_.index()); }
  bool is_null() const { return kind() == Kind::null; }
  bool is_boolean() const { return kind() == Kind::boolean; }
  bool is_number() const { return kind() == Kind::integer || kind() == Kind::number; }
  bool is_integer() const { return kind() == Kind::integer; }
  bool is_text() const { return kind() == Kind::text; }
  bool is_array() const { return kind() == Kind::array; }
  bool is_object() const { return kind() == Kind::object; }

  /// The value as this kind. Asking for a wrong kind is a defect of the program: test the kind
  /// first, or read a user's document through Fields (base/fields.h).
  bool boolean() const;
  std::int64_t integer() const;  // also a number without fraction
  double number() const;         // also an integer
  const std::string& text() const;
  const Array& items() const;
  const Object& members() const;

  /// A member of an object, or null pointer. Also null pointer if this is not an object.
  const Json* find(std::string_view key) const;
  /// The member of that name; if there is none, a null is appended. A null value becomes an object.
  Json& operator[](std::string_view key);
  /// Appends to an array. A null value becomes an array.
  void push_back(Json value);

  /// 1-based line in the file it was read from (TOML); 0 when that is not known.
  int line = 0;

 private:
  std::variant<std::monostate, bool, std::int64_t, double, std::string, Array, Object> value_;
};

struct Json::Member {
  std::string key;
  Json value;
};

// Defined here because Member is complete only here: inside the class its vector cannot be
// destroyed.
inline Json::Json() = default;
inline Json::Json(std::nullptr_t) {}
inline Json::Json(bool value) : value_(value) {}
inline Json::Json(int value) : value_(std::int64_t{value}) {}
inline Json::Json(std::int64_t value) : value_(value) {}
inline Json::Json(double value) : value_(value) {}
inline Json::Json(const char* value) : value_(std::string(value)) {}
inline Json::Json(std::string_view value) : value_(std::string(value)) {}
inline Json::Json(std::string value) : value_(std::move(value)) {}
inline Json::Json(Array value) : value_(std::move(value)) {}
inline Json::Json(Object value) : value_(std::move(value)) {}
inline Json Json::object() {
  return Json(Object{});
}
inline Json Json::array() {
  return Json(Array{});
}

/// "null", "boolean", "number", "text", "array", "object"
std::string_view kind_name(const Json& value);

/// Which words stand for numbers: none, as the standard has it, or NaN, Infinity and -Infinity, as
/// Python writes them.
enum class NumberWords { none, of_python };

/// @throws Error "name:line:column: ..." on bad syntax or a key that occurs twice in one object
Json parse_json(std::string_view text, const std::string& name,
                NumberWords words = NumberWords::none);
/// The same, where arrays at this key hold whole numbers from 0 to 2^31 - 1 only and may be long:
/// each becomes a text of its numbers, four bytes each in the machine's order.
/// @param most_deep  containers that may stand inside of each other
/// @throws Error as parse_json() does, and for anything else in such an array
Json parse_json_packed(std::string_view text, const std::string& name, std::string_view key,
                       int most_deep = 512);
/// @throws Error as parse_json() does, or if the file cannot be read
Json read_json(const std::filesystem::path& path);

/// JSON text. `indent` < 0: one line without spaces; else that many spaces per level.
/// Whole numbers are written without fraction, -0 as -0.0; a number that is not finite as null, a
/// byte of a text that is not UTF-8 as U+FFFD.
std::string dump_json(const Json& value, int indent = -1);
void append_json_text(std::string_view text, std::string& out);
void append_json_number(double value, std::string& out);
/// A double as JSON writes it: the shortest decimal that reads back the same.
std::string json_number(double value);

}  // namespace rooflua
