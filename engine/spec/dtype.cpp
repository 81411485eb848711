#include "spec/dtype.h"

#include <array>
#include <string>
#include <vector>

#include "base/error.h"

namespace rooflua {

namespace {

struct Spelling {
  std::string_view text;
  Dtype dtype;
};

// The first spelling of a dtype is its name.
constexpr std::array<Spelling, 38> spellings{{
    {"fp32", Dtype::fp32},       {"float32", Dtype::fp32},      {"float", Dtype::fp32},
    {"bf16", Dtype::bf16},       {"bfloat16", Dtype::bf16},     {"fp16", Dtype::fp16},
    {"float16", Dtype::fp16},    {"half", Dtype::fp16},         {"fp8", Dtype::fp8},
    {"float8", Dtype::fp8},      {"fp8_e4m3", Dtype::fp8},      {"fp8_e5m2", Dtype::fp8},
    {"float8_e4m3", Dtype::fp8}, {"float8_e4m3fn", Dtype::fp8}, {"float8_e4m3fnuz", Dtype::fp8},
    {"float8_e5m2", Dtype::fp8}, {"fp8_block", Dtype::fp8},     {"fp8_static", Dtype::fp8},
    {"fp8_dynamic", Dtype::fp8}, {"fbgemm_fp8", Dtype::fp8},    {"w8a8_fp8", Dtype::fp8},
    {"mxfp8", Dtype::fp8},       {"int8", Dtype::int8},         {"i8", Dtype::int8},
    {"w8a8", Dtype::int8},       {"w8a16", Dtype::int8},        {"int8_wo", Dtype::int8},
    {"fp4", Dtype::fp4},         {"nvfp4", Dtype::fp4},         {"mxfp4", Dtype::fp4},
    {"float4", Dtype::fp4},      {"float4_e2m1", Dtype::fp4},   {"int4", Dtype::int4},
    {"i4", Dtype::int4},         {"w4a16", Dtype::int4},        {"int4_wo", Dtype::int4},
    {"nf4", Dtype::int4},        {"uint4", Dtype::int4},
}};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace

std::string_view name(Dtype dtype) {
  for (const Spelling& spelling : spellings) {
    if (spelling.dtype == dtype) return spelling.text;
  }
  ROOFLUA_ASSERT(!"a known dtype");
  return {};
}

std::optional<Dtype> parse_dtype(std::string_view text) {
  std::string wanted = lower(text);
  if (wanted.starts_with("torch.")) wanted.erase(0, 6);
  for (const Spelling& spelling : spellings) {
    if (spelling.text == wanted) return spelling.dtype;
  }
  return std::nullopt;
}

Dtype require_dtype(std::string_view text, std::string_view where) {
  if (const auto dtype = parse_dtype(text)) return *dtype;
  static const std::vector<std::string> known{"fp32", "bf16", "fp16", "fp8", "int8", "fp4", "int4"};
  throw Error(std::string(where), unknown_name("dtype", text, known));
}

}  // namespace rooflua
