#include "base/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/numbers/number_words.h"
#include "base/printable.h"

namespace rooflua {

bool Json::boolean() const {
  ROOFLUA_ASSERT(is_boolean());
  return std::get<bool>(value_);
}

std::int64_t Json::integer() const {
  if (const auto* whole = std::get_if<std::int64_t>(&value_)) return *whole;
  const double value = number();
  ROOFLUA_ASSERT(value == std::floor(value) && std::abs(value) < 9.2e18);
  return static_cast<std::int64_t>(value);
}

double Json::number() const {
  if (const auto* whole = std::get_if<std::int64_t>(&value_)) return static_cast<double>(*whole);
  ROOFLUA_ASSERT(kind() == Kind::number);
  return std::get<double>(value_);
}

const std::string& Json::text() const {
  ROOFLUA_ASSERT(is_text());
  return std::get<std::string>(value_);
}

const Json::Array& Json::items() const {
  ROOFLUA_ASSERT(is_array());
  return std::get<Array>(value_);
}

const Json::Object& Json::members() const {
  ROOFLUA_ASSERT(is_object());
  return std::get<Object>(value_);
}

const Json* Json::find(std::string_view key) const {
  if (!is_object()) return nullptr;
  for (const Member& member : members()) {
    if (member.key == key) return &member.value;
  }
  return nullptr;
}

Json& Json::operator[](std::string_view key) {
  if (is_null()) value_ = Object{};
  ROOFLUA_ASSERT(is_object());
  auto& object = std::get<Object>(value_);
  for (Member& member : object) {
    if (member.key == key) return member.value;
  }
  object.push_back({std::string(key), Json()});
  return object.back().value;
}

void Json::push_back(Json value) {
  if (is_null()) value_ = Array{};
  ROOFLUA_ASSERT(is_array());
  std::get<Array>(value_).push_back(std::move(value));
}

std::string_view kind_name(const Json& value) {
  switch (value.kind()) {
    case Json::Kind::null:
      return "null";
    case Json::Kind::boolean:
      return "boolean";
    case Json::Kind::integer:
    case Json::Kind::number:
      return "number";
    case Json::Kind::text:
      return "text";
    case Json::Kind::array:
      return "array";
    case Json::Kind::object:
      return "object";
  }
  return "";
}

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

/// Builds a Json from the events of nlohmann's reader.
class Builder : public nlohmann::json_sax<nlohmann::json> {
 public:
  /// @param marks   whether texts that are marks of number_words stand for numbers
  /// @param packed  key of arrays that become texts; empty: none
  Builder(std::string_view text, const std::string& name, bool marks, std::string_view packed = {})
      : text_(text), name_(name), marks_(marks), packed_key_(packed) {}
  Json take() { return std::move(root_); }

  bool null() override { return add(Json()); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(std::int64_t{value}); }
  bool number_unsigned(number_unsigned_t value) override {
    if (packing_) return pack(value);
    if (value <= static_cast<number_unsigned_t>(INT64_MAX))
      return add(static_cast<std::int64_t>(value));
    return add(static_cast<double>(value));
  }
  bool number_float(number_float_t value, const string_t&) override {
    if (!packing_) return add(value);
    if (!(value >= 0 && value <= most_packed) || std::floor(value) != value) refuse_packed();
    return pack(static_cast<number_unsigned_t>(value));
  }
  bool string(string_t& value) override {
    if (const auto number = marks_ ? marked_number(value) : std::nullopt) return add(*number);
    return add(std::move(value));
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(); }
  bool start_array(std::size_t) override {
    if (packed_key_.empty() || !key_waits_ || values_.back().key != packed_key_) return open();
    packing_ = true;
    return true;
  }
  bool end_array() override {
    if (packing_) {
      packing_ = false;
      return add(Json(std::string_view(std::exchange(packed_, {}))));
    }
    Json::Array items;
    items.reserve(values_.size() - open_.back());
    for (std::size_t i = open_.back(); i < values_.size(); ++i)
      items.push_back(std::move(values_[i].value));
    return close(Json(std::move(items)));
  }
  bool end_object() override {
    check_keys();
    const auto first = values_.begin() + static_cast<std::ptrdiff_t>(open_.back());
    return close(
        Json::Object(std::make_move_iterator(first), std::make_move_iterator(values_.end())));
  }
  bool key(string_t& value) override {
    values_.emplace_back();
    values_.back().key = std::move(value);
    key_waits_ = true;
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
  static constexpr std::int32_t most_packed = std::numeric_limits<std::int32_t>::max();

  bool pack(number_unsigned_t value) {
    if (value > most_packed) refuse_packed();
    const auto whole = static_cast<std::int32_t>(value);
    packed_.append(reinterpret_cast<const char*>(&whole), sizeof whole);
    return true;
  }
  [[noreturn]] void refuse_packed() const {
    throw Error(name_, std::string(packed_key_) + ": expected whole numbers from 0 to 2147483647");
  }
  bool add(Json value) {
    if (packing_) refuse_packed();
    if (open_.empty()) {
      root_ = std::move(value);
    } else {
      if (!key_waits_) values_.emplace_back();  // of an array
      values_.back().value = std::move(value);
      key_waits_ = false;
    }
    return true;
  }
  bool open() {
    if (packing_) refuse_packed();
    if (open_.size() >= 512) throw Error(name_, "nested more than 512 deep");
    if (!open_.empty() && !key_waits_) values_.emplace_back();
    key_waits_ = false;
    open_.push_back(values_.size());
    return true;
  }
  /// Takes the container with the values behind `first` as the value that waits for it.
  bool close(Json container) {
    values_.resize(open_.back());
    open_.pop_back();
    (open_.empty() ? root_ : values_.back().value) = std::move(container);
    return true;
  }
  void check_keys() {
    names_.clear();
    for (std::size_t i = open_.back(); i < values_.size(); ++i) names_.push_back(values_[i].key);
    std::sort(names_.begin(), names_.end());
    const auto twice = std::adjacent_find(names_.begin(), names_.end());
    if (twice != names_.end())
      throw Error(name_, "the key '" + std::string(*twice) + "' occurs twice in one object");
  }

  std::string_view text_;
  const std::string& name_;
  bool marks_;
  Json root_;
  // One list for all open containers, so that each container is made once, in its size.
  std::vector<Json::Member> values_;
  std::vector<std::size_t> open_;  // where the values of each open container begin
  bool key_waits_ = false;         // the last of values_ has its key and no value
  std::vector<std::string_view> names_;
  std::string_view packed_key_;
  std::string packed_;
  bool packing_ = false;  // inside of such an array
};

void new_line(std::string& out, int indent, int depth) {
  if (indent < 0) return;
  out += '\n';
  out.append(static_cast<std::size_t>(indent) * static_cast<std::size_t>(depth), ' ');
}

void dump(const Json& value, int indent, int depth, std::string& out);

void dump_items(const Json::Array& items, int indent, int depth, std::string& out) {
  out += '[';
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += ',';
    new_line(out, indent, depth + 1);
    dump(items[i], indent, depth + 1, out);
  }
  if (!items.empty()) new_line(out, indent, depth);
  out += ']';
}

void dump_members(const Json::Object& members, int indent, int depth, std::string& out) {
  out += '{';
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (i > 0) out += ',';
    new_line(out, indent, depth + 1);
    append_json_text(members[i].key, out);
    out += indent < 0 ? ":" : ": ";
    dump(members[i].value, indent, depth + 1, out);
  }
  if (!members.empty()) new_line(out, indent, depth);
  out += '}';
}

void dump(const Json& value, int indent, int depth, std::string& out) {
  switch (value.kind()) {
    case Json::Kind::null:
      out += "null";
      break;
    case Json::Kind::boolean:
      out += value.boolean() ? "true" : "false";
      break;
    case Json::Kind::integer:
      out += std::to_string(value.integer());
      break;
    case Json::Kind::number:
      append_json_number(value.number(), out);
      break;
    case Json::Kind::text:
      append_json_text(value.text(), out);
      break;
    case Json::Kind::array:
      dump_items(value.items(), indent, depth, out);
      break;
    case Json::Kind::object:
      dump_members(value.members(), indent, depth, out);
      break;
  }
}

}  // namespace

Json parse_json(std::string_view text, const std::string& name, NumberWords words) {
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  const bool marks = words == NumberWords::of_python && needs_marks(text);
  const std::string marked = marks ? with_marks(text) : "";
  if (marks) text = marked;
  Builder builder(text, name, marks);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

Json parse_json_packed(std::string_view text, const std::string& name, std::string_view key) {
  Builder builder(text, name, false, key);
  nlohmann::json::sax_parse(text.begin(), text.end(), &builder);
  return builder.take();
}

void append_json_number(double value, std::string& out) {
  if (!std::isfinite(value)) {
    out += "null";
  } else if (value == 0) {
    out += std::signbit(value) ? "-0.0" : "0";
  } else {
    char buffer[32];
    const auto [end, problem] = std::to_chars(buffer, buffer + sizeof buffer, value);
    ROOFLUA_ASSERT(problem == std::errc());
    out.append(buffer, end);
  }
}

namespace {

/// Whether a character of ASCII needs no escape in a text.
bool stands_as_it_is(char c) {
  return c >= 0x20 && c != '"' && c != '\\';
}

}  // namespace

void append_json_text(std::string_view given, std::string& out) {
  if (std::all_of(given.begin(), given.end(), stands_as_it_is)) {
    out += '"';
    out.append(given);
    out += '"';
    return;
  }
  const std::string text = valid_utf8(given);
  static constexpr char digits[] = "0123456789abcdef";
  out += '"';
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t begin = i;
    while (i < text.size() && (stands_as_it_is(text[i]) || text[i] < 0)) ++i;
    out.append(text, begin, i - begin);
    if (i == text.size()) break;
    const char c = text[i];
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        out += "\\u00";
        out += digits[static_cast<unsigned char>(c) >> 4];
        out += digits[c & 15];
    }
  }
  out += '"';
}

std::string json_number(double value) {
  std::string out;
  append_json_number(value, out);
  return out;
}

std::string dump_json(const Json& value, int indent) {
  std::string out;
  dump(value, indent, 0, out);
  return out;
}

}  // namespace rooflua
