#include "cost/evidence.h"

namespace rooflua {

std::string_view name(Evidence evidence) {
  switch (evidence) {
    case Evidence::measured:
      return "measured";
    case Evidence::interpolated:
      return "interpolated";
    case Evidence::extrapolated:
      return "extrapolated";
    case Evidence::stand_in:
      return "stand_in";
    case Evidence::modelled:
      return "modelled";
    case Evidence::assumed:
      return "assumed";
  }
  return "?";
}

std::optional<Evidence> parse_evidence(std::string_view text) {
  for (int i = 0; i < evidence_count; ++i) {
    const auto evidence = static_cast<Evidence>(i);
    if (name(evidence) == text) return evidence;
  }
  return std::nullopt;
}

}  // namespace rooflua
