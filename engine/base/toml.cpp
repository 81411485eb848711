#include "base/toml.h"

#include <toml++/toml.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "base/latest.h"
#include "base/packed/documents.h"

namespace rooflua {

namespace {

struct Place {
  unsigned line, column;
};

Place begin_of(const toml::node& node) {
  return {node.source().begin.line, node.source().begin.column};
}

/// Tables inside tables, and parts of one dotted key. The parser and the conversion below call
/// themselves for each of them; what a person writes has a handful.
constexpr int most_nested = 64;
constexpr int most_key_parts = 32;

/// Refuses keys of very many parts (a.b.c...) before the parser sees them: it makes a table of each
/// part and destroys them one inside the other, so that a long key would exhaust the stack.
class KeyLengths {
 public:
  /// @throws Error "name:line: ..."
  static void check(std::string_view text, const std::string& name) {
    KeyLengths lengths(text);
    while (lengths.at_ < text.size()) {
      lengths.next();
      if (lengths.dots_ >= most_key_parts) {
        throw Error(at(name, lengths.line_), "a key of more than " +
                                                 std::to_string(most_key_parts) +
                                                 " parts; expected a few names between dots");
      }
    }
  }

 private:
  explicit KeyLengths(std::string_view text) : text_(text) {}

  /// Goes past one character, one text or one comment.
  void next() {
    const char c = text_[at_];
    if (c == '"' || c == '\'') return skip_text(c);
    if (c == '#') {
      at_ = std::min(text_.find('\n', at_), text_.size());
      return;
    }
    if (c == '.') ++dots_;
    if (c == '\n') ++line_;
    if (std::string_view("\n=,[]{}").find(c) != std::string_view::npos) dots_ = 0;
    ++at_;
  }
  void skip_text(char quote) {
    const std::string triple(3, quote);
    const bool many_lines = text_.substr(at_, 3) == triple;
    const std::string_view end = many_lines ? std::string_view(triple) : text_.substr(at_, 1);
    at_ += end.size();
    while (at_ < text_.size() && text_.substr(at_, end.size()) != end) {
      if (text_[at_] == '\n') {
        if (!many_lines) return;  // the parser complains
        ++line_;
      }
      at_ += quote == '"' && text_[at_] == '\\' ? 2 : 1;
    }
    at_ = std::min(at_ + end.size(), text_.size());
  }

  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1, dots_ = 0;
};

struct TomlFile {
  std::string name, text;
  bool operator==(const TomlFile&) const = default;
};

constexpr std::size_t most_kept_bytes = std::size_t{4} << 20;  // of texts

Json convert(const toml::node& node, const std::string& name, int depth);

Json convert_table(const toml::table& table, const std::string& name, int depth) {
  struct Entry {
    unsigned line, column;
    std::string key;
    const toml::node* node;
  };
  std::vector<Entry> entries;  // toml++ sorts by name; here they get the order of the file again
  for (const auto& [key, node] : table) {
    entries.push_back(
        {key.source().begin.line, key.source().begin.column, std::string(key.str()), &node});
  }
  std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    return a.line != b.line ? a.line < b.line : a.column < b.column;
  });
  Json::Object members;
  for (const Entry& entry : entries)
    members.push_back({entry.key, convert(*entry.node, name, depth)});
  return Json(std::move(members));
}

Json convert_value(const toml::node& node, const std::string& name, int depth) {
  if (const auto* text = node.as_string()) return Json(text->get());
  if (const auto* whole = node.as_integer()) return Json(std::int64_t{whole->get()});
  if (const auto* number = node.as_floating_point()) return Json(number->get());
  if (const auto* flag = node.as_boolean()) return Json(flag->get());
  if (const auto* table = node.as_table()) return convert_table(*table, name, depth + 1);
  if (const auto* array = node.as_array()) {
    Json::Array items;
    for (const toml::node& item : *array) items.push_back(convert(item, name, depth + 1));
    return Json(std::move(items));
  }
  const Place where = begin_of(node);
  throw Error(at(name, static_cast<int>(where.line)),
              "dates and times mean nothing here; write a text");
}

Json convert(const toml::node& node, const std::string& name, int depth) {
  if (depth > most_nested) {
    throw Error(at(name, static_cast<int>(begin_of(node).line)),
                "nested more than " + std::to_string(most_nested) + " deep");
  }
  Json value = convert_value(node, name, depth);
  value.line = static_cast<int>(begin_of(node).line);
  return value;
}

}  // namespace

Json parse_toml(std::string_view text, const std::string& name) {
  KeyLengths::check(text, name);
  try {
    return convert(toml::parse(text, name), name, 0);
  } catch (const toml::parse_error& problem) {
    const auto& where = problem.source().begin;
    throw Error(name + ":" + std::to_string(where.line) + ":" + std::to_string(where.column),
                std::string(problem.description()));
  }
}

Json read_toml(const std::filesystem::path& path) {
  if (std::filesystem::is_directory(path)) throw Error(path.string(), "is a folder");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw Error(path.string(), "cannot be read");
  std::ostringstream text;
  text << in.rdbuf();
  const TomlFile file{path.string(), std::move(text).str()};
  if (file.text.empty()) throw Error(file.name, "is empty");
  // Every run reads the same few files.
  thread_local Latest<TomlFile, Json> latest(most_kept_bytes);
  return *latest.of(file, file.text.size(), [&] {
    auto known = packed_document(file.text);
    return std::make_shared<const Json>(known ? std::move(*known)
                                              : parse_toml(file.text, file.name));
  });
}

}  // namespace rooflua
