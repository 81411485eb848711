#pragma once
// Finds a shipped description by its name or one of its aliases. "NVIDIA-H200-SXM", "h200_sxm" and
// "H200 SXM" are the same name: letters and digits count, nothing else does.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace rooflua {

struct CatalogueEntry {
  std::string name;  // of the file or folder
  std::vector<std::string> aliases;
  std::string file = {};  // what errors call it; empty: its name
};

/// The key `aliases` of a TOML file. A file is parsed once in a process, and again when its time or
/// its size have changed.
/// @throws Error naming the file: it cannot be read, is no TOML, or its aliases are no texts
std::vector<std::string> stated_aliases(const std::filesystem::path& file);

/// Lower case, letters and digits only: "Qwen2.5-7B" -> "qwen257b".
std::string folded(std::string_view name);
/// Without the organisation: "meta-llama/Llama-2-7b-hf" -> "Llama-2-7b-hf".
std::string_view without_organisation(std::string_view name);

/// The entry that `wanted` names: first as written, then without its organisation prefix.
/// @throws Error "unknown <kind> ..." with suggestions and the known names, or with the files of
/// two entries that claim the same name
std::string find_by_name(std::string_view kind, std::string_view wanted,
                         const std::vector<CatalogueEntry>& entries);

/// The name of the one entry of which a name or alias has these words in another order:
/// "a100-80gb-sxm" is "a100-sxm-80gb". `wanted` itself where an entry claims it, and where there is
/// none or several.
std::string in_any_order(std::string_view wanted, const std::vector<CatalogueEntry>& entries);

/// Entries that claim this name, as written or without its organisation, by name.
std::vector<CatalogueEntry> claims(std::string_view name, const std::vector<CatalogueEntry>& all);
/// @throws Error naming the files of two entries that claim one name
void check_claims(std::string_view kind, const std::vector<CatalogueEntry>& all);

}  // namespace rooflua
