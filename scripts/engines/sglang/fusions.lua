--- What SGLang fuses, and whether it plans a step while another one runs, where nobody asks for more: rules of its
--- releases, by the model classes that its code names (python/sglang/srt/server_args.py).
local has_states = require "engines.rules.states"

local fusions = {}

fusions.options = {
  { "enable_flashinfer_allreduce_fusion", flag = "--enable-flashinfer-allreduce-fusion", type = "switch",
    read_by = "norm_apart_s", doc = "an all-reduce and the norm behind it are one kernel" },
}

local deepseek = { "deepseek_v3", "kimi_k2", "kimi_k25" }
local first_fused = { "deepseek_v3", "kimi_k2", "kimi_k25", "gpt_oss" }
local fused = { "deepseek_v3", "kimi_k2", "kimi_k25", "gpt_oss", "glm4_moe", "glm4_moe_lite", "qwen3_moe" }

--- An all-reduce and the norm behind it as two kernels, in place of one.
local apart_s = 11.1e-6

local function unless_asked(_, own) return own.enable_flashinfer_allreduce_fusion and 0 or apart_s end

--- States that share the prefix cache are copied between steps, which then do not overlap.
local function copies_states(facts) return has_states(facts.model) and not facts.drafts end
local function unless_off(_, own) return own.disable_radix_cache ~= true end

fusions.rules = {
  { architecture = { "hopper", "blackwell" }, norm_apart_s = unless_asked,
    source = "pull request 19889: 21.5 us for all-reduce and norm, 10.4 us in one kernel" },
  { since = "0.5.4", architecture = "blackwell", family = first_fused, norm_apart_s = 0,
    source = "python/sglang/srt/server_args.py, 0.5.5: fused on SM100 for DeepseekV3 and GptOss; pull request 12724" },
  { since = "0.5.7", architecture = { "hopper", "blackwell" }, family = fused, norm_apart_s = 0,
    source = "pull request 14764: fused by default from SM90 on for the model classes that support it" },
  { since = "0.5.11", architecture = { "hopper", "blackwell" }, family = { "qwen3_next", "qwen3_5_moe" },
    norm_apart_s = 0, source = "pull request 22664" },
  { before = "0.5.10", family = { "qwen3_5", "qwen3_5_moe" }, norm_apart_s = apart_s,
    source = "pull request 19889, which fuses them for this family" },
  { since = "0.5.4", when = copies_states, disable_overlap_schedule = unless_off,
    source = "pull requests 11214 and 14792: states in the prefix cache without a second buffer, no overlap schedule" },
  { family = "kimi_linear", disable_overlap_schedule = false,
    source = "python/sglang/srt/server_args.py: no radix cache for KimiLinearForCausalLM" },
}

return fusions
