#include "spec/kernel_constants.h"

#include <array>
#include <vector>

#include "base/error.h"
#include "base/json.h"

namespace rooflua {

namespace {

using K = KernelConstants;

constexpr std::array<KernelConstant, 33> declared{{
    {"memory_efficiency", "1", 0.05, 1, &K::memory_efficiency,
     "Part of the datasheet bandwidth that a kernel reaches."},
    {"gemm_math", "1", 0.01, 1, &K::gemm_math, "Part of the peak inside a full GEMM tile."},
    {"attention_math", "1", 0.01, 1, &K::attention_math,
     "Part of the peak inside an attention tile, with the softmax between the two products."},
    {"kernel_launch_s", "s", 0, 50e-6, &K::kernel_launch_s,
     "The shortest kernel, as a node of a CUDA graph."},
    {"attention_launch_s", "s", 0, 200e-6, &K::attention_launch_s,
     "An attention call without work, with its scheduling and combining kernels."},
    {"grouped_launch_s", "s", 0, 500e-6, &K::grouped_launch_s,
     "Routed experts without work: routing, alignment, two GEMMs, sum."},
    {"gemm_tile_s", "s", 0, 20e-6, &K::gemm_tile_s, "Start and end of a GEMM tile on an SM."},
    {"prefill_tile_s", "s", 0, 50e-6, &K::prefill_tile_s,
     "Start and end of a prefill attention tile on an SM."},
    {"decode_tile_s", "s", 0, 50e-6, &K::decode_tile_s,
     "Start and end of a decode attention tile on an SM."},
    {"split_s", "s", 0, 50e-6, &K::split_s, "Adding up the partial results of a split k."},
    {"decode_split_s", "s", 0, 50e-6, &K::decode_split_s,
     "Combining the partial results of a split context."},
    {"gemm_sm_bytes_per_clock", "bytes", 1, 10000, &K::gemm_sm_bytes_per_clock,
     "What one SM loads of GEMM tiles per clock, multicast included."},
    {"decode_sm_bytes_per_clock", "bytes", 1, 10000, &K::decode_sm_bytes_per_clock,
     "What one SM streams of the KV cache per clock."},
    {"expert_row_traffic", "1", 0, 30, &K::expert_row_traffic,
     "Times that (I in, I out, H) of every row routed to an expert is moved."},
    {"expert_fp8_math", "1", 0.01, 1, &K::expert_fp8_math,
     "Part of gemm_math that FP8 experts with one scale per block reach."},
    {"quantize_row_s", "s", 0, 50e-6, &K::quantize_row_s,
     "A short row quantised to FP8 on one SM."},
    {"quantize_sm_bytes_per_clock", "bytes", 0.1, 1000, &K::quantize_sm_bytes_per_clock,
     "What one SM moves per clock of a long row quantised to FP8."},
    {"collective_link_bytes_per_s", "bytes/s", 1e9, 1e14, &K::collective_link_bytes_per_s,
     "Link, one direction, of the GPUs whose collectives were fitted; slopes scale from it."},
    {"all_reduce_eager_s", "s", 0, 1e-3, &K::all_reduce_eager_s,
     "What an all-reduce outside a CUDA graph takes more."},
    {"all_reduce_2_s", "s", 0, 1e-3, &K::all_reduce_2_s,
     "All-reduce of 2 ranks without a message."},
    {"all_reduce_2_ps_per_byte", "ps/byte", 0.01, 1000, &K::all_reduce_2_ps_per_byte,
     "All-reduce of 2 ranks, per byte."},
    {"all_reduce_4_small_s", "s", 0, 1e-3, &K::all_reduce_4_small_s,
     "Small-message all-reduce of 4 ranks without a message."},
    {"all_reduce_4_small_ps_per_byte", "ps/byte", 0.01, 1000, &K::all_reduce_4_small_ps_per_byte,
     "Small-message all-reduce of 4 ranks, per byte."},
    {"all_reduce_4_large_s", "s", 0, 1e-3, &K::all_reduce_4_large_s,
     "Large-message all-reduce of 4 ranks without a message."},
    {"all_reduce_4_large_ps_per_byte", "ps/byte", 0.01, 1000, &K::all_reduce_4_large_ps_per_byte,
     "Large-message all-reduce of 4 ranks, per byte."},
    {"all_reduce_8_small_s", "s", 0, 1e-3, &K::all_reduce_8_small_s,
     "Small-message all-reduce of 8 ranks without a message."},
    {"all_reduce_8_small_ps_per_byte", "ps/byte", 0.01, 1000, &K::all_reduce_8_small_ps_per_byte,
     "Small-message all-reduce of 8 ranks, per byte."},
    {"all_reduce_8_large_s", "s", 0, 1e-3, &K::all_reduce_8_large_s,
     "Large-message all-reduce of 8 ranks without a message."},
    {"all_reduce_8_large_ps_per_byte", "ps/byte", 0.01, 1000, &K::all_reduce_8_large_ps_per_byte,
     "Large-message all-reduce of 8 ranks, per byte."},
    {"all_to_all_small_s", "s", 0, 1e-3, &K::all_to_all_small_s,
     "Small-message all-to-all without a message."},
    {"all_to_all_small_ps_per_byte", "ps/byte", 0.01, 1000, &K::all_to_all_small_ps_per_byte,
     "Small-message all-to-all, per byte."},
    {"all_to_all_large_s", "s", 0, 1e-3, &K::all_to_all_large_s,
     "Large-message all-to-all without a message."},
    {"all_to_all_link_share", "1", 0.01, 1, &K::all_to_all_link_share,
     "Part of the link that a large all-to-all reaches."},
}};
static_assert(sizeof(KernelConstants) == declared.size() * sizeof(double));

}  // namespace

std::span<const KernelConstant> kernel_constants() {
  return declared;
}

void set_constant(KernelConstants& constants, const std::string& name, double value,
                  const std::string& where) {
  std::vector<std::string> known;
  for (const KernelConstant& each : declared) {
    if (each.name != name) {
      known.emplace_back(each.name);
      continue;
    }
    if (!(value >= each.least && value <= each.most)) {
      throw Error(where, "expected " + json_number(each.least) + " to " + json_number(each.most) +
                             (each.unit == "1" ? "" : " " + std::string(each.unit)) + ", found " +
                             json_number(value));
    }
    constants.*each.value = value;
    return;
  }
  throw Error(where, unknown_name("constant", name, known));
}

}  // namespace rooflua
