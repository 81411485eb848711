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

std::string file_of(const std::string& name, const std::vector<CatalogueEntry>& entries) {
  for (const CatalogueEntry& entry : entries) {
    if (entry.name == name && !entry.file.empty()) return entry.file;
  }
  return name;
}

[[noreturn]] void claimed_twice(std::string_view kind, std::string_view wanted,
                                const std::set<std::string>& names,
                                const std::vector<CatalogueEntry>& entries) {
  std::string all;
  for (const std::string& name : names) all += (all.empty() ? "" : ", ") + file_of(name, entries);
  throw Error("", std::string(kind) + " '" + std::string(wanted) + "' may mean any of: " + all +
                      "; a name belongs to one file");
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
    claimed_twice(kind, wanted, found->second, entries);
  }
  std::vector<std::string> known;
  for (const CatalogueEntry& entry : entries) known.push_back(entry.name);
  std::sort(known.begin(), known.end());
  throw Error("", unknown_name(kind, wanted, known) + "; or give a path");
}

std::vector<CatalogueEntry> claims(std::string_view name, const std::vector<CatalogueEntry>& all) {
  const Index index = index_of(all);
  std::vector<CatalogueEntry> out;
  for (const std::string& key : {folded(name), folded(without_organisation(name))}) {
    const auto found = index.find(key);
    if (key.empty() || found == index.end()) continue;
    for (const CatalogueEntry& entry : all) {
      if (found->second.contains(entry.name)) out.push_back(entry);
    }
    break;
  }
  return out;
}

void check_claims(std::string_view kind, const std::vector<CatalogueEntry>& all) {
  const Index index = index_of(all);
  for (const CatalogueEntry& entry : all) {
    for (const std::string& alias : entry.aliases) {
      const std::set<std::string>& names = index.at(folded(alias));
      if (names.size() > 1) claimed_twice(kind, alias, names, all);
    }
  }
}

}  // namespace rooflua
