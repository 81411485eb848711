#include "spec/dtype.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/error.h"

namespace rooflua {

namespace {

using Text = std::string_view;

constexpr std::array<Text, 2> fp32_spellings{"float32", "float"};
constexpr std::array<Text, 1> bf16_spellings{"bfloat16"};
constexpr std::array<Text, 2> fp16_spellings{"float16", "half"};
constexpr std::array<Text, 11> fp8_spellings{
    "float8",      "fp8_e4m3",   "fp8_e5m2",    "float8_e4m3", "float8_e4m3fn", "float8_e4m3fnuz",
    "float8_e5m2", "fp8_static", "fp8_dynamic", "fbgemm_fp8",  "w8a8_fp8"};
constexpr std::array<Text, 4> int8_spellings{"i8", "w8a8", "w8a16", "int8_wo"};
constexpr std::array<Text, 2> fp4_spellings{"float4", "float4_e2m1"};
constexpr std::array<Text, 5> int4_spellings{"i4", "w4a16", "int4_wo", "nf4", "uint4"};
constexpr std::array<Text, 1> fp8_block_spellings{"fp8_blockwise"};
constexpr std::array<Text, 1> mxfp4_mxfp8_spellings{"mxfp4_mxfp8"};

constexpr std::array<StandIn, 3> for_16_bits{
    {{Dtype::bf16, true}, {Dtype::fp16, true}, {Dtype::fp8, false}}};
constexpr std::array<StandIn, 3> for_fp8{
    {{Dtype::fp8, true}, {Dtype::fp8_block, false}, {Dtype::bf16, false}}};
constexpr std::array<StandIn, 3> for_fp8_block{
    {{Dtype::fp8_block, true}, {Dtype::fp8, false}, {Dtype::bf16, false}}};
constexpr std::array<StandIn, 4> for_int8{
    {{Dtype::int8, true}, {Dtype::fp8, false}, {Dtype::fp8_block, false}, {Dtype::bf16, false}}};
constexpr std::array<StandIn, 2> for_fp4{{{Dtype::nvfp4, false}, {Dtype::mxfp4, false}}};
constexpr std::array<StandIn, 1> for_int4{{{Dtype::int4, true}}};
constexpr std::array<StandIn, 1> for_nvfp4{{{Dtype::nvfp4, true}}};
constexpr std::array<StandIn, 1> for_mxfp4{{{Dtype::mxfp4, true}}};
constexpr std::array<StandIn, 1> for_mxfp4_mxfp8{{{Dtype::w4a8_mxfp4_mxfp8, true}}};

constexpr std::array<StandIn, 4> for_mxfp8{
    {{Dtype::mxfp8, true}, {Dtype::fp8_block, false}, {Dtype::fp8, false}, {Dtype::bf16, false}}};
constexpr std::array<StandIn, 1> for_int4_group{{{Dtype::int4, true}}};

constexpr double scale_of_128_by_128 = 32.0 / (128 * 128);  // bits for an element: one fp32
constexpr double scale_of_16 = 8.0 / 16, scale_of_32 = 8.0 / 32;
constexpr double bf16_scale_of_32 = 16.0 / 32, bf16_scale_of_128 = 16.0 / 128;

constexpr auto known_formats = std::to_array<NumberFormat>({
    {.dtype = Dtype::fp32,
     .name = "fp32",
     .bits = 32,
     .runs_as = Dtype::fp32,
     .fallback_peak = Dtype::fp32,
     .spellings = fp32_spellings},
    {.dtype = Dtype::bf16,
     .name = "bf16",
     .bits = 16,
     .runs_as = Dtype::bf16,
     .fallback_peak = Dtype::bf16,
     .stand_ins = for_16_bits,
     .spellings = bf16_spellings},
    {.dtype = Dtype::fp16,
     .name = "fp16",
     .bits = 16,
     .runs_as = Dtype::bf16,
     .fallback_peak = Dtype::fp16,
     .stand_ins = for_16_bits,
     .spellings = fp16_spellings},
    {.dtype = Dtype::fp8,
     .name = "fp8",
     .bits = 8,
     .runs_as = Dtype::fp8,
     .fallback_peak = Dtype::bf16,
     .quantizes_input = true,
     .stand_ins = for_fp8,
     .spellings = fp8_spellings},
    {.dtype = Dtype::int8,
     .name = "int8",
     .bits = 8,
     .runs_as = Dtype::int8,
     .fallback_peak = Dtype::bf16,
     .stand_ins = for_int8,
     .spellings = int8_spellings},
    {.dtype = Dtype::fp4,
     .name = "fp4",
     .bits = 4,
     .runs_as = Dtype::fp4,
     .fallback_peak = Dtype::bf16,
     .stand_ins = for_fp4,
     .spellings = fp4_spellings},
    {.dtype = Dtype::int4,
     .name = "int4",
     .bits = 4,
     .runs_as = Dtype::int4,
     .fallback_peak = Dtype::bf16,
     .stand_ins = for_int4,
     .spellings = int4_spellings},
    {.dtype = Dtype::fp8_block,
     .name = "fp8_block",
     .bits = 8 + scale_of_128_by_128,
     .runs_as = Dtype::fp8,
     .fallback_peak = Dtype::fp8,
     .quantizes_input = true,
     .stand_ins = for_fp8_block,
     .spellings = fp8_block_spellings},
    {.dtype = Dtype::nvfp4,
     .name = "nvfp4",
     .bits = 4 + scale_of_16,
     .runs_as = Dtype::fp4,
     .fallback_peak = Dtype::fp4,
     .stand_ins = for_nvfp4},
    {.dtype = Dtype::mxfp4,
     .name = "mxfp4",
     .bits = 4 + scale_of_32,
     .runs_as = Dtype::fp4,
     .fallback_peak = Dtype::bf16,
     .stand_ins = for_mxfp4},
    {.dtype = Dtype::w4a8_mxfp4_mxfp8,
     .name = "w4a8_mxfp4_mxfp8",
     .bits = 4 + scale_of_32,
     .runs_as = Dtype::fp4,
     .fallback_peak = Dtype::fp8,
     .quantizes_input = true,
     .stand_ins = for_mxfp4_mxfp8,
     .spellings = mxfp4_mxfp8_spellings},
    {.dtype = Dtype::mxfp8,
     .name = "mxfp8",
     .bits = 8 + scale_of_32,
     .runs_as = Dtype::fp8,
     .fallback_peak = Dtype::fp8,
     .quantizes_input = true,
     .stand_ins = for_mxfp8},
    {.dtype = Dtype::int4_group32,
     .name = "int4_group32",
     .bits = 4 + bf16_scale_of_32,
     .runs_as = Dtype::int4,
     .fallback_peak = Dtype::int4,
     .stand_ins = for_int4_group},
    {.dtype = Dtype::int4_group128,
     .name = "int4_group128",
     .bits = 4 + bf16_scale_of_128,
     .runs_as = Dtype::int4,
     .fallback_peak = Dtype::int4,
     .stand_ins = for_int4_group},
    // vLLM's formats of the KV cache. Source: v1/attention/backends/triton_attn.py, customize_spec:
    // a scale of fp32 for each vector; quantization/turboquant/config.py: keys with a norm and
    // values with a scale and a zero, fp16 each. Kernels compute in 16 bits.
    {.dtype = Dtype::int8_per_token_head,
     .name = "int8_per_token_head",
     .bits = 8,
     .vector_bytes = 4},
    {.dtype = Dtype::fp8_per_token_head,
     .name = "fp8_per_token_head",
     .bits = 8,
     .vector_bytes = 4},
    {.dtype = Dtype::int4_per_token_head,
     .name = "int4_per_token_head",
     .bits = 4,
     .vector_bytes = 4},
    {.dtype = Dtype::turboquant_k8v4, .name = "turboquant_k8v4", .bits = 6, .vector_bytes = 2},
    {.dtype = Dtype::turboquant_4bit_nc,
     .name = "turboquant_4bit_nc",
     .bits = 4,
     .vector_bytes = 3},
    {.dtype = Dtype::turboquant_k3v4_nc,
     .name = "turboquant_k3v4_nc",
     .bits = 3.5,
     .vector_bytes = 3},
    {.dtype = Dtype::turboquant_3bit_nc,
     .name = "turboquant_3bit_nc",
     .bits = 3,
     .vector_bytes = 3},
});

constexpr bool in_order() {
  for (std::size_t i = 0; i < known_formats.size(); ++i) {
    if (known_formats[i].dtype != static_cast<Dtype>(i)) return false;
  }
  return true;
}
static_assert(in_order(), "the entries are in the order of Dtype");

constexpr auto of_all(double NumberFormat::*figure, double divisor) {
  std::array<double, known_formats.size()> out{};
  for (std::size_t i = 0; i < known_formats.size(); ++i)
    out[i] = known_formats[i].*figure / divisor;
  return out;
}
constexpr auto all_element_bytes = of_all(&NumberFormat::bits, 8);
constexpr auto all_vector_bytes = of_all(&NumberFormat::vector_bytes, 1);

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

bool contains(std::span<const Text> list, std::string_view text) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

}  // namespace

constinit const double* const detail::element_bytes = all_element_bytes.data();
constinit const double* const detail::vector_bytes = all_vector_bytes.data();

std::span<const NumberFormat> number_formats() {
  return known_formats;
}

const NumberFormat& format_of(Dtype dtype) {
  return known_formats[static_cast<std::size_t>(dtype)];
}

std::string_view name(Dtype dtype) {
  return format_of(dtype).name;
}

std::optional<Dtype> parse_dtype(std::string_view text) {
  std::string wanted = lower(text);
  if (wanted.starts_with("torch.")) wanted.erase(0, 6);
  for (const NumberFormat& format : known_formats) {
    if (format.name == wanted || contains(format.spellings, wanted)) return format.dtype;
  }
  return std::nullopt;
}

Dtype require_dtype(std::string_view text, std::string_view where) {
  if (const auto dtype = parse_dtype(text)) return *dtype;
  std::vector<std::string> known;
  for (const NumberFormat& format : known_formats) known.emplace_back(format.name);
  throw Error(std::string(where), unknown_name("dtype", text, known));
}

}  // namespace rooflua
