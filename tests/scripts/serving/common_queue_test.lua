-- Ranks that take requests from one queue of their engine, as those of TensorRT-LLM do. Every step takes a second.
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local serve, policy = rooflua.serve, require "rooflua.policy"

local Second = policy.define { name = "second", doc = "Every step takes a second.", params = {} }
function Second:time() return 1 end

--- Requests of { arrival, prompt, output }.
local function workload_of(list)
  local Given = policy.define { name = "given", doc = "These requests.", params = {} }
  function Given:requests()
    local sent = 0
    return { next = function()
      sent = sent + 1
      local each = list[sent]
      if each then return each[1], each[2], each[3], { max_output_tokens = each[3] } end
    end }
  end
  return Given {}
end

local function open(dp, seats, requests, more)
  local given = { model = "qwen3-30b-a3b", hardware = "h100-sxm", steps = Second {}, intervals = "off", async_depth = 1,
    engine = { "trtllm 1.2.0rc2", max_batch_size = seats }, deployment = { dp = dp, ep = dp, kv_blocks = 1000 },
    workload = workload_of(requests) }
  for key, value in pairs(more or {}) do given[key] = value end
  return serve.open(given)
end

--- "A1 B2": the ranks of requests, in the order of their ids.
local function ranks_of(live)
  live:run()
  local out, ended = {}, live:ended()
  table.sort(ended, function(a, b) return a.id < b.id end)
  for i, each in ipairs(ended) do out[i] = string.char(65 + each.id) .. each.replica end
  return table.concat(out, " "), ended
end

test("of those that come together the longest prompt gets its rank first", function()
  test.equal(ranks_of(open(2, 8, { { 0, 1000, 3 }, { 0, 1, 3 }, { 0, 1000, 3 }, { 0, 1, 3 } })), "A1 B1 C2 D2")
  test.equal(ranks_of(open(4, 8, { { 0, 100, 3 }, { 0, 200, 3 }, { 0, 300, 3 }, { 0, 400, 3 }, { 0, 500, 3 },
    { 0, 600, 3 }, { 0, 700, 3 }, { 0, 800, 3 } })), "A1 B2 C3 D4 E4 F3 G2 H1")
end)

-- Rank 1 has 800 tokens and rank 2 has 10; of the four at 2.5 s three fit into rank 2's share of 3.
test("tokens of requests that run count since 1.0", function()
  local requests = { { 0, 800, 60 }, { 0, 10, 60 }, { 2.5, 20, 2 }, { 2.5, 20, 2 }, { 2.5, 20, 2 }, { 2.5, 20, 2 } }
  test.equal(ranks_of(open(2, 8, requests)), "A1 B2 C2 D2 E1 F1")
  test.equal(ranks_of(open(2, 8, requests, { engine = "trtllm 0.20.0" })), "A1 B2 C1 D2 E1 F2")
end)

test("a request waits for a seat of any rank, and is seen meanwhile", function()
  local live = open(2, 1, { { 0, 10, 50 }, { 0, 10, 3 }, { 0.5, 10, 3 } })
  live:run_until(1.5)
  test.equal(#live:waiting(1) + #live:waiting(2), 1)
  test.equal(live:request(2).phase, "pending")
  local fork = live:fork()
  local found, ended = ranks_of(live)
  test.equal(found, "A1 B2 C2")
  test.near(ended[3].ttft_s, 3.5, 1e-4)
  test.equal(ranks_of(fork), found)
end)

test("ranks that are full leave the rest in the queue, in the order of arrival", function()
  local requests = {}
  for i = 1, 7 do requests[i] = { 0, 10, i == 5 and 2 or 4 } end
  requests[8] = { 0.5, 900, 2 } -- the longest, but it came last
  local found, ended = ranks_of(open(2, 3, requests))
  test.equal(found, "A1 B2 C1 D2 E1 F2 G1 H2")
  test.near(ended[7].ttft_s, 3, 1e-4)   -- E's seat is free at 2
  test.near(ended[8].ttft_s, 4.5, 1e-4) -- with those of all others, at 4
end)

test("a request that is cancelled in the queue leaves it", function()
  local live = open(2, 1, { { 0, 10, 9 }, { 0, 10, 9 }, { 0.5, 10, 3 }, { 0.5, 10, 3 } })
  live:run_until(1.5)
  test.check(live:abort(2))
  test.equal(#live:waiting(1) + #live:waiting(2), 1)
  test.equal(ranks_of(live), "A1 B2 C1 D1")
end)

test("a request in the queue waits for seats", function()
  local live = open(2, 1, { { 0, 10, 50 }, { 0, 10, 3 }, { 0.5, 10, 3 } })
  live:run()
  local _, why = rooflua.measure.why(live, 2)
  test.near(why.waited.seats_s, 2, 1e-4) -- and half a second after the step that was planned before it came
end)

-- Routers with a queue ------------------------------------------------------------------------------------------

local function router_of(definition, place)
  definition.name, definition.doc, definition.params = "own", "Own.", {}
  local Own = policy.define(definition)
  function Own:route() return 1 end
  Own.place = place
  return Own {}
end

test("a router says how its queue is ordered, and which rank is next", function()
  local requests = { { 0, 10, 2 }, { 0, 30, 2 }, { 0, 20, 2 }, { 0, 40, 2 } }
  local function told(order)
    local seen = {}
    local router = router_of({ common_queue = order, signals = { "rank_requests" } }, function(_, request, ranks)
      seen[#seen + 1] = ("%d: %d of %d"):format(request.prompt_tokens, ranks.placed, ranks.together)
      return ranks[1].rank_requests <= ranks[2].rank_requests and 1 or 2
    end)
    local found = ranks_of(open(2, 8, requests, { router = router }))
    return found, table.concat(seen, ", ")
  end
  local found, seen = told "arrival"
  test.equal(found, "A1 B2 C1 D2")
  test.equal(seen, "10: 0 of 4, 30: 1 of 4, 20: 2 of 4, 40: 3 of 4")
  found, seen = told "longest"
  test.equal(found, "A2 B2 C1 D1")
  test.equal(seen, "40: 0 of 4, 30: 1 of 4, 20: 2 of 4, 10: 3 of 4")
end)

test("a queue that cannot be is refused", function()
  local function raises(what, definition, place)
    test.raises(what, function()
      open(2, 1, { { 0, 10, 2 } }, { router = router_of(definition, place) }):run()
    end)
  end
  local function first() return 1 end
  raises("common_queue: found 'shortest'; expected none, arrival or longest", { common_queue = "shortest" }, first)
  raises("a common_queue and no place", { common_queue = "arrival" })
  raises("a common_queue and signals of what it sent", { common_queue = "arrival",
    signals = { "prefix_sent_tokens" }, prefix_index = { kind = "approximate" } }, first)
  raises("place returned 3; expected a whole number from 1 to 2", { common_queue = "arrival" },
    function() return 3 end)
  test.raises("replica 1 for request 1, which has no seat left", function()
    open(2, 1, { { 0, 10, 9 }, { 0, 10, 9 } },
      { router = router_of({ common_queue = "arrival", signals = {} }, first) }):run()
  end)
end)

test.finish()
