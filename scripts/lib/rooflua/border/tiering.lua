--- What policies of KV tiers see, and what they answer: what stores have of a request, what may be stored of it, and
--- the content of a store.
local answers = require "rooflua.border.answers"
local core = require "rooflua.base.core"
local serving = require "rooflua.border.views"

local ffi = require("rooflua.border.abi").ffi
local handle_of, B, C = serving.handle_of, serving.border, serving.functions
local infinity = math.huge

local found_pointer, run_pointer = ffi.typeof "const rooflua_tier_found *", ffi.typeof "const rooflua_tier_run *"
local views_pointer, block_pointer = ffi.typeof "const rooflua_store_view *", ffi.typeof "const rooflua_stored_block *"

local tiering = {}

-- Policies by their numbers. A number is the engine's; a policy that no simulation has is forgotten.
local policies, names_of = setmetatable({}, { __mode = "v" }), setmetatable({}, { __mode = "k" })
local prefill_time = setmetatable({}, { __mode = "k" }) -- policy -> function(new_tokens, context_tokens) -> seconds
local last = 0

--- Gives a policy its number. `stores`: "name:per" of each, in the order of declaration.
function tiering.add(instance, stores)
  last = last + 1
  local names = { per = {} }
  for i, store in ipairs(stores) do names[i], names.per[i] = store:match "^(.*):(%a+)$" end
  policies[last], names_of[instance] = instance, names
  return last
end

--- What a policy may ask for as found:compute_s(tokens).
function tiering.set_prefill_time(instance, time) prefill_time[instance] = time end

local Found = {}
Found.__index = Found

--- What a prefill of that many tokens takes alone, after the rest of the sequence.
---@param tokens integer
---@return number seconds
function Found:compute_s(tokens)
  local time = prefill_time[self.policy]
  if not time then core.fail("compute_s: this policy knows no step model") end
  if type(tokens) ~= "number" or not (tokens >= 0 and tokens <= self.prompt_tokens) then
    core.fail("compute_s: expected tokens from 0 to %d, found %s", self.prompt_tokens, core.describe(tokens))
  end
  return tokens == 0 and 0 or time(tokens, self.prompt_tokens - tokens)
end

local function found_of(instance, pointer)
  local data, names = ffi.cast(found_pointer, pointer), names_of[instance]
  local out = setmetatable({ policy = instance, gpu_tokens = data.gpu_tokens, tokens = data.tokens,
    pending_tokens = data.pending_tokens, prompt_tokens = data.prompt_tokens,
    waiting = data.waiting, chunk_tokens = data.chunk_tokens }, Found)
  for i = 0, data.source_count - 1 do
    local source = data.sources[i]
    out[i + 1] = { name = names[source.store + 1], tokens = source.tokens, bytes = source.bytes,
      wait_s = source.wait_s, peer = source.peer ~= 0 }
  end
  return out
end

local function wrong_load(instance, message, ...)
  answers.wrong("tiers", instance, "load", "load(request, found): " .. message, ...)
end

--- The answer of a policy about a request: tokens (-1: ask again), and its patience in seconds.
local function answer_of(instance, request, pointer)
  local found = found_of(instance, pointer)
  local tokens, patience_s = instance:load(request, found)
  if tokens == nil then return -1, infinity end
  if type(tokens) ~= "number" or not (tokens >= 0 and tokens <= found.tokens) then
    wrong_load(instance, "expected tokens from 0 to found.tokens = %d, or nil; found %s", found.tokens,
      core.describe(tokens))
  end
  if patience_s == nil then patience_s = infinity end
  if type(patience_s) ~= "number" or not (patience_s >= 0) then
    wrong_load(instance, "expected seconds of patience, found %s", core.describe(patience_s))
  end
  return math.floor(tokens), patience_s
end

--- What the engine calls: `slot` of border.requests.
function tiering.load(number, slot, pointer) return answer_of(policies[number], handle_of(slot), pointer) end

--- Within a scheduler's plan: the policy of the replica is asked, and the engine gets the answer.
function tiering.decide()
  local pointer = C.found(B)
  local data = ffi.cast(found_pointer, pointer)
  local tokens, patience_s = answer_of(policies[data.policy], handle_of(data.slot), pointer)
  C.answer_load(B, tokens, patience_s)
end

serving.load_by(tiering.decide)

local why = { [0] = "filled", "ended", "preempted", "evicted" }

--- Which stores take a run, as bits.
function tiering.store(number, pointer, views)
  local instance, data = policies[number], ffi.cast(run_pointer, pointer)
  local names, stores, place = names_of[instance], {}, {}
  local store_views = ffi.cast(views_pointer, views)
  for i, name in ipairs(names) do
    local view = store_views[i - 1]
    place[name] = i - 1
    stores[i] = { name = name, per = names.per[i], capacity_bytes = view.capacity_bytes, used_bytes = view.used_bytes,
      evictable_bytes = view.evictable_bytes, queued_bytes = view.queued_bytes }
  end
  local run = { request = data.slot >= 0 and handle_of(0) or nil, why = why[data.why], first_token = data.first_token,
    last_token = data.last_token, prompt = data.prompt ~= 0, uses = data.uses, bytes = data.bytes }
  local bits = 0
  local chosen = { instance:store(run, stores) }
  for i = 1, #chosen do
    local at = place[chosen[i]]
    if at == nil then
      answers.wrong("tiers", instance, "store", "store(run, stores): %s", type(chosen[i]) == "string"
        and require("rooflua.native").unknown_name("store", chosen[i], names)
        or "expected names of stores, found " .. core.describe(chosen[i]))
    end
    bits = bit.bor(bits, bit.lshift(1, at))
  end
  return bits
end

--- What the engine calls for the key of a chunk.
function tiering.key_of(instance)
  return function(pointer)
    local data = ffi.cast(block_pointer, pointer)
    local key = instance:key { now_s = data.now_s, put_s = data.put_s, used_s = data.used_s, bytes = data.bytes,
      depth_tokens = data.depth_tokens, uses = data.uses, class = data.klass,
      session = data.session >= 0 and data.session or nil, priority = data.priority }
    if type(key) ~= "number" or key ~= key then
      answers.wrong("eviction", instance, "key", "key(block) must return a number; found %s", core.describe(key))
    end
    return key
  end
end

return tiering
