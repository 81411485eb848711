--- What SGLang fuses, and whether it plans a step while another one runs, by default: rules of its
--- releases, by the model classes that its code names (python/sglang/srt/server_args.py).
local has_states = require "engines.rules.states"
local prompt_graphs = require "engines.sglang.prompt_graphs"
local router_gemm = require "engines.rules.router_gemm"

local fusions = {}

fusions.options = {
  { "enable_flashinfer_allreduce_fusion", flag = "--enable-flashinfer-allreduce-fusion", type = "switch",
    read_by = "norm_apart_s", doc = "an all-reduce and the norm after it are one kernel" },
  { "moe_runner_backend", since = "0.5.1", flag = "--moe-runner-backend", type = "text", idle = { "auto" },
    read_by = "expert_operations", note = "kernels are those of the tables, whichever back end is chosen",
    doc = "kernels of the routed experts" },
  { "enable_tf32_matmul", flag = "--enable-tf32-matmul", type = "switch", read_by = "router_gemm",
    doc = "GEMMs in 32 bits run on tensor cores" },
  { "disable_piecewise_cuda_graph", flag = "--disable-piecewise-cuda-graph", type = "switch", since = "0.5.10",
    read_by = "graphs_with_prefill", doc = "prompts run outside of CUDA graphs" },
  { "piecewise_cuda_graph_max_tokens", flag = "--piecewise-cuda-graph-max-tokens", type = "integer", min = 1,
    read_by = "graphs_with_prefill", doc = "tokens of the largest piecewise CUDA graph of prompts" },
  { "disable_prefill_cuda_graph", flag = "--disable-prefill-cuda-graph", type = "switch", since = "0.5.13",
    read_by = "graphs_with_prefill", doc = "the same in later releases" },
  { "cuda_graph_backend_prefill", flag = "--cuda-graph-backend-prefill", type = "text", since = "0.5.13",
    values = { "full", "breakable", "tc_piecewise", "disabled" }, read_by = "graphs_with_prefill",
    says = function(name)
      return name ~= "disabled" and name ~= "breakable" and name .. " graphs of prompts are priced as breakable ones"
        or nil
    end, doc = "which graphs of prompts are captured, also where they are off by default" },
  { "cuda_graph_max_bs_prefill", flag = "--cuda-graph-max-bs-prefill", type = "integer", min = 1, since = "0.5.13",
    read_by = "graphs_with_prefill", doc = "tokens of the largest graph of prompts" },
  { "cuda_graph_bs_prefill", flag = "--cuda-graph-bs-prefill", type = "list", items = "integer", since = "0.5.13",
    read_by = "graphs_with_prefill", doc = "tokens of the graphs of prompts" },
}

local cdna = { "cdna3", "cdna4" }
local deepseek = { "deepseek_v3", "kimi_k2", "kimi_k25" }
local first_fused = { "deepseek_v3", "kimi_k2", "kimi_k25", "gpt_oss" }
local fused_on = { "hopper", "blackwell" }
local fused = { "deepseek_v3", "kimi_k2", "kimi_k25", "gpt_oss", "glm4_moe", "glm4_moe_lite", "qwen3_moe" }

--- An all-reduce and the norm after it as two kernels, in place of one.
local apart_s = 11.1e-6

local function unless_asked(_, own) return own.enable_flashinfer_allreduce_fusion and 0 or apart_s end

--- Ranks of data-parallel attention gather tokens in place of it.
local function one_rank(facts) return facts.dp == 1 end

--- States that share the prefix cache are copied between steps, which then do not overlap.
local function copies_states(facts) return has_states(facts.model) and not facts.drafts end
local function unless_off(_, own) return own.disable_radix_cache ~= true end

local nvidia = { "ampere", "ada", "hopper", "blackwell" }

fusions.rules = {
  { architecture = fused_on, norm_apart_s = unless_asked, fitted = true,
    source = "pull request 19889: 21.5 us for all-reduce and norm, 10.4 us in one kernel" },
  { since = "0.5.4", architecture = "blackwell", family = first_fused, when = one_rank, norm_apart_s = 0,
    seen = "0.5.18", code = "python/sglang/srt/arg_groups/overrides.py: _flashinfer_allreduce_fusion_auto_enable",
    source = "python/sglang/srt/server_args.py, 0.5.5: fused on SM100 for DeepseekV3 and GptOss; pull request 12724" },
  { code = "python/sglang/srt/arg_groups/overrides.py: _flashinfer_allreduce_fusion_auto_enable", seen = "0.5.18",
    { since = "0.5.7", architecture = fused_on, family = fused, when = one_rank, norm_apart_s = 0,
      source = "pull request 14764: fused by default from SM90 on for the model classes that support it" },
    { since = "0.5.10", architecture = fused_on, family = { "qwen3_5", "qwen3_5_moe" }, when = one_rank,
      norm_apart_s = 0, source = "pull request 19889" },
    { since = "0.5.11", architecture = fused_on, family = { "qwen3_next", "deepseek_v32", "glm_moe_dsa" },
      when = one_rank, norm_apart_s = 0, source = "pull requests 22664 and 22390" },
    { since = "0.5.13", architecture = fused_on, family = "mistral_large_3", when = one_rank, norm_apart_s = 0,
      source = "pull request 24611" },
    { since = "0.5.14", architecture = fused_on, family = { "nemotron_h", "qwen3_vl_moe" }, when = one_rank,
      norm_apart_s = 0, source = "pull requests 28346 and 28786" },
    { since = "0.5.18", architecture = fused_on, family = "deepseek_v4", when = one_rank, norm_apart_s = 0,
      source = "pull request 30700" } },
  { before = "0.5.10", family = { "qwen3_5", "qwen3_5_moe" }, norm_apart_s = apart_s,
    source = "pull request 19889, which fuses them for this family" },
  { since = "0.5.4", before = "0.5.14", when = copies_states, disable_overlap_schedule = unless_off,
    source = "pull requests 11214 and 14792: states in the prefix cache without a second buffer, no overlap schedule; "
      .. "the second buffer is the default by pull request 29158" },
  { family = "kimi_linear", disable_overlap_schedule = false, seen = "0.5.18",
    code = "python/sglang/srt/arg_groups/overrides.py: _MAMBA_EXTRA_BUFFER_ARCHS",
    source = "python/sglang/srt/server_args.py: no radix cache for KimiLinearForCausalLM" },
}

--- Whether experts run in Triton: routing, alignment and sum are kernels of their own, launched from Python.
local function in_triton(facts, own)
  local backend = own.moe_runner_backend
  if backend and backend ~= "auto" then return backend:find("^triton") ~= nil end
  local format = facts.experts_format or facts.weights or facts.model and facts.model.weight_dtype
  return format == "bf16" or format == "fp16" or format == "fp8" or format == "fp8_block"
end

local function operations(facts, own) return in_triton(facts, own) and 24 or 8 end
local function routing(count)
  return function(facts, own) return in_triton(facts, own) and count or 0 end
end

local function in_32_bits(_, own) return own.enable_tf32_matmul and "tf32" or "fp32" end

fusions.kernels = {
  { since = "0.5.10", before = "0.5.15", architecture = nvidia, graphs_with_prefill = prompt_graphs.piecewise,
    source = "pull request 16331; docs/advanced_features/piecewise_cuda_graph.md: by default; sizes and exceptions: "
      .. "python/sglang/srt/server_args.py" },
  { since = "0.5.15", before = "0.5.16", architecture = nvidia, graphs_with_prefill = prompt_graphs.breakable("none"),
    source = "pull request 29458 of 2026-07-02" },
  { since = "0.5.16", before = "0.5.18", architecture = nvidia,
    graphs_with_prefill = prompt_graphs.breakable("qwen", true),
    source = "pull requests 30620 of 2026-07-13: Qwen3.5, and 30898: the chunk of a rank of divided attention" },
  { since = "0.5.18", architecture = nvidia, graphs_with_prefill = prompt_graphs.breakable("more", true),
    seen = "0.5.21", code = "python/sglang/srt/arg_groups/cuda_graph_hook.py: apply_cuda_graph_compatibility",
    source = "pull requests 34245, 34262: Kimi and Muse Glimmer; exceptions: arg_groups/cuda_graph_hook.py of main in "
      .. "2026-10" },
  router_gemm.row { family = "hy_v3", router_gemm = in_32_bits, seen = "0.5.18",
    code = "python/sglang/srt/models/hunyuan_v3.py: HYV3MoEFused",
    source = "hunyuan_v3.py of 0.5.18: the gate's weights are in FP32" },
  router_gemm.row { family = "minimax_m2", router_gemm = in_32_bits, seen = "0.5.18",
    code = "python/sglang/srt/models/minimax_m2.py: MiniMaxM2MoE",
    source = "pull request 22744: the gate in FP32 is 9.1 % of a decode at 64 requests, 3.3 % in TF32" },
  { architecture = "blackwell", expert_operations = operations, routing_kernels = routing(2), fitted = true,
    source = "pull request 38374: experts are Triton's unless a back end is chosen; operations: fitted, "
      .. "docs/records/fitted.md, \"Prefill outside of graphs\"" },
  { architecture = "blackwell", family = { "glm4_moe", "glm4_moe_lite", "minimax_m2" }, routing_kernels = routing(16),
    seen = "0.5.18", code = "python/sglang/srt/layers/moe/topk.py: biased_grouped_topk_gpu",
    source = "python/sglang/srt/layers/moe/topk.py, biased_grouped_topk_gpu: fused for powers of two with at most 32 "
      .. "experts to a group, else composed of PyTorch's operations" },
  { since = "0.5.4", architecture = "blackwell", family = deepseek, expert_operations = 8, routing_kernels = 0,
    seen = "0.5.18", code = "python/sglang/srt/arg_groups/overrides.py: _deepseek_moe_quant_resolution",
    source = "pull request 11816: FlashInfer's experts for DeepSeek in FP8 on SM100" },
  { since = "0.5.6", architecture = "blackwell", family = "qwen3_moe", format = { "fp8", "fp8_block" },
    expert_operations = 8, routing_kernels = 0, seen = "0.5.18",
    code = "python/sglang/srt/arg_groups/model_overrides/qwen3_moe.py: _qwen3_moe_family_overrides",
    source = "pull request 13489" },
  { since = "0.5.9", architecture = "blackwell", family = { "qwen3_moe", "qwen3_next" }, expert_operations = 8,
    routing_kernels = 0, seen = "0.5.18",
    code = "python/sglang/srt/arg_groups/model_overrides/qwen3_moe.py: _qwen3_moe_family_overrides",
    source = "python/sglang/srt/server_args.py, 0.5.9: FlashInfer's for Qwen3 and Qwen3-Next" },
  { family = "nemotron_h", format = { "fp8", "nvfp4" }, expert_operations = 8, routing_kernels = 0, seen = "0.5.18",
    code = "python/sglang/srt/arg_groups/model_overrides/nemotron_h.py: _nemotron_h_overrides",
    source = "python/sglang/srt/server_args.py, 0.5.9: FlashInfer's CUTLASS experts for NemotronH" },
  { architecture = cdna, expert_operations = 24, routing_kernels = 10, fitted = true,
    source = "selection, sorting, quantisation, activation and sum besides AITER's and Triton's GEMMs; how many: "
      .. "fitted, docs/records/fitted.md, \"Between kernels of HIP graphs\"" },
  { architecture = cdna, before = "0.5.9", latent_kernels = 4,
    source = "pull request 18242 fuses rope, concatenation and KV write of latent attention" },
  { head_norm_kernels = 2, seen = "0.5.18", code = "python/sglang/srt/models/utils.py: apply_qk_norm",
    source = "python/sglang/srt/models/utils.py, apply_qk_norm: two kernels" },
  { family = { "gemma3", "gemma4" }, layer_kernels = 6, head_norm_kernels = 0, seen = "0.5.18",
    code = "python/sglang/srt/models/gemma4_causal.py: Gemma4DecoderLayer",
    source = "python/sglang/srt/models/gemma4_causal.py: norms after attention and MLP, norms of queries, keys and "
      .. "values, a scale of the layer" },
}

return fusions
