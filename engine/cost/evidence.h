#pragma once
// Where a number came from, from good to bad. An operation takes the worst of its inputs.

#include <optional>
#include <string_view>

namespace rooflua {

enum class Evidence {
  measured,      // a row of a table of this GPU
  interpolated,  // between rows
  extrapolated,  // beyond the rows
  stand_in,      // another shape's or another GPU's utilisation
  modelled,      // from datasheet figures: modelled_kernel, bandwidth
  assumed,       // a constant that was fitted or guessed
};
inline constexpr int evidence_count = 6;

std::string_view name(Evidence evidence);
/// The inverse of name(); nothing if no evidence is called that.
std::optional<Evidence> parse_evidence(std::string_view text);
constexpr Evidence worst(Evidence a, Evidence b) {
  return a < b ? b : a;
}

}  // namespace rooflua
