// What is wrong with published files and rows, and what our columns cannot say. docs/DATA.md has
// the evidence.

#include "cost/tables/published.h"

namespace rooflua {
namespace {

using enum PublishedTest;
using enum PublishedVerdict;

constexpr std::string_view any = "*";
constexpr std::string_view hopper = "h100* h200*";

constexpr PublishedCondition block_scaled[] = {{"gemm_dtype", is, "fp8_block"}};
constexpr PublishedCondition fp8_gemm[] = {{"gemm_dtype", is, "fp8"}};
constexpr PublishedCondition between_tiles[] = {{"m", unpadded}};
constexpr PublishedCondition second_kernel[] = {
    {"kernel_source", is, "triton flashinfer torch_flow_flashinfer"}};
constexpr PublishedCondition wider_products[] = {{"kv_cache_dtype", is, "fp8"},
                                                 {"attn_dtype", is_not, "fp8"}};
constexpr PublishedCondition narrow_products[] = {{"kv_cache_dtype", is_not, "fp8"},
                                                  {"attn_dtype", is_not, "bfloat16"}};
constexpr PublishedCondition latent_fp8_products[] = {{"mla_dtype", is, "fp8"}};
constexpr PublishedCondition v3_experts[] = {
    {"hidden_size", is, "7168"}, {"inter_size", is, "2048"}, {"num_experts", is, "256"}};
constexpr PublishedCondition fp8_experts[] = {{"moe_dtype", is, "fp8"}};
constexpr PublishedCondition nongated[] = {{"kernel_source", is, "*nongated*"}};
constexpr PublishedCondition eager_conv[] = {{"phase", is, "context"},
                                             {"kernel_source", is, "causal_conv1d*"}};
constexpr PublishedCondition several_tokens[] = {{"phase", is, "generation"},
                                                 {"seq_len", is_not, "1"}};
constexpr PublishedCondition one_node[] = {{"node_num", is, "1"}};
constexpr PublishedCondition one_kernel[] = {{"kernel_source", is, "fused_kda_decode"}};

constexpr PublishedRule rules[] = {
    // Files
    {"moe",
     "trtllm",
     "1.3.0rc23",
     "b200*",
     {},
     partial,
     "only the experts of DeepSeek-V4; another version has the other shapes"},
    {"context_mla generation_mla",
     "sglang",
     any,
     "h100* h200* l40s*",
     {},
     wrong,
     "prefill was timed in the absorbed form; the H100's file has every row twice"},
    {"context_mla generation_mla",
     "vllm",
     "0.14*",
     any,
     {},
     wrong,
     "timed with a floor of 0.1 to 0.3 ms for one token"},
    {"context_attention generation_attention gemm scale_matrix computescale",
     "sglang",
     "0.5.14",
     "b300*",
     {},
     wrong,
     "the file is that of the GB300"},
    {"wideep_deepep_*", "sglang", "0.5.6.post2", "h200*", {}, wrong, "a copy of the H100's"},

    // Rows that were timed wrongly, or with a kernel that no engine takes
    {"gemm", "vllm", "0.2*", any, block_scaled, wrong, "timed eagerly: a floor of 55 to 282 us"},
    {"gemm", "sglang", any, "b200*", fp8_gemm, wrong,
     "neighbouring m differ by 1.5 and more in 3.6 % of the pairs"},
    {"gemm", "vllm", any, "b200*", fp8_gemm, marked,
     "bimodal: 6.7 % of neighbouring m from 1024 on differ by 1.5 and more"},
    {"gemm", any, any, any, between_tiles, wrong,
     "m above 16 that is no multiple of 16: engines pad, and these take up to 2.4 times as long"},
    {"context_attention generation_attention", "sglang trtllm", any, any, second_kernel, wrong,
     "a second kernel, timed beside the engine's first choice"},
    {"moe", "vllm sglang", any, any, v3_experts, wrong,
     "experts of DeepSeek-V3: the collector's logits pass group-limited routing"},
    {"moe", "vllm", any, hopper, fp8_experts, wrong,
     "untuned kernel: 2 to 3.4 times the time of bf16"},
    {"kda", any, any, any, eager_conv, wrong,
     "convolution of the prefill, timed eagerly (0.4 to 1 ms for one token)"},
    {"wideep_deepep_*", "sglang", "0.5.6.post2", any, one_node, wrong,
     "one node: timed again with a newer version"},

    // Rows that our columns cannot tell from others
    {"context_attention", "sglang trtllm", any, any, wider_products, elsewhere,
     "an FP8 cache with 16-bit products: no column for them"},
    {"context_attention", "sglang trtllm", any, any, narrow_products, elsewhere,
     "a 16-bit cache with FP8 products: no column for them"},
    {"mla_context_module", any, any, any, latent_fp8_products, elsewhere,
     "attention with FP8 products: no column for them"},
    {"moe", any, any, any, nongated, elsewhere, "experts without a gate: no column for them"},
    {"gdn kda", any, any, any, several_tokens, elsewhere,
     "several new tokens of a request in a decode: no column for them"},
    {"kda", any, any, any, one_kernel, elsewhere, "another kernel of the same shapes"},
};

constexpr SharedKernel shared[] = {
    {"gemm_bf16_vllm", "a100* h100* h200* b200*", "sglang"},
    {"gemm_bf16_vllm", "b300* gb200* gb300* l40s* rtx*", "sglang trtllm"},
    {"gemm_fp8_block_sglang", hopper, "vllm"},
    {"gemm_fp8_block_trtllm", "b200*", "vllm"},
    {"gemm_nvfp4_vllm", "b200* b300* gb200* gb300*", "sglang"},
    {"mla_decode_bf16_trtllm", "b200*", "sglang vllm"},
    {"mla_prefill_*_trtllm", "b200*", "sglang"},
    {"mla_bmm_bf16_vllm", any, "sglang trtllm"},
    {"moe_layer_bf16_vllm", "b300* gb200* gb300*", "sglang"},
    {"moe_layer_fp8_block_vllm", "b300* gb200* gb300*", "sglang"},
    {"moe_layer_nvfp4_vllm", "b300* gb200* gb300*", "sglang"},
    {"expert_exchange_fp8_deepep", any, "trtllm vllm"},
};

bool fits(std::string_view pattern, std::string_view name) {
  const bool front = pattern.starts_with('*');
  if (front) pattern.remove_prefix(1);
  const bool back = pattern.ends_with('*');
  if (back) pattern.remove_suffix(1);
  if (front && back) return name.find(pattern) != std::string_view::npos;
  if (front) return name.ends_with(pattern);
  return back ? name.starts_with(pattern) : name == pattern;
}

}  // namespace

std::span<const PublishedRule> published_rules() {
  return rules;
}

std::span<const SharedKernel> shared_kernels() {
  return shared;
}

bool agrees(std::string_view patterns, std::string_view name) {
  while (!patterns.empty()) {
    const std::size_t end = patterns.find(' ');
    if (fits(patterns.substr(0, end), name)) return true;
    patterns.remove_prefix(end == std::string_view::npos ? patterns.size() : end + 1);
  }
  return false;
}

}  // namespace rooflua
