#pragma once
// One operation of a forward pass on one rank: its shape, its work and what it reads.

#include <string>
#include <string_view>

#include "cost/price/estimate.h"
#include "spec/declared/kind.h"
#include "spec/dtype.h"

namespace rooflua {

/// Which part of a step an operation sees; its row count is rows_per_token times this.
enum class Rows {
  tokens,        // every token of the step, prefill chunks and decodes (padded for CUDA graphs)
  group_tokens,  // with dp, cp > 1 or expert_gpus, tokens of all ranks together: experts, exchange
  requests,      // one row per request in the batch: the LM head
  prefill_tokens,  // new tokens of prefill chunks; kv_b also re-expands their cached context
  decode_tokens,   // one per decoding request
  tail_tokens,     // decodes, and the last tokens of prompts (AttentionLayers::prefill_tail)
};
std::string_view name(Rows rows);

/// One operation, run `count` times in a forward pass.
///
///     gemm          [rows, k] x [k, n], `groups` of them with a weight each (1 but for MLA's bmm)
///     grouped_gemm  gate, up and down of `groups` experts: k hidden, n expert width on this rank;
///                   rows_per_token = experts per token. Routing, activation and sum are inside.
///     attention_*, mla_*, linear_attention   heads, kv_heads and head_dim on this rank; the work
///                   depends on contexts; `kind` says which layers they are
///     all_reduce    bytes_per_row is the message of one row
///     elementwise   bytes_per_row in and out; the kernel "quantize", k elements of a row to FP8 in
///                   front of a GEMM, has a time of its own: quantize_time() in modelled_kernel.h
struct LayerOp {
  std::string name;
  Op op = Op::gemm;
  /// Whose measured rows stand for it: of elementwise a kernel of that table, where it is no mere
  /// copy; of a gemm the op "mla_bmm", where it runs per head. Empty: none.
  std::string_view kernel = {};
  Rows rows = Rows::tokens;
  double rows_per_token = 1;
  double k = 0, n = 0, groups = 1;
  double count = 0;
  Dtype dtype = Dtype::bf16;  // of the weights; else of the activations, as they are written
  double flop_per_row = 0;    // 0 where contexts decide
  double bytes_per_row = 0;   // activations in and out; for attention, KV of one cached token
  double weight_bytes = 0;    // read by one run; of a grouped GEMM: all experts of this rank
  double heads = 0, kv_heads = 0, head_dim = 0;
  Dtype kv = Dtype::bf16;  // of attention: format of the cache
  int kind = -1;  // of attention and of experts: index into attentions or mlps of the model
  /// Of ask.compute and ask.read of a kind that is a file, as Op::linear_attention: work of one run
  /// as sums of symbols. Null for every other operation.
  const declared::Operation* work = nullptr;
  double part = 1;  // of that work, on this rank
};

}  // namespace rooflua
