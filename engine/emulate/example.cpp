#include "emulate/example.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "emulate/limits.h"
#include "http/refused.h"

namespace rooflua::emulate {

using http::Refused;

namespace {

constexpr int deepest = 16;        // schemas inside each other; after it everything is null
constexpr std::size_t most = 256;  // characters of a text, items of an array

/// What an example is made in: the whole schema, and what may still be added and looked at.
struct Around {
  const Json& root;
  int values = limits::example_values;
  std::size_t bytes = limits::example_bytes, members = limits::example_members;
};

[[noreturn]] void too_large(const std::string& what) {
  throw Refused(400, "the arguments of a call would have more than " + what, "tools");
}

void add_bytes(Around& around, std::size_t bytes) {
  if (bytes > around.bytes) too_large(std::to_string(limits::example_bytes / limits::kib) + " KiB");
  around.bytes -= bytes;
}

void look_at(Around& around, std::size_t members) {
  if (members > around.members) too_large("a million members of schemas to look at");
  around.members -= members;
}

/// A value that the schema gives, within the limits. @param depth  containers around it
void check_given(const Json& value, Around& around, int depth) {
  if (depth > limits::example_depth) too_large(std::to_string(limits::example_depth) + " levels");
  add_bytes(around, value.is_text() ? value.text().size() : 1);
  if (value.is_array())
    for (const Json& each : value.items()) check_given(each, around, depth + 1);
  if (!value.is_object()) return;
  for (const Json::Member& each : value.members()) {
    add_bytes(around, each.key.size());
    check_given(each.value, around, depth + 1);
  }
}

Json example(const Json& schema, Around& around, int depth);

const Json* member(const Json& schema, const char* key) {
  const Json* found = schema.find(key);
  return found == nullptr || found->is_null() ? nullptr : found;
}

double number_at(const Json& schema, const char* key, double absent) {
  const Json* found = member(schema, key);
  return found != nullptr && found->is_number() ? found->number() : absent;
}

/// "#/$defs/Name" in the schema around it; null: it is not there.
const Json* target_of(const std::string& reference, Around& around) {
  if (reference.rfind("#/", 0) != 0) return nullptr;
  const Json* at = &around.root;
  std::size_t from = 2;
  while (at != nullptr && from <= reference.size()) {
    const std::size_t end = std::min(reference.find('/', from), reference.size());
    if (at->is_object()) look_at(around, at->members().size());
    at = at->find(reference.substr(from, end - from));
    from = end + 1;
  }
  return at;
}

Json text_example(const Json& schema) {
  const Json* format = member(schema, "format");
  const std::string word = format != nullptr && format->is_text() ? format->text() : "";
  if (word == "date-time") return "2026-01-01T00:00:00Z";
  if (word == "date") return "2026-01-01";
  if (word == "time") return "00:00:00Z";
  if (word == "email") return "a@example.com";
  if (word == "uri") return "https://example.com";
  if (word == "uuid") return "00000000-0000-4000-8000-000000000000";
  const double least = number_at(schema, "minLength", 1),
               longest = number_at(schema, "maxLength", most);
  const double length = std::clamp(std::min(std::max(least, 1.0), longest), 0.0, double{most});
  return std::string(static_cast<std::size_t>(length), 'a');
}

Json number_example(const Json& schema, bool is_whole) {
  const double step = number_at(schema, "multipleOf", 0);
  double value = 0;
  if (const double least = number_at(schema, "minimum", value); least > value) value = least;
  if (const double above = number_at(schema, "exclusiveMinimum", -1); above >= value)
    value = is_whole ? std::floor(above) + 1 : above + 1;
  if (const double highest = number_at(schema, "maximum", value); highest < value) value = highest;
  if (const double below = number_at(schema, "exclusiveMaximum", value + 1); below <= value)
    value = is_whole ? std::ceil(below) - 1 : below - 1;
  if (is_whole) value = std::ceil(value);
  if (step > 0) value = std::ceil(value / step) * step;
  if (is_whole && std::abs(value) < 9e15) return static_cast<std::int64_t>(value);
  return value;
}

Json array_example(const Json& schema, Around& around, int depth) {
  Json out = Json::array();
  const Json* items = member(schema, "items");
  const double count = std::clamp(number_at(schema, "minItems", 0), 0.0, double{most});
  for (int i = 0; i < static_cast<int>(count); ++i)
    out.push_back(items != nullptr ? example(*items, around, depth + 1) : Json("a"));
  return out;
}

Json object_example(const Json& schema, Around& around, int depth) {
  Json out = Json::object();
  const Json* properties = member(schema, "properties");
  const Json* required = member(schema, "required");
  if (required == nullptr || !required->is_array()) return out;
  for (const Json& each : required->items()) {
    if (!each.is_text()) continue;
    add_bytes(around, each.text().size());
    look_at(around, out.members().size() + (properties != nullptr && properties->is_object()
                                                ? properties->members().size()
                                                : 0));
    const Json* own = properties != nullptr ? properties->find(each.text()) : nullptr;
    out[each.text()] = own != nullptr ? example(*own, around, depth + 1) : Json("a");
  }
  return out;
}

std::string type_of(const Json& schema) {
  const Json* type = member(schema, "type");
  if (type != nullptr && type->is_array() && !type->items().empty()) type = &type->items().front();
  if (type != nullptr && type->is_text()) return type->text();
  return member(schema, "items") != nullptr ? "array" : "object";
}

/// A value that the schema gives itself; null pointer: it gives none.
const Json* given_value(const Json& schema) {
  for (const char* key : {"const", "default"}) {
    if (const Json* found = member(schema, key)) return found;
  }
  for (const char* key : {"enum", "examples"}) {
    const Json* list = member(schema, key);
    if (list != nullptr && list->is_array() && !list->items().empty())
      return &list->items().front();
  }
  return nullptr;
}

/// The members of all schemas of allOf in one object.
Json merged(const Json& all, Around& around, int depth) {
  Json out = Json::object();
  for (const Json& each : all.items()) {
    const Json part = example(each, around, depth + 1);
    if (!part.is_object()) return part;
    for (const Json::Member& own : part.members()) {
      look_at(around, out.members().size());
      out[own.key] = own.value;
    }
  }
  return out;
}

Json example(const Json& schema, Around& around, int depth) {
  if (depth > deepest || --around.values < 0) return {};
  add_bytes(around, 1);
  if (!schema.is_object()) return Json::object();
  look_at(around, schema.members().size());
  if (const Json* value = given_value(schema)) {
    check_given(*value, around, depth);
    return *value;
  }
  if (const Json* reference = member(schema, "$ref");
      reference != nullptr && reference->is_text()) {
    const Json* target = target_of(reference->text(), around);
    return target != nullptr ? example(*target, around, depth + 1) : Json();
  }
  for (const char* key : {"anyOf", "oneOf"}) {
    const Json* list = member(schema, key);
    if (list != nullptr && list->is_array() && !list->items().empty())
      return example(list->items().front(), around, depth + 1);
  }
  if (const Json* all = member(schema, "allOf"); all != nullptr && all->is_array())
    return merged(*all, around, depth);
  const std::string type = type_of(schema);
  if (type == "string") {
    Json text = text_example(schema);
    add_bytes(around, text.text().size());
    return text;
  }
  if (type == "integer" || type == "number") return number_example(schema, type == "integer");
  if (type == "boolean") return false;
  if (type == "null") return {};
  return type == "array" ? array_example(schema, around, depth)
                         : object_example(schema, around, depth);
}

}  // namespace

Json example_of(const Json& schema) {
  Around around{schema};
  return example(schema, around, 0);
}

}  // namespace rooflua::emulate
