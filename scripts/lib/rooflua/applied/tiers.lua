-- KV outside of the GPU as options of an engine say it: what its file's `tiers` makes of them, as the key `tiers` of a
-- scenario; and how many tokens fit into the stores.
local core = require "rooflua.base.core"
local native = require "rooflua.native"
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local release = require "rooflua.engines.release"
local schema = require "rooflua.scenario.schema"
local specs = require "rooflua.border.specs"
local units = require "rooflua.text.units"

local tiers = {}

--- What an engine's file gets: {ranks, tp, pp, dcp, bytes_per_token, block_size, kv_bytes, kinds, before, is_async,
--- drops_last_hit} of one replica.
---@param deployment rooflua.Deployment
---@param version string? the engine's release; before(name) says whether it is earlier than another one
---@param config table? async_depth and drops_last_hit of the replica
local function about_of(model, deployment, version, config)
  config = config or {}
  -- The ledger of `capacity` is no Deployment and has one format.
  local kept = specs.is(deployment, "Deployment") and deployment or deployment.kv
  local bytes = native.kv_of_prompts(model, kept).bytes_per_token
  return { ranks = deployment.tp * deployment.pp, tp = deployment.tp, pp = deployment.pp, dcp = deployment.dcp or 1,
    bytes_per_token = bytes, block_size = deployment.block_size,
    kv_bytes = bytes * deployment.kv_blocks * deployment.block_size, kinds = native.rank_counts(model, {}).kinds,
    before = function(name) return release.earlier(version, name) end,
    is_async = (config.async_depth or 1) > 1, drops_last_hit = config.drops_last_hit == true }
end

--- Names of the options that are stated and that the engine's `tiers` reads.
local function stated_names(engine, options)
  local out = {}
  for _, option in ipairs(engine.options) do
    if option.read_by == "applied.tiers" and options[option.name] ~= nil then
      out[#out + 1] = option.flag or option.name
    end
  end
  return core.join(out, ", ")
end

--- The policy that an engine's file names, with its parameters.
local function policy_of(reader, found)
  local instance, open = policies.of(reader, "policy", found.policy), {}
  for name, value in pairs(found.parameters or {}) do open[name] = value end
  return reader:at("engine", policy.with, instance, open)
end

--- The tiers of an engine's options as the key `tiers` has them; nil where its options say none. Second: sentences.
---@param applied table of application.of
---@param config table? of the replica
function tiers.of(reader, applied, model, deployment, config)
  local engine, options = applied.engine.engine, applied.options
  if not engine.tiers or stated_names(engine, options) == "" then return nil, {} end
  local found, told = reader:at("engine", engine.tiers, options,
    about_of(model, deployment, applied.engine.release, config))
  if not found then return nil, told or {} end
  local out = { policy = policy_of(reader, found), overlap = found.overlap, stores = {} }
  for i, store in ipairs(found.stores) do out.stores[i] = core.copy(store) end
  return out, told or {}, stated_names(engine, options)
end

-- How much fits ---------------------------------------------------------------------------------------------------

local function capacity_of(store)
  return type(store.capacity_bytes) == "number" and store.capacity_bytes or 0
end

--- A row per store: {name, per, capacity_bytes, tokens}: whole chunks of what the layers keep of a token.
---@param stores table[] as the key `tiers` has them
---@param given_bytes number? bytes_per_token of the scenario
---@param chunk_tokens integer? of stores that name none: the policy's
function tiers.rows(stores, model, deployment, given_bytes, chunk_tokens)
  local about, out = about_of(model, deployment), {}
  local bytes = given_bytes or about.bytes_per_token
  for i, store in ipairs(stores) do
    local chunk = store.chunk_tokens or chunk_tokens or about.block_size
    out[i] = { name = store.name, per = store.per or schema.entry("tiers.stores[].per").default,
      capacity_bytes = capacity_of(store),
      tokens = bytes > 0 and math.floor(capacity_of(store) / (bytes * chunk)) * chunk or 0 }
  end
  return out
end

--- The same rows of a deployment whose memory was divided (serving/capacity.lua); none without tiers.
---@param found table the ledger of the deployment
---@param given table? the scenario's key `tiers`, else options of the engine say it
function tiers.of_capacity(reader, applied, model, found, given)
  local facts = found.facts
  local deployment = { tp = facts.tp, pp = facts.pp, dcp = facts.dcp, kv = facts.counts.kv,
    block_size = found.block_size, kv_blocks = found.tokens / found.block_size }
  local own, told, names = tiers.of(reader, applied, model, deployment)
  if given == nil then
    if not own then return {}, told end
    return tiers.rows(own.stores, model, deployment, nil, own.policy.chunk_tokens), told
  end
  if own then reader:fail("engine", "%s: the scenario states tiers as well; give one of them", names) end
  local group, inside = schema.check_group(reader, "tiers", given), reader:child "tiers"
  local stores = schema.check_list(inside, "tiers.stores", group.stores)
  local chosen = group.policy ~= nil and policies.of(inside, "policy", group.policy) or {}
  for i, store in ipairs(stores) do
    inside:at(("stores[%d].capacity_bytes"):format(i), core.positive, store.capacity_bytes, "capacity_bytes")
    if store.chunk_tokens then inside:child(("stores[%d]"):format(i)):whole("chunk_tokens", store.chunk_tokens, 1) end
  end
  if group.bytes_per_token ~= nil then
    inside:at("bytes_per_token", core.positive, group.bytes_per_token, "bytes_per_token")
  end
  return tiers.rows(stores, model, deployment, group.bytes_per_token, chosen.chunk_tokens), told
end

--- "cpu 819,200 tokens in 107.37 GB per replica, ssd ..."
function tiers.text(rows)
  local words = {}
  for i, row in ipairs(rows) do
    words[i] = ("%s %s tokens in %.2f GB per %s"):format(row.name, units.grouped(row.tokens), row.capacity_bytes / 1e9,
      row.per)
  end
  return core.join(words, ", ")
end

return tiers
