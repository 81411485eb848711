-- A scenario's table as objects of the engine: model, hardware, deployment, tables, a step model and corrections.
local adapters = require "rooflua.machine.adapters"
local application = require "rooflua.applied.application"
local core = require "rooflua.base.core"
local experts = require "rooflua.machine.experts"
local ledger = require "rooflua.border.ledger"
local memory = require "rooflua.applied.memory"
local mfu = require "rooflua.mfu"
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local schema = require "rooflua.scenario.schema"
local shared = require "rooflua.machine.shared"
local spec = require "rooflua.spec"
local specs = require "rooflua.border.specs"
local stages = require "rooflua.machine.stages"

local prepared = {}

--- The deployment of a scenario with what all.held says is held beside the weights. Its KV blocks are those that are
--- stated; else those that the engine's own rule leaves where it divides the memory (all.divides), else the program's
--- estimate: a step is priced where its engine would not start as well. all.options and all.found are what
--- prepared.ledger needs.
local function deployment_of(all)
  local reader, given = all.reader, all.given.deployment
  if specs.is(given, "Deployment") then
    if not (specs.same(given.model, all.model) and specs.same(given.hardware, all.hardware)) then
      reader:fail("deployment", "is a Deployment of %s on %s, and this scenario has %s on %s", given.model.name,
        given.hardware.name, all.model.name, all.hardware.name)
    end
    return given
  end
  local checked = schema.check_group(reader, "deployment", given)
  all.options, all.found = memory.options(checked, all.model, all.hardware, all.held), nil
  if all.divides then all.options.block_size = memory.block_size(all.divides, all.options) or all.options.block_size end
  local options = core.copy(all.options)
  if all.divides and options.kv_blocks == nil then
    local ok, blocks, share, found = pcall(memory.blocks, all.divides, options)
    if not ok and all.served then reader:at("deployment", error, blocks, 0) end
    if ok then
      options.kv_blocks, options.memory_utilization = blocks, share or options.memory_utilization
      all.found = found
    end
  end
  return reader:at("deployment", spec.deployment, options)
end

--- The ledger of the memory, as the engine divides it (applied/ledger.lua); nil where the scenario gives a Deployment
--- or its engine divides nothing.
function prepared.ledger(all)
  if not (all.divides and all.options) then return nil end
  all.found = all.found or all.reader:at("deployment", memory.ledger, all.divides, all.options)
  return all.found
end

--- Takes the memory of a drafter: fewer KV blocks, unless the scenario gives their number or a Deployment.
function prepared.hold_drafter(all, weight_bytes, kv_bytes_per_token)
  if weight_bytes + kv_bytes_per_token == 0 then return end
  all.held.drafter_weight_bytes, all.held.drafter_kv_bytes_per_token = weight_bytes, kv_bytes_per_token
  if not specs.is(all.given.deployment, "Deployment") then all.deployment = deployment_of(all) end
end

--- Takes the memory of slots of adapters and of copies of experts, in the same way.
local function hold_parts(all)
  all.adapters = adapters.of(all.reader, all.given, all)
  all.experts = experts.of(all.reader, all.given, all)
  for _, key in ipairs { "cp", "dcp" } do
    if all.adapters and all.deployment[key] > 1 then
      all.reader:fail("adapters", "are not priced with deployment.%s = %d; leave one of them out", key,
        all.deployment[key])
    end
  end
  if all.adapters and all.deployment.expert_gpus > 0 then
    all.reader:fail("adapters", "are not priced with deployment.expert_gpus; leave one of them out")
  end
  if not (all.adapters or all.experts) then return end
  all.held.adapter_bytes = all.adapters and all.adapters.slots * all.adapters.slot_bytes
  all.held.redundant_expert_bytes = all.experts and all.experts.redundant_bytes
  if not specs.is(all.given.deployment, "Deployment") then all.deployment = deployment_of(all) end
end

--- Refuses a lookup that a step model replaces by one of its own.
local function check_lookup(reader, given, steps)
  local stated = type(given) == "string" and given or type(given) == "table" and core.plain(given).lookup
  local own = policy.parameters(steps).lookup
  if stated and type(own) == "string" and own ~= "" and own ~= stated then
    reader:fail("mfu.lookup", "has no effect: the step model %s asks %s, by its parameter lookup; say steps.lookup",
      steps.name, own)
  end
end

--- Refuses a step model that prices a request as if it were on one rank, or experts as if they were on the ranks of the
--- attention. Others have the fields `follows_context` and `follows_apart`.
local function check_context(reader, all)
  for _, key in ipairs { "cp", "dcp" } do
    if all.deployment[key] > 1 and not all.step_policy.follows_context then
      reader:fail("steps", "%s does not price deployment.%s = %d; kernels does", tostring(all.step_policy.name), key,
        all.deployment[key])
    end
  end
  if all.deployment.expert_gpus > 0 and not all.step_policy.follows_apart then
    reader:fail("steps", "%s does not price AFD (deployment.expert_gpus); kernels does",
      tostring(all.step_policy.name))
  end
end

local function tables_of(reader, given, hardware, engine)
  if mfu.is_database(given) then
    local own = given.hardware
    if own and not specs.same(own, hardware) then
      reader:fail("mfu", "is a Database of %s, and this scenario has %s; open it with hardware = that of the scenario",
        own.name, hardware.name)
    end
    return given
  end
  local options = {}
  if type(given) == "string" then given = { lookup = given } end
  if given ~= nil and type(given) ~= "table" then
    reader:fail("mfu", "expected a lookup's name or a table, found %s", core.describe(given))
  end
  for key, value in pairs(core.plain(given or {})) do options[key] = value end
  if options.gpu == nil or options.hardware == nil then options.hardware = options.hardware or hardware end
  options.engine = options.engine or engine
  if not specs.is(options.hardware, "Hardware") then return reader:at("mfu", mfu.open, options) end
  return shared.tables(reader, options)
end

--- The caps of the contexts that the model's attention reads, in a list of its own; empty where there are none.
local function caps_of(model)
  local caps = {}
  for i, cap in ipairs(core.plain(model.context_caps or {})) do caps[i] = cap end
  return caps
end

local none = {}

--- Steps that are planned ahead, as far as prices know: none where drafts wait for what was accepted.
function prepared.host_depth(all)
  return all.draft_depth and all.engine and all.engine.values.drafts_wait and 1 or all.async_depth
end

--- A step model or correction of its own, which learns what it prices for. What it prices while it is bound has no
--- corrections, whichever are in force around it.
---@param all table what prepared.of returned
---@param key string the key of the scenario where the policy stands
function prepared.bind(all, instance, key)
  local own = policy.fresh(instance)
  if type(own.bind) == "function" then
    all.reader:at(key, ledger.with_corrections, none, function()
      own:bind { model = all.model, deployment = all.deployment, hardware = all.hardware, mfu = all.mfu,
        engine = all.engine, async_depth = prepared.host_depth(all), draft_depth = all.draft_depth,
        context_caps = caps_of(all.model), context_chunk = all.context_chunk, adapters = all.adapters,
        experts = all.experts }
    end)
  end
  return own
end

--- A bound step model. Each variant has its own, unless it can remember nothing but prices (machine/shared.lua).
---@param method string? that it must have; default "time"
function prepared.steps(all, method)
  policies.with_method(all.reader, "steps", all.step_policy, method or "time")
  return shared.steps(all, function() return prepared.bind(all, all.step_policy, "steps") end)
end

--- {reader, given, model, hardware, deployment, stages, mfu, engine, served, divides, held, async_depth, context_caps,
--- context_chunk, step_policy, adapters, experts, corrections} of one variant.
--- @param applied table? what application.of returned for it; `given` is that with its keys
function prepared.of(reader, given, applied)
  local served = applied
  applied = applied or application.of(reader, given, false)
  given = applied.given
  local out = { given = given, reader = reader, engine = applied.engine, served = served, held = {},
    divides = (served or applied.is_stated) and applied or nil, engine_notes = applied.notes, applied = applied }
  out.model = reader:by_name("model", spec.model, given.model)
  out.hardware = reader:by_name("hardware", spec.hardware, given.hardware)
  local constants = type(given.mfu) == "table" and core.plain(given.mfu).model
  if constants then out.hardware = reader:at("mfu.model", specs.with_constants, out.hardware, constants) end
  out.deployment = deployment_of(out)
  local serving = not specs.is(given.deployment, "Deployment") and core.plain(given.deployment or {}) or {}
  out.stages = stages.of(out.deployment, serving.pp_send_s)
  out.mfu = tables_of(reader, given.mfu, out.hardware, out.engine and out.engine.engine.tables.name or serving.engine)
  out.async_depth = given.async_depth or schema.entry("async_depth").default
  if out.async_depth ~= 1 and out.async_depth ~= 2 then
    reader:fail("async_depth", "expected 1 or 2, found %s", core.describe(out.async_depth))
  end
  out.context_caps = caps_of(out.model)
  out.context_chunk = out.model.context_chunk > 0 and out.model.context_chunk or nil
  out.step_policy = policies.steps(reader, given)
  check_lookup(reader, given.mfu, out.step_policy)
  check_context(reader, out)
  hold_parts(out)
  out.corrections = policies.corrections(reader, given.corrections, out.step_policy)
  out.corrections.unasked = applied.corrections
  for i, each in ipairs(out.corrections) do
    out.corrections[i] = prepared.bind(out, each, "corrections[" .. i .. "]")
  end
  return out
end

return prepared
