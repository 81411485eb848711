#pragma once
// Columns of published files and ours: {published name, use, our column, scale, words, required,
// otherwise}. Private to published_maps.cpp.

#include "cost/tables/published.h"

namespace rooflua::published_columns {

using enum PublishedUse;
using Words = PublishedWord;

inline constexpr double us = 1e-6, ms = 1e-3;
inline constexpr double bytes_of_16_bits = 2;

inline constexpr PublishedColumn latency_ms{"latency", latency, {}, ms};
constexpr PublishedColumn format_in(std::string_view name) {
  return {name, format, {}, 1, {}, false};
}
constexpr PublishedColumn fixed(std::string_view field, double value) {
  return {{}, constant, field, value};
}
constexpr PublishedColumn fixed_word(std::string_view field, std::span<const Words> word_) {
  return {{}, constant, field, 1, word_};
}
inline constexpr PublishedColumn kv_cache{"kv_cache_dtype", kv, "kv_dtype", 1, {}, false};

// Formats ---------------------------------------------------------------------------------------
inline constexpr PublishedFormat bf16_alone[] = {{"bfloat16", Dtype::bf16}};
inline constexpr PublishedFormat half_alone[] = {{"half", Dtype::bf16}};
inline constexpr PublishedFormat fp8_alone[] = {{"fp8", Dtype::fp8}};
inline constexpr PublishedFormat fp8_block_alone[] = {{"fp8_block", Dtype::fp8_block, true}};
inline constexpr PublishedFormat gemm_formats[] = {{"bfloat16", Dtype::bf16},
                                                   {"fp8", Dtype::fp8, true},
                                                   {"fp8_block", Dtype::fp8_block, true},
                                                   {"nvfp4", Dtype::nvfp4, true},
                                                   {"int4_wo", Dtype::int4, false, "int4_wo"},
                                                   {"sq", Dtype::int8}};
inline constexpr PublishedFormat moe_formats[] = {{"bfloat16", Dtype::bf16},
                                                  {"fp8", Dtype::fp8},
                                                  {"fp8_block", Dtype::fp8_block},
                                                  {"nvfp4", Dtype::nvfp4},
                                                  {"int4_wo", Dtype::int4, false, "int4_wo"},
                                                  {"w4a16_mxfp4", Dtype::mxfp4},
                                                  {"w4a8_mxfp4_mxfp8", Dtype::w4a8_mxfp4_mxfp8}};
inline constexpr PublishedFormat cache_formats[] = {{"bfloat16", Dtype::bf16}, {"fp8", Dtype::fp8}};
inline constexpr PublishedFormat product_formats[] = {{"bfloat16", Dtype::bf16},
                                                      {"fp8", Dtype::fp8}};
inline constexpr PublishedFormat module_formats[] = {{"bfloat16", Dtype::bf16},
                                                     {"fp8_block", Dtype::fp8_block, true},
                                                     {"nvfp4", Dtype::nvfp4, true}};
inline constexpr PublishedFormat exchange_formats[] = {
    {"bfloat16", Dtype::bf16}, {"fp8", Dtype::fp8}, {"nvfp4", Dtype::nvfp4}};
inline constexpr PublishedFormat expert_formats[] = {{"fp8_block", Dtype::fp8_block},
                                                     {"nvfp4", Dtype::nvfp4}};

// Words -----------------------------------------------------------------------------------------
inline constexpr Words context_phase[] = {{"context"}};
inline constexpr Words generation_phase[] = {{"generation"}};
inline constexpr Words absorbed_stages[] = {{"mla_gen_pre", "pre"}, {"mla_gen_post", "post"}};
inline constexpr Words mhc_stages[] = {{"pre", "pre"}, {"post", "post"}};
inline constexpr Words collectives[] = {{"all_reduce", "all_reduce"},
                                        {"all_gather", "all_gather"},
                                        {"reduce_scatter", "reduce_scatter"},
                                        {"alltoall", "all_to_all"}};
inline constexpr Words launches[] = {{"*eager", "eager"}, {"*", "graph"}};
inline constexpr Words distributions[] = {{"balanced", "balanced"},
                                          {"power_law_1.01", "power_law_1.01"},
                                          {"power_law_1.2", "power_law_1.2"},
                                          {"power_law_1.01_eplb", "power_law_1.01_eplb"},
                                          {"power_law_1.2_eplb", "power_law_1.2_eplb"}};
inline constexpr Words sparse_models[] = {{"*DeepSeek-V3.2*", {}, 7168}, {"*GLM-5*", {}, 6144}};
inline constexpr Words v4_models[] = {{"*DeepSeek-V4-Pro*", {}, 7168},
                                      {"*DeepSeek-V4-Flash*", {}, 4096}};
inline constexpr Words domains[] = {{"NVLinkOneSided", "nvlink_one_sided"},
                                    {"NVLinkTwoSided", "nvlink_two_sided"}};
inline constexpr Words exchange_phases[] = {
    {"alltoall_prepare", "prepare"},
    {"alltoall_dispatch", "dispatch"},
    {"alltoall_combine", "combine"},
    {"alltoall_combine_low_precision", "combine_low_precision"}};
inline constexpr Words normal[] = {{{}, "normal"}}, low_latency[] = {{{}, "low_latency"}};
inline constexpr Words dispatch[] = {{{}, "dispatch"}}, combine[] = {{{}, "combine"}};
inline constexpr Words contiguous[] = {{{}, "contiguous"}}, masked[] = {{{}, "masked"}},
                       grouped[] = {{{}, "grouped"}};
inline constexpr Words quantize[] = {{{}, "quantize"}}, sixteen_bits[] = {{{}, "bf16"}};

// GEMM and attention ----------------------------------------------------------------------------
inline constexpr PublishedColumn gemm[] = {format_in("gemm_dtype"),
                                           {"m", number, "m"},
                                           {"k", number, "k"},
                                           {"n", number, "n"},
                                           latency_ms};

inline constexpr PublishedColumn window_0{"window_size", none};
inline constexpr PublishedColumn some_window{"window_size", some};
inline constexpr PublishedColumn window_tokens{"window_size", number, "window"};
inline constexpr PublishedColumn heads{"num_heads", number, "heads"};
inline constexpr PublishedColumn kv_heads{"num_key_value_heads", number, "kv_heads"};
inline constexpr PublishedColumn head_dim{"head_dim", number, "head_dim"};
inline constexpr PublishedColumn batch{"batch_size", number, "batch"};
inline constexpr PublishedColumn before{"step", number, "context_tokens"};
inline constexpr PublishedColumn prompt{"isl", number, "new_tokens"};
inline constexpr PublishedColumn newest{"isl", number, "context_tokens"};

inline constexpr PublishedColumn prefill[] = {
    window_0,  format_in("kv_cache_dtype"), heads, kv_heads, head_dim, batch, before, prompt,
    latency_ms};
inline constexpr PublishedColumn window_prefill[] = {some_window, format_in("kv_cache_dtype"),
                                                     heads,       kv_heads,
                                                     head_dim,    window_tokens,
                                                     batch,       before,
                                                     prompt,      latency_ms};
inline constexpr PublishedColumn decode[] = {window_0, heads,  kv_heads, head_dim,  kv_cache,
                                             batch,    before, newest,   latency_ms};
inline constexpr PublishedColumn window_decode[] = {some_window,   heads,     kv_heads, head_dim,
                                                    window_tokens, kv_cache,  batch,    before,
                                                    newest,        latency_ms};
inline constexpr PublishedColumn latent_prefill[] = {format_in("kv_cache_dtype"),
                                                     heads,
                                                     fixed("qk_nope_head_dim", 128),
                                                     fixed("qk_rope_head_dim", 64),
                                                     batch,
                                                     before,
                                                     prompt,
                                                     latency_ms};
inline constexpr PublishedColumn latent_decode[] = {heads,
                                                    fixed("kv_lora_rank", 512),
                                                    fixed("qk_rope_head_dim", 64),
                                                    kv_cache,
                                                    batch,
                                                    before,
                                                    newest,
                                                    latency_ms};
inline constexpr PublishedColumn absorbed[] = {format_in("bmm_dtype"),
                                               {"op_name", word, "stage", 1, absorbed_stages},
                                               heads,
                                               fixed("kv_lora_rank", 512),
                                               fixed("head_dim", 128),
                                               {"num_tokens", number, "tokens"},
                                               latency_ms};

// Modules ---------------------------------------------------------------------------------------
inline constexpr PublishedColumn module_prefill[] = {
    format_in("gemm_type"), heads, kv_cache, batch, before, prompt, latency_ms};
inline constexpr PublishedColumn module_decode[] = {
    format_in("gemm_type"), heads, kv_cache, batch, before, newest, latency_ms};
inline constexpr PublishedColumn model_width{"model", code, "hidden_size", 1, sparse_models};
inline constexpr PublishedColumn sparse_prefill[] = {
    format_in("gemm_type"), model_width, heads, kv_cache, batch, before, prompt, latency_ms};
inline constexpr PublishedColumn sparse_decode[] = {
    format_in("gemm_type"), model_width, heads, kv_cache, batch, before, newest, latency_ms};
inline constexpr PublishedColumn v4_width{"model", code, "hidden_size", 1, v4_models};
template <int tokens_to_one>
inline constexpr PublishedColumn v4_prefill[] = {
    v4_width, fixed("ratio", tokens_to_one), heads, batch, before, prompt, latency_ms};
template <int tokens_to_one>
inline constexpr PublishedColumn v4_decode[] = {
    v4_width, fixed("ratio", tokens_to_one), heads, batch, before, newest, latency_ms};
inline constexpr PublishedColumn mhc[] = {{"op_name", word, "stage", 1, mhc_stages},
                                          {"hidden_size", number, "hidden_size"},
                                          {"num_tokens", number, "tokens"},
                                          latency_ms};

// Recurrent layers ------------------------------------------------------------------------------
inline constexpr PublishedColumn key_heads{"num_k_heads", number, "key_heads"};
inline constexpr PublishedColumn value_heads{"num_v_heads", number, "value_heads"};
inline constexpr PublishedColumn key_width = fixed("key_head_dim", 128);
inline constexpr PublishedColumn value_width = fixed("value_head_dim", 128);
inline constexpr PublishedColumn conv_width = fixed("conv", 4);
inline constexpr PublishedColumn prompt_tokens{"seq_len", number, "new_tokens"};
inline constexpr PublishedColumn gdn_prefill[] = {{"phase", select, {}, 1, context_phase},
                                                  key_heads,
                                                  key_width,
                                                  value_heads,
                                                  value_width,
                                                  conv_width,
                                                  batch,
                                                  prompt_tokens,
                                                  latency_ms};
inline constexpr PublishedColumn recurrent_decode[] = {{"phase", select, {}, 1, generation_phase},
                                                       key_heads,
                                                       key_width,
                                                       value_heads,
                                                       value_width,
                                                       conv_width,
                                                       batch,
                                                       latency_ms};
inline constexpr PublishedColumn kda_prefill[] = {{"phase", select, {}, 1, context_phase},
                                                  key_heads,
                                                  key_width,
                                                  value_heads,
                                                  value_width,
                                                  batch,
                                                  prompt_tokens,
                                                  latency_ms};

// Experts ---------------------------------------------------------------------------------------
inline constexpr PublishedColumn hidden{"hidden_size", number, "hidden_size"};
inline constexpr PublishedColumn expert_width{"inter_size", number, "intermediate_size"};
inline constexpr PublishedColumn experts{"num_experts", number, "experts"};
inline constexpr PublishedColumn experts_per_token{"topk", number, "experts_per_token"};
inline constexpr PublishedColumn all_tokens{"num_tokens", number, "tokens"};
inline constexpr PublishedColumn spread{"distribution", word, "distribution", 1, distributions};
inline constexpr PublishedColumn moe[] = {format_in("moe_dtype"),
                                          hidden,
                                          expert_width,
                                          experts,
                                          experts_per_token,
                                          {"moe_tp_size", number, "tp"},
                                          {"moe_ep_size", number, "ep"},
                                          spread,
                                          all_tokens,
                                          latency_ms};
inline constexpr PublishedColumn wide_moe[] = {format_in("moe_dtype"),
                                               fixed_word("layout", grouped),
                                               hidden,
                                               expert_width,
                                               experts,
                                               experts_per_token,
                                               {"num_slots", number, "slots"},
                                               {"moe_ep_size", number, "ep"},
                                               spread,
                                               all_tokens,
                                               latency_ms};
inline constexpr PublishedColumn contiguous_moe[] = {format_in("moe_dtype"),
                                                     fixed_word("layout", contiguous),
                                                     hidden,
                                                     expert_width,
                                                     experts,
                                                     experts_per_token,
                                                     {"num_experts", number, "slots"},
                                                     {"moe_ep_size", number, "ep"},
                                                     spread,
                                                     all_tokens,
                                                     latency_ms};
inline constexpr PublishedColumn masked_moe[] = {format_in("moe_dtype"),
                                                 fixed_word("layout", masked),
                                                 hidden,
                                                 expert_width,
                                                 experts,
                                                 experts_per_token,
                                                 {"num_experts", number, "slots"},
                                                 {"moe_ep_size", number, "ep"},
                                                 spread,
                                                 all_tokens,
                                                 latency_ms};

// Between ranks ---------------------------------------------------------------------------------
inline constexpr PublishedColumn ranks{"num_gpus", number, "ranks"};
inline constexpr PublishedColumn message{"message_size", number, "bytes", bytes_of_16_bits};
inline constexpr PublishedColumn all_reduce[] = {
    {"kernel_source", word, "mode", 1, launches, false}, ranks, message, latency_ms};
inline constexpr PublishedColumn collective[] = {{"nccl_dtype", format},
                                                 {"op_name", word, "collective", 1, collectives},
                                                 ranks,
                                                 message,
                                                 latency_ms};
inline constexpr PublishedColumn nodes_as_ranks{"node_num", nodes, "ranks"};
inline constexpr PublishedColumn exchange_topk{"num_topk", number, "experts_per_token", 1, {},
                                               false,      8};
inline constexpr PublishedColumn rank_tokens{"num_token", number, "tokens"};
inline constexpr PublishedColumn normal_dispatch[] = {
    fixed_word("mode", normal),
    fixed_word("phase", dispatch),
    nodes_as_ranks,
    hidden,
    experts,
    exchange_topk,
    {"dispatch_sms", number, "sms"},
    rank_tokens,
    {"dispatch_transmit_us", latency, {}, us},
    {"dispatch_notify_us", latency, {}, us, {}, false}};
inline constexpr PublishedColumn normal_combine[] = {
    fixed_word("mode", normal),
    fixed_word("phase", combine),
    nodes_as_ranks,
    hidden,
    experts,
    exchange_topk,
    {"combine_sms", number, "sms"},
    rank_tokens,
    {"combine_transmit_us", latency, {}, us},
    {"combine_notify_us", latency, {}, us, {}, false}};
inline constexpr PublishedColumn low_latency_dispatch[] = {fixed_word("mode", low_latency),
                                                           fixed_word("phase", dispatch),
                                                           nodes_as_ranks,
                                                           hidden,
                                                           experts,
                                                           exchange_topk,
                                                           fixed("sms", 0),
                                                           rank_tokens,
                                                           {"dispatch_avg_t_us", latency, {}, us}};
inline constexpr PublishedColumn low_latency_combine[] = {fixed_word("mode", low_latency),
                                                          fixed_word("phase", combine),
                                                          nodes_as_ranks,
                                                          hidden,
                                                          experts,
                                                          exchange_topk,
                                                          fixed("sms", 0),
                                                          rank_tokens,
                                                          {"combine_avg_t_us", latency, {}, us}};
inline constexpr PublishedColumn nvlink_exchange[] = {
    format_in("moe_dtype"),
    {"kernel_source", word, "mode", 1, domains},
    {"op_name", word, "phase", 1, exchange_phases},
    {"moe_ep_size", number, "ranks"},
    hidden,
    experts,
    experts_per_token,
    fixed("sms", 0),
    {"num_tokens", number, "tokens"},
    latency_ms};
inline constexpr PublishedColumn quantised[] = {fixed_word("op", quantize),
                                                {"m", number, "tokens"},
                                                {"k", number, "width"},
                                                fixed_word("dtype", sixteen_bits),
                                                latency_ms};

}  // namespace rooflua::published_columns
