#pragma once
// Text and numbers on their way into HTML and SVG: escaped, without locale, the same bytes always.

#include <string>
#include <string_view>

namespace rooflua {

/// & < > " ' as entities; control characters that XML forbids become U+FFFD. Fit for text and for
/// quoted attributes.
std::string escaped(std::string_view text);

/// A coordinate: two decimals at most, no "-0", no trailing zeros. 12.5, 3, 0.07
std::string pixels(double coordinate);

}  // namespace rooflua
