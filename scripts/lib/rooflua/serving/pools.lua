-- Pools of replicas that come and go: the keys min, max, autoscaler, start, drain and grace_s of an entry of `replicas`
-- (docs/CONTROL.md, "Fleets and autoscaling").
local core = require "rooflua.base.core"
local links = require "rooflua.serving.links"
local policies = require "rooflua.scenario.policies"
local prices = require "rooflua.tables.prices"
local scaling = require "rooflua.border.scaling"
local schema = require "rooflua.scenario.schema"

local pools = {}

local own_keys = { "min", "max", "autoscaler", "start", "drain", "grace_s" }

--- Whether an entry of `replicas` is a pool.
function pools.is_pool(own)
  for _, key in ipairs(own_keys) do
    if own[key] ~= nil then return true end
  end
  return false
end

local function check_start(inside, start)
  if type(start) ~= "table" then inside:fail("start", "expected a table, found %s", core.describe(start)) end
  local within = inside:child "start"
  inside:at("start", core.check_keys, core.plain(start), schema.names "replicas[].start", "start")
  for name, value in core.sorted_pairs(core.plain(start)) do
    if not (name == "weight_bytes" and value == "auto") then
      schema.check(within, "replicas[].start." .. name, value)
    end
  end
end

--- How many replicas are built for an entry, its keys checked.
function pools.built(inside, own, most)
  for _, key in ipairs(own_keys) do
    if key ~= "start" then schema.check(inside, "replicas[]." .. key, own[key]) end
  end
  schema.check_policy(inside, "replicas[].autoscaler", own.autoscaler)
  if own.start ~= nil then check_start(inside, own.start) end
  local least = inside:whole("min", own.min or 1, 0, most)
  local count = inside:whole("count", own.count or math.max(least, 1), 0, most)
  local built = inside:whole("max", own.max or math.max(count, 1), 1, most)
  if own.autoscaler == nil then
    for _, key in ipairs { "min", "max", "start", "drain", "grace_s" } do
      if own[key] ~= nil then
        inside:fail(key, "nothing starts or drains without an autoscaler; give `autoscaler` as well, or leave it out")
      end
    end
  end
  if own.max == nil then inside:fail("max", "is missing; how many may there be?") end
  if least > built then inside:fail("min", "found %d, more than max, %d", least, built) end
  if count < least or count > built then
    inside:fail("count", "found %d; from min, %d, to max, %d, is right", count, least, built)
  end
  return built
end

-- What an engine takes to start once its weights are there: 10 s of processes and communication, 15 s of tracing,
-- 20 s of compiling, 0.3 s for each graph that is captured, of which vLLM has 51 by default.
-- vLLM docs/design/torch_compile.md, issue 19824; all are assumed
pools.default_init_s = 10 + 15 + 20 + 0.3 * 51

--- The start as the engine reads it, and whether its init_s is assumed.
local function start_of(reader, own, first, declared)
  local given, out = core.plain(own.start or {}), {}
  local where = reader:child "start"
  out.provision_s, out.image_bytes = given.provision_s, given.image_bytes
  out.weight_bytes = given.weight_bytes
  if given.link ~= nil then
    out.link = links.names(where, "link", type(given.link) == "string" and { given.link } or given.link, declared)
    if out.weight_bytes == nil then out.weight_bytes = "auto" end
  end
  if out.weight_bytes == "auto" then
    if not out.link then where:fail("weight_bytes", "auto needs a link that the weights come over") end
    local deployment = first.deployment
    out.weight_bytes = deployment.weight_bytes * deployment.tp * deployment.cp * deployment.pp
      + deployment.expert_weight_bytes * deployment.expert_gpus
  end
  if (out.weight_bytes or out.image_bytes or 0) ~= 0 and not out.link then
    where:fail("link", "is missing; which link do image_bytes and weight_bytes come over?")
  end
  out.init_s = given.init_s or pools.default_init_s
  return out, given.init_s == nil
end

--- A sentence of every output.
local function note(prepared, sentence)
  local list = {}
  for i, each in ipairs(prepared.engine_notes or {}) do list[i] = each end
  if not core.is_among(sentence, list) then list[#list + 1] = sentence end
  prepared.engine_notes = list
end

--- Every output says that a time was assumed.
local function note_assumed(prepared)
  note(prepared, ("an engine takes %g s to start once its weights are there (replicas[].start.init_s): assumed")
    :format(pools.default_init_s))
end

--- The price of a GPU per hour, said in every output; nil where none is known.
local function price_of(prepared)
  local name = prepared.hardware.name
  local found = prices.of(name)
  if not found then return nil end
  note(prepared, ("a GPU of %s costs $%.2f per hour: the median of examples up to %s (bench_data/prices.toml)"):format(
    name, found.typical, found.date))
  return found.typical
end

--- {config, policies}: what the engine reads of each pool, and the autoscaler of each; nil where there is no pool.
---@param list table of replicas.of
---@param spans table of replicas.of: {own, first, replicas, engines} of each entry
function pools.of(reader, list, spans, declared)
  local config, scalers = {}, {}
  for i, span in ipairs(spans or {}) do
    if pools.is_pool(span.own) then
      local own, inside = span.own, reader:child("replicas[" .. i .. "]")
      local first = list[span.first]
      local start, is_assumed = start_of(inside, own, first, declared)
      if is_assumed then note_assumed(first.prepared) end
      local deployment = first.deployment
      local least = own.min or 1
      config[#config + 1] = { name = own.role and own.role ~= "both" and own.role or "pool " .. i,
        first = span.first - 1, replicas = span.replicas, count = own.count or math.max(least, 1), min = least,
        max = span.engines, start = start, drain = own.drain, grace_s = own.grace_s,
        gpus = deployment.tp * deployment.pp * deployment.dp * deployment.cp + deployment.expert_gpus,
        dollars_per_gpu_hour = price_of(first.prepared) }
      local policy = policies.with_method(inside, "autoscaler", own.autoscaler, "scale")
      inside:at("autoscaler", scaling.times_of, policy)
      scalers[#scalers + 1] = policy
    end
  end
  if #config == 0 then return nil end
  return { config = config, policies = scalers }
end

return pools
