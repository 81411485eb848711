#pragma once
// Arrivals of a trace that are dates.

#include <cstdint>
#include <optional>
#include <string_view>

namespace rooflua {

/// "2023-11-16 18:15:46.6805900" in nanoseconds since 1970; nothing if it is not such a date.
std::optional<std::int64_t> parse_date_ns(std::string_view text);

/// Whether a text begins as such a date does: no number has a '-' there.
bool looks_like_date(std::string_view text);

}  // namespace rooflua
