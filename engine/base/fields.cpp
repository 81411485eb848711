#include "base/fields.h"

#include <algorithm>
#include <climits>
#include <cmath>

#include "base/error.h"

namespace rooflua {

namespace {

std::string joined(std::string_view path, std::string_view key) {
  if (path.empty()) return std::string(key);
  return key.empty() ? std::string(path) : std::string(path) + "." + std::string(key);
}

std::string placed(const std::string& file, int line, const std::string& path) {
  std::string where = line > 0 ? at(file, line) : file;
  if (path.empty()) return where;
  return where.empty() ? path : where + ": " + path;
}

/// "[2]"; "" for 0, which is no item.
std::string item_text(std::size_t item) {
  return item > 0 ? "[" + std::to_string(item) + "]" : "";
}

std::string shown(const Json& value) {
  if (value.is_array() || value.is_object()) return "an " + std::string(kind_name(value));
  if (value.is_null()) return "nothing";
  return std::string(kind_name(value)) + " " + dump_json(value);
}

}  // namespace

Fields::Fields(const Json& object, std::string file, std::string path)
    : object_(&object), file_(std::move(file)), path_(std::move(path)) {
  if (!object.is_object()) {
    throw Error(placed(file_, object.line, path_), "expected a table, found " + shown(object));
  }
}

const Json* Fields::find(std::string_view key) const {
  if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) asked_.emplace_back(key);
  const Json* found = object_->find(key);
  return found != nullptr && found->is_null() ? nullptr : found;
}

std::string_view Fields::first_of(std::initializer_list<std::string_view> keys) const {
  std::string_view first;
  for (const std::string_view key : keys) {
    if (has(key) && first.empty()) first = key;
  }
  return first;
}

std::optional<double> Fields::number(std::string_view key) const {
  const Json* found = find(key);
  if (found == nullptr) return std::nullopt;
  if (!found->is_number() || !std::isfinite(found->number())) mismatch(key, *found, "a number");
  return found->number();
}

std::optional<std::int64_t> Fields::integer(std::string_view key) const {
  const auto value = number(key);
  if (!value) return std::nullopt;
  const Json& found = *find(key);
  if (found.is_integer()) return found.integer();
  if (*value != std::floor(*value) || std::abs(*value) > 9007199254740992.0) {
    mismatch(key, found, "a whole number");
  }
  return static_cast<std::int64_t>(*value);
}

std::optional<int> Fields::small_integer(std::string_view key) const {
  const auto value = integer(key);
  if (!value) return std::nullopt;
  if (*value > INT_MAX || *value < INT_MIN) mismatch(key, *find(key), "a number below 2^31");
  return static_cast<int>(*value);
}

std::optional<bool> Fields::boolean(std::string_view key) const {
  if (find(key) == nullptr) return std::nullopt;
  return boolean(key, false);
}

bool Fields::boolean(std::string_view key, bool otherwise) const {
  const Json* found = find(key);
  if (found == nullptr) return otherwise;
  if (!found->is_boolean()) mismatch(key, *found, "true or false");
  return found->boolean();
}

std::optional<std::string> Fields::text(std::string_view key) const {
  const Json* found = find(key);
  if (found == nullptr) return std::nullopt;
  if (!found->is_text()) mismatch(key, *found, "a text");
  return found->text();
}

std::vector<std::string> Fields::texts(std::string_view key) const {
  std::vector<std::string> out;
  for (const Json& item : items(key, "an array of texts")) {
    if (!item.is_text()) mismatch(key, item, "a text", out.size() + 1);
    out.push_back(item.text());
  }
  return out;
}

const Json::Array& Fields::items(std::string_view key, std::string_view expected) const {
  static const Json::Array none;
  const Json* found = find(key);
  if (found == nullptr || (found->is_object() && found->members().empty())) return none;
  if (!found->is_array()) mismatch(key, *found, expected);
  return found->items();
}

std::vector<double> Fields::numbers(std::string_view key) const {
  std::vector<double> out;
  for (const Json& item : items(key, "a list of numbers")) {
    if (!item.is_number() || !std::isfinite(item.number()))
      mismatch(key, item, "a number", out.size() + 1);
    out.push_back(item.number());
  }
  return out;
}

std::vector<Fields> Fields::tables(std::string_view key) const {
  std::vector<Fields> out;
  for (const Json& item : items(key, "a list of tables")) {
    out.emplace_back(item, file_, joined(path_, key) + item_text(out.size() + 1));
  }
  return out;
}

std::optional<Fields> Fields::table(std::string_view key) const {
  const Json* found = find(key);
  if (found == nullptr) return std::nullopt;
  return Fields(*found, file_, joined(path_, key));
}

double Fields::need_number(std::string_view key) const {
  if (const auto value = number(key)) return *value;
  missing(key, "a number");
}

int Fields::need_integer(std::string_view key) const {
  if (const auto value = small_integer(key)) return *value;
  missing(key, "a whole number");
}

std::string Fields::need_text(std::string_view key) const {
  if (const auto value = text(key)) return *value;
  missing(key, "a text");
}

Fields Fields::need_table(std::string_view key) const {
  if (auto value = table(key)) return *value;
  missing(key, "a table");
}

void Fields::finish() const {
  for (const Json::Member* member : unread())
    throw Error(placed(file_, member->value.line, path_), unknown_name("key", member->key, asked_));
}

std::vector<const Json::Member*> Fields::unread() const {
  std::vector<const Json::Member*> out;
  for (const Json::Member& member : object_->members()) {
    if (std::find(asked_.begin(), asked_.end(), member.key) == asked_.end()) out.push_back(&member);
  }
  return out;
}

std::vector<std::string> Fields::missed() const {
  std::vector<std::string> out;
  for (const std::string& key : asked_)
    if (object_->find(key) == nullptr) out.push_back(key);
  return out;
}

std::string Fields::where(std::string_view key) const {
  const Json* found = object_->find(key);
  return placed(file_, found != nullptr ? found->line : object_->line, joined(path_, key));
}

void Fields::mismatch(std::string_view key, const Json& found, std::string_view expected,
                      std::size_t item) const {
  throw Error(where(key) + item_text(item),
              "expected " + std::string(expected) + ", found " + shown(found));
}

void Fields::missing(std::string_view key, std::string_view expected) const {
  throw Error(where(key), "is missing; expected " + std::string(expected));
}

}  // namespace rooflua
