#pragma once
// A question to the kernel tables and its answer. Shapes are per rank unless a lookup says otherwise.

#include <cstdint>
#include <string>

#include "base/units.h"
#include "cost/evidence.h"
#include "spec/dtype.h"

namespace rooflua {

enum class Op : std::int32_t {
  gemm,               // m, k, n
  attention_prefill,  // heads, kv_heads, head_dim, batch, new_tokens, context_tokens (KV before the chunk)
  attention_decode,   // heads, kv_heads, head_dim, batch, context_tokens (per request, mean)
  grouped_gemm,       // experts (local), experts_per_token, hidden, intermediate, tokens (see importers for W, tp)
  mla_prefill,        // heads, kv_lora_rank | nope, rope, batch, new_tokens, context_tokens
  mla_decode,
  linear_attention,   // conv, key heads/dim, value heads/dim, batch or tokens
  all_reduce,         // ranks, bytes
  memory,             // copy | read, bytes
  launch,
  elementwise,
};

/// One lookup. Only the fields its op uses are read; the rest stay 0.
struct Query {
  Op op = Op::gemm;
  Dtype dtype = Dtype::bf16;
  Dtype kv_dtype = Dtype::bf16;
  double m = 0, k = 0, n = 0;                     // gemm
  int heads = 0, kv_heads = 0, head_dim = 0;      // whole-model heads; the lookup divides by tp
  int tp = 1;
  double batch = 0;                               // requests
  double new_tokens = 0, context_tokens = 0;      // per request
  // grouped GEMM
  int experts = 0, ranks = 1, experts_per_token = 0;
  double hidden_size = 0, intermediate_size = 0, tokens = 0;
  bool decode = false;
  // MLA
  int kv_lora_rank = 0, qk_nope_head_dim = 0, qk_rope_head_dim = 0, v_head_dim = 0;
  // linear attention
  int conv = 0, key_heads = 0, key_head_dim = 0, value_heads = 0, value_head_dim = 0;
  // collectives, memory
  double bytes = 0;
};

/// The answer. `latency_s` is always there; `mfu` is NaN where the op has none.
struct Estimate {
  double latency_s = 0;
  double mfu = 0;
  double distance = 0;  // 0 = a measured point; else how far in units of the grid (log2 of the ratio)
  Evidence evidence = Evidence::assumed;
  std::int32_t rows = 0;           // how many rows it rests on
  std::int32_t selected_row = -1;  // 0-based data row of a policy that picks one; -1 = a default
  std::string note;                // table and rows in words, for explain
};

}  // namespace rooflua
