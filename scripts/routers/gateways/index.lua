--- Parameters of routers that know where prefixes are from what they sent (approximate), or from events of the engines'
--- caches (precise).
local index = {}

local llm_d = "llm-d-inference-scheduler requestcontrol/dataproducer/approximateprefix"

--- What a router declares besides its own parameters.
--- @param own table its parameters
--- @param defaults {index: string, block_tokens: integer, lru_blocks: integer, ttl_s: number?, source: string?,
---   holders: boolean?}  holders: whether its precise index is llm-d's
--- @param kinds string[]? kinds of indices
function index.params(own, defaults, kinds)
  local precise, approximate = { index = "precise" }, { index = "approximate" }
  local source = defaults.source or llm_d
  own.index = { default = defaults.index, values = kinds or { "approximate", "precise" }, source = defaults.source,
    doc = "Where the router knows from what replicas hold: from what it sent, or from the engines' events." }
  own.block_tokens = { default = defaults.block_tokens, unit = "tokens", min = 1, integer = true, source = source,
    doc = "Tokens of a block of the approximate index." }
  own.lru_blocks = { default = defaults.lru_blocks, unit = "blocks", min = 1, integer = true, source = source,
    idle = precise, doc = "Blocks that the approximate index remembers of each replica." }
  if defaults.ttl_s then
    own.ttl_s = { default = defaults.ttl_s, unit = "s", min = 0, source = source, idle = precise,
      doc = "What the approximate index has not used for so long is forgotten; 0 = nothing is." }
  end
  own.lag_s = { default = 0, unit = "s", min = 0, idle = approximate,
    doc = "Events reach the precise index so much later." }
  own.loss = { default = 0, unit = "1", min = 0, max = 1, idle = approximate,
    doc = "Share of events that never reach the precise index, drawn by the seed." }
  if defaults.holders then
    own.most_holders = { default = 10, unit = "entries", min = 0, integer = true, idle = approximate,
      source = "llm-d-kv-cache pkg/kvcache/kvblock/in_memory.go, since 0.2: podCacheSize",
      doc = "Entries of one block in the precise index: a replica has one by its events, and one by a prompt that was "
        .. "sent there. The one that was added the longest ago goes first; 0 = no limit." }
    own.speculative_ttl_s = { default = 0, unit = "s", min = 0, idle = approximate,
      source = "llm-d-inference-scheduler since 0.7: speculativeIndexing = false; with it speculativeTTL = 2 s",
      doc = "For so long the precise index takes a prompt that was sent for one that is held; 0 = it does not." }
  end
  return own
end

--- What the engine keeps for such a router (rooflua.border.knowledge).
function index.of(router, forgets)
  if router.index == "approximate" then
    return { kind = "approximate", block_tokens = router.block_tokens, capacity_blocks = router.lru_blocks,
      max_prefix_tokens = router.max_prefix_tokens, ttl_s = router.ttl_s, forgets = forgets }
  end
  return { kind = "precise", block_tokens = router.block_tokens, lag_s = router.lag_s, loss = router.loss,
    most_holders = router.most_holders, speculative_s = router.speculative_ttl_s }
end

return index
