--- SGLang's orders of the queue: which waiting request is tried first. Equal requests keep the order of arrival.
--- SGLang itself sorts in place, so its equal requests keep the order of the step before.
---
---     fcfs                     order of arrival
---     lof                      longest output limit first
---     random                   shuffled in every step
---     routing-key              first the requests whose key most running requests have
---     lpm                      longest cached prefix first
---     dfs-weight               depth first through the cached prefixes; the one that most requests wait for first
---     hrrn                     highest (prompt tokens computed since the request came) / (tokens it still computes)
---     shortest-prefill-first   fewest tokens left to compute
---
--- The last four read the prefix cache. Without a prefix cache, shortest-prefill-first is refused and the others
--- are fcfs. lpm and hrrn are fcfs while more than 128 requests wait. Where several requests would compute the same
--- prefix of 32 tokens or more, lpm, hrrn and shortest-prefill-first try one of them in its order and the rest last.
---
--- @source SGLang managers/schedule_policy.py, calc_priority, 2026-09
local order = {}

order.policies = { "dfs-weight", "fcfs", "hrrn", "lof", "lpm", "random", "routing-key", "shortest-prefill-first" }
order.keys = { "class", "prefix", "session" }

--- In a longer queue SGLang does not match prefixes.
local MOST_MATCHED = 128
--- A cached prefix of at most this length does not count where another waiting request computes the same prefix.
local IN_BATCH_HIT_TOKENS = 32
--- Two waiting prompts with a common beginning of this length have the same prefix.
local IN_BATCH_SHARED_TOKENS = 32

--- a * b modulo 2^32.
local function times(a, b)
  local low, high = bit.band(a, 0xffff), bit.rshift(a, 16)
  return bit.tobit(low * b + bit.lshift(bit.band(high * b, 0xffff), 16))
end

--- Hash of three numbers, for the shuffle.
local function scrambled(seed, id, now_s)
  local ps = now_s * 1e12
  local hash = bit.tobit(seed)
  for _, word in ipairs { id, ps % 4294967296, math.floor(ps / 4294967296) } do
    hash = bit.bxor(hash, bit.tobit(word))
    for _ = 1, 2 do hash = times(bit.bxor(hash, bit.rshift(hash, 15)), 0x2c1b) + 0x79b9 end
    hash = bit.tobit(bit.bxor(hash, bit.rshift(hash, 13)))
  end
  return hash
end

--- The request with the lowest rank goes first.
local ranks = {
  lof = function(scheduler, request) return -scheduler:max_new_tokens(request) end,
  random = function(scheduler, request, now_s) return scrambled(scheduler.random_seed, request.id, now_s) end,
  lpm = function(_, request) return -request.cached_tokens end,
  hrrn = function(scheduler, request)
    return (scheduler.came[request.id] - scheduler.computed) / request.pending_tokens
  end,
  ["shortest-prefill-first"] = function(_, request) return request.pending_tokens end,
}
local one_per_prefix = { lpm = true, hrrn = true, ["shortest-prefill-first"] = true }
local reads_cache = { lpm = true, ["dfs-weight"] = true, hrrn = true, ["shortest-prefill-first"] = true }
local fcfs_if_long = { lpm = true, hrrn = true }

--- Whether the prompt of `request` begins like one of `others`.
local function begins_alike(replica, others, request)
  for i = 1, #others do
    if replica:shared_tokens(others[i], request) >= IN_BATCH_SHARED_TOKENS then return true end
  end
  return false
end

--- Prompts with a common beginning have the same label `prefix`, so only those are compared.
local function put_same_prefixes_last(entries, replica)
  local computing = {}  -- by label: requests that compute their prefix themselves
  for _, entry in ipairs(entries) do
    local request = entry.request
    local prefix = request.prefix
    if prefix ~= 0 and request.cached_tokens <= IN_BATCH_HIT_TOKENS then
      local others = computing[prefix] or {}
      computing[prefix] = others
      if begins_alike(replica, others, request) then
        entry.rank = math.huge
      else
        others[#others + 1] = request
      end
    end
  end
end

--- Depth first through the radix tree of waiting prompts: the child that most requests wait for comes first, a node
--- comes after its children. A script sees the first segment of a prompt and its number of cached tokens, not the
--- tree. So prompts with the same first segment are one branch, and longer hits are deeper. Requests without a hit
--- are at the root, and last.
local function depth_first(entries)
  local weight, first = {}, {}
  for place, entry in ipairs(entries) do
    local request = entry.request
    entry.hit, entry.branch = request.cached_tokens, request.prefix
    if entry.hit > 0 then
      weight[entry.branch] = (weight[entry.branch] or 0) + 1
      first[entry.branch] = first[entry.branch] or place
    end
  end
  table.sort(entries, function(a, b)
    if a.hit == 0 or b.hit == 0 then
      if a.hit ~= b.hit then return b.hit == 0 end
      return a.place < b.place
    end
    if a.branch ~= b.branch then
      local more = weight[a.branch] - weight[b.branch]
      if more ~= 0 then return more > 0 end
      return first[a.branch] < first[b.branch]
    end
    if a.hit ~= b.hit then return a.hit > b.hit end
    return a.place < b.place
  end)
  return entries
end

--- The key of a request; nil: it has none.
local function key_of(scheduler, request)
  local key = request[scheduler.routing_key]
  if key == 0 and scheduler.routing_key == "prefix" then return nil end
  return key
end

--- Sorts by how many running requests (without the cut prompt) have the same key, then by key. Requests without a
--- key come before others of equal count.
local function by_routing_key(scheduler, entries, running, chunked)
  local count, any = {}, false
  for i = 1, #running do
    local key = running[i] ~= chunked and key_of(scheduler, running[i])
    if key then count[key], any = (count[key] or 0) + 1, true end
  end
  if not any then return nil end
  for _, entry in ipairs(entries) do
    entry.key = key_of(scheduler, entry.request) or -math.huge
    entry.rank = -(count[entry.key] or 0)
  end
  table.sort(entries, function(a, b)
    if a.rank ~= b.rank then return a.rank < b.rank end
    if a.key ~= b.key then return a.key < b.key end
    return a.place < b.place
  end)
  return entries
end

--- Keeps, for hrrn, the number of tokens that were computed when each request came. Called in every plan: a request
--- that is new to it came, or came back, since the last plan.
function order.note(scheduler, waiting)
  local came = {}
  for i = 1, #waiting do
    local id = waiting[i].id
    came[id] = scheduler.came and scheduler.came[id] or scheduler.computed
  end
  scheduler.came = came
end

--- Waiting requests in the order in which they are tried, as a list of { request = }; nil: the order of the queue.
---@param scheduler schedulers.Sglang
---@param replica rooflua.Replica
---@param chunked rooflua.Request? the request whose prompt was cut
function order.of(scheduler, replica, chunked)
  local policy, waiting = scheduler.schedule_policy, replica:waiting()
  if policy == "shortest-prefill-first" and not replica.prefix_caching then
    error("sglang: schedule_policy = 'shortest-prefill-first' needs prefix caching, in SGLang too; "
      .. "deployment.prefix_caching is false", 0)
  end
  if policy == "fcfs" or (reads_cache[policy] and not replica.prefix_caching) then return nil end
  if fcfs_if_long[policy] and #waiting > MOST_MATCHED then return nil end
  local entries = {}
  for i = 1, #waiting do entries[i] = { request = waiting[i], place = i } end
  if policy == "dfs-weight" then return depth_first(entries) end
  if policy == "routing-key" then return by_routing_key(scheduler, entries, replica:running(), chunked) end
  for _, entry in ipairs(entries) do entry.rank = ranks[policy](scheduler, entry.request, replica.now_s) end
  if one_per_prefix[policy] then put_same_prefixes_last(entries, replica) end
  table.sort(entries, function(a, b)
    if a.rank ~= b.rank then return a.rank < b.rank end
    return a.place < b.place
  end)
  return entries
end

--- shortest-prefill-first: the longest chunk of a cut prompt that leaves room for shorter prompts in the step.
---@param ordered table result of order.of
---@param budget integer tokens of the step's chunk
function order.chunk_limit(scheduler, chunked, ordered, budget, page)
  if scheduler.schedule_policy ~= "shortest-prefill-first" or budget < 2 * page then return budget end
  local rest, kept = chunked.pending_tokens, 0
  for _, entry in ipairs(ordered) do
    local tokens = entry.request.pending_tokens
    local pages = math.ceil(tokens / page) * page
    if tokens >= rest or kept + pages > budget - page then break end
    kept = kept + pages
  end
  if kept == 0 then return budget end
  return math.floor((budget - kept) / page) * page
end

return order
