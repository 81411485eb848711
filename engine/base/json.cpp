#include "base/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/error.h"
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
