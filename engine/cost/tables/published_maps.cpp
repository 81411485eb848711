// Which published file becomes which table of ours.

#include "cost/tables/published.h"
#include "cost/tables/published_columns.h"

namespace rooflua {
namespace {

namespace in = published_columns;

// Kernels and what rows contain
// -----------------------------------------------------------------------------
constexpr std::string_view kv_write[] = {"kv_write"};
constexpr std::string_view moe_parts[] = {"routing", "permutation", "quantize", "activation",
                                          "reduction"};
constexpr std::string_view expert_parts[] = {"permutation", "quantize", "activation", "reduction"};
constexpr std::string_view latent_parts[] = {"projections", "absorbed projections", "norm", "rope",
                                             "kv_write"};
constexpr std::string_view sparse_parts[] = {"projections", "index", "top-k",
                                             "norm",        "rope",  "kv_write"};
constexpr std::string_view v4_parts[] = {"projections", "compressor", "index",   "top-k",
                                         "norm",        "rope",       "kv_write"};
constexpr std::string_view gdn_parts[] = {"conv", "delta_rule"};
constexpr std::string_view delta_rule[] = {"delta_rule"};

constexpr std::string_view v3 =
    "hidden_size 7168, q_lora_rank 1536, kv_lora_rank 512, qk_nope_head_dim 128, qk_rope_head_dim "
    "64, v_head_dim 128";
constexpr std::string_view eager_or_graph = "graph, or eager where mode says so";
constexpr std::string_view most_loaded =
    "the time is that of the most loaded rank; no router GEMM, shared expert or communication";
constexpr std::string_view both_models =
    "V3.2: hidden_size 7168; GLM-5: 6144. Timed eagerly: rows below 1.5 times the launch floor are "
    "left out, do not clamp to the smallest row";
constexpr std::string_view v4_note =
    "DeepSeek-V4-Flash: hidden_size 4096; V4-Pro: 7168. ratio 4: with an index; 128: without; "
    "heads "
    "of one rank";
constexpr std::string_view module_note =
    "dtype is that of the projections; add no GEMM of the attention block to it";
constexpr std::string_view sum_note =
    "latency is the sum of the convolution and the delta rule; no projection, norm or gate";
constexpr std::string_view nccl_note =
    "nccl-tests, out of place, 16-bit elements; bytes = elements x 2 as nccl-tests counts them";
constexpr std::string_view m3 =
    "MiniMax-M3: hidden_size 6144, 64 heads, 4 KV heads, head_dim 128, index 4 x 128, 16 blocks of "
    "128";
constexpr std::string_view kimi_k3 = "Kimi-K3: 96 heads, head dims 128";
constexpr std::string_view deepep_note =
    "tokens of one rank; sms 0: low latency mode, which has no such setting";
constexpr std::string_view deepgemm_note =
    "DeepGEMM; contiguous: as behind DeepEP's normal mode, masked: low latency; slots = experts";
constexpr std::string_view gdn_kernels[] = {"causal_conv1d*", "chunk_* fused_*"};
constexpr std::string_view kda_kernels[] = {"causal_conv1d_update",
                                            "fused_recurrent_kda_packed_decode"};

constexpr PublishedMap maps[] = {
    {.file = "gemm", .op = "gemm", .columns = in::gemm, .formats = in::gemm_formats},
    {.file = "context_attention",
     .op = "attention_prefill",
     .columns = in::prefill,
     .formats = in::cache_formats,
     .includes = kv_write},
    {.file = "context_attention",
     .op = "attention_window_prefill",
     .columns = in::window_prefill,
     .formats = in::cache_formats,
     .includes = kv_write},
    {.file = "generation_attention",
     .op = "attention_decode",
     .columns = in::decode,
     .formats = in::bf16_alone,
     .note = "fp8 KV: the query comes as FP8"},
    {.file = "generation_attention",
     .op = "attention_window_decode",
     .columns = in::window_decode,
     .formats = in::bf16_alone},
    {.file = "moe",
     .op = "moe_layer",
     .columns = in::moe,
     .formats = in::moe_formats,
     .includes = moe_parts,
     .shape = "intermediate_size of the whole model; tokens of all ranks",
     .note = most_loaded},
    {.file = "custom_allreduce",
     .op = "all_reduce",
     .columns = in::all_reduce,
     .formats = in::bf16_alone,
     .timer = eager_or_graph},
    {.file = "nccl",
     .op = "collective",
     .columns = in::collective,
     .formats = in::half_alone,
     .library = "nccl",
     .timer = "back to back, without launch",
     .note = nccl_note},
    {.file = "oneccl",
     .op = "collective",
     .columns = in::collective,
     .formats = in::half_alone,
     .library = "oneccl",
     .timer = "back to back, without launch"},
    {.file = "context_mla",
     .op = "mla_prefill",
     .columns = in::latent_prefill,
     .formats = in::cache_formats,
     .shape = v3,
     .note = "attention alone, expanded form"},
    {.file = "generation_mla",
     .op = "mla_decode",
     .columns = in::latent_decode,
     .formats = in::bf16_alone,
     .shape = v3,
     .note = "attention alone, absorbed form"},
    {.file = "mla_bmm",
     .op = "mla_bmm",
     .columns = in::absorbed,
     .formats = in::product_formats,
     .note = "pre: the query times W_UK; post: the output times W_UV; decode of the absorbed form"},
    {.file = "mla_context_module",
     .op = "mla_module_prefill",
     .columns = in::module_prefill,
     .formats = in::module_formats,
     .includes = latent_parts,
     .shape = v3,
     .note = module_note},
    {.file = "mla_generation_module",
     .op = "mla_module_decode",
     .columns = in::module_decode,
     .formats = in::module_formats,
     .includes = latent_parts,
     .shape = v3,
     .note = module_note},
    {.file = "dsa_context_module",
     .op = "dsa_module_prefill",
     .columns = in::sparse_prefill,
     .formats = in::module_formats,
     .includes = sparse_parts,
     .timer = "eager",
     .note = both_models,
     .floors = 1.5},
    {.file = "dsa_generation_module",
     .op = "dsa_module_decode",
     .columns = in::sparse_decode,
     .formats = in::module_formats,
     .includes = sparse_parts,
     .note = "V3.2: hidden_size 7168; GLM-5: 6144"},
    {.file = "msa_context_module",
     .op = "msa_module_prefill",
     .columns = in::module_prefill,
     .formats = in::module_formats,
     .includes = sparse_parts,
     .shape = m3},
    {.file = "msa_generation_module",
     .op = "msa_module_decode",
     .columns = in::module_decode,
     .formats = in::module_formats,
     .includes = sparse_parts,
     .shape = m3},
    {.file = "dsv4_csa_context_module",
     .op = "v4_module_prefill",
     .columns = in::v4_prefill<4>,
     .formats = in::fp8_block_alone,
     .includes = v4_parts,
     .note = v4_note},
    {.file = "dsv4_hca_context_module",
     .op = "v4_module_prefill",
     .columns = in::v4_prefill<128>,
     .formats = in::fp8_block_alone,
     .includes = v4_parts,
     .note = v4_note},
    {.file = "dsv4_csa_generation_module",
     .op = "v4_module_decode",
     .columns = in::v4_decode<4>,
     .formats = in::fp8_block_alone,
     .includes = v4_parts,
     .note = v4_note},
    {.file = "dsv4_hca_generation_module",
     .op = "v4_module_decode",
     .columns = in::v4_decode<128>,
     .formats = in::fp8_block_alone,
     .includes = v4_parts,
     .note = v4_note},
    {.file = "mhc_module",
     .op = "mhc",
     .columns = in::mhc,
     .formats = in::bf16_alone,
     .shape = "hc_mult 4, two sites per layer, 20 Sinkhorn iterations"},
    {.file = "gdn",
     .op = "gdn_prefill",
     .columns = in::gdn_prefill,
     .formats = in::bf16_alone,
     .kernels = gdn_kernels,
     .includes = gdn_parts,
     .note = sum_note},
    {.file = "gdn",
     .op = "gdn_decode",
     .columns = in::recurrent_decode,
     .formats = in::bf16_alone,
     .kernels = gdn_kernels,
     .includes = gdn_parts,
     .note = sum_note},
    {.file = "kda",
     .op = "kda_prefill",
     .columns = in::kda_prefill,
     .formats = in::bf16_alone,
     .includes = delta_rule,
     .shape = kimi_k3,
     .note = "without the convolution, whose rows were timed eagerly"},
    {.file = "kda",
     .op = "kda_decode",
     .columns = in::recurrent_decode,
     .formats = in::bf16_alone,
     .kernels = kda_kernels,
     .includes = gdn_parts,
     .shape = kimi_k3,
     .note = "latency is the sum of the two kernels"},
    {.file = "scale_matrix",
     .op = "elementwise",
     .columns = in::quantised,
     .formats = in::bf16_alone,
     .plus_file = "computescale",
     .note = "the cast with a static scale plus the difference to the dynamic one"},
    {.file = "wideep_moe",
     .op = "moe_experts",
     .columns = in::wide_moe,
     .formats = in::expert_formats,
     .includes = expert_parts,
     .shape = "tokens of all ranks; the time is that of one rank",
     .note = "slots: experts with their copies; eplb: after balancing"},
    {.file = "wideep_context_moe",
     .op = "moe_experts",
     .columns = in::contiguous_moe,
     .formats = in::expert_formats,
     .library = "deepep",
     .includes = expert_parts,
     .timer = "not published",
     .shape = "tokens of all ranks; the time is that of one rank",
     .note = deepgemm_note,
     .every_version = true},
    {.file = "wideep_generation_moe",
     .op = "moe_experts",
     .columns = in::masked_moe,
     .formats = in::expert_formats,
     .library = "deepep",
     .includes = expert_parts,
     .timer = "not published",
     .shape = "tokens of all ranks; the time is that of one rank",
     .note = deepgemm_note,
     .every_version = true},
    {.file = "wideep_deepep_normal",
     .op = "expert_exchange",
     .columns = in::normal_dispatch,
     .formats = in::fp8_alone,
     .library = "deepep",
     .timer = "not published",
     .note = deepep_note,
     .every_version = true},
    {.file = "wideep_deepep_normal",
     .op = "expert_exchange",
     .columns = in::normal_combine,
     .formats = in::fp8_alone,
     .library = "deepep",
     .timer = "not published",
     .note = deepep_note,
     .every_version = true},
    {.file = "wideep_deepep_ll",
     .op = "expert_exchange",
     .columns = in::low_latency_dispatch,
     .formats = in::fp8_alone,
     .library = "deepep",
     .timer = "not published",
     .note = deepep_note,
     .every_version = true},
    {.file = "wideep_deepep_ll",
     .op = "expert_exchange",
     .columns = in::low_latency_combine,
     .formats = in::fp8_alone,
     .library = "deepep",
     .timer = "not published",
     .note = deepep_note,
     .every_version = true},
    {.file = "trtllm_alltoall",
     .op = "expert_exchange",
     .columns = in::nvlink_exchange,
     .formats = in::exchange_formats,
     .note = "one NVLink domain of up to 64 GPUs; the rows were timed with 1.2.0rc6"},
};

constexpr PublishedWithoutOp without_op[] = {
    {"computescale", "a part of the rows of scale_matrix, which is not there"},
    {"encoder_attention", "attention that is not causal: no op"},
    {"dsv4_hca_attn_module", "a part of dsv4_hca modules, which are timed whole"},
    {"dsv4_paged_mqa_logits_module", "a part of dsv4_csa modules, which are timed whole"},
    {"dsv4_megamoe_module", "experts and exchange in one kernel: no op"},
    {"glm5_", "modules of one model: no op"},
    {"mamba2", "state-space layers are modelled: no op"},
    {"wideep_context_mla", "latent attention behind DeepEP, absorbed prefill: no op"},
    {"wideep_generation_mla", "latent attention behind DeepEP, its size is not published: no op"},
    {"wideep_context_mlp", "a shared MLP of one width: no op"},
    {"wideep_generation_mlp", "a shared MLP of one width: no op"},
};

constexpr PublishedEngine engines[] = {
    {"sglang", "SGLang"}, {"trtllm", "TensorRT-LLM"}, {"vllm", "vLLM"}};

}  // namespace

std::span<const PublishedEngine> published_engines() {
  return engines;
}

std::span<const PublishedMap> published_maps() {
  return maps;
}

std::span<const PublishedWithoutOp> published_without_op() {
  return without_op;
}

}  // namespace rooflua
