-- Defaults of the serving engines of measured runs: one set per engine and version, the same for every model and
-- run. `validate` prints this table. `others` of a parameter: further values that a run may have used if its case
-- states none (budget: the default of an engine without a usage context).
local core = require "rooflua.base.core"
local names = require "rooflua.validate.names"

local engines = {}

--- vLLM has other defaults for these GPUs.
local function is_small(hardware)
  return hardware.memory_bytes < 70 * 2 ^ 30 or hardware.name:lower():find("a100", 1, true) ~= nil
end

--- An entry has a pattern of the engine's name in lower case, versions `from` (included) to `to` (excluded), a test of
--- the GPU, and parameters {value, source}. Later entries override earlier ones. `fit` of a parameter: it was fitted to
--- measured runs, on a grid {from, to, step}.
local known = {
  {
    label = "vLLM V1", pattern = "vllm", from = 0.08, scheduler = "vllm_v1",
    parameters = {
      async_depth = { 1, "vLLM 0.11, 0.12: asynchronous scheduling is off by default" },
      memory_utilization = { 0.90, "vLLM default until 0.2x" },
      prefix_caching = { true, "vLLM V1 default" },
      reserve_full_sequence = { false, "vLLM before 0.20: scheduler_reserve_full_isl does not exist or is off" },
      seats = { 1024, "vLLM V1 API server, GPU of 70 GiB and more" },
      budget = { 8192, "vLLM V1 API server, GPU of 70 GiB and more", others = { 2048 } },
      client_frontend_s = { 0.0067, "fit: tests/fidelity/frontend_fit.lua", fit = { 0, 0.020, 0.001 } },
      own_sampling = { true, "vLLM 0.8 and later: the model's generation_config.json (pull request 12622)" },
      sorted_logit_s = { 0, "set where a release sorts logits" },
      server_frontend_s = { 0.0018, "guidellm stage 0: median of ttft - queue - prefill" },
    },
  },
  { label = "vLLM V1, sorting sampler", pattern = "vllm", from = 0.08, to = 0.16, scheduler = "vllm_v1",
    parameters = { sorted_logit_s = { 0.14e-9, "vLLM pull request 40376: 128 rows of 131,072 logits in 2.3 ms" } } },
  { label = "vLLM V1, asynchronous, whole sequences", pattern = "vllm", from = 0.20, scheduler = "vllm_v1",
    parameters = { reserve_full_sequence = { true, "vLLM scheduler_reserve_full_isl, on in releases of 2026" } } },
  { label = "vLLM V1, smaller GPU", pattern = "vllm", from = 0.08, gpu = is_small, scheduler = "vllm_v1",
    parameters = {
      seats = { 256, "vLLM V1 API server, A100 and GPUs below 70 GiB" },
      budget = { 2048, "vLLM V1 API server, A100 and GPUs below 70 GiB" },
    } },
  { label = "vLLM V1, asynchronous", pattern = "vllm", from = 0.14, scheduler = "vllm_v1",
    parameters = { async_depth = { 2, "vLLM 0.15 default: asynchronous scheduling on" } } },
  {
    label = "vLLM V0", pattern = "vllm 2024", scheduler = "vllm_v0",
    parameters = {
      async_depth = { 1, "vLLM V0 is synchronous" },
      own_sampling = { false, "vLLM before 0.8: only where asked for (pull request 11164)" },
      prefix_caching = { false, "vLLM V0 default" },
      seats = { 256, "vLLM V0 default" },
      budget = { 131072, "offline batches: whole prompts" },
    },
  },
  {
    label = "TensorRT-LLM", pattern = "trt%-llm", scheduler = "trtllm",
    parameters = {
      async_depth = { 2, "in-flight batching overlaps host and GPU" },
      memory_utilization = { 0.90, "TensorRT-LLM default; a static batch gets its blocks in any case" },
      prefix_caching = { false, "TensorRT-LLM of 2024: reuse of KV blocks is off by default" },
      seats = { 2048, "TensorRT-LLM default" },
      own_sampling = { false, "TensorRT-LLM: only where asked for (pull request 17213)" },
      budget = { 8192, "TensorRT-LLM default" },
      client_frontend_s = { 0, "not known" },
    },
  },
  { label = "TensorRT-LLM, static batch", pattern = "trt%-llm.*static batch", scheduler = "static_batch",
    parameters = {} },
}

--- 0.15 of "vLLM 0.15.1": minor releases below 100.
local function version_of(text)
  local major, minor = text:match "(%d+)%.(%d+)"
  if not major or tonumber(major) > 100 then return nil end
  return tonumber(major) + tonumber(minor) / 100
end

local function fits(entry, text, version, hardware)
  if not text:find("%f[%a]" .. entry.pattern) then return false end
  if entry.gpu and not (hardware and entry.gpu(hardware)) then return false end
  if entry.to and (version == nil or version >= entry.to) then return false end
  return not entry.from or (version ~= nil and version >= entry.from)
end

--- @param text string the engine of a case: "vLLM 0.15.1 (traced fork)"
--- @param overrides table? values that replace the engine's own
--- @param hardware rooflua.Hardware? the GPU of the run
--- @return table {name, scheduler, parameters = {name = {value, source}}}
function engines.of(text, overrides, hardware)
  local lower = names.engine(text)
  local version, found = version_of(lower), nil
  local parameters, on = {}, ""
  for _, entry in ipairs(known) do
    if fits(entry, lower, version, hardware) then
      found = entry
      on = entry.gpu and " on " .. hardware.name or on
      for name, each in pairs(entry.parameters) do parameters[name] = each end
    end
  end
  if not found then
    core.fail("engine: nothing is known of '%s' (known: vLLM with its version, vLLM 2024 (V0), TRT-LLM)", text)
  end
  for name, each in pairs(known[1].parameters) do
    parameters[name] = parameters[name] or { each[1], "as vLLM V1: " .. each[2] }
  end
  for name, value in core.sorted_pairs(overrides or {}) do
    if not parameters[name] then
      core.fail("--set engine.%s: %s", name, core.unknown_name("parameter", name, core.sorted_keys(parameters)))
    end
    parameters[name] = { value, "--set" }
  end
  local short = lower:find "vllm" and "vLLM" or "TensorRT-LLM"
  local number = lower:match "%d+%.%d+%.?%d*"
  local name = short .. (number and " " .. number or " 2024")
  return { name = name, title = name .. on, family = short, label = found.label,
    scheduler = found.scheduler, parameters = parameters }
end

--- Raises an error if no engine has a parameter of that name, before anything runs.
function engines.check(overrides)
  local declared = {}
  for _, entry in ipairs(known) do
    for name in pairs(entry.parameters) do declared[name] = true end
  end
  for _, name in ipairs(core.sorted_keys(overrides)) do
    if not declared[name] then
      core.fail("--set engine.%s: %s", name, core.unknown_name("parameter", name, core.sorted_keys(declared)))
    end
  end
end

--- Parameters that were fitted: {name = {from, to, step, value = present value}}.
function engines.fitted()
  local out = {}
  for _, entry in ipairs(known) do
    for name, each in pairs(entry.parameters) do
      if each.fit then out[name] = { each.fit[1], each.fit[2], each.fit[3], value = each[1] } end
    end
  end
  return out
end

--- Rows {engine, parameter, value, source} of the engines in `used`.
function engines.describe(used)
  local rows = {}
  for _, label in ipairs(core.sorted_keys(used)) do
    local parameters = used[label].parameters
    for _, name in ipairs(core.sorted_keys(parameters)) do
      rows[#rows + 1] = { used[label].title, name, tostring(parameters[name][1]), parameters[name][2] }
    end
  end
  return rows
end

return engines
