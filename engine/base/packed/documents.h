#pragma once
// TOML files of the program that the build has read already. A file that was edited since then is
// read as text: what a document is found by is a checksum of its whole text.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"

namespace rooflua {

/// Documents, with their lines, by the texts that they were read from.
std::string pack_documents(const std::vector<std::pair<std::string, Json>>& by_text);

/// What pack_documents() made; it lives as long as the process. The first call counts.
void use_packed_documents(std::string_view packed);

/// The document that this text was read as; nothing where no packed one is of it.
std::optional<Json> packed_document(std::string_view text);

}  // namespace rooflua
