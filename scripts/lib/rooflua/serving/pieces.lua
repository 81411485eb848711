-- Everything that a served scenario consists of before its clock starts: replicas, router, workload, limits.
local admission = require "rooflua.serving.admission"
local clients = require "rooflua.border.clients"
local core = require "rooflua.base.core"
local experts = require "rooflua.machine.experts"
local disaggregation = require "rooflua.serving.disaggregation"
local engine_tiers = require "rooflua.serving.engine_tiers"
local encoders = require "rooflua.serving.encoders"
local frontend = require "rooflua.serving.frontend"
local links = require "rooflua.serving.links"
local native = require "rooflua.native"
local own_metrics = require "rooflua.measure.own"
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local pools = require "rooflua.serving.pools"
local random = require "rooflua.random"
local replicas = require "rooflua.serving.replicas"
local routing = require "rooflua.border.routing"
local schema = require "rooflua.scenario.schema"
local surroundings = require "rooflua.serving.surroundings"
local tiers = require "rooflua.serving.tiers"

local pieces = {}

--- How often KV is sent: each tp rank of a decode replica reads what it keeps, which is more than its part where ranks
--- keep copies: of latent attention, and with more ranks than KV heads.
--- [vLLM distributed/kv_transfer/kv_connector/utils.py, replicates_kv_cache]
local function copies_of(reader, network, list, bytes_per_token)
  if network.copies ~= "ranks" then return 1 end
  for _, each in ipairs(list) do
    local own = each.deployment
    if each.config.role == "decode" then
      if own.pp > 1 or network.bytes_per_token or bytes_per_token == 0 then
        reader:fail("network.copies", "ranks: %s", own.pp > 1 and "is not known with stages of pp; leave it out"
          or network.bytes_per_token and "network.bytes_per_token says what is sent; leave one of them out"
          or "no layer keeps KV that grows with the prompt; leave it out")
      end
      return own.kv_bytes_per_block / own.block_size * own.tp / bytes_per_token
    end
  end
  return 1
end

--- The node of each encoder; -1: one of its own.
local function nodes_of(encoding)
  local out = {}
  for i = 1, encoding.count do out[i] = encoding.node or -1 end
  return out
end

--- The KV transfer between prefill and decode replicas. Its defaults are those of the first replica. Bytes per token
--- that the scenario gives replace all of the model's. Over links nothing but them limits it.
---@param encoding table? encoders.of: those send embeddings over the same links
local function transfer_of(reader, network, list, declared, encoding)
  local first = list[1]
  local bytes = network.bytes_per_token and { bytes_per_token = network.bytes_per_token }
    or native.kv_of_prompts(first.prepared.model, first.deployment)
  local copies = copies_of(reader, network, list, bytes.bytes_per_token)
  if copies ~= 1 then
    bytes = { bytes_per_token = bytes.bytes_per_token * copies, fixed_bytes = bytes.fixed_bytes, bounded = {} }
    for i, each in ipairs(native.kv_of_prompts(first.prepared.model, first.deployment).bounded) do
      bytes.bounded[i] = { bytes_per_token = each.bytes_per_token * copies, tokens = each.tokens }
    end
  end
  local path, within = links.path(reader, network, "path", declared), links.path(reader, network, "within", declared)
  if #within > 0 and #path == 0 then
    reader:fail("network.within", "give path as well: the links between two nodes")
  end
  return {
    alpha_s = network.alpha_s,
    bytes_per_s = network.bytes_per_s or #path == 0 and first.prepared.hardware.link_bytes_per_s or nil,
    path = path,
    within = within,
    encoder_nodes = encoding and #path > 0 and nodes_of(encoding) or nil,
    bytes_per_token = bytes.bytes_per_token,
    fixed_bytes = bytes.fixed_bytes,
    bounded = bytes.bounded,
  }
end

--- The limits of all requests, {ttft_s, tpot_s, e2e_s}, and those of single classes: a list of the same with `class`.
local function limits_of(reader, given)
  local slo = core.copy(schema.check_group(reader, "slo", given))
  local classes, list = slo.classes, {}
  slo.classes = nil
  for class, limits in core.sorted_pairs(classes or {}) do
    local where = "slo.classes." .. tostring(class)
    if type(class) ~= "string" and not (type(class) == "number" and class >= 0 and class % 1 == 0) then
      reader:fail("slo.classes", "expected the number of a class from 0 on, or its name, found %s",
        core.describe(class))
    end
    if type(limits) ~= "table" or next(core.plain(limits)) == nil or core.plain(limits).classes ~= nil then
      reader:fail(where, "expected limits, as in { ttft_s = 0.5 }, found %s", core.describe(limits))
    end
    local own = core.copy(reader:at(where, schema.check_group, reader, "slo", limits))
    own.class = type(class) == "number" and ("%d"):format(class) or class
    list[#list + 1] = own
  end
  return slo, list
end

--- The client, where it does anything; nil where it waits for ever and sends nothing again.
local function client_of(reader, given)
  if given.client == nil then return nil end
  local client = policies.of(reader, "client", given.client)
  return clients.acts(client) and client or nil
end

--- The pieces of a scenario: {streams, replicas, workload, metrics, frontend, disaggregation, slo, class_slo, transfer,
--- links, tiers, admission, gate_deadlines, client, encoders, experts, faults, pools}.
function pieces.of(reader, given)
  local streams = random.streams(reader:at("seed", core.whole, given.seed or 0, "seed"))
  local list, spans = replicas.of(reader, given)
  schema.check(reader, "intervals", given.intervals)
  if given.workload == nil then
    reader:fail("workload", 'is missing; for example require "workloads.poisson" { rate_per_s = 1 }')
  end
  local workload = policies.with_method(reader, "workload", given.workload, "requests")
  local declared = links.of(reader, given.links)
  local stores = tiers.of(reader, engine_tiers.chosen(reader, given.tiers, list), list, declared)
  local slo, class_slo = limits_of(reader, given.slo)
  local gate, gate_deadlines = admission.of(reader, given.admission, slo, class_slo)
  local pool = encoders.of(reader, given)
  return { streams = streams, replicas = list, workload = workload, metrics = own_metrics.of(reader, given),
    frontend = frontend.of(reader, given.frontend, list),
    disaggregation = disaggregation.of(reader, given.disaggregation, list),
    pools = pools.of(reader, list, spans, stores and stores.links or declared),
    slo = slo, class_slo = class_slo, links = stores and stores.links or declared, tiers = stores,
    admission = gate, gate_deadlines = gate_deadlines,
    client = client_of(reader, given), encoders = pool,
    experts = experts.of_all(reader, given, list),
    faults = given.faults ~= nil and policies.with_method(reader, "faults", given.faults, "next") or nil,
    transfer = transfer_of(reader, schema.check_group(reader, "network", given.network), list, declared, pool) }
end

--- The router of the scenario; else that of the first engine, where it has data-parallel ranks.
local function router_of(given, all)
  local first = all.replicas[1]
  return given.router or first.deployment.dp > 1 and first.prepared.router or nil
end

--- The router, started; nil where one replica needs none.
function pieces.router(reader, given, all)
  if #all.replicas == 1 and given.router == nil then return nil end
  local router = policy.fresh(policies.with_method(reader, "router", router_of(given, all), "route"))
  reader:at("router", routing.declared, router)
  if router.start then router:start(all.streams) end
  return router
end

--- Finds what is wrong with a scenario without running it; returns the pieces.
function pieces.check(reader, given)
  local all = pieces.of(reader, given)
  pieces.router(reader, given, all)
  surroundings.of(all)
  return all
end

return pieces
