#pragma once
// Reads members that a document may lack.

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"

namespace rooflua {

/// The text at `key`; "" if the member is missing or not a text.
std::string text_of(const Json& object, std::string_view key);
/// The number at `key`; `otherwise` if the member is missing or not a number.
double number_of(const Json& object, std::string_view key, double otherwise = 0);
/// The whole number at `key`; 0 if the member is missing or not a whole number.
std::int64_t whole_of(const Json& object, std::string_view key);
/// Whether the member at `key` is true.
bool is_true(const Json& object, std::string_view key);
/// A list of texts as an array.
Json texts_json(const std::vector<std::string>& texts);

}  // namespace rooflua
