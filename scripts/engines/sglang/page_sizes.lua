--- Tokens of a page of SGLang's KV cache where nobody states them: what the back end of the attention takes that the
--- engine chooses by itself. Read at the tags of 0.5.4 to 0.5.18 (python/sglang/srt/server_args.py, from 0.5.15 on
--- arg_groups/overrides.py).
local has_states = require "engines.rules.states"

local data_centre = { memory_gib_from = 160 } -- GPUs of Blackwell with kernels of trtllm: B200, B300 and their like

local function is_latent(facts) return facts.model ~= nil and facts.model.mla ~= nil end
local function keeps_states(facts) return has_states(facts.model) end

--- Attention of heads with their own keys, without layers of states and without a tree of drafts.
local function is_plain(facts) return facts.model ~= nil and not is_latent(facts) and not keeps_states(facts) end

--- A page of the engine's own back end; others have one token, unless they ask for more (implications.lua).
local function unless_chosen(tokens)
  return function(_, own)
    local chosen = own.attention_backend or own.decode_attention_backend or own.prefill_attention_backend
    return chosen and 1 or tokens
  end
end

--- The same, with back ends that have such a page as well.
local function with(tokens, others)
  return function(_, own)
    local chosen = own.attention_backend
    return (chosen == nil or others[chosen]) and tokens or 1
  end
end

return {
  seen = "0.5.18",
  { page_size = 1, code = "python/sglang/srt/arg_groups/overrides.py: _page_size_default",
    source = "python/sglang/srt/server_args.py: of most back ends" },
  { since = "0.5.4", architecture = "blackwell", gpu = data_centre, family = { "deepseek_v3", "kimi_k2", "gpt_oss" },
    page_size = unless_chosen(64),
    code = "python/sglang/srt/arg_groups/model_overrides/deepseek_v2.py: _deepseek_family_overrides; gpt_oss.py",
    source = "pull request 11512: trtllm_mla for DeepseekV3ForCausalLM on SM100, trtllm_mha for GPT-OSS" },
  { since = "0.5.9", architecture = "blackwell", gpu = data_centre, family = "kimi_k25",
    page_size = unless_chosen(64),
    code = "python/sglang/srt/arg_groups/model_overrides/deepseek_v2.py: _deepseek_family_overrides",
    source = "python/sglang/srt/server_args.py, 0.5.9: the same for KimiK25ForConditionalGeneration" },
  { since = "0.5.7", architecture = "blackwell", gpu = data_centre, when = is_plain,
    page_size = unless_chosen(64),
    code = "python/sglang/srt/server_args.py: _get_default_attn_backend",
    source = "python/sglang/srt/server_args.py, 0.5.7: trtllm_mha on SM100" },
  { since = "0.5.14", architecture = "blackwell", gpu = data_centre,
    family = { "qwen3_next", "qwen3_5", "qwen3_5_moe" }, page_size = unless_chosen(64),
    code = "python/sglang/srt/arg_groups/model_overrides/qwen3_5.py: _qwen3_5_hybrid_overrides",
    source = "pull request 19030: trtllm_mha where the states have a second buffer, which they have by pull request "
      .. "29158" },
  { since = "0.5.7", architecture = "blackwell", gpu = data_centre, family = "mistral_large_3",
    page_size = unless_chosen(64),
    code = "python/sglang/srt/arg_groups/model_overrides/deepseek_v2.py: _deepseek_family_overrides",
    source = "python/sglang/srt/server_args.py, 0.5.7: the same for MistralLarge3ForCausalLM" },
  { since = "0.5.17", architecture = "blackwell", gpu = data_centre, family = "kimi_k3",
    page_size = unless_chosen(64),
    code = "python/sglang/srt/arg_groups/model_overrides/kimi_k3.py: _kimi_k3_overrides",
    source = "overrides.py, _kimi_k3_overrides, 0.5.17 and 0.5.18: trtllm_mla, and cutedsl_mla where dcp is above 1" },
  { since = "0.5.15", architecture = "blackwell", gpu = data_centre, family = { "step3p5", "step3p7" },
    page_size = unless_chosen(128),
    code = "python/sglang/srt/arg_groups/overrides.py: _step3p_overrides, _fa4_page_constraint",
    source = "overrides.py, _step3p_overrides, 0.5.15 to 0.5.18: fa4 on Blackwell" },
  { since = "0.5.16", architecture = "blackwell", gpu = data_centre, family = "inkling",
    page_size = unless_chosen(128),
    code = "python/sglang/srt/arg_groups/model_overrides/inkling.py: _inkling_overrides",
    source = "overrides.py, _inkling_overrides, 0.5.16 to 0.5.18: fa4 on SM100" },
  { since = "0.5.16", architecture = "blackwell", gpu = data_centre, family = { "minimax_m3", "minimax_m3_vl" },
    page_size = with(128, { fa4 = true, trtllm_mha = true }),
    code = "python/sglang/srt/arg_groups/model_overrides/minimax_m3.py: _minimax_m3_overrides",
    source = "overrides.py, _minimax_m3_overrides, 0.5.16 to 0.5.18" },
  { since = "0.5.16", architecture = "hopper", family = { "minimax_m3", "minimax_m3_vl" },
    page_size = with(128, { fa3 = true }),
    code = "python/sglang/srt/arg_groups/model_overrides/minimax_m3.py: _minimax_m3_overrides", source = "the same" },
  { since = "0.5.4", family = { "deepseek_v32", "glm_moe_dsa" }, page_size = 64,
    code = "python/sglang/srt/arg_groups/model_overrides/deepseek_v2.py: _deepseek_family_overrides",
    source = "pull request 11061: sparse latent attention; 1 on AMD without preshuffled pages" },
  { since = "0.5.19", family = { "glm5_next", "hy_v4" }, page_size = 64,
    code = "python/sglang/srt/arg_groups/model_overrides/deepseek_v2.py: _deepseek_family_overrides",
    source = "deepseek_v2.py of main, whose day is not known; the tag of 0.5.18 has not these models" },
  { since = "0.5.19", family = "qwen4_exp", page_size = 64,
    code = "python/sglang/srt/arg_groups/model_overrides/qwen4_exp.py: _qwen4_exp_overrides",
    source = "qwen4_exp.py of main, whose day is not known; the tag of 0.5.18 has not this model" },
  { since = "0.5.12", family = "deepseek_v4", page_size = 256, seen = "0.5.18",
    code = "python/sglang/srt/arg_groups/model_overrides/deepseek_v4.py: _deepseek_v4_overrides",
    source = "pull request 23882" },
  -- The format of keys and values where nobody states it.
  { since = "0.5.4", architecture = "blackwell", family = { "deepseek_v32", "glm_moe_dsa" },
    kv_cache_dtype = "fp8_e4m3", code = "python/sglang/srt/arg_groups/overrides.py: _dsa_kv_cache_dtype_default",
    source = "python/sglang/srt/server_args.py, 0.5.4 to 0.5.14: FP8 from compute capability 10.0 on" },
  { since = "0.5.12", family = "deepseek_v4", kv_cache_dtype = "fp8_e4m3",
    code = "python/sglang/srt/arg_groups/overrides.py: _deepseek_v4_kv_cache_dtype", source = "pull request 23882" },
}
