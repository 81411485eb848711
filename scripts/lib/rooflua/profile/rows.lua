-- The rows of scripts/engines/*/profile.lua and scripts/engines/rules/profile_kernels.lua: what names in a profiler's
-- trace mean.
--
--     steps     {pattern of Lua for a range's name, fields = what its captures are, source}: tokens, prompts,
--               prompt_tokens, prompt_kv, decodes, decode_tokens, decode_kv (kv: the sum of contexts with new tokens)
--     kernels   {pattern in a kernel's name in lower case, operation, source}, and
--               after     belongs to the operation of the kernel before it (a reduction of its parts)
--               before    belongs to that of the kernel after it (a preparation)
--               beside    belongs to an operation of this word if a kernel of it comes just before or after
--               fuses     further operations that the kernel does
--               fallback  why the engine runs it in place of a better one
--               older     built for GPUs before this architecture: "hopper"
--     since, before, seen as in rules
local catalogue = require "rooflua.engines.catalogue"
local core = require "rooflua.base.core"
local release = require "rooflua.engines.release"
local libraries = require "engines.rules.profile_kernels"

local rows = {}

--- Operations that rows name, in the words of steps (engine/cost/work/forward_pass.h), and "inputs": what prepares a
--- batch; "copy": transfers and fills.
local operations = core.set { "all_reduce", "all_gather", "exchange", "attention", "attention_prefill",
  "attention_decode", "linear_attention", "experts", "kv_write", "rope", "norm", "activation", "quantize", "gemm",
  "sampler", "embed", "elementwise", "inputs", "copy" }
local fields = core.set { "tokens", "prompts", "prompt_tokens", "prompt_kv", "decodes", "decode_tokens", "decode_kv" }
local kernel_keys = { 1, "operation", "after", "before", "beside", "fuses", "fallback", "older", "seen",
  "source" }
local step_keys = { 1, "fields", "since", "before", "seen", "source" }

local function check_kernel(row, where)
  core.check_keys(row, kernel_keys, where)
  if not operations[row.operation] then core.fail("%s: operation: '%s' is none", where, tostring(row.operation)) end
  if row.beside and not operations[row.beside] then core.fail("%s: beside: '%s' is none", where, row.beside) end
  if type(row.source) ~= "string" then core.fail("%s: source is missing", where) end
end

local function check_step(row, where)
  core.check_keys(row, step_keys, where)
  for _, name in ipairs(row.fields) do
    if not fields[name] then core.fail("%s: fields: '%s' is none", where, name) end
  end
  if type(row.source) ~= "string" then core.fail("%s: source is missing", where) end
end

--- Whether a row holds for a release; any does where none is known.
local function holds(row, version) return not version or release.holds(row, version) end

--- {steps, kernels} of an engine and release; of all engines where none is known.
---@param engine table? of catalogue.of
---@param version string?
function rows.of(engine, version)
  local out = { steps = {}, kernels = {} }
  for _, name in ipairs(engine and { engine.name } or catalogue.names()) do
    local said = catalogue.said(engine or catalogue.of(name), "profile") or { steps = {}, kernels = {} }
    for i, row in ipairs(said.steps) do
      check_step(row, ("engines.%s.profile.steps[%d]"):format(name, i))
      if holds(row, version) then out.steps[#out.steps + 1] = row end
    end
    for i, row in ipairs(said.kernels) do
      check_kernel(row, ("engines.%s.profile.kernels[%d]"):format(name, i))
      out.kernels[#out.kernels + 1] = row
    end
  end
  for i, row in ipairs(libraries) do
    check_kernel(row, ("engines.rules.profile_kernels[%d]"):format(i))
    out.kernels[#out.kernels + 1] = row
  end
  return out
end

--- The row of a kernel's name; nil where none matches.
function rows.kernel(kernels, name)
  local lower = name:lower()
  for _, row in ipairs(kernels) do
    if lower:find(row[1]) then return row end
  end
  return nil
end

--- The row of a range's name and its captures by field; nil where none matches.
function rows.step(steps, name)
  for _, row in ipairs(steps) do
    local captures = { name:match(row[1]) }
    if captures[1] then
      local found = {}
      for i, field in ipairs(row.fields) do found[field] = tonumber(captures[i]) end
      return row, found
    end
  end
  return nil
end

return rows
