#pragma once
// Where a number came from, from good to bad. An operation takes the worst of its inputs.

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/vocabulary.h"

namespace rooflua {

enum class Evidence { measured, interpolated, extrapolated, stand_in, modelled, assumed };

struct EvidenceWord {
  Evidence value;
  std::string_view name, help;
  bool unsupported;  // counts against --strict: no measurement of this GPU is close
};
inline constexpr EvidenceWord evidence_words[] = {
    {Evidence::measured, "measured", "a row of a table of this GPU", false},
    {Evidence::interpolated, "interpolated", "between rows", false},
    {Evidence::extrapolated, "extrapolated", "beyond the rows", true},
    {Evidence::stand_in, "stand_in", "another shape's or another GPU's utilisation", true},
    {Evidence::modelled, "modelled", "from datasheet figures: modelled kernels, bandwidth", true},
    {Evidence::assumed, "assumed", "a constant that was fitted or guessed", true},
};
static_assert(in_order(evidence_words));
inline constexpr int evidence_count = std::size(evidence_words);
/// A share of the time for each evidence, in the order of the enum.
using EvidenceShares = std::array<double, evidence_count>;

constexpr std::string_view name(Evidence evidence) {
  return evidence_words[static_cast<std::size_t>(evidence)].name;
}
/// The inverse of name(); nothing if no evidence is called that.
constexpr std::optional<Evidence> parse_evidence(std::string_view text) {
  return value_named(evidence_words, text);
}
constexpr Evidence worst(Evidence a, Evidence b) {
  return a < b ? b : a;
}
/// The part of the shares (by evidence) that is unsupported: what --strict limits.
double unsupported_share(const EvidenceShares& shares);
/// The names of unsupported evidence as a sentence has them: "extrapolated, stand_in, modelled or assumed".
std::string unsupported_names();

}  // namespace rooflua
