#pragma once
// A question to the kernel tables: an op, and the numbers that its declaration names.

#include <array>
#include <cstddef>
#include <cstdint>

#include "spec/dtype.h"

namespace rooflua {

/// Position of an op among declared_ops() (declaration.h). Only ops that C++ code names have an
/// enumerator here; an op that is nothing but its declaration needs none.
enum class Op : std::int32_t {
  gemm,
  attention_prefill,
  attention_decode,
  grouped_gemm,
  mla_prefill,
  mla_decode,
  linear_attention,
  all_reduce,
  memory,
  launch,
  elementwise,
  attention_window_prefill,
  attention_window_decode,
  moe_layer,
};

/// Codes of the words that name a kernel of memory, launch and elementwise: their positions in
/// kernel_words (fields.h).
struct Kernel {
  static constexpr double none = 0, copy = 1, read = 2, write = 3, launch = 4, graph_node = 5;
  static constexpr double norm = 6, rope = 7, silu_mul = 8, quantize = 9;
  static constexpr double to_host = 10, from_host = 11;
};

/// One question. Tables and keys read only the numbers that its op declares; the rest stay 0.
/// Counts are whole; flags are 0 or 1; words are codes (Field::words). Heads, experts and the MoE
/// intermediate size are the whole model's, and the lookup divides them (heads by tp, experts by
/// ranks / tp, intermediate_size by tp); GEMM shapes are those of one rank.
struct Query {
  Op op = Op::gemm;
  Dtype dtype = Dtype::bf16;
  Dtype kv_dtype = Dtype::bf16;
  double m = 0, k = 0, n = 0;
  double heads = 0, kv_heads = 0, head_dim = 0;
  double tp = 1;
  double batch = 0;                           // requests; 0 counts as 1
  double new_tokens = 0, context_tokens = 0;  // per request; context before the new tokens
  double experts = 0, ranks = 1, experts_per_token = 0;
  double hidden_size = 0, intermediate_size = 0;
  double gated = 1;  // 0: experts have two matrices, up and down, and no gate
  double tokens = 0;  // of one rank, before they are sent to experts
  double decode = 0;  // 1: the decode table of an op that has two
  double kv_lora_rank = 0, qk_nope_head_dim = 0, qk_rope_head_dim = 0, v_head_dim = 0;
  double conv = 0, key_heads = 0, key_head_dim = 0, value_heads = 0, value_head_dim = 0;
  double bytes = 0, width = 0;
  double window = 0;                          // tokens that a query sees, itself included
  double expert_ranks = 1, distribution = 0;  // of a whole MoE layer
  double eager = 0;                           // 1: an all-reduce outside a CUDA graph
  double kernel = Kernel::none;
  std::array<double, 12> own{};  // numbers of an op that no formula outside its declaration reads
};

/// One of the numbers of a question, or none.
class QueryNumber {
 public:
  constexpr QueryNumber() = default;
  constexpr QueryNumber(double Query::*named) : named_(named) {}
  /// Query::own[place].
  static constexpr QueryNumber own(int place) {
    QueryNumber number;
    number.place_ = place;
    return number;
  }

  constexpr explicit operator bool() const { return named_ != nullptr || place_ >= 0; }
  double& operator()(Query& query) const {
    return named_ != nullptr ? query.*named_ : query.own[static_cast<std::size_t>(place_)];
  }
  double operator()(const Query& query) const { return (*this)(const_cast<Query&>(query)); }
  friend constexpr bool operator==(const QueryNumber&, const QueryNumber&) = default;

 private:
  double Query::*named_ = nullptr;
  int place_ = -1;
};

}  // namespace rooflua
