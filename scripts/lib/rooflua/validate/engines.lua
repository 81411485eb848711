-- The serving engines of measured runs: their defaults, the same for every model and run, from scripts/engines by name
-- and release. `validate` prints them. `others` of a parameter: further values that a run may have used if its case
-- states none.
local application = require "rooflua.applied.application"
local catalogue = require "rooflua.engines.catalogue"
local core = require "rooflua.base.core"
local release = require "rooflua.engines.release"
local values = require "rooflua.engines.values"

local engines = {}

--- Seconds of the server's front end for a token of a prompt that is sent as text. Fitted to TTFT of clients that send
--- random tokens as text, leaving deployments out (docs/records/fitted.md).
engines.text_token_s = 5e-6

--- Parameters of `--set engine.NAME=VALUE`: keys of a scenario, or settings, that engines have a value for.
local parameters = {
  async_depth = { key = "async_depth" },
  memory_utilization = { key = "deployment.memory_utilization" },
  prefix_caching = { key = "deployment.prefix_caching" },
  reserve_full_sequence = { key = "scheduler.scheduler_reserve_full_isl", absent = false },
  seats = { key = "scheduler.max_num_seqs" },
  budget = { key = "scheduler.max_num_batched_tokens", others = "other_budgets" },
  client_frontend_s = { setting = "client_frontend_s", fit = { 0, 0.020, 0.001 } },
  server_frontend_s = { setting = "server_frontend_s" },
  own_sampling = { setting = "own_sampling" },
  sorted_logit_s = { setting = "sorted_logit_s" },
  host_step_s = { setting = "host_step_s" },
  host_request_s = { setting = "host_request_s" },
}

local parameter_names = core.sorted_keys(parameters)

--- The engine whose name or alias a text has as a word.
local function engine_in(lower)
  for _, name in ipairs(catalogue.names()) do
    local engine = catalogue.of(name)
    local known = { engine.name }
    for _, alias in ipairs(engine.aliases or {}) do known[#known + 1] = alias end
    for _, word in ipairs(known) do
      if lower:find("%f[%a]" .. word:gsub("%p", "%%%0")) then return engine end
    end
  end
end

--- The release of a text: a number, else the newest of a year ("vLLM 2024"); nil where it says neither.
local function release_in(engine, lower)
  local number = lower:match "%f[%d](%d+%.%d[%w.]*)"
  if number then return release.parse(number) and number or number:match "^[%d.]*%d" end
  local year, found = lower:match "%f[%d](20%d%d)%f[%D]", nil
  for _, each in ipairs(engine.releases) do
    if year and each.day and each.day <= year .. "-12-31" then found = each.name end
  end
  return found
end

--- A GPU of this program for which engines have the defaults of large ones: what holds where a GPU is not known.
local function large() return require("rooflua.spec").hardware "h100-sxm" end

--- Values of an engine that runs a whole model on one GPU.
local function values_on(engine, version, hardware)
  return values.of(engine, version, { hardware = hardware, tp = 1, dp = 1, pp = 1, ep = 1 })
end

local function parameters_of(resolved)
  local out, keys, memory, from = {}, application.keys(resolved)
  if memory then keys["deployment.memory_utilization"] = memory[2] end
  for name, about in pairs(parameters) do
    local option = about.setting or from[about.key]
    local value = about.absent
    if about.key and keys[about.key] ~= nil then value = keys[about.key] end
    if about.setting then value = resolved.values[about.setting] end
    if value ~= nil then
      out[name] = { value, resolved.sources[option] or "does not exist", fit = about.fit,
        others = about.others and resolved.values[about.others] or nil }
    end
  end
  return out
end

--- @param text string the engine of a case: "vLLM 0.15.1 (traced fork)"
--- @param overrides table? values that replace the engine's own
--- @param hardware rooflua.Hardware? the GPU of the run
--- @return table {name, title, family, label, generation, scheduler, tables, parameters = {name = {value, source}}}
function engines.of(text, overrides, hardware)
  local lower = text:lower()
  local engine = engine_in(lower)
  local version = engine and release_in(engine, lower)
  if not version then
    core.fail("engine: nothing is known of '%s' (known: vLLM with its version, vLLM 2024 (V0), TRT-LLM)", text)
  end
  local found = values_on(engine, version, hardware or large())
  local own = parameters_of(found)
  local is_large = own.seats[1] == parameters_of(values_on(engine, version, large())).seats[1]
  for name, value in core.sorted_pairs(overrides or {}) do
    if not own[name] then
      core.fail("--set engine.%s: %s", name, core.unknown_name("parameter", name, core.sorted_keys(own)))
    end
    own[name] = { value, "--set" }
  end
  local number = lower:match "%d+%.%d+%.?%d*"
  local name = engine.title .. (number and " " .. number or " 2024")
  local is_static = lower:find "static batch" ~= nil
  local scheduler = is_static and "static_batch" or found.values.scheduler
  local generation = found.values.generation
  return { name = name, title = name .. (is_large and "" or " on " .. hardware.name), family = engine.title,
    label = engine.title .. (generation and " " .. generation or "") .. (is_static and ", static batch" or ""),
    generation = generation, scheduler = scheduler, tables = engine.tables.name, parameters = own }
end

--- The engine's times of a host, as parameters of the step model kernels.
function engines.host(engine)
  local own = engine.parameters
  return { host_step_s = own.host_step_s[1], host_request_s = own.host_request_s[1] }
end

--- Raises an error if no engine has a parameter of that name, before anything runs.
function engines.check(overrides)
  for _, name in ipairs(core.sorted_keys(overrides)) do
    if not parameters[name] then
      core.fail("--set engine.%s: %s", name, core.unknown_name("parameter", name, parameter_names))
    end
  end
end

--- Parameters that were fitted: {name = {from, to, step, value = present value}}.
function engines.fitted()
  local engine = catalogue.default()
  local found = values_on(engine, catalogue.newest(engine), large())
  local out = {}
  for name, about in pairs(parameters) do
    if about.fit then out[name] = { about.fit[1], about.fit[2], about.fit[3], value = found.values[about.setting] } end
  end
  return out
end

--- Rows {engine, parameter, value, source} of the engines in `used`.
function engines.describe(used)
  local rows = {}
  for _, label in ipairs(core.sorted_keys(used)) do
    local own = used[label].parameters
    for _, name in ipairs(core.sorted_keys(own)) do
      rows[#rows + 1] = { used[label].title, name, tostring(own[name][1]), own[name][2] }
    end
  end
  return rows
end

return engines
