#pragma once
// Number formats. One entry of number_formats() says everything that is known about a format;
// parsing, peaks, byte counts and the order of stand-ins read it.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/units.h"

namespace rooflua {

/// In the order of number_formats().
enum class Dtype {
  fp32,
  bf16,
  fp16,
  fp8,
  int8,
  fp4,
  int4,
  fp8_block,
  nvfp4,
  mxfp4,
  w4a8_mxfp4_mxfp8,
  mxfp8,
  int4_group32,
  int4_group128,
  int8_per_token_head,
  fp8_per_token_head,
  int4_per_token_head,
  turboquant_k8v4,
  turboquant_4bit_nc,
  turboquant_k3v4_nc,
  turboquant_3bit_nc
};

/// Rows of which format may price a kernel of another one.
struct StandIn {
  Dtype dtype = Dtype::bf16;
  /// The same kernel at the same speed: the answer is as good as one of the wanted format. Else its
  /// latency is scaled by the bytes of an element, and its evidence is stand_in.
  bool alike = false;
};

struct NumberFormat {
  Dtype dtype = Dtype::bf16;
  std::string_view name;
  double bits = 16;  // of one element, with its share of the scales; of keys and values in the mean
  /// Of a format of the KV cache alone: bytes of scales and norms beside the elements of a vector
  /// of keys or values, in the mean of both.
  double vector_bytes = 0;
  /// The format whose kernels run, and whose rows of KV caches are read: fp16 runs those of bf16.
  Dtype runs_as = Dtype::bf16;
  /// The format whose peak it computes at on a GPU that states none for the format itself. Of
  /// weights that are expanded to 16 bits on the way it is bf16; of scaled blocks, the format of an
  /// element.
  Dtype fallback_peak = Dtype::bf16;
  /// Whether activations are quantised to the format in front of a GEMM, by a kernel of its own.
  bool quantizes_input = false;
  /// Formats whose GEMM rows answer, in the order in which they are tried. Empty: only the modelled
  /// kernel does.
  std::span<const StandIn> stand_ins = {};
  std::span<const std::string_view> spellings = {};  // in use besides the name, in lower case
};

std::span<const NumberFormat> number_formats();
const NumberFormat& format_of(Dtype dtype);

namespace detail {
// By Dtype, from the entries.
extern const double* const element_bytes;
extern const double* const vector_bytes;
}  // namespace detail
/// Bytes of one element, with its share of the scales of its block.
inline double bytes_per_element(Dtype dtype) {
  return detail::element_bytes[static_cast<int>(dtype)];
}
/// Bytes of one element of a cached vector of so many, with its share of what is kept for each.
inline double cached_bytes(Dtype kv, double width) {
  const double own = detail::vector_bytes[static_cast<int>(kv)];
  return own > 0 && width > 0 ? bytes_per_element(kv) + own / width : bytes_per_element(kv);
}
std::string_view name(Dtype dtype);
/// Accepts the spellings in use, in any case, with or without "torch." in front ("bfloat16",
/// "torch.float16", "float8_e4m3fn", "fp8_block", "half").
std::optional<Dtype> parse_dtype(std::string_view text);
/// As parse_dtype(). @throws Error at `where` with the known names
Dtype require_dtype(std::string_view text, std::string_view where);

}  // namespace rooflua
