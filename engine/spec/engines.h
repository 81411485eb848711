#pragma once
// The serving engines whose kernels were timed and whose rules are followed.

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

namespace rooflua {

inline constexpr std::array<std::string_view, 3> engine_names = {"sglang", "trtllm", "vllm"};
inline constexpr std::string_view default_engine = "vllm";

/// Engines in the order in which their rows stand in for those of another one.
inline constexpr std::array<std::string_view, 3> lending_engines = {"vllm", "sglang", "trtllm"};

/// Place among lending_engines; nothing if there is no such engine.
constexpr std::optional<std::ptrdiff_t> engine_place(std::string_view name) {
  const auto found = std::find(lending_engines.begin(), lending_engines.end(), name);
  if (found == lending_engines.end()) return std::nullopt;
  return found - lending_engines.begin();
}

/// Whether both engines take most of their kernels from the same libraries (FlashInfer, DeepGEMM,
/// Triton, Marlin): vLLM and SGLang do. TensorRT-LLM has kernels of its own.
constexpr bool share_libraries(std::string_view a, std::string_view b) {
  return a == b || (a != "trtllm" && b != "trtllm");
}

constexpr bool is_engine(std::string_view name) {
  return std::find(engine_names.begin(), engine_names.end(), name) != engine_names.end();
}

}  // namespace rooflua
