--- What the engine keeps for a router besides the load of replicas: an index of the prefixes that they hold, and its
--- own count of prompts in flight. A router asks for them by the signals that it declares, and says in `prefix_index`
--- how good its index is:
---
---     prefix_index = { kind = "approximate", block_tokens = 64, capacity_blocks = 31250, max_prefix_tokens = 131072,
---       ttl_s = 0, forgets = "first" }                       for the signal prefix_sent_tokens
---     prefix_index = { kind = "precise", lag_s = 0, loss = 0, most_holders = 0, speculative_s = 0 }
---                                                          for the signal prefix_hit_tokens
---
--- It is a table in policy.define, or a method that returns one.
local core = require "rooflua.base.core"

local knowledge = {}

--- Signals that are kept only for routers that declare them.
knowledge.kept = core.set { "prefix_sent_tokens", "sent_blocks", "prefill_tokens_in_flight", "blocks_in_flight",
  "shared_blocks_in_flight" }

local approximate_keys = { "kind", "block_tokens", "capacity_blocks", "max_prefix_tokens", "ttl_s", "forgets" }
local precise_keys = { "kind", "block_tokens", "lag_s", "loss", "most_holders", "speculative_s" }
local most = 2 ^ 31 - 1

--- RouterIndex::Kind (engine/serve/contract/policy.h)
local FRESH, SENT, TOLD = 0, 1, 2

--- Hashes that the index of events remembers of each replica.
--- llm-d-kv-cache pkg/kvcache/kvblock/in_memory.go: size 1e8
local told_blocks = 100000000

local function share(value, what)
  value = core.not_negative(value, what)
  if value > 1 then core.fail("%s: expected a share from 0 to 1, found %s", what, core.describe(value)) end
  return value
end

--- What a router says of its index; nil: nothing.
local function said(instance)
  local given = instance.prefix_index
  if type(given) == "function" then given = given(instance) end
  return given
end

local function whole(given, key, default, where)
  return core.whole(given[key] or default, where .. "." .. key, 1, most)
end

local function approximate(given, where, has)
  core.check_keys(given, approximate_keys, where)
  local forgets = given.forgets or "first"
  if forgets ~= "first" and forgets ~= "last" then
    core.fail("%s.forgets: expected 'first' or 'last', found %s", where, core.describe(forgets))
  end
  return has.prefix_sent_tokens and SENT or FRESH, whole(given, "block_tokens", 64, where),
    whole(given, "capacity_blocks", 31250, where), whole(given, "max_prefix_tokens", 131072, where),
    core.not_negative(given.ttl_s or 0, where .. ".ttl_s"), forgets == "last", 0, 0, 0, 0
end

local function precise(given, where)
  core.check_keys(given, precise_keys, where)
  local lag_s = core.not_negative(given.lag_s or 0, where .. ".lag_s")
  local loss = share(given.loss or 0, where .. ".loss")
  local holders = core.whole(given.most_holders or 0, where .. ".most_holders", 0, most)
  local speculative_s = core.not_negative(given.speculative_s or 0, where .. ".speculative_s")
  local kind = (lag_s > 0 or loss > 0 or holders > 0 or speculative_s > 0) and TOLD or FRESH
  return kind, whole(given, "block_tokens", 64, where), told_blocks, most, 0, false, lag_s, loss, holders, speculative_s
end

local function index_of(instance, has)
  local where = tostring(instance.name) .. ": prefix_index"
  local given = said(instance)
  if given == nil then
    given = { kind = has.prefix_sent_tokens and "approximate" or "precise" }
  end
  core.table(given, where)
  if given.kind == "approximate" then
    if not has.prefix_sent_tokens and not next(has) then
      core.fail("%s: an approximate index needs signals = { \"prefix_sent_tokens\", ... }", where)
    end
    return approximate(given, where, has)
  end
  if given.kind ~= "precise" then
    core.fail("%s.kind: expected 'approximate' or 'precise', found %s", where, core.describe(given.kind))
  end
  return precise(given, where)
end

--- What the engine asks for once: kind, block_tokens, capacity_blocks, max_prefix_tokens, ttl_s, deepest_first, lag_s,
--- loss, most_holders, speculative_s, in_flight.
function knowledge.of(instance)
  local has = core.set(instance.signals or {})
  local counts = has.prefill_tokens_in_flight or has.blocks_in_flight or has.shared_blocks_in_flight or false
  local kind, block, capacity, tokens, ttl_s, deepest, lag_s, loss, holders, speculative_s = index_of(instance, has)
  return kind, block, capacity, tokens, ttl_s, deepest, lag_s, loss, holders, speculative_s, counts and true or false
end

return knowledge
