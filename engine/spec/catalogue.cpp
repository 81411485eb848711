#include "spec/catalogue.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>

#include "base/error.h"
#include "base/fields.h"
#include "base/toml.h"

namespace rooflua {

namespace fs = std::filesystem;

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

/// The words of a name in the order of letters: "A100-80GB-SXM4" -> {"80gb", "a100", "sxm"}. The
/// maker and the number of a socket's generation are no words of a name.
std::multiset<std::string> words_of(std::string_view name) {
  std::multiset<std::string> out;
  std::string word;
  const auto end_word = [&] {
    if (word.starts_with("sxm") && word.size() == 4) word.pop_back();
    if (!word.empty() && word != "nvidia" && word != "amd") out.insert(word);
    word.clear();
  };
  for (const char c : name) {
    const std::string letter = folded(std::string_view(&c, 1));
    if (letter.empty()) end_word();
    word += letter;
  }
  end_word();
  return out;
}

bool has_words(const CatalogueEntry& entry, const std::multiset<std::string>& words) {
  return words_of(entry.name) == words ||
         std::any_of(entry.aliases.begin(), entry.aliases.end(),
                     [&](const std::string& alias) { return words_of(alias) == words; });
}

/// Names that share a word with a digit, as "a100", with a name.
std::vector<std::string> kin_of(std::string_view wanted,
                                const std::vector<CatalogueEntry>& entries) {
  std::vector<std::string> out;
  for (const std::string& word : words_of(wanted)) {
    const bool has_digit = word.find_first_of("0123456789") != std::string::npos;
    const bool is_size = word.ends_with("gb");
    if (!has_digit || is_size) continue;
    for (const CatalogueEntry& entry : entries)
      if (words_of(entry.name).contains(word)) out.push_back(entry.name);
  }
  return out;
}

struct StatedAliases {
  fs::file_time_type written;
  std::uintmax_t bytes = 0;
  std::vector<std::string> aliases;
};

}  // namespace

std::vector<std::string> stated_aliases(const fs::path& file) {
  static std::mutex mutex;
  static std::map<std::string, StatedAliases> known;
  std::error_code unknown;
  const fs::file_time_type written = fs::last_write_time(file, unknown);
  const std::uintmax_t bytes = unknown ? 0 : fs::file_size(file, unknown);
  const std::lock_guard lock(mutex);
  const auto found = known.find(file.string());
  if (!unknown && found != known.end() && found->second.written == written &&
      found->second.bytes == bytes)
    return found->second.aliases;
  const Json document = read_toml(file);
  std::vector<std::string> aliases = Fields(document, file.string()).texts("aliases");
  if (!unknown) known[file.string()] = {written, bytes, aliases};
  return aliases;
}

std::string in_any_order(std::string_view wanted, const std::vector<CatalogueEntry>& entries) {
  if (!claims(wanted, entries).empty()) return std::string(wanted);
  const auto words = words_of(wanted);
  std::set<std::string> found;
  for (const CatalogueEntry& entry : entries)
    if (has_words(entry, words)) found.insert(entry.name);
  return found.size() == 1 ? *found.begin() : std::string(wanted);
}

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
  const std::string said = unknown_name(kind, wanted, known);
  const std::vector<std::string> kin = kin_of(wanted, entries);
  const bool is_near = std::any_of(kin.begin(), kin.end(), [&](const std::string& name) {
    return said.find("did you mean '" + name + "'") != std::string::npos;
  });
  if (kind == "hardware" && !is_near && !kin.empty() && kin.size() < 4)
    throw Error("", "unknown " + std::string(kind) + " '" + std::string(wanted) + "'; there is '" +
                        joined(kin, "', '") + "' (" + std::to_string(known.size()) +
                        " names are known); or give a path");
  throw Error("", said + "; or give a path");
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
