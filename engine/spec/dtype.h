#pragma once
// Number formats by name, and how many bytes one element takes.

#include <optional>
#include <string_view>

#include "base/units.h"

namespace rooflua {

enum class Dtype { fp32, bf16, fp16, fp8, int8, fp4, int4 };

/// Bytes of one element: 4, 2, 2, 1, 1, 0.5, 0.5.
constexpr double bytes_per_element(Dtype dtype) {
  constexpr double bytes[] = {4, 2, 2, 1, 1, 0.5, 0.5};
  return bytes[static_cast<int>(dtype)];
}
std::string_view name(Dtype dtype);
/// Accepts the spellings in use ("bfloat16", "torch.float16", "float8_e4m3fn", "fp8_block",
/// "half").
std::optional<Dtype> parse_dtype(std::string_view text);
/// As parse_dtype(). @throws Error at `where` with the known names
Dtype require_dtype(std::string_view text, std::string_view where);

}  // namespace rooflua
