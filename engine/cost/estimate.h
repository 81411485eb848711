#pragma once
// A question to the kernel tables and its answer.

#include <cstdint>
#include <limits>

#include "base/units.h"
#include "cost/evidence.h"
#include "cost/work/roofline.h"
#include "spec/dtype.h"

namespace rooflua {

enum class Op : std::int32_t {
  gemm,               // m, k, n (per rank, as the GEMM runs), dtype
  attention_prefill,  // heads, kv_heads, head_dim, tp, batch, new_tokens, context_tokens (KV before
                      // the chunk)
  attention_decode,  // heads, kv_heads, head_dim, tp, kv_dtype, batch, context_tokens (per request,
                     // mean)
  grouped_gemm,  // experts, ranks, tp, experts_per_token, hidden_size, intermediate_size, tokens,
                 // decode
  mla_prefill,   // heads, tp, qk_nope_head_dim, qk_rope_head_dim, v_head_dim, batch, new_tokens,
                 // context_tokens
  mla_decode,    // heads, tp, kv_lora_rank, qk_rope_head_dim, kv_dtype, batch, context_tokens
  linear_attention,  // conv, key/value heads and dims, decode: batch, else new_tokens
  all_reduce,        // ranks, bytes, eager
  memory,            // kernel (copy, read, write), bytes
  launch,            // kernel (launch, graph_node)
  elementwise,       // kernel (norm, rope, silu_mul, quantize), tokens, width
};
inline constexpr int op_count = 11;

/// Kernels of memory, launch and elementwise tables that are told apart by name.
enum class Kernel : std::int32_t {
  none,
  copy,
  read,
  write,
  launch,
  graph_node,
  norm,
  rope,
  silu_mul,
  quantize  // 16 bits to FP8, one scale per token
};

/// One lookup. Only the fields its op uses are read; the rest stay 0. Heads, experts and the MoE
/// intermediate size are the whole model's, and the lookup divides them (heads by tp, experts by
/// ranks / tp, intermediate_size by tp); GEMM shapes are those of one rank.
struct Query {
  Op op = Op::gemm;
  Dtype dtype = Dtype::bf16;
  Dtype kv_dtype = Dtype::bf16;
  double m = 0, k = 0, n = 0;                 // gemm
  int heads = 0, kv_heads = 0, head_dim = 0;  // attention
  int tp = 1;
  double batch = 0;                           // requests; 0 counts as 1
  double new_tokens = 0, context_tokens = 0;  // per request
  // grouped GEMM: `tokens` are those of one rank before they are sent to `experts_per_token`
  // experts
  int experts = 0, ranks = 1, experts_per_token = 0;
  double hidden_size = 0, intermediate_size = 0, tokens = 0;
  bool decode = false;  // which of two tables: grouped_gemm, linear_attention
  // MLA
  int kv_lora_rank = 0, qk_nope_head_dim = 0, qk_rope_head_dim = 0, v_head_dim = 0;
  // linear attention
  int conv = 0, key_heads = 0, key_head_dim = 0, value_heads = 0, value_head_dim = 0;
  // collectives, memory, elementwise
  double bytes = 0, width = 0;
  bool eager = false;  // an all-reduce outside a CUDA graph
  Kernel kernel = Kernel::none;
};

/// The answer. `latency_s` > 0 (NaN only where a lookup answers with a constant MFU and no peak is
/// known). What it rests on in words: MfuDatabase::describe.
struct Estimate {
  double latency_s = 0;
  double mfu = std::numeric_limits<double>::quiet_NaN();  // NaN: the op has none
  double distance = 0;  // 0 = a measured point; else how far from the nearest row used, in
                        // doublings summed over the axes
  Evidence evidence = Evidence::assumed;
  std::int32_t rows = 0;           // how many rows it rests on
  std::int32_t selected_row = -1;  // 0-based data row of a policy that picks one; -1 = a default
  // Filled in by MfuDatabase: the work behind it, by the convention of the op's tables, and what
  // bounds that work on this GPU.
  double flop = 0, bytes = 0;
  Bound bound = Bound::compute;
  // Only from the InferSim policies. linear_attention: what the reference returns, to the last bit.
  double latency_us = std::numeric_limits<double>::quiet_NaN();
  // grouped_gemm: mfu is the larger of the two
  double mfu_up = std::numeric_limits<double>::quiet_NaN();
  double mfu_down = std::numeric_limits<double>::quiet_NaN();
};

}  // namespace rooflua
