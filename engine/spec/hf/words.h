#pragma once
// One quantity of a config.json under the words that published files use for it.

#include <initializer_list>
#include <string_view>

#include "base/fields.h"

namespace rooflua::hf {

using Words = std::initializer_list<std::string_view>;

/// The first word that is present; every word counts as read. "" if none is.
/// @throws Error naming both where two of them state different numbers
std::string_view spelling(const Fields& fields, Words words);
/// The figure under any of the words. @throws Error with all of them if none is present
int need_first(const Fields& fields, Words words);
int first_or(const Fields& fields, Words words, int otherwise);

bool one_of(std::string_view text, Words names);

}  // namespace rooflua::hf
