#include "base/toml.h"

#include <toml++/toml.h>

#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/error.h"

namespace rooflua {

namespace {

struct Place {
  unsigned line, column;
};

Place begin_of(const toml::node& node) {
  return {node.source().begin.line, node.source().begin.column};
}

Json convert(const toml::node& node, const std::string& name);

Json convert_table(const toml::table& table, const std::string& name) {
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
  for (const Entry& entry : entries) members.push_back({entry.key, convert(*entry.node, name)});
  return Json(std::move(members));
}

Json convert_value(const toml::node& node, const std::string& name) {
  if (const auto* text = node.as_string()) return Json(text->get());
  if (const auto* whole = node.as_integer()) return Json(std::int64_t{whole->get()});
  if (const auto* number = node.as_floating_point()) return Json(number->get());
  if (const auto* flag = node.as_boolean()) return Json(flag->get());
  if (const auto* table = node.as_table()) return convert_table(*table, name);
  if (const auto* array = node.as_array()) {
    Json::Array items;
    for (const toml::node& item : *array) items.push_back(convert(item, name));
    return Json(std::move(items));
  }
  const Place where = begin_of(node);
  throw Error(at(name, static_cast<int>(where.line)),
              "dates and times mean nothing here; write a text");
}

Json convert(const toml::node& node, const std::string& name) {
  Json value = convert_value(node, name);
  value.line = static_cast<int>(begin_of(node).line);
  return value;
}

}  // namespace

Json parse_toml(std::string_view text, const std::string& name) {
  try {
    return convert(toml::parse(text, name), name);
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
  if (text.str().empty()) throw Error(path.string(), "is empty");
  return parse_toml(text.str(), path.string());
}

}  // namespace rooflua
