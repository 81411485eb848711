#pragma once
// Finds a shipped description by its name or one of its aliases. "NVIDIA-H200-SXM", "h200_sxm" and
// "H200 SXM" are the same name: letters and digits count, nothing else does.

#include <string>
#include <string_view>
#include <vector>

namespace rooflua {

struct CatalogueEntry {
  std::string name;  // of the file or folder
  std::vector<std::string> aliases;
};

/// Lower case, letters and digits only: "Qwen2.5-7B" -> "qwen257b".
std::string folded(std::string_view name);
/// Without the organisation: "meta-llama/Llama-2-7b-hf" -> "Llama-2-7b-hf".
std::string_view without_organisation(std::string_view name);

/// The entry that `wanted` names: first as written, then without its organisation prefix.
/// @throws Error "unknown <kind> ..." with suggestions and the known names, or if two entries claim
/// the alias
std::string find_by_name(std::string_view kind, std::string_view wanted,
                         const std::vector<CatalogueEntry>& entries);

}  // namespace rooflua
