#pragma once
// The fitted constants of modelled kernels and collectives. Each is a declared parameter: its name,
// unit, range and meaning are in kernel_constants(), its value and source in a file per GPU family
// (family.h).

#include <span>
#include <string>
#include <string_view>

namespace rooflua {

/// One value of each constant. The defaults are those of Hopper, for a GPU that is read without
/// family files; tests/spec/family_test.cpp compares them with bench_data/families/hopper.toml.
struct KernelConstants {
  double memory_efficiency = 0.88;
  double gemm_math = 0.85;
  double attention_math = 0.66;
  double kernel_launch_s = 2.2e-6;
  double attention_launch_s = 8.3e-6;
  double grouped_launch_s = 34e-6;
  double gemm_tile_s = 0.65e-6;
  double prefill_tile_s = 3.1e-6;
  double decode_tile_s = 1.7e-6;
  double split_s = 2.5e-6;
  double decode_split_s = 1.9e-6;
  double gemm_sm_bytes_per_clock = 80;
  double decode_sm_bytes_per_clock = 22.7;
  double expert_row_traffic = 3;
  double expert_fp8_math = 0.5;
  double quantize_row_s = 0.96e-6;
  double quantize_sm_bytes_per_clock = 5.4;

  double collective_link_bytes_per_s = 450e9;
  double all_reduce_eager_s = 16e-6;
  double all_reduce_2_s = 4.4e-6;
  double all_reduce_2_ps_per_byte = 3.84;
  double all_reduce_4_small_s = 4.4e-6;
  double all_reduce_4_small_ps_per_byte = 10;
  double all_reduce_4_large_s = 6.3e-6;
  double all_reduce_4_large_ps_per_byte = 5.5;
  double all_reduce_8_small_s = 4.7e-6;
  double all_reduce_8_small_ps_per_byte = 24;
  double all_reduce_8_large_s = 9e-6;
  double all_reduce_8_large_ps_per_byte = 4.6;
  double all_to_all_small_s = 7e-6;
  double all_to_all_small_ps_per_byte = 40;
  double all_to_all_large_s = 13e-6;
  double all_to_all_link_share = 0.69;
};

/// One declaration.
struct KernelConstant {
  std::string_view name;
  std::string_view unit;  // "1" for a ratio
  double least, most;
  double KernelConstants::*value;
  std::string_view doc;
};

/// Every constant, kernels before collectives.
std::span<const KernelConstant> kernel_constants();

/// Changes one constant. @param where  in front of messages, "mfu.model.gemm_math"
/// @throws Error for an unknown name, with suggestions, and for a value outside the range
void set_constant(KernelConstants& constants, const std::string& name, double value,
                  const std::string& where);

}  // namespace rooflua
