--- Which of vLLM's two model runners a deployment has, by release: V2 counts memory in another way.
local states = require "engines.vllm.states"

local drafters = { eagle = true, mtp = true, block_parallel = true }

--- Drafters that V2 runs; look-ups in the prompt and drafters of their own stay with V1.
local function has_drafter(facts) return not facts.drafter or drafters[facts.drafter] == true end

local function is_dense(facts)
  return facts.model ~= nil and facts.model.moe == nil and not states.are_in(facts.model)
end

--- The runner of a deployment whose model is among those of V2, unless a variable says another.
local function runner(is_of_v2)
  return function(facts, own)
    local asked = own.VLLM_USE_V2_MODEL_RUNNER
    if asked ~= nil then return asked == "1" and "V2" or "V1" end
    return is_of_v2(facts) and has_drafter(facts) and "V2" or "V1"
  end
end

--- Whether a model is dense, or of a family.
local function dense_or(families)
  local among = {}
  for _, name in ipairs(families) do among[name] = true end
  return function(facts) return is_dense(facts) or facts.model ~= nil and among[facts.model.family] == true end
end

local named = { "deepseek_v2", "granitemoe", "inkling", "qwen2_moe" } -- inkling runs from 0.26 on (pull request 48799)

--- Whether model runner V1 waits for counts of accepted tokens: always, or where `holds` or no step is planned ahead.
local function waits_for_counts(holds)
  return function(facts, own)
    if (facts.drafts or 0) == 0 or own.model_runner == "V2" then return false end
    return not holds or not own.async_scheduling or holds(facts, own) == true
  end
end

local function has_states(facts) return states.are_in(facts.model) end

local function prefixes_are_cached(_, own) return own.enable_prefix_caching end

return {
  seen = "0.28", code = "vllm/config/vllm.py: VllmConfig.use_v2_model_runner, DEFAULT_V2_MODEL_RUNNER_ARCHITECTURES",
  { model_runner = "V1", source = "vllm/v1/worker/gpu_model_runner.py" },
  { since = "0.25", model_runner = runner(dense_or(named)),
    source = "pull request 44443: dense models; not those with recurrent states. Before, single families (pull "
      .. "requests 39337 of 0.22, 43458 of 0.23, 44446 of 0.24) are taken to run V1 as others do" },
  { since = "0.27", model_runner = runner(dense_or { "kimi_k3", unpack(named) }), source = "pull request 50000" },
  { since = "0.28", model_runner = runner(dense_or { "deepseek_v4", "kimi_k3", unpack(named) }),
    source = "pull request 51768" },
  { since = "0.28", architecture = { "cdna3", "cdna4" }, model_runner = runner(dense_or { "kimi_k3", unpack(named) }),
    source = "vllm/config/vllm.py, default_v2_model_runner_architectures: DeepSeek-V4 is not among them on ROCm" },
  { since = "0.29", model_runner = runner(function() return true end),
    source = "release notes of 0.29.0: V2 for all models" },
  { seen = "0.28", code = "vllm/v1/worker/gpu_model_runner.py: GPUModelRunner._prepare_inputs",
    { since = "0.11", when = has_states, drafts_wait = waits_for_counts(),
      source = "the host copies the numbers of accepted tokens from the GPU in every step; pull request 36013" },
    { since = "0.24", when = has_states, drafts_wait = waits_for_counts(prefixes_are_cached),
      source = "pull request 45100 of 2026-06-22: not with asynchronous scheduling where no prefixes are cached. Pull "
        .. "request 43955 takes waits away: TPOT 6.5 to 5.9 ms with 2 drafts, 9.6 to 8.5 with 1 (two RTX 5090)" },
  },
}
