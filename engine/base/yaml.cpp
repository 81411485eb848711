#include "base/yaml.h"

#include "base/error.h"

#ifdef ROOFLUA_HAS_YAML
#include <yaml.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/csv.h"

namespace rooflua {

namespace {

constexpr int deepest = 64;
constexpr std::size_t most_values = 100000;  // of all documents, each alias counted in whole

/// A parser with its current event; both end with it.
class Events {
 public:
  Events(std::string_view text, const std::string& name) : name_(name) {
    if (yaml_parser_initialize(&parser_) == 0) throw Error(name, "no memory for a YAML parser");
    yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()),
                                 text.size());
  }
  Events(const Events&) = delete;
  Events& operator=(const Events&) = delete;
  ~Events() {
    if (has_event_) yaml_event_delete(&event_);
    yaml_parser_delete(&parser_);
  }

  const yaml_event_t& next() {
    if (has_event_) yaml_event_delete(&event_);
    has_event_ = yaml_parser_parse(&parser_, &event_) != 0;
    if (!has_event_) {
      const int line = static_cast<int>(parser_.problem_mark.line) + 1;
      throw Error(at(name_, line), parser_.problem == nullptr ? "bad YAML" : parser_.problem);
    }
    return event_;
  }
  /// Goes past an event that is of this kind.
  void expect(yaml_event_type_t kind, const char* what) {
    if (next().type != kind) fail(what);
  }
  int line() const { return static_cast<int>(event_.start_mark.line) + 1; }
  [[noreturn]] void fail(const std::string& what) const { throw Error(at(name_, line()), what); }
  void count(std::size_t values) {
    values_ += values;
    if (reads_aliases && values_ > most_values)
      fail("more than " + std::to_string(most_values) + " values, with those of aliases");
  }

  bool reads_aliases = false;
  std::map<std::string, Json> anchors;  // of the document that is read

 private:
  std::size_t values_ = 0;
  std::string name_;
  yaml_parser_t parser_{};
  yaml_event_t event_{};
  bool has_event_ = false;
};

std::string text_of(const yaml_event_t& event) {
  const auto& scalar = event.data.scalar;
  return {reinterpret_cast<const char*>(scalar.value), scalar.length};
}

bool is_one_of(const std::string& text, std::initializer_list<const char*> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

/// What a scalar without quotes means.
Json plain(const std::string& text) {
  if (is_one_of(text, {"", "~", "null", "Null", "NULL"})) return {};
  if (is_one_of(text, {"true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON"})) return true;
  if (is_one_of(text, {"false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"}))
    return false;
  if (text.find_first_not_of("+-.eE0123456789_") == std::string::npos) {
    std::string digits = text;
    digits.erase(std::remove(digits.begin(), digits.end(), '_'), digits.end());
    if (const auto number = parse_number(digits)) return *number;
  }
  return text;
}

Json value_of(Events& events, const yaml_event_t& event, int depth);

Json scalar_of(Events& events, const yaml_event_t& event) {
  const auto& scalar = event.data.scalar;
  if (scalar.anchor != nullptr && !events.reads_aliases)
    events.fail("an anchor is not read here: write the value twice");
  if (scalar.tag != nullptr) events.fail("a tag is not read here: write the plain value");
  return scalar.style == YAML_PLAIN_SCALAR_STYLE ? plain(text_of(event)) : Json(text_of(event));
}

/// Adds keys of maps behind "<<" that a map does not state itself.
void merge(Events& events, Json& out, const Json& merged) {
  if (merged.is_array()) {
    for (const Json& each : merged.items()) merge(events, out, each);
    return;
  }
  if (!merged.is_object()) events.fail("expected a map behind <<");
  for (const Json::Member& member : merged.members())
    if (out.find(member.key) == nullptr) out[member.key] = member.value;
}

Json map_of(Events& events, int depth) {
  Json out = Json::object(), merged;
  while (true) {
    const yaml_event_t& key = events.next();
    if (key.type == YAML_MAPPING_END_EVENT) {
      if (!merged.is_null()) merge(events, out, merged);
      return out;
    }
    if (key.type != YAML_SCALAR_EVENT) events.fail("expected a key that is a text");
    const std::string name = text_of(key);
    if (events.reads_aliases && name == "<<" && merged.is_null()) {
      merged = value_of(events, events.next(), depth + 1);
      continue;
    }
    if (out.find(name) != nullptr) events.fail("the key '" + name + "' occurs twice");
    out[name] = value_of(events, events.next(), depth + 1);
  }
}

Json list_of(Events& events, int depth) {
  Json out = Json::array();
  while (true) {
    const yaml_event_t& item = events.next();
    if (item.type == YAML_SEQUENCE_END_EVENT) return out;
    out.push_back(value_of(events, item, depth + 1));
  }
}

/// Counts a value and those in it. @throws Error where they stand too deep, or are too many
void count_values(Events& events, const Json& value, int depth) {
  if (depth > deepest) events.fail("nested too deep");
  events.count(1);
  if (value.is_array())
    for (const Json& item : value.items()) count_values(events, item, depth + 1);
  if (value.is_object())
    for (const Json::Member& member : value.members())
      count_values(events, member.value, depth + 1);
}

Json alias_of(Events& events, const yaml_event_t& event, int depth) {
  if (!events.reads_aliases) events.fail("an alias is not read here: write the value again");
  const std::string name = reinterpret_cast<const char*>(event.data.alias.anchor);
  const auto found = events.anchors.find(name);
  if (found == events.anchors.end()) events.fail("the alias *" + name + " has no anchor before it");
  count_values(events, found->second, depth);
  return found->second;
}

std::string anchor_of(const yaml_event_t& event) {
  const yaml_char_t* name = nullptr;
  if (event.type == YAML_SCALAR_EVENT) name = event.data.scalar.anchor;
  if (event.type == YAML_SEQUENCE_START_EVENT) name = event.data.sequence_start.anchor;
  if (event.type == YAML_MAPPING_START_EVENT) name = event.data.mapping_start.anchor;
  return name == nullptr ? "" : reinterpret_cast<const char*>(name);
}

Json value_of(Events& events, const yaml_event_t& event, int depth) {
  if (depth > deepest) events.fail("nested too deep");
  events.count(1);
  const int line = events.line();
  const std::string anchor = anchor_of(event);
  const bool is_refused = !anchor.empty() && !events.reads_aliases;
  Json value;
  switch (event.type) {
    case YAML_SCALAR_EVENT:
      value = scalar_of(events, event);
      break;
    case YAML_SEQUENCE_START_EVENT:
      if (is_refused) events.fail("an anchor is not read here");
      value = list_of(events, depth);
      break;
    case YAML_MAPPING_START_EVENT:
      if (is_refused) events.fail("an anchor is not read here");
      value = map_of(events, depth);
      break;
    case YAML_ALIAS_EVENT:
      value = alias_of(events, event, depth);
      break;
    default:
      events.fail("expected a value");
  }
  value.line = line;
  if (!anchor.empty()) events.anchors[anchor] = value;
  return value;
}

}  // namespace

Json parse_yaml(std::string_view text, const std::string& name) {
  Events events(text, name);
  events.expect(YAML_STREAM_START_EVENT, "expected a document");
  const yaml_event_t& first = events.next();
  if (first.type == YAML_STREAM_END_EVENT) return Json::object();
  const yaml_event_t& begun = events.next();
  Json out = value_of(events, begun, 0);
  events.expect(YAML_DOCUMENT_END_EVENT, "expected the end of the document");
  events.expect(YAML_STREAM_END_EVENT, "a second document; expected one");
  return out;
}

std::vector<Json> parse_yaml_documents(std::string_view text, const std::string& name) {
  Events events(text, name);
  events.reads_aliases = true;
  events.expect(YAML_STREAM_START_EVENT, "expected a document");
  std::vector<Json> out;
  while (events.next().type != YAML_STREAM_END_EVENT) {
    events.anchors.clear();
    out.push_back(value_of(events, events.next(), 0));
    events.expect(YAML_DOCUMENT_END_EVENT, "expected the end of the document");
  }
  return out;
}

}  // namespace rooflua

#else

namespace rooflua {

namespace {

[[noreturn]] void refuse(const std::string& name) {
  throw Error(name, "is YAML, and this program was built without libyaml (Debian: libyaml-dev)");
}

}  // namespace

Json parse_yaml(std::string_view, const std::string& name) { refuse(name); }

std::vector<Json> parse_yaml_documents(std::string_view, const std::string& name) { refuse(name); }

}  // namespace rooflua

#endif
