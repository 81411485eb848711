-- Serving engines as the measured runs used them: what a version does by default. One set per engine
-- and version; nothing here knows a model or a run. `validate` prints this table. `others` of a parameter: what it
-- may also have been where a case does not say (budget: the default of an engine without a usage context).
local core = require "rooflua.core"

local engines = {}

--- Each: names of the engine (a pattern of its lower-case text), versions from .. below to, and parameters
--- {value, source}. Later entries stand before earlier ones.
local known = {
  {
    label = "vLLM V1", pattern = "vllm", from = 0.08, scheduler = "vllm_v1",
    parameters = {
      async_depth = { 1, "vLLM 0.11, 0.12: asynchronous scheduling is off by default" },
      memory_utilization = { 0.90, "vLLM default until 0.2x" },
      prefix_caching = { true, "vLLM V1 default" },
      reserve_full_sequence = { false, "vLLM before 0.19 has no scheduler_reserve_full_isl" },
      seats = { 1024, "vLLM V1 API server, GPU of 70 GiB and more" },
      budget = { 8192, "vLLM V1 API server, GPU of 70 GiB and more", others = { 2048 } },
      client_frontend_s = { 0.008, "fit: see docs/VALIDATION.md" },
      sorted_logit_s = { 0, "set where a release sorts logits" },
      server_frontend_s = { 0.0018, "guidellm stage 0: median of ttft - queue - prefill" },
    },
  },
  { label = "vLLM V1, sorting sampler", pattern = "vllm", from = 0.08, to = 0.16, scheduler = "vllm_v1",
    parameters = { sorted_logit_s = { 0.14e-9, "vLLM pull request 40376: 128 rows of 131,072 logits in 2.3 ms" } } },
  { label = "vLLM V1, asynchronous", pattern = "vllm", from = 0.14, scheduler = "vllm_v1",
    parameters = { async_depth = { 2, "vLLM 0.15 default: asynchronous scheduling on" } } },
  {
    label = "vLLM V0", pattern = "vllm 2024", scheduler = "vllm_v0",
    parameters = {
      async_depth = { 1, "vLLM V0 is synchronous" },
      prefix_caching = { false, "vLLM V0 default" },
      seats = { 256, "vLLM V0 default" },
      budget = { 131072, "offline batches: whole prompts" },
    },
  },
  {
    label = "TensorRT-LLM", pattern = "trt%-llm", scheduler = "trtllm",
    parameters = {
      async_depth = { 2, "in-flight batching overlaps host and GPU" },
      prefix_caching = { false, "off in these runs" },
      seats = { 2048, "TensorRT-LLM default" },
      budget = { 8192, "TensorRT-LLM default" },
      client_frontend_s = { 0, "not known" },
    },
  },
  { label = "TensorRT-LLM, static batch", pattern = "static batch", scheduler = "static_batch", parameters = {} },
}

--- 0.15 of "vLLM 0.15.1": minor releases below 100.
local function version_of(text)
  local major, minor = text:match "(%d+)%.(%d+)"
  if not major or tonumber(major) > 100 then return nil end
  return tonumber(major) + tonumber(minor) / 100
end

local function fits(entry, text, version)
  if not text:find(entry.pattern) then return false end
  if entry.to and (version == nil or version >= entry.to) then return false end
  return not entry.from or (version ~= nil and version >= entry.from)
end

--- @param text string the engine of a case: "vLLM 0.15.1 (traced fork)"
--- @param overrides table values that stand before the engine's own
--- @return table {name, scheduler, parameters = {name = {value, source}}}
function engines.of(text, overrides)
  local lower = text:lower()
  local version, found = version_of(lower), nil
  local parameters = {}
  for _, entry in ipairs(known) do
    if fits(entry, lower, version) then
      found = entry
      for name, each in pairs(entry.parameters) do parameters[name] = each end
    end
  end
  if not found then
    core.fail("engine: nothing is known of '%s' (known: vLLM with its version, vLLM 2024 (V0), TRT-LLM)", text)
  end
  for name, each in pairs(known[1].parameters) do parameters[name] = parameters[name] or each end
  for name, value in core.sorted_pairs(overrides or {}) do
    if not parameters[name] then
      core.fail("--set engine.%s: %s", name, core.unknown_name("parameter", name, core.sorted_keys(parameters)))
    end
    parameters[name] = { value, "--set" }
  end
  local short = lower:find "vllm" and "vLLM" or "TensorRT-LLM"
  local number = lower:match "%d+%.%d+%.?%d*"
  return { name = short .. (number and " " .. number or " 2024"), family = short, label = found.label,
    scheduler = found.scheduler, parameters = parameters }
end

--- An error if some engine has no parameter of that name: found before anything runs.
function engines.check(overrides)
  local names = {}
  for _, entry in ipairs(known) do
    for name in pairs(entry.parameters) do names[name] = true end
  end
  for _, name in ipairs(core.sorted_keys(overrides)) do
    if not names[name] then
      core.fail("--set engine.%s: %s", name, core.unknown_name("parameter", name, core.sorted_keys(names)))
    end
  end
end

--- Rows {engine, parameter, value, source} of everything that was asked for.
function engines.describe(used)
  local rows = {}
  for _, label in ipairs(core.sorted_keys(used)) do
    local parameters = used[label].parameters
    for _, name in ipairs(core.sorted_keys(parameters)) do
      rows[#rows + 1] = { used[label].name, name, tostring(parameters[name][1]), parameters[name][2] }
    end
  end
  return rows
end

return engines
