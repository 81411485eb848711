#include "cost/quality/finding.h"

#include <array>

namespace rooflua {

bool is_error(FindingKind kind) {
  return kind < FindingKind::hole;
}

std::string_view name(FindingKind kind) {
  static constexpr std::array<std::string_view, 19> names = {"mfu_disagrees",
                                                             "mfu_zero",
                                                             "above_peak",
                                                             "denominator",
                                                             "duplicate_key",
                                                             "no_header",
                                                             "unreadable",
                                                             "not_positive",
                                                             "impossible_shape",
                                                             "impossible_latency",
                                                             "quantiles",
                                                             "hole",
                                                             "non_monotone",
                                                             "warm_up",
                                                             "copy",
                                                             "loose_mfu",
                                                             "undocumented",
                                                             "above_bandwidth",
                                                             "spread"};
  return names[static_cast<std::size_t>(kind)];
}

}  // namespace rooflua
