--- The generation of vLLM that 0.8 replaced, V0: its rules before 0.8, and where 0.8 to 0.10 are told to run it.
--- Prompts are not cut unless somebody asks for it, or where requests may be long.
local generations = {}

local function where_asked(_, own)
  return own.generation_config ~= nil and own.generation_config ~= "vllm"
end

--- Whether some layers attend to a window.
local function has_windows(model)
  for _, kind in ipairs(model.attention) do
    if (kind.window or 0) > 0 then return true end
  end
  return false
end

--- Drafts, windows and images stood against cutting long prompts.
local function cuts_long_prompts(facts, own)
  local model = facts.model
  local longest = own.max_model_len or model and model.max_model_len or 0
  return longest > 32768 and not facts.drafts and not (model and (model.vision or has_windows(model)))
end

local function scheduler_of_v0(_, own) return own.enable_chunked_prefill and "sarathi" or "vllm_v0" end

--- The budget of a step; where prompts are not cut none binds.
local function budget_of_v0(tokens)
  return function(_, own) return own.enable_chunked_prefill and tokens or 131072 end
end

local source = "vllm/config.py, vllm/engine/arg_utils.py of 0.6 and 0.7 (prompts are not cut: no budget binds); "
  .. "pull request 6666: long ones are, since 0.5.4"

--- Schedule, inputs and outputs in Python, one after the other: what a step and a request of it take.
local host_step_s, host_request_s = 1.4e-3, 42e-6

--- A row with what V0 does wherever it runs, and more.
local function v0(more)
  local out = { scheduler = scheduler_of_v0, max_num_seqs = 256, max_num_batched_tokens = budget_of_v0(2048),
    enable_chunked_prefill = cuts_long_prompts, chunk_size = function(_, own) return own.max_num_batched_tokens end,
    enable_prefix_caching = false, async_scheduling = false, sorted_logit_s = 0, generation = "V0",
    max_cudagraph_capture_size = 256, host_step_s = host_step_s, host_request_s = host_request_s, source = source }
  for name, value in pairs(more) do out[name] = value end
  return out
end

--- The same before 0.8, behind what holds of all releases.
generations.host = { before = "0.8", host_step_s = host_step_s, host_request_s = host_request_s, fitted = true,
  source = "fitted to static batches of 1 to 64, 128 and 256 tokens, of an 8B on H100: docs/records/fitted.md, \"Host "
    .. "time of a request\"; vLLM's blog of 2024-09-05: 29 % of a server's time are scheduling, 38 % the GPU (0.5.3)" }

generations.before_v1 = {
  v0 { before = "0.8", own_sampling = where_asked, block_size = 16, gpu_memory_utilization = 0.90,
    kv_cache_dtype = "auto" },
  { before = "0.7", max_num_batched_tokens = budget_of_v0(512), source = "vllm/config.py, SchedulerConfig of 0.6" },
}

generations.instead_of_v1 = {
  v0 { since = "0.8", before = "0.11", where = { VLLM_USE_V1 = "0" },
    source = "vllm/envs.py: VLLM_USE_V1; " .. source .. "; pull request 25321 removes V0" },
  v0 { since = "0.8", before = "0.9", architecture = "turing",
    source = "vllm/engine/arg_utils.py of 0.8, _is_v1_supported_oracle: V1 needs compute capability 8.0; " .. source },
}

generations.options = {
  { "VLLM_USE_V1", variable = true, type = "text", idle = { "1" }, read_by = "generation",
    read = function(value, _, own) return value == "0" and own.generation == "V0" or nil end,
    unread = "the release has no other generation of the engine", doc = "0: V0 runs where the release has it" },
}

return generations
