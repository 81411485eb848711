#pragma once
// Ops that are nothing but their declaration: modules of attention that are timed whole, recurrent
// layers, exchanges between ranks. Private to declared.cpp.

#include "cost/ops/declaration.h"
#include "cost/ops/fields.h"
#include "cost/work/op_work.h"

namespace rooflua {

namespace module_fields {

using namespace fields;

constexpr Field size(std::string_view name, QueryNumber number, std::string_view unit,
                     std::string_view doc) {
  return {.name = name,
          .number = number,
          .unit = unit,
          .doc = doc,
          .kind = FieldKind::count,
          .need = FieldNeed::positive_always};
}
inline constexpr Field hidden_size =
    size("hidden_size", &Query::hidden_size, "elements", "Width of a token.");
inline constexpr Field intermediate_size =
    size("intermediate_size", &Query::intermediate_size, "elements",
         "Width of an expert of the whole model.");
inline constexpr Field experts =
    size("experts", &Query::experts, "experts", "Routed experts of the whole model.");
inline constexpr Field experts_per_token = size("experts_per_token", &Query::experts_per_token,
                                                "experts", "Experts that a token is sent to.");
inline constexpr Field all_tokens{.name = "tokens",
                                  .number = &Query::tokens,
                                  .unit = "tokens",
                                  .doc = "Tokens of all ranks together.",
                                  .role = FieldRole::axis,
                                  .need = FieldNeed::positive_always};
inline constexpr FieldWord distributions[] = {{"balanced"}, {"power_law_1.01"}, {"power_law_1.2"}};

/// Heads of the whole model, divided by tp; the time of a module grows with them.
inline constexpr Field module_heads = [] {
  Field field = latent_heads;
  field.role = FieldRole::scale;
  return field;
}();
constexpr Field word(std::string_view name, QueryNumber number, std::span<const FieldWord> words,
                     std::string_view doc) {
  return {.name = name,
          .number = number,
          .doc = doc,
          .role = FieldRole::key,
          .kind = FieldKind::word,
          .need = FieldNeed::positive_always,
          .words = words};
}
inline constexpr Field ratio =
    size("ratio", QueryNumber::own(0), "1", "Tokens that are compressed to one.");
inline constexpr Field index_topk =
    size("index_topk", QueryNumber::own(0), "tokens", "Tokens that the index selects.");
inline constexpr Field index_heads =
    size("index_heads", QueryNumber::own(1), "heads", "Heads of the index.");
inline constexpr Field index_head_dim =
    size("index_head_dim", QueryNumber::own(2), "elements", "Width of a head of the index.");
inline constexpr Field key_new_tokens = [] {
  Field field = new_tokens;
  field.role = FieldRole::near;
  return field;
}();

inline constexpr FieldWord absorbed[] = {{"pre"}, {"post"}};
inline constexpr FieldWord collectives[] = {
    {"all_reduce"}, {"all_gather"}, {"reduce_scatter"}, {"all_to_all"}};
inline constexpr FieldWord exchanges[] = {
    {"normal"}, {"low_latency"}, {"nvlink_one_sided"}, {"nvlink_two_sided"}};
inline constexpr FieldWord layouts[] = {{"contiguous"}, {"masked"}, {"grouped"}};
inline constexpr FieldWord phases[] = {
    {"prepare"}, {"dispatch"}, {"combine"}, {"combine_low_precision"}};

constexpr Field state(std::string_view name, QueryNumber number, FieldRole role,
                      std::string_view doc) {
  return {.name = name,
          .number = number,
          .unit = name.ends_with("heads") ? "heads" : "elements",
          .doc = doc,
          .role = role,
          .kind = FieldKind::count,
          .need = FieldNeed::positive_always};
}
inline constexpr Field key_heads =
    state("key_heads", &Query::key_heads, FieldRole::near, "Key heads of one rank.");
inline constexpr Field key_head_dim =
    state("key_head_dim", &Query::key_head_dim, FieldRole::scale, "Width of a key head.");
inline constexpr Field value_heads =
    state("value_heads", &Query::value_heads, FieldRole::scale, "Value heads of one rank.");
inline constexpr Field value_head_dim =
    state("value_head_dim", &Query::value_head_dim, FieldRole::scale, "Width of a value head.");
inline constexpr Field conv =
    state("conv", &Query::conv, FieldRole::key, "Width of the short convolution.");

inline constexpr Field mla_bmm[] = {word("stage", QueryNumber::own(0), absorbed,
                                         "pre: queries times W_UK; post: outputs times W_UV."),
                                    module_heads,
                                    kv_lora_rank,
                                    [] {
                                      Field field = head_dim;
                                      field.need = FieldNeed::positive_always;
                                      return field;
                                    }(),
                                    tokens,
                                    tp};
inline constexpr Field module_prefill[] = {module_heads,   kv_dtype,   batch,
                                           context_tokens, new_tokens, tp};
inline constexpr Field module_decode[] = {module_heads, kv_dtype, batch, context_tokens, tp};
inline constexpr Field wide_module_prefill[] = {hidden_size,    module_heads, kv_dtype, batch,
                                                context_tokens, new_tokens,   tp};
inline constexpr Field wide_module_decode[] = {hidden_size, module_heads,   kv_dtype,
                                               batch,       context_tokens, tp};
inline constexpr Field v4_prefill[] = {hidden_size, ratio, module_heads, batch, context_tokens,
                                       new_tokens,  tp};
inline constexpr Field v4_decode[] = {hidden_size, ratio, module_heads, batch, context_tokens, tp};
inline constexpr Field dsa_prefill[] = {module_heads, kv_lora_rank,   qk_rope_head_dim, index_topk,
                                        batch,        context_tokens, new_tokens,       tp};
inline constexpr Field dsa_decode[] = {module_heads, kv_lora_rank, qk_rope_head_dim, index_topk,
                                       kv_dtype,     batch,        context_tokens,   tp};
inline constexpr Field dsa_index_prefill[] = {index_heads, index_head_dim, batch, context_tokens,
                                              new_tokens};
inline constexpr Field dsa_index_decode[] = {index_heads, index_head_dim, batch, key_new_tokens,
                                             context_tokens};
inline constexpr Field mhc[] = {
    word("stage", QueryNumber::own(0), absorbed, "Before a block, or after it."), hidden_size,
    tokens};
inline constexpr Field gdn_prefill[] = {key_heads, key_head_dim, value_heads, value_head_dim,
                                        conv,      batch,        new_tokens};
inline constexpr Field gdn_decode[] = {key_heads,      key_head_dim, value_heads,
                                       value_head_dim, conv,         batch};
inline constexpr Field kda_prefill[] = {key_heads,      key_head_dim, value_heads,
                                        value_head_dim, batch,        new_tokens};
inline constexpr Field collective[] = {
    word("collective", QueryNumber::own(0), collectives, "Which one."),
    {.name = "ranks",
     .number = &Query::ranks,
     .unit = "ranks",
     .doc = "Ranks that take part.",
     .kind = FieldKind::count,
     .need = FieldNeed::two},
    bytes};
inline constexpr Field expert_exchange[] = {
    word("mode", QueryNumber::own(0), exchanges, "Which kernels carry tokens to their experts."),
    word("phase", QueryNumber::own(1), phases, "Part of the exchange."),
    {.name = "ranks",
     .number = &Query::ranks,
     .unit = "ranks",
     .doc = "Ranks that hold the experts between them.",
     .kind = FieldKind::count,
     .need = FieldNeed::two},
    hidden_size,
    experts,
    experts_per_token,
    {.name = "sms",
     .number = QueryNumber::own(2),
     .unit = "SMs",
     .doc = "SMs that the exchange takes; 0: no such setting.",
     .role = FieldRole::near,
     .need = FieldNeed::zero},
    tokens};
inline constexpr Field moe_experts[] = {
    word("layout", QueryNumber::own(1), layouts, "How the tokens of an expert lie in memory."),
    hidden_size,
    intermediate_size,
    experts,
    experts_per_token,
    size("slots", QueryNumber::own(0), "experts",
         "Places for experts on all ranks, copies included."),
    size("ep", &Query::expert_ranks, "ranks", "Ranks that hold whole experts."),
    {.name = "distribution",
     .number = &Query::distribution,
     .doc = "How tokens are spread over experts.",
     .role = FieldRole::key,
     .kind = FieldKind::word,
     .need = FieldNeed::nothing,
     .otherwise = 2,
     .words = distributions},
    tokens};

inline constexpr FieldWord samplings[] = {{"greedy", "", 1}, {"random", "", 2}, {"top_p", "", 3}};
inline constexpr Field sampling[] = {
    word(
        "method", QueryNumber::own(0), samplings,
        "greedy: the largest logit; random: by their probability; top_p: among the most probable."),
    {.name = "vocab_size",
     .number = &Query::width,
     .unit = "entries",
     .doc = "Logits of a token.",
     .role = FieldRole::axis,
     .need = FieldNeed::positive_always},
    [] {
      Field field = tokens;
      field.doc = "Rows of logits: one for each token that is chosen.";
      field.need = FieldNeed::positive_always;
      return field;
    }()};
inline constexpr std::string_view sampling_columns[] = {"method", "tokens", "vocab_size"};

}  // namespace module_fields

/// An op whose rows are found by its fields alone.
constexpr OpDeclaration module_op(std::string_view name, std::span<const Field> fields, bool typed,
                                  std::string_view doc, double (*bytes)(const Query&) = nullptr,
                                  bool over_links = false) {
  return {.name = name,
          .doc = doc,
          .fields = fields,
          .bytes = bytes,
          .over_links = over_links,
          .typed = typed,
          .file = name,
          .imported = false};
}

inline constexpr OpDeclaration module_ops[] = {
    module_op("moe_experts", module_fields::moe_experts, true,
              "Experts of one rank after an exchange of tokens."),
    module_op("mla_bmm", module_fields::mla_bmm, true,
              "A projection that latent attention absorbs, one small GEMM per head."),
    module_op("mla_module_prefill", module_fields::module_prefill, true,
              "The whole latent attention block of DeepSeek-V3, with its projections."),
    module_op("mla_module_decode", module_fields::module_decode, true,
              "As mla_module_prefill, for one new token of each request."),
    module_op("dsa_module_prefill", module_fields::wide_module_prefill, true,
              "The whole sparse latent attention block, with its index and projections."),
    module_op("dsa_module_decode", module_fields::wide_module_decode, true,
              "As dsa_module_prefill, for one new token of each request."),
    module_op("msa_module_prefill", module_fields::module_prefill, true,
              "The whole block-sparse attention block of MiniMax-M3, with its projections."),
    module_op("msa_module_decode", module_fields::module_decode, true,
              "As msa_module_prefill, for one new token of each request."),
    module_op("v4_module_prefill", module_fields::v4_prefill, true,
              "The whole compressed attention block of DeepSeek-V4, with its projections."),
    module_op("v4_module_decode", module_fields::v4_decode, true,
              "As v4_module_prefill, for one new token of each request."),
    module_op("dsa_prefill", module_fields::dsa_prefill, false,
              "Sparse latent attention of new tokens to the tokens that the index selects."),
    module_op("dsa_decode", module_fields::dsa_decode, false,
              "As dsa_prefill, for one new token of each request."),
    module_op("dsa_index_prefill", module_fields::dsa_index_prefill, true,
              "Scores of the index that selects tokens."),
    module_op("dsa_index_decode", module_fields::dsa_index_decode, true,
              "As dsa_index_prefill, for few new tokens of each request."),
    module_op("mhc", module_fields::mhc, false, "Hyper-connections around a block of DeepSeek-V4."),
    module_op("gdn_prefill", module_fields::gdn_prefill, false,
              "Short convolution and gated delta rule of prompts.", work::recurrent_bytes),
    module_op("gdn_decode", module_fields::gdn_decode, false,
              "Short convolution and gated delta rule of one new token of each request.",
              work::recurrent_bytes),
    module_op("kda_prefill", module_fields::kda_prefill, false,
              "Delta rule of Kimi's linear attention of prompts, without its convolution.",
              work::recurrent_bytes),
    module_op("kda_decode", module_fields::gdn_decode, false,
              "Short convolution and delta rule of Kimi's linear attention, one new token each.",
              work::recurrent_bytes),
    module_op(
        "collective", module_fields::collective, false,
        "A collective of the library, without its launch. Bytes of an all_gather are those of "
        "the whole result, else those of a rank's input.",
        work::collective_bytes, true),
    module_op("expert_exchange", module_fields::expert_exchange, true,
              "Tokens that travel to their experts and back."),
    {.name = "sampling",
     .doc = "The choice of the next token of each request from 16-bit logits.",
     .fields = module_fields::sampling,
     .bytes = work::sampling_bytes,
     .typed = false,
     .file = "sampling",
     .dtype_in_name = false,
     .imported = false,
     .columns = module_fields::sampling_columns},
};

}  // namespace rooflua
