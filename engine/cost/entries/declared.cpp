// The ops of rooflua. A new one is an entry at the end.

#include <algorithm>

#include "cost/entries/module_ops.h"
#include "cost/lookup/all_reduce.h"
#include "cost/lookup/attention.h"
#include "cost/lookup/elementwise.h"
#include "cost/lookup/experts.h"
#include "cost/lookup/gemm.h"
#include "cost/lookup/moe_layer.h"
#include "cost/model/kernel.h"
#include "cost/ops/declaration.h"
#include "cost/ops/fields.h"
#include "cost/tables/kernel_table.h"
#include "cost/work/op_work.h"

namespace rooflua {
namespace {

using namespace fields;

using Shape = std::array<double, max_axes>;

// The fields of each op, in the order of their axes ----------------------------------------------

constexpr Field gemm_fields[] = {
    {.name = "m", .number = &Query::m, .unit = "rows", .doc = "Rows.", .role = FieldRole::axis},
    {.name = "k", .number = &Query::k, .unit = "elements", .doc = "Width of a row."},
    {.name = "n", .number = &Query::n, .unit = "elements", .doc = "Width of a result."}};

constexpr Field attention_prefill_fields[] = {heads,          kv_heads,   head_dim, batch,
                                              context_tokens, new_tokens, tp};
constexpr Field attention_decode_fields[] = {heads, kv_heads,       head_dim, kv_dtype,
                                             batch, context_tokens, tp};

constexpr Field mla_prefill_fields[] = {latent_heads,
                                        qk_nope_head_dim,
                                        qk_rope_head_dim,
                                        batch,
                                        context_tokens,
                                        new_tokens,
                                        tp,
                                        {.name = "v_head_dim",
                                         .number = &Query::v_head_dim,
                                         .unit = "elements",
                                         .doc = "Width of a value head; 0: as qk_nope_head_dim.",
                                         .role = FieldRole::question,
                                         .kind = FieldKind::count,
                                         .need = FieldNeed::nothing}};
constexpr Field mla_decode_fields[] = {
    latent_heads, kv_lora_rank, qk_rope_head_dim, kv_dtype, batch, context_tokens, tp};

constexpr Field grouped_gemm_fields[] = {
    {.name = "experts",
     .number = &Query::experts,
     .unit = "experts",
     .doc = "Routed experts of the whole model.",
     .kind = FieldKind::count,
     .need = FieldNeed::positive_always},
    {.name = "ranks",
     .number = &Query::ranks,
     .unit = "ranks",
     .doc = "Ranks that hold the experts between them.",
     .kind = FieldKind::count,
     .otherwise = 1},
    {.name = "local_experts", .unit = "experts", .doc = "Experts of one rank."},
    {.name = "experts_per_token",
     .number = &Query::experts_per_token,
     .unit = "experts",
     .doc = "Experts that a token is sent to.",
     .kind = FieldKind::count,
     .need = FieldNeed::positive_always,
     .column = "topk"},
    {.name = "hidden_size",
     .number = &Query::hidden_size,
     .unit = "elements",
     .doc = "Width of a token.",
     .need = FieldNeed::positive_always,
     .column = "k"},
    {.name = "intermediate_size",
     .number = &Query::intermediate_size,
     .unit = "elements",
     .doc = "Width of an expert of the whole model.",
     .need = FieldNeed::positive_always,
     .column = "n"},
    tokens,
    label("distribution", "How tokens are spread over experts."),
    tp,
    gated,
    decode};
constexpr std::string_view grouped_gemm_columns[] = {"experts", "topk", "tokens",
                                                     "k",       "n",    "distribution"};

/// Heads and widths that questions and rows of linear attention have alike.
constexpr Field linear_part(std::string_view name, QueryNumber number, FieldRole role,
                            FieldNeed need, std::string_view doc) {
  return {.name = name,
          .number = number,
          .unit = name.ends_with("heads") ? "heads" : "elements",
          .doc = doc,
          .role = role,
          .kind = FieldKind::count,
          .need = need};
}
constexpr Field linear_attention_fields[] = {
    decode,
    linear_part("conv", &Query::conv, FieldRole::key, FieldNeed::nothing,
                "Width of the short convolution."),
    linear_part("key_heads", &Query::key_heads, FieldRole::near, FieldNeed::positive_always,
                "Key heads."),
    linear_part("key_head_dim", &Query::key_head_dim, FieldRole::scale, FieldNeed::nothing,
                "Width of a key head."),
    linear_part("value_heads", &Query::value_heads, FieldRole::scale, FieldNeed::positive_always,
                "Value heads: the state grows with them."),
    linear_part("value_head_dim", &Query::value_head_dim, FieldRole::scale, FieldNeed::nothing,
                "Width of a value head."),
    {.name = "batch",
     .number = &Query::batch,
     .unit = "requests",
     .doc = "Requests of a decode; 0 counts as 1.",
     .role = FieldRole::axis,
     .need = FieldNeed::zero,
     .when = FieldWhen::decode,
     .at_least = 1,
     .axis = "tokens"},
    {.name = "new_tokens",
     .number = &Query::new_tokens,
     .unit = "tokens",
     .doc = "Tokens of a prompt.",
     .role = FieldRole::axis,
     .when = FieldWhen::prefill,
     .axis = "tokens"}};

constexpr Field all_reduce_fields[] = {{.name = "ranks",
                                        .number = &Query::ranks,
                                        .unit = "ranks",
                                        .doc = "Ranks whose buffers are added up.",
                                        .kind = FieldKind::count,
                                        .need = FieldNeed::two,
                                        .otherwise = 1},
                                       bytes,
                                       label("mode", "eager, graph, or the library."),
                                       {.name = "eager",
                                        .number = &Query::eager,
                                        .doc = "Whether it runs outside a CUDA graph.",
                                        .role = FieldRole::question,
                                        .kind = FieldKind::flag,
                                        .need = FieldNeed::nothing}};

constexpr Field window_prefill_fields[] = {heads, kv_heads,       head_dim,   window,
                                           batch, context_tokens, new_tokens, tp};
constexpr Field window_decode_fields[] = {heads,    kv_heads, head_dim,       window,
                                          kv_dtype, batch,    context_tokens, tp};

/// Doublings of the shape. Farther rows say less than the modelled kernel does.
constexpr double farthest_experts = 2;

// MoE layers of another shape are nearer than those of an engine with other kernels: on B200 in FP8
// blocks, TensorRT-LLM's rows are 37 % off those of vLLM and SGLang in the median (60 % in the
// mean), another shape of the same engine 10 % (15 to 22 %), read off at as many tokens per expert.
// 384 experts in place of 256 are 0.44 doublings away.
constexpr double experts_of_other_kernels = 0.6;
constexpr Field ranks_of(std::string_view name, QueryNumber number, std::string_view doc) {
  return {.name = name,
          .number = number,
          .unit = "ranks",
          .doc = doc,
          .kind = FieldKind::count,
          .need = FieldNeed::positive_always,
          .otherwise = 1};
}
constexpr Field moe_layer_fields[] = {
    module_fields::hidden_size,
    module_fields::intermediate_size,
    module_fields::experts,
    module_fields::experts_per_token,
    ranks_of("tp", &Query::tp, "Ranks that divide the width of each expert between them."),
    ranks_of("ep", &Query::expert_ranks, "Ranks that hold whole experts."),
    {.name = "distribution",
     .number = &Query::distribution,
     .doc = "How tokens are spread over experts.",
     .role = FieldRole::key,
     .kind = FieldKind::word,
     .need = FieldNeed::nothing,
     .otherwise = 2,
     .words = module_fields::distributions},
    gated,
    module_fields::all_tokens};

constexpr Field memory_fields[] = {kernel, bytes};
constexpr Field launch_fields[] = {kernel};
constexpr Field elementwise_fields[] = {kernel,
                                        [] {
                                          Field field = tokens;
                                          field.need = FieldNeed::positive_always;
                                          return field;
                                        }(),
                                        {.name = "width",
                                         .number = &Query::width,
                                         .unit = "elements",
                                         .doc = "Width of a token.",
                                         .need = FieldNeed::positive_always},
                                        label("dtype", "Number format of the tokens.")};

// Rows whose axes are not the numbers of a question ----------------------------------------------

void read_mla_prefill_row(Query& q, const KernelTable&, const KernelRow&) {
  q.v_head_dim = q.qk_nope_head_dim;  // value heads are as wide as the keys without rope
}

void read_grouped_row(Query& q, const KernelTable&, const KernelRow& row) {
  q.ranks = std::max(1.0, q.ranks);
  const double local_experts = row.shape[2];
  q.tp = std::max(1, static_cast<int>(local_experts * q.ranks / q.experts));
  q.intermediate_size *= q.tp;
}

void read_all_reduce_row(Query& q, const KernelTable& table, const KernelRow& row) {
  if (table.labels.empty()) return;
  q.eager = table.labels[static_cast<std::size_t>(row.shape[2])].ends_with("eager");
}

void complete_grouped_row(Shape& s) {
  s[1] = 1;     // ranks
  s[2] = s[0];  // local_experts
}

// The ops ----------------------------------------------------------------------------------------

constexpr OpDeclaration core_ops[] = {
    {.name = "gemm",
     .doc = "[m,k] x [k,n] on one rank.",
     .fields = gemm_fields,
     .flop = work::gemm_flop,
     .bytes = work::gemm_bytes,
     .peak = PeakOf::dtype,
     .convention = FlopConvention::gemm_2mkn,
     .model = modelled::gemm,
     .index = index_over<GemmTables>,
     .file = "gemm"},
    {.name = "attention_prefill",
     .doc = "Attention of new tokens to a prompt and what precedes it.",
     .fields = attention_prefill_fields,
     .flop = work::prefill_flop,
     .bytes = work::prefill_bytes,
     .convention = FlopConvention::attention_causal_half,
     .model = modelled::attention_prefill,
     .index = index_over<AttentionIndex>,
     .typed = false,
     .format_of_kv = true,
     .shape_axes = 3,
     .file = "attention_prefill"},
    {.name = "attention_decode",
     .doc = "Attention of one new token of each request to its context.",
     .fields = attention_decode_fields,
     .flop = work::decode_flop,
     .bytes = work::decode_bytes,
     .convention = FlopConvention::attention_full,
     .model = modelled::attention_decode,
     .index = index_over<AttentionIndex>,
     .typed = false,
     .shape_axes = 3,
     .file = "attention_decode"},
    {.name = "grouped_gemm",
     .doc = "The two GEMMs of routed experts, and what brings tokens to them.",
     .fields = grouped_gemm_fields,
     .flop = work::experts_flop,
     .bytes = work::experts_bytes,
     .peak = PeakOf::dtype,
     .model = modelled::grouped_gemm,
     .index = index_over<ExpertIndex>,
     .file = "grouped_gemm",
     .imported = false,
     .variant = "single",  // one GEMM of the pair in each row
     .columns = grouped_gemm_columns,
     .from_row = read_grouped_row,
     .complete_row = complete_grouped_row},
    {.name = "mla_prefill",
     .doc = "Latent attention of new tokens, expanded to heads.",
     .fields = mla_prefill_fields,
     .flop = work::latent_prefill_flop,
     .bytes = work::latent_prefill_bytes,
     .convention = FlopConvention::attention_causal_half,
     .model = modelled::attention_prefill,
     .index = index_over<AttentionIndex>,
     .typed = false,
     .format_of_kv = true,
     .shape_axes = 3,
     .file = "mla_prefill",
     .from_row = read_mla_prefill_row},
    {.name = "mla_decode",
     .doc = "Latent attention of one new token of each request, absorbed.",
     .fields = mla_decode_fields,
     .flop = work::latent_decode_flop,
     .bytes = work::latent_decode_bytes,
     .convention = FlopConvention::attention_full,
     .model = modelled::attention_decode,
     .index = index_over<AttentionIndex>,
     .typed = false,
     .shape_axes = 3,
     .file = "mla_decode"},
    {.name = "linear_attention",
     .doc = "Gated delta rule with its short convolution.",
     .fields = linear_attention_fields,
     .model = modelled::linear_attention,
     .typed = false},
    {.name = "all_reduce",
     .doc = "Sum of a buffer over ranks.",
     .fields = all_reduce_fields,
     .bytes = work::moved_bytes,
     .model = modelled::all_reduce,
     .index = index_over<AllReduceIndex>,
     .over_links = true,
     .typed = false,
     .file = "all_reduce",
     .from_row = read_all_reduce_row},
    {.name = "memory",
     .doc = "A buffer that is copied, read or written.",
     .fields = memory_fields,
     .bytes = work::moved_bytes,
     .model = modelled::memory,
     .typed = false,
     .file = "memory",
     .dtype_in_name = false},
    {.name = "launch",
     .doc = "An empty kernel, alone or as a node of a CUDA graph.",
     .fields = launch_fields,
     .model = modelled::launch,
     .typed = false,
     .file = "launch",
     .dtype_in_name = false},
    {.name = "elementwise",
     .doc = "A kernel that passes over [tokens, width].",
     .fields = elementwise_fields,
     .bytes = work::elementwise_bytes,
     .model = modelled::elementwise,
     .index = index_over<ElementwiseIndex>,
     .typed = false,
     .file = "elementwise",
     .dtype_in_name = false},
    {.name = "attention_window_prefill",
     .doc = "As attention_prefill, where a token sees the last `window` tokens.",
     .fields = window_prefill_fields,
     .flop = work::window_prefill_flop,
     .bytes = work::window_prefill_bytes,
     .model = modelled::window_attention,
     .index = index_over<AttentionIndex>,
     .typed = false,
     .format_of_kv = true,
     .shape_axes = 4,
     .file = "attention_window_prefill",
     .imported = false},
    {.name = "attention_window_decode",
     .doc = "As attention_decode, where a token sees the last `window` tokens.",
     .fields = window_decode_fields,
     .flop = work::window_decode_flop,
     .bytes = work::window_decode_bytes,
     .model = modelled::window_attention,
     .index = index_over<AttentionIndex>,
     .typed = false,
     .shape_axes = 4,
     .file = "attention_window_decode",
     .imported = false},
    {.name = "moe_layer",
     .doc =
         "Routed experts as an engine runs them: routing, permutation, quantisation, both GEMMs, "
         "activation and sum; not the router's GEMM, shared experts or communication.",
     .fields = moe_layer_fields,
     .flop = work::moe_layer_flop,
     .bytes = work::moe_layer_bytes,
     .peak = PeakOf::dtype,
     .model = modelled::moe_layer,
     .index = index_over<MoeLayerIndex>,
     .farthest = farthest_experts,
     .own_kernels_gap = experts_of_other_kernels,
     .file = "moe_layer",
     .imported = false},
};

template <std::size_t a, std::size_t b>
constexpr std::array<OpDeclaration, a + b> joined(const OpDeclaration (&first)[a],
                                                  const OpDeclaration (&second)[b]) {
  std::array<OpDeclaration, a + b> all{};
  for (std::size_t i = 0; i < a; ++i) all[i] = first[i];
  for (std::size_t i = 0; i < b; ++i) all[a + i] = second[i];
  return all;
}
constexpr auto ops = joined(core_ops, module_ops);

}  // namespace

std::span<const OpDeclaration> standard_ops() {
  return ops;
}

}  // namespace rooflua
