#include "spec/catalogue.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"

namespace rooflua {

namespace {

/// folded name or alias -> names of the entries that claim it
using Index = std::map<std::string, std::set<std::string>>;

Index index_of(const std::vector<CatalogueEntry>& entries) {
  Index index;
  for (const CatalogueEntry& entry : entries) {
    index[folded(entry.name)].insert(entry.name);
    for (const std::string& alias : entry.aliases) {
      index[folded(alias)].insert(entry.name);
      index[folded(without_organisation(alias))].insert(entry.name);
    }
  }
  return index;
}

}  // namespace

std::string folded(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') out += static_cast<char>(c - 'A' + 'a');
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9')) out += c;
  }
  return out;
}

std::string_view without_organisation(std::string_view name) {
  const std::size_t slash = name.find_last_of('/');
  return slash == std::string_view::npos ? name : name.substr(slash + 1);
}

std::string find_by_name(std::string_view kind, std::string_view wanted,
                         const std::vector<CatalogueEntry>& entries) {
  const Index index = index_of(entries);
  for (const std::string& key : {folded(wanted), folded(without_organisation(wanted))}) {
    const auto found = index.find(key);
    if (key.empty() || found == index.end()) continue;
    if (found->second.size() == 1) return *found->second.begin();
    std::string both;
    for (const std::string& name : found->second) both += (both.empty() ? "" : ", ") + name;
    throw Error("", std::string(kind) + " '" + std::string(wanted) + "' may mean any of: " + both);
  }
  std::vector<std::string> known;
  for (const CatalogueEntry& entry : entries) known.push_back(entry.name);
  std::sort(known.begin(), known.end());
  throw Error("", unknown_name(kind, wanted, known) + "; or give a path");
}

}  // namespace rooflua
