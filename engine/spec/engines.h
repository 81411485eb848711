#pragma once
// The serving engines whose kernels were timed and whose rules are followed.

#include <algorithm>
#include <array>
#include <string_view>

namespace rooflua {

inline constexpr std::array<std::string_view, 3> engine_names = {"sglang", "trtllm", "vllm"};
inline constexpr std::string_view default_engine = "vllm";

constexpr bool is_engine(std::string_view name) {
  return std::find(engine_names.begin(), engine_names.end(), name) != engine_names.end();
}

}  // namespace rooflua
