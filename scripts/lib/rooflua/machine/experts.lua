-- Experts whose popularity drifts: the key `experts` of a scenario, as its parts read it (docs/EXPERT_DRIFT.md). Of one
-- GPU, with R copies of experts on `ep` ranks:
--
--     bytes = R / ep x bytes of an expert x layers of experts
local core = require "rooflua.base.core"
local cost = require "rooflua.cost"
local policies = require "rooflua.scenario.policies"
local schema = require "rooflua.scenario.schema"
local values = require "rooflua.engines.values"

local experts = {}

local units = { { "drift_steps", "steps" }, { "drift_tokens", "tokens" }, { "drift_s", "s" } }

--- What makes a scenario one that these experts are not priced in, whatever the deployment.
local function check_model(reader, all)
  local steps = all.step_policy
  if not all.model.moe then reader:fail("experts", "%s has no experts; leave it out", all.model.name) end
  if #core.plain(all.model.mlp) > 0 then
    local kinds = 0
    for _, each in ipairs(core.plain(all.model.mlp)) do kinds = kinds + (each.moe and 1 or 0) end
    if kinds > 1 then reader:fail("experts", "%s has %d kinds of experts; one is priced", all.model.name, kinds) end
  end
  if not steps.prices_expert_load then
    reader:fail("experts", "the step model %s does not price the load of the fullest rank; `steps.kernels` does",
      tostring(steps.name))
  end
  if steps.expert_imbalance ~= 1 then
    reader:fail("experts", "says the load of each step, and steps.expert_imbalance = %.14g one for all steps; leave "
      .. "one of them out", steps.expert_imbalance)
  end
  if steps.experts_kernels == "marlin" then
    reader:fail("experts", "with steps.experts_kernels = \"marlin\" is not modelled; leave one of them out")
  end
end

--- Refuses ranks that these experts are not priced on.
local function check_widths(reader, deployment)
  if deployment.ep == 1 then
    reader:fail("experts", "needs ranks that hold whole experts; say deployment.ep, a divisor of tp * dp = %d, or "
      .. "leave it out", deployment.tp * deployment.dp)
  end
  if deployment.expert_gpus > 0 then
    reader:fail("experts", "are not priced with deployment.expert_gpus; leave one of them out")
  end
end

--- The process of the popularity: {zipf, weights, drift, unit, update_steps, seed}.
local function process_of(reader, group, count, seed)
  local out = { zipf = reader:amount("zipf", group.zipf) or schema.entry("experts.zipf").default, seed = seed,
    update_steps = group.update_steps and reader:whole("update_steps", group.update_steps, 1, 1e9)
      or schema.entry("experts.update_steps").default }
  if group.weights ~= nil then
    if group.zipf ~= nil then reader:fail("weights", "and zipf both say how popular experts are; give one of them") end
    local list = type(group.weights) == "table" and core.plain(group.weights) or {}
    if #list ~= count then
      reader:fail("weights", "expected a list of %d numbers, one per expert, found %s", count,
        type(group.weights) == "table" and #list or core.describe(group.weights))
    end
    local sum = 0
    for i, value in ipairs(list) do
      sum = sum + reader:amount(("weights[%d]"):format(i), value)
    end
    if sum == 0 then reader:fail("weights", "all are 0; one of them must be above 0") end
    out.weights = list
  end
  for _, each in ipairs(units) do
    local value = reader:amount(each[1], group[each[1]], true)
    if value and out.drift then reader:fail(each[1], "and drift_%s both say the pace; give one of them", out.unit) end
    if value then out.drift, out.unit = value, each[2] end
  end
  if not out.drift and group.update_steps then
    reader:fail("update_steps", "has no effect: without drift_steps, drift_tokens or drift_s nothing drifts")
  end
  if out.drift and not out.weights and out.zipf == 0 then
    reader:fail(("drift_%s"):format(out.unit), "has no effect: with zipf = 0 all experts are alike; say zipf")
  end
  return out
end

--- The routed experts among the operations of a forward pass: bytes of one on one GPU, and their layers.
local function grouped(all)
  local bytes, layers = 0, 0
  for _, op in ipairs(cost.layers(all.model, all.deployment)) do
    if op.op == "grouped_gemm" then
      bytes, layers = bytes + op.weight_bytes * all.deployment.ep / all.model.moe.experts, math.max(layers, op.count)
    end
  end
  return bytes, layers
end

local function redundant_of(reader, group)
  if group.redundant == nil then return schema.entry("experts.redundant").default end
  return reader:whole("redundant", group.redundant, 0, 1e6)
end

--- The numbers that balancers and placements are about (rooflua.ExpertShape).
local function shape_of(above, reader, group, all)
  local deployment, hardware, moe = all.deployment, all.hardware, all.model.moe
  local redundant = redundant_of(reader, group)
  local slots, ranks = moe.experts + redundant, deployment.ep
  if slots % ranks ~= 0 then
    local right = (ranks - moe.experts % ranks) % ranks
    reader:fail("redundant", "%d experts and %d copies are not the same number on each of %d ranks; %d, %d ... are "
      .. "right", moe.experts, redundant, ranks, right, right + ranks)
  end
  local bytes, layers = grouped(all)
  local engine = all.engine or values.of_tables(all.mfu.engine, all)
  local out = { experts = moe.experts, redundant = redundant, slots = slots, ranks = ranks, top = moe.experts_per_token,
    layers = layers, expert_bytes = bytes, moe_tp = deployment.moe_tp, link_bytes_per_s = hardware.link_bytes_per_s,
    network_bytes_per_s = hardware.network_bytes_per_s, domain = {}, nodes = 1,
    engine = engine.values }
  for rank = 1, ranks do
    out.domain[rank] = math.floor((rank - 1) * deployment.moe_tp / hardware.domain_gpus)
    out.nodes = math.floor((rank - 1) * deployment.moe_tp / hardware.node_gpus) + 1
  end
  if out.domain[ranks] > 0 and out.network_bytes_per_s == 0 then
    above:fail("experts", "move between nodes, and %s states no network (network_gb_per_s in hardware.toml)",
      hardware.name)
  end
  return out
end

local function balancer_of(reader, group)
  local out = policies.of(reader, "balancer", group.balancer or schema.entry("experts.balancer").default)
  if out.schedule and type(out.place) ~= "function" then
    reader:fail("balancer", "%s has no place method", tostring(out.name))
  end
  return out
end

--- Finds what is wrong with a scenario's experts, whatever the deployment.
function experts.check(reader, given, model, step_policy)
  if given.experts == nil then return end
  local group, inside = schema.check_group(reader, "experts", given.experts), reader:child "experts"
  check_model(reader, { model = model, step_policy = step_policy })
  redundant_of(inside, group)
  process_of(inside, group, model.moe.experts, 0)
  balancer_of(inside, group)
end

--- The experts of one replica; nil where the scenario says nothing of them. {shape, process, balancer,
--- redundant_bytes}.
---@param given table the scenario
---@param all table {model, hardware, deployment, step_policy}
function experts.of(reader, given, all)
  if given.experts == nil then return nil end
  local group, inside = schema.check_group(reader, "experts", given.experts), reader:child "experts"
  check_model(reader, all)
  check_widths(reader, all.deployment)
  local out = { shape = shape_of(reader, inside, group, all) }
  out.process = process_of(inside, group, out.shape.experts, given.seed or 0)
  out.balancer = balancer_of(inside, group)
  if out.balancer.schedule then inside:at("balancer", out.balancer.schedule, out.balancer, out.shape) end
  local shape = out.shape
  out.redundant_bytes = shape.redundant / shape.ranks * shape.expert_bytes * shape.layers / all.deployment.pp
  return out
end

--- Why no launch command says how experts move or have copies: which flags of an engine do is not written down. nil
--- where they do neither.
function experts.without_command(reader, given)
  local own = given.experts ~= nil and core.plain(given.experts) or {}
  local key = own.redundant and own.redundant > 0 and "redundant"
    or own.balancer and policies.of(reader, "balancer", own.balancer).schedule and "balancer"
  if not key then return nil end
  return ("experts.%s: flags for experts that move or have copies are not written, so no command says it"):format(key)
end

--- What the instance that the engine asks is made of (rooflua.machine.experts.running); nil where no expert moves.
---@param list table[] of serving/replicas.lua
function experts.of_all(reader, given, list)
  local shapes, first = {}, list[1].prepared.experts
  if not first then return nil end
  if given.faults ~= nil then
    reader:fail("experts", "with faults is not modelled: an engine that starts again has its first placement; leave "
      .. "one of them out")
  end
  for _, each in ipairs(list) do
    if each.rank == 1 then shapes[#shapes + 1] = each.prepared.experts.shape end
  end
  return { shapes = shapes, process = first.process, balancer = first.balancer }
end

return experts
