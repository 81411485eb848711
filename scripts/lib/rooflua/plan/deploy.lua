-- A candidate with a number of replicas as a scenario of kind "serve": what a plan prices is what `run` simulates.
-- A replica of a split candidate is a unit: some engines that prefill and some that decode.
local adapters = require "rooflua.machine.adapters"
local axes = require "rooflua.plan.axes"
local catalogue = require "rooflua.engines.catalogue"
local chunks = require "rooflua.sandbox.chunks"
local core = require "rooflua.base.core"
local load = require "rooflua.machine.load"
local changes = require "rooflua.applied.changes"
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local runs = require "rooflua.explore.runs"
local values = require "rooflua.engines.values"

local deploy = {}

--- The release of a candidate's engine: that of the scenario or of `engines`, else the newest known.
function deploy.release(question, candidate)
  local stated = question.engine
  if stated and stated.engine.name == catalogue.of(candidate.engine).name then return stated.release end
  return question.engines[candidate.engine] or catalogue.newest(catalogue.of(candidate.engine))
end

--- Values of a candidate's engine (engines/values.lua).
function deploy.engine(question, candidate)
  return values.of(catalogue.of(candidate.engine), deploy.release(question, candidate), {
    model = question.model, hardware = question.gpus[candidate.gpu].hardware, tp = candidate.tp, dp = candidate.dp,
    pp = candidate.pp, ep = candidate.ep, cp = candidate.cp, dcp = candidate.dcp, weights = candidate.weights })
end

function deploy.scheduler_class(question, candidate)
  return chunks.require("schedulers." .. deploy.engine(question, candidate).values.scheduler)
end

--- The scheduler of a candidate: with its seats, and its token budget by the name that the scheduler has for it.
local function scheduler_of(question, candidate)
  local own, class = {}, deploy.scheduler_class(question, candidate)
  local known = policy.definition(class).params
  for _, option in ipairs(catalogue.of(candidate.engine).options) do
    for _, axis in ipairs(axes.names "scheduler") do
      local name = option.parameter == axis and option.key:match "^scheduler%.(.*)$"
      if name == "max_num_batched_tokens" and not known[name] and known.chunk_size then name = "chunk_size" end
      if name then own[name] = candidate[axis] end
    end
  end
  return class(own)
end

local step, most_counted = 1024, 2147483647 -- lengths are rounded up

--- The longest request that engines are started for: the workload's bound, of a recorded one its longest. Requests
--- without a bound may be as long as the model allows. A KV cache that holds less starts an engine for what it holds.
---@param most integer? tokens that the KV cache of the candidate holds
function deploy.max_model_len(question, most)
  local drawn, of_model = question.drawn, question.model.max_model_len
  local bound = drawn.bound or (drawn.is_recorded or drawn.is_constant) and drawn.longest or nil
  local longest = bound and math.ceil(math.max(bound, drawn.longest) / step) * step or most_counted
  if of_model > 0 then longest = math.min(longest, of_model) end
  return math.max(drawn.longest, most and math.min(longest, most) or longest)
end

local of_prefill = axes.rows(function(axis) return axis.of == "prefill" end)

--- A candidate as the engines of a role have it: with the widths of that pool; the candidate itself where they are its
--- own.
---@param role "prefill"|"decode"|nil
function deploy.pool(candidate, role)
  local split = role == "prefill" and candidate.split or {}
  local out
  for _, axis in ipairs(of_prefill) do
    if split[axis.name] then
      out = out or core.copy(candidate)
      out[axis.pool_of] = split[axis.name]
    end
  end
  return out or candidate
end

--- GPUs of one engine of a candidate.
function deploy.gpus_of_engine(candidate)
  return candidate.tp * candidate.pp * candidate.dp * (candidate.cp or 1) + (candidate.expert_gpus or 0)
end

--- The longest request that the scenario states: at its key, or as an option of the candidate's engine; nil where the
--- plan chooses it.
---@return integer?
function deploy.stated_length(question, candidate)
  local own, stated = core.plain(question.base.deployment or {}).max_model_len, question.engine
  if own or not stated or stated.engine.name ~= catalogue.of(candidate.engine).name then return own end
  for name, value in pairs(stated.options or {}) do
    local about = stated.engine.option[name]
    if about and about.key == "deployment.max_model_len" then return value end
  end
end

--- The keys of the deployment of one engine.
function deploy.deployment(question, candidate)
  local out = core.copy(question.base.deployment)
  for _, key in ipairs(axes.names "deployment") do
    if candidate[key] ~= nil then out[key] = candidate[key] end
  end
  if not deploy.stated_length(question, candidate) then
    out.max_model_len = deploy.max_model_len(question, candidate.most_tokens)
  end
  return out
end

--- The adapters of one engine of a candidate (machine/adapters.lua); nil without any.
function deploy.adapters(question, candidate)
  return adapters.of(question.reader, question.base, { model = question.model,
    hardware = question.gpus[candidate.gpu].hardware, deployment = candidate.deployment,
    step_policy = question.base.adapters and policies.steps(question.reader, question.base) })
end

--- Entries of `replicas` with that of the GPUs that only encode, each of which holds the encoder alone.
---@param list table[] entries of the other replicas
function deploy.with_encoders(question, candidate, list)
  if candidate.encoders then
    list[#list + 1] = { encoder = true, count = candidate.encoders,
      deployment = { tp = 1, encoder = core.plain(question.base.deployment or {}).encoder } }
  end
  return list
end

--- Entries of `replicas`: their number, or those of prefill and decode, and of GPUs that only encode.
local function replicas_of(question, candidate, count)
  if not candidate.split then
    return candidate.encoders and deploy.with_encoders(question, candidate, { { count = count } }) or count
  end
  local pool = deploy.pool(candidate, "prefill")
  return deploy.with_encoders(question, candidate, { { role = "prefill", count = count * candidate.split.prefill,
    deployment = pool ~= candidate and deploy.deployment(question, pool) or nil },
    { role = "decode", count = count * candidate.split.decode } })
end

--- GB of the host's memory that a replica keeps KV in, checked; nil for none.
---@param where string what errors are about
function deploy.host_memory_gb(question, candidate, given, where)
  if given == nil or given == 0 then return nil end
  if core.positive(given, where) > 1e6 then core.fail("%s: expected at most 1e6, found %g", where, given) end
  if question.base.tiers ~= nil then core.fail("%s: the scenario states tiers as well; give one of them", where) end
  if not catalogue.of(candidate.engine).host_memory then
    core.fail("%s: no option of %s keeps KV in the host's memory", where, candidate.engine)
  end
  local ok, problem = pcall(deploy.host_memory, candidate)
  if not ok then core.fail("%s: %s", where, problem) end
  return given
end

--- The options of a candidate's engine that keep KV in the host's memory: {name = value}; none without such memory.
function deploy.host_memory(candidate)
  local gb = candidate.host_memory_gb
  if not gb then return {} end
  return catalogue.of(candidate.engine).host_memory(gb * 1e9, candidate.tp * candidate.pp)
end

--- The key `engine` of a candidate's scenario, with the options that the question states.
local function engine_of(question, candidate)
  local text, stated = candidate.engine .. " " .. deploy.release(question, candidate), question.engine
  local is_stated = stated and stated.engine.name == catalogue.of(candidate.engine).name
  local out = { text }
  for name, value in pairs(is_stated and stated.options or {}) do out[name] = value end
  for name, value in pairs(deploy.host_memory(candidate)) do out[name] = value end
  return next(out, 1) ~= nil and out or text
end

--- The scenario of a deployment. options: requests, seed, scale (of the load), slo (limits of single requests).
function deploy.scenario(question, candidate, replicas, options)
  options = options or {}
  local out = core.copy(question.base)
  out.hardware = question.gpus[candidate.gpu].hardware
  out.deployment = deploy.deployment(question, candidate)
  out.engine = engine_of(question, candidate)
  out.scheduler = scheduler_of(question, candidate)
  out.replicas = replicas_of(question, candidate, replicas)
  out.seed = options.seed or question.seed
  out.slo = options.slo or out.slo
  out.workload = load.workload(question, options.requests, options.scale)
  out.mfu = question.databases and question.databases(candidate) or out.mfu
  if candidate.speculation then out.speculation = candidate.speculation end
  for path, value in core.sorted_pairs(candidate.set or {}) do
    out = changes.set(question.reader, out, path, value)
  end
  return out
end

--- GPUs of so many replicas of a candidate, as runs count them.
function deploy.gpus(question, candidate, replicas)
  return runs.gpus_of { replicas = replicas_of(question, candidate, replicas),
    deployment = deploy.deployment(question, candidate) }
end

--- GPUs that are paid: whole nodes where nodes are bought.
function deploy.paid_gpus(question, candidate, gpus)
  if question.buy ~= "node" then return gpus end
  local per_node = question.gpus[candidate.gpu].per_node
  return math.ceil(gpus / per_node) * per_node
end

--- The most replicas that the GPUs of its type allow.
function deploy.most_replicas(question, candidate)
  local encoders = candidate.encoders or 0 -- however many replicas there are
  return math.floor((question.gpus[candidate.gpu].most - encoders)
    / (deploy.gpus(question, candidate, 1) - encoders))
end

return deploy
