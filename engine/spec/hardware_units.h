#pragma once
// Figures of a GPU that can only be in another unit than the one asked for: 3.35 for 3,350 GB/s,
// 989 for 989 TFLOP/s in flop/s. The limits lie far outside every GPU, so that thought experiments
// pass.

#include <string>
#include <string_view>
#include <vector>

#include "spec/ranges.h"

namespace rooflua {

/// What is wrong with a positive figure, and how it would be written: "" if nothing is.
/// @param key  of a hardware.toml ("memory_gb_per_s", "peak_tflop_per_s.bf16"), or in the library's
///             units ("memory_bytes_per_s", "peak_flop_per_s.bf16"). Other keys are not looked at
std::string implausible(std::string_view key, double value);

/// What is plausible for each figure, by its key and in its unit in a hardware.toml.
std::vector<FigureRange> plausible_ranges();

}  // namespace rooflua
