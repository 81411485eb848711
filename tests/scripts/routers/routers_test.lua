-- Routers: the choice of each on numbers that can be checked by hand, ties included, and the effect of old signals
-- and shared prefixes in a run.
local test = dofile "tests/scripts/harness.lua"
local native = require "rooflua.native"
local policy = require "rooflua.policy"
local random = require "rooflua.random"

local Second = policy.define { name = "second", doc = "Every step takes one second.", params = {} }
function Second:time() return 1 end

local lists = 0

--- The candidates that a router sees, as plain tables. The signals of each list are newer than those of the one before.
local function replicas(list)
  lists = lists + 1
  list.signals_s = lists
  for i, each in ipairs(list) do
    each.index = each.index or i
    for _, field in ipairs { "outstanding", "waiting", "running", "kv_used_frac", "prefix_hit_tokens" } do
      each[field] = each[field] or 0
    end
  end
  local holders = {}
  list.least_outstanding = 1
  for i, each in ipairs(list) do
    if each.outstanding < list[list.least_outstanding].outstanding then list.least_outstanding = i end
    if each.prefix_hit_tokens > 0 then holders[#holders + 1] = i end
  end
  list.prefix_holders = #holders
  function list.prefix_holder(_, k) return holders[k] end
  return list
end

local function outstanding(...)
  local list = {}
  for i, count in ipairs { ... } do list[i] = { outstanding = count } end
  return replicas(list)
end

--- The replica of each request of a run on two replicas: "1 2 2". Requests: {arrival_s, prompt, output, fields}.
local function routed(router, requests)
  local VllmV1 = require "schedulers.vllm_v1"
  local replica = { kv_blocks = 20, block_size = 4, prefix_caching = true }
  local sent = 0
  local source = { shares_content = true, next = function()
    sent = sent + 1
    local each = requests[sent]
    if each then return each[1], each[2], each[3], each[4] end
  end }
  if router.start then router:start(random.streams(1)) end
  local run = native.serve_open({ record = true, replicas = { replica, replica } }, { VllmV1 {}, VllmV1 {} },
    { { steps = Second {} }, { steps = Second {} } }, router, source)
  native.serve_advance(run)
  local places = {}
  for _, step in ipairs(native.serve_record(run)) do
    for _, work in ipairs(step.work) do
      if work.kind == "prefill" then places[work.id + 1] = places[work.id + 1] or step.replica end
    end
  end
  return table.concat(places, " ")
end

test("round_robin takes replicas in turn, whatever their load", function()
  local router = require "routers.round_robin" {}
  test.equal(routed(router, { { 0, 40, 9 }, { 0, 4, 1 }, { 0.1, 4, 1 }, { 0.2, 4, 1 }, { 7, 4, 1 } }), "1 2 1 2 1")
end)

test("least_outstanding takes the fewest unfinished requests, the first of equals", function()
  local router = require "routers.least_outstanding" {}
  test.equal(router:route(nil, outstanding(3, 1, 2)), 2)
  test.equal(router:route(nil, outstanding(2, 1, 1)), 2)
  test.equal(router:route(nil, outstanding(0, 0)), 1)
  -- A runs until 9; B is done at 1, so C and D follow it, one after the other is done.
  test.equal(routed(router, { { 0, 4, 9 }, { 0, 4, 1 }, { 1.5, 4, 1 }, { 3.5, 4, 2 }, { 3.6, 4, 1 } }), "1 2 2 2 1")
end)

test("least_kv takes the emptiest cache, then the fewest unfinished requests, then the first", function()
  local router = require "routers.least_kv" {}
  test.equal(router:route(nil, replicas {
    { kv_used_frac = 0.5 }, { kv_used_frac = 0.2 }, { kv_used_frac = 0.9 } }), 2)
  test.equal(router:route(nil, replicas {
    { kv_used_frac = 0.2, outstanding = 3 }, { kv_used_frac = 0.2, outstanding = 1 } }), 2)
  test.equal(router:route(nil, outstanding(1, 1)), 1)
end)

-- A fills half of the first cache. Signals of age 0 show that to every later request. Signals of age 10 s are those of
-- t=0 (empty caches), and only the router's own counts are new: 1-1, 2-1, 2-2. Signals of age 2 s show it after t=2.
test("least_kv believes its signals for staleness_s, and its own counts at once", function()
  local LeastKv = require "routers.least_kv"
  local requests = { { 0, 40, 20 }, { 0.5, 4, 20 }, { 1.5, 4, 20 }, { 2.5, 4, 20 }, { 3, 4, 20 } }
  test.equal(routed(LeastKv { staleness_s = 0 }, requests), "1 2 2 2 2")
  test.equal(routed(LeastKv { staleness_s = 10 }, requests), "1 2 1 2 1")
  test.equal(routed(LeastKv { staleness_s = 2 }, requests), "1 2 1 2 2")
end)

--- A router with given draws; each draw is checked against the range that the router asks for.
local function with_draws(router, draws)
  router.draws = { integer = function(_, low, high)
    local draw = table.remove(draws, 1)
    test.check(low == 1 and draw <= high, "a draw from %d to %d", low, high)
    return draw
  end }
  return router
end

test("power_of_two takes the less loaded of two different replicas, the first of equals", function()
  local Two = require "routers.power_of_two"
  -- 2 of 3, then the second of the other two: 3
  test.equal(with_draws(Two {}, { 2, 2 }):route(nil, outstanding(0, 5, 3)), 3)
  test.equal(with_draws(Two {}, { 2, 1 }):route(nil, outstanding(9, 5, 3)), 2)
  test.equal(with_draws(Two {}, { 3, 1 }):route(nil, outstanding(4, 0, 4)), 1)
  test.equal(with_draws(Two {}, { 1 }):route(nil, outstanding(7)), 1)
end)

test("power_of_two never takes the most loaded, and every other pair is as likely", function()
  local router = require "routers.power_of_two" {}
  router:start(random.streams(7))
  local counts, n = { 0, 0, 0 }, 3000
  for _ = 1, n do
    local choice = router:route(nil, outstanding(0, 1, 2))
    counts[choice] = counts[choice] + 1
  end
  -- 1 wins two of three pairs, 2 one; four standard errors
  test.equal(counts[3], 0)
  test.check(math.abs(counts[1] - n * 2 / 3) < 4 * math.sqrt(n * 2 / 9), "%d of %d", counts[1], n)
end)

--- Ranks with these counts, all of engine 1 unless a `group` says otherwise.
local function ranks(list, signals_s)
  for i, each in ipairs(list) do
    each.index, each.group = i, each.group or 1
    for _, field in ipairs { "outstanding", "waiting", "running", "kv_used_frac", "waiting_tokens",
      "context_tokens" } do
      each[field] = each[field] or 0
    end
  end
  list.signals_s = signals_s or 0
  return list
end

--- The choices of n requests on the same old counts.
local function choices_of(router, list, n)
  local out = {}
  for i = 1, n do out[i] = router:route({ prompt_tokens = 10 }, list) end
  return table.concat(out, " ")
end

test("vllm_dp takes the least 4 * waiting + running, with its own requests as waiting ones", function()
  local Vllm = require "routers.vllm_dp"
  local busy = ranks { { waiting = 1, running = 0 }, { running = 3 }, { running = 9 } }
  test.equal(choices_of(Vllm { rotate = false }, busy, 5), "2 1 2 1 3") -- 4 3 9, 4 7 9, 8 7 9, 8 11 9, 12 11 9
  test.equal(choices_of(Vllm { rotate = false, waiting_weight = 1 }, busy, 3), "1 1 1")
  test.equal(choices_of(Vllm { rotate = false }, ranks { {}, {}, {} }, 4), "1 2 3 1")
  test.equal(choices_of(Vllm { rotate = false, staleness_s = 0 }, ranks { {}, {} }, 3), "1 1 1")
end)

test("ties go round in vllm_dp, and new counts replace its own", function()
  local router = require "routers.vllm_dp" {}
  local list = ranks { {}, {}, {} }
  test.equal(choices_of(router, list, 2), "1 2")
  list.signals_s = 0.1
  test.equal(choices_of(router, list, 3), "3 1 2")
end)

test("vllm_dp_load takes the fewest requests, of its own count or the engine's, and shuns full queues", function()
  local Load = require "routers.vllm_dp_load"
  local function choice(list) return Load {}:route({ prompt_tokens = 10 }, ranks(list)) end
  test.equal(choice { { outstanding = 3, running = 1 }, { outstanding = 1, running = 2 }, { running = 3 } }, 2)
  test.equal(choice { { outstanding = 5 }, { outstanding = 2, waiting = 1, running = 3 }, { outstanding = 3 } }, 3)
  -- 10 against 8 + 6 * 4 * (0.9 - 0.5) = 17.6; below half of the cache nothing is added
  test.equal(choice { { running = 10 }, { waiting = 4, running = 4, kv_used_frac = 0.9 } }, 1)
  test.equal(choice { { running = 10 }, { waiting = 4, running = 4, kv_used_frac = 0.5 } }, 2)
  test.equal(choices_of(Load {}, ranks { {}, {}, {} }, 4), "1 2 3 1", "ties go round")
  test.equal(choices_of(Load {}, ranks { { group = 1 }, { group = 1 }, { group = 3 }, { group = 3 } }, 4), "1 3 2 4")
end)

--- The ranks of prompts that get them together.
local function places_of(router, list, ...)
  local out = {}
  list.together = select("#", ...)
  for i, tokens in ipairs { ... } do
    list.placed = i - 1
    out[i] = router:place({ prompt_tokens = tokens }, list)
  end
  return table.concat(out, " ")
end

test("trtllm_dp: the rank with the fewest tokens, of those that have fewer requests than equal parts", function()
  local Trtllm = require "routers.trtllm_dp"
  local function load(requests, tokens) return { rank_requests = requests, rank_tokens = tokens, rank_seats = 9 } end
  local list = ranks { load(1, 900), load(3, 30), load(0, 0), load(0, 0) }
  test.equal(places_of(Trtllm {}, list, 500, 400, 90, 80, 70), "3 4 4 4 3") -- up to 3 requests
  test.equal(places_of(Trtllm {}, ranks { load(2, 10), load(2, 20) }, 9, 8, 1), "1 1 2", "2 + 2 + 3 are 4 and 3")
  test.equal(places_of(Trtllm {}, ranks { load(2, 10), load(1, 10) }, 5), "2", "of equal tokens the fewest requests")
  test.equal(places_of(Trtllm {}, ranks { load(0, 0), load(0, 0) }, 1000, 1000, 1, 1), "1 2 1 2")
end)

test("before 1.0 only new tokens count, and of equal ranks the one with more requests is first", function()
  local Old = require "routers.trtllm_dp_new_tokens"
  local function load(requests, tokens) return { rank_requests = requests, rank_tokens = tokens, rank_seats = 9 } end
  local list = ranks { load(0, 0), load(1, 900) } -- 900 tokens that run do not count
  test.equal(places_of(Old {}, list, 50, 20, 10), "2 1 1")
end)

test("sglang_dp takes ranks in turn, or the fewest requests, or the fewest tokens", function()
  local Sglang = require "routers.sglang_dp"
  local list = ranks { { running = 2, context_tokens = 10 }, { waiting = 1, waiting_tokens = 500 }, { running = 2 } }
  test.equal(choices_of(Sglang {}, list, 4), "1 2 3 1")
  test.equal(choices_of(Sglang { method = "total_requests" }, list, 4), "2 1 2 3")
  test.equal(choices_of(Sglang { method = "total_tokens" }, list, 4), "3 1 3 1") -- 10 500 0, 10 500 10, 20 500 10 ...
end)

test("several engines get requests in turn; replicas that step alone are the ranks of one front-end", function()
  for _, name in ipairs { "vllm_dp", "sglang_dp" } do
    local Router = require("routers." .. name)
    local list = ranks { { group = 1 }, { group = 1 }, { group = 3 }, { group = 3 } }
    test.equal(choices_of(Router {}, list, 5), "1 3 2 4 1", name)
    test.equal(choices_of(Router {}, ranks { { group = 1 }, { group = 2 }, { group = 3 } }, 4), "1 2 3 1", name)
  end
  -- The common queue of an engine is asked at any rank of it.
  local Trtllm = require "routers.trtllm_dp"
  test.equal(choices_of(Trtllm {}, ranks { { group = 1 }, { group = 1 }, { group = 3 }, { group = 3 } }, 3), "1 3 1")
  local function alone(group, requests)
    return { group = group, outstanding = requests, rank_tokens = 10 * requests, rank_seats = 9 }
  end
  test.equal(choices_of(Trtllm {}, ranks { alone(1, 2), alone(2, 1), alone(3, 2) }, 1), "2")
end)

test("random takes every replica as often, and the same ones with the same seed", function()
  local Random = require "routers.random"
  local function choices(seed)
    local router = Random {}
    router:start(random.streams(seed))
    local out = {}
    for i = 1, 3000 do out[i] = router:route(nil, outstanding(0, 0, 0)) end
    return out
  end
  local counts = { 0, 0, 0 }
  for _, choice in ipairs(choices(3)) do counts[choice] = counts[choice] + 1 end
  for i = 1, 3 do
    test.check(math.abs(counts[i] - 1000) < 4 * math.sqrt(3000 * 2 / 9), "%d: %d of 3000", i, counts[i])
  end
  test.equal(table.concat(choices(3)), table.concat(choices(3)))
  test.check(table.concat(choices(3)) ~= table.concat(choices(4)), "another seed draws the same")
end)

test("prefix_affinity takes the longest hit unless it is slack busier than the least busy", function()
  local router = require "routers.prefix_affinity" { slack = 32 }
  local function choice(hit, busy)
    return router:route(nil, replicas { { outstanding = 2 }, { outstanding = 2 + busy, prefix_hit_tokens = hit } })
  end
  test.equal(choice(64, 32), 2)
  test.equal(choice(64, 33), 1)
  test.equal(choice(0, 0), 1)
  test.equal(router:route(nil, outstanding(3, 1, 1)), 2)
  test.equal(router:route(nil, replicas {
    { prefix_hit_tokens = 8 }, { prefix_hit_tokens = 16 }, { prefix_hit_tokens = 16 } }), 2)
end)

test("prefix_affinity sends requests that begin alike to one replica", function()
  local function begins(id) return { content = { { id, 8 }, { 0, 4 } } } end
  -- B goes to the empty replica; C begins like A and D like B, although both would be tied or go to 1
  test.equal(routed(require "routers.prefix_affinity" {}, { { 0, 12, 9, begins(1) }, { 0.1, 12, 9, begins(2) },
    { 1.5, 12, 9, begins(2) }, { 1.6, 12, 9, begins(2) }, { 1.7, 12, 9, begins(1) } }), "1 2 2 2 1")
end)

test("vllm_dp takes the lowest score, ties from a rank that moves on, as a search of all ranks does", function()
  local streams = random.streams(5):stream "ranks"
  local lowest = require "routers.engines.lowest"
  for count = 1, 40 do
    local scores = {}
    for i = 1, count do scores[i] = streams:integer(0, 5) end
    local tree = lowest.of(scores)
    for _ = 1, 60 do
      local from, best = streams:integer(1, count), nil
      for k = 0, count - 1 do
        local i = (from - 1 + k) % count + 1
        if not best or scores[i] < scores[best] then best = i end
      end
      test.equal(lowest.place(tree, from), best)
      scores[best] = scores[best] + streams:integer(0, 3)
      lowest.set(tree, best, scores[best])
    end
  end
end)

test("weighted sums its scores", function()
  local Weighted = require "routers.weighted"
  local request = { prompt_tokens = 100 }
  -- queue: 1 and 0; kv: 0.5 and 0.9; prefix: 0 and 0.5
  local list = replicas {
    { waiting = 0, kv_used_frac = 0.5 }, { waiting = 4, kv_used_frac = 0.1, prefix_hit_tokens = 50 } }
  test.equal(Weighted {}:route(request, list), 2)                -- 2 + 1 + 0 = 3.0 against 0 + 1.8 + 1.5 = 3.3
  test.equal(Weighted { prefix = 2 }:route(request, list), 1)    -- 3.0 against 2.8
  test.equal(Weighted { queue = 0, prefix = 0 }:route(request, list), 2) -- 1.0 against 1.8
  test.equal(Weighted { queue = 0, kv = 0, prefix = 0 }:route(request, list), 1)
end)

test("weighted scores requests that run and that are outstanding, and takes the first of equals", function()
  local Weighted = require "routers.weighted"
  local request = { prompt_tokens = 100 }
  local list = replicas {
    { running = 5, outstanding = 1 }, { running = 2, outstanding = 9 }, { running = 2, outstanding = 9 } }
  local none = { queue = 0, kv = 0, prefix = 0 }
  local function only(field)
    local weights = { [field] = 1 }
    for key, value in pairs(none) do weights[key] = value end
    return Weighted(weights)
  end
  test.equal(only "running":route(request, list), 2)
  test.equal(only "outstanding":route(request, list), 1)
end)

test("a router that names no replica is refused", function()
  local Nowhere = policy.define { name = "nowhere", doc = "Chooses a replica that is not there.", params = {} }
  function Nowhere:route() return 3 end
  test.raises("route returned 3; expected a whole number from 1 to 2", function()
    routed(Nowhere {}, { { 0, 4, 1 } })
  end)
end)

test("a router reads what it declared and nothing else; every shipped one declares", function()
  local function define(signals)
    local Reader = policy.define { name = "reader", doc = "Reads free_blocks.", params = {}, signals = signals }
    function Reader:route(_, list) return list[1].index * 0 + (list[1].free_blocks >= 0 and 2 or 1) end
    return Reader
  end
  local requests = { { 0, 4, 1 }, { 1, 4, 1 } }
  test.equal(routed(define { "free_blocks" } {}, requests), "2 2")
  test.equal(routed(define(nil) {}, requests), "2 2")
  test.raises("router reader reads the signal 'free_blocks' without declaring it", function()
    routed(define { "outstanding" } {}, requests)
  end)
  test.raises("reader: signals: unknown signal 'free_block'; did you mean 'free_blocks'?", function()
    routed(define { "free_block" } {}, requests)
  end)
  test.raises("staleness_s", function()
    policy.define { name = "old", doc = "d", params = {}, signals = {}, staleness_s = -1 }
  end)
  for _, name in ipairs(native.list_folder(native.home .. "/scripts/routers", ".lua")) do
    test.check(type(require("routers." .. name).signals) == "table", "%s declares no signals", name)
  end
end)

test("replicas are a list for ipairs, too", function()
  local Least = policy.define { name = "least", doc = "Counts.", signals = { "running" } }
  local seen = 0
  function Least:route(_, list)
    for i, replica in ipairs(list) do seen = replica.index == i and seen + 1 or -100 end
    return #list
  end
  routed(Least {}, { { 0, 4, 9 }, { 1, 4, 9 } })
  test.check(seen >= 2 and seen % 2 == 0, "%d", seen)
end)

test("a declared staleness holds, without a parameter too", function()
  local seen = {}
  local function define(staleness_s)
    local Old = policy.define { name = "old", doc = "Counts.", params = {}, signals = { "running" },
      staleness_s = staleness_s }
    function Old:route(_, list)
      seen[#seen + 1] = ("%g:%d"):format(list.signals_s, list[1].running)
      return 1
    end
    return Old {}
  end
  local requests = { { 0, 4, 9 }, { 1.5, 4, 9 }, { 2.5, 4, 9 } }
  routed(define(nil), requests)
  test.equal(table.concat(seen, " "), "0:0 1.5:1 2.5:2")
  seen = {}
  routed(define(2), requests)
  test.equal(table.concat(seen, " "), "0:0 0:0 2:1")
end)

test.finish()
