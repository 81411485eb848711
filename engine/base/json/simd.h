#pragma once
// A second reader of JSON, for large documents: simdjson, several times as fast as the first one.

#include <optional>
#include <string_view>

#include "base/json.h"
#include "base/json/builder.h"

namespace rooflua {

/// Whether the program was built with simdjson.
bool has_simd_json();

/// The document as the other reader gives it; nullopt where this one refuses the text or is not
/// there. Then the other reader decides: it may read the text, and its errors name line and column.
/// @throws Error as JsonBuilder does
std::optional<Json> read_simd_json(std::string_view text, const JsonReading& reading);

}  // namespace rooflua
