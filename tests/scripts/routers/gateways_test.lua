-- Routers of gateways: the choice of each on numbers that can be checked by hand, and what their indices do to a run.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local json = require "rooflua.json"
local policy = require "rooflua.policy"
local random = require "rooflua.random"
local serve = require "rooflua.serve"

local fields = { "outstanding", "prefix_hit_tokens", "prefix_sent_tokens", "tier_hit_tokens", "sent_blocks",
  "prefill_tokens_in_flight", "blocks_in_flight", "shared_blocks_in_flight" }

local function replicas(list)
  list.now_s, list.decode_stage = list.now_s or 0, list.decode_stage or false
  list.least_outstanding = 1
  local sent = {}
  for i, each in ipairs(list) do
    each.index = each.index or i
    for _, field in ipairs(fields) do each[field] = each[field] or 0 end
    if each.outstanding < list[list.least_outstanding].outstanding then list.least_outstanding = i end
    if each.prefix_sent_tokens > 0 then sent[#sent + 1] = i end
  end
  list.sent_holders = #sent
  function list.sent_holder(_, k) return sent[k] end
  return list
end

local function started(name, parameters)
  local router = require("routers." .. name)(parameters)
  if router.start then router:start(random.streams(1)) end
  return router
end

test("dynamo_kv: blocks to compute, less the overlap, and blocks in flight with the new ones", function()
  local router = started("dynamo_kv", { index = "precise" })
  local request = { prompt_tokens = 160 }
  test.equal(router:route(request, replicas { { prefill_tokens_in_flight = 32 }, {} }), 2)
  -- 10 + 10 + 5 against 10 - 6 + 10 + 12, and with the six of these shared 10 - 6 + 4 + 12
  test.equal(router:route(request, replicas { { blocks_in_flight = 5 },
    { blocks_in_flight = 12, prefix_hit_tokens = 96 } }), 1)
  test.equal(router:route(request, replicas { { blocks_in_flight = 5 },
    { blocks_in_flight = 12, prefix_hit_tokens = 96, shared_blocks_in_flight = 6 } }), 2)
  test.equal(router:route(request, replicas { decode_stage = true, { blocks_in_flight = 5 },
    { blocks_in_flight = 6, prefix_hit_tokens = 96 } }), 1, "a decode replica has nothing to compute")
  test.equal(started("dynamo_kv", { index = "approximate" }):route(request,
    replicas { { prefix_hit_tokens = 160 }, { prefix_sent_tokens = 32 } }), 2)
  test.equal(started("dynamo_kv", { index = "precise", prefill_load_scale = 0 }):route(request,
    replicas { { blocks_in_flight = 1, prefix_hit_tokens = 160 }, {} }), 2)
end)

test("dynamo_kv: equal costs are drawn, and with a temperature all are", function()
  local function counts(router, list)
    local out = {}
    for i = 1, #list do out[i] = 0 end
    for _ = 1, 3000 do
      local place = router:route({ prompt_tokens = 16 }, replicas(list))
      out[place] = out[place] + 1
    end
    return out
  end
  local even = counts(started("dynamo_kv", {}), { {}, {}, {} })
  for i = 1, 3 do test.near(even[i], 1000, 0.15) end
  -- Costs 1, 2, 3 more than the least, in a range of 2: weights 1, e^-1, e^-2 at temperature 0.5.
  local warm = counts(started("dynamo_kv", { temperature = 0.5 }),
    { {}, { blocks_in_flight = 1 }, { blocks_in_flight = 2 } })
  local sum = 1 + math.exp(-1) + math.exp(-2)
  test.near(warm[1], 3000 / sum, 0.1)
  test.near(warm[3], 3000 * math.exp(-2) / sum, 0.2)
end)

test("sglang_cache_aware: the best match above the threshold, while loads are balanced", function()
  local request = { prompt_tokens = 100 }
  local router = started("sglang_cache_aware", {})
  test.equal(router:route(request, replicas { { outstanding = 1 }, { outstanding = 5, prefix_sent_tokens = 31 } }), 2)
  test.equal(router:route(request, replicas { { outstanding = 1 }, { outstanding = 5, prefix_sent_tokens = 30 } }), 1)
  test.equal(router:route(request, replicas { {}, { outstanding = 64, prefix_sent_tokens = 90 } }), 2)
  test.equal(router:route(request, replicas { {}, { outstanding = 65, prefix_sent_tokens = 90 } }), 1)
  test.equal(router:route(request, replicas { { outstanding = 130 }, { outstanding = 195, prefix_sent_tokens = 90 } }),
    2, "65 more, and not more than 1.5 times as many")
  local smallest = started("sglang_cache_aware", { unmatched = "smallest_tree" })
  test.equal(smallest:route(request, replicas { { sent_blocks = 9 }, { outstanding = 5, sent_blocks = 8 } }), 2)
end)

test("aibrix_prefix_cache: most of the prompt within a deviation of the mean, else the fewest requests", function()
  local router = started("aibrix_prefix_cache", {})
  test.equal(router:route(nil, replicas { { outstanding = 1 }, { outstanding = 2, prefix_sent_tokens = 32 },
    { outstanding = 3, prefix_sent_tokens = 64 }, { outstanding = 4 } }), 3)
  test.equal(router:route(nil, replicas { { outstanding = 1 }, { outstanding = 1, prefix_sent_tokens = 32 },
    { outstanding = 1 }, { outstanding = 5, prefix_sent_tokens = 64 } }), 2, "5 is above 2 + 1.73")
  test.equal(router:route(nil, replicas { { outstanding = 3 }, { outstanding = 1, prefix_sent_tokens = 32 }, {},
    { outstanding = 30, prefix_sent_tokens = 64 } }), 3, "far apart: only the least loaded one")
  test.equal(router:route(nil, replicas { { outstanding = 2 }, { outstanding = 1 } }), 2)
end)

test("kv_aware: the longest prefix if few tokens are left, else the session's replica", function()
  local router = started("kv_aware", { threshold = 100 })
  local request = { prompt_tokens = 1000, session = 7 }
  test.equal(router:route(request, replicas { {}, { prefix_hit_tokens = 500, tier_hit_tokens = 400 }, {} }), 2)
  local by_session = router:route(request, replicas { {}, {}, {} })
  for _ = 1, 5 do test.equal(router:route(request, replicas { {}, { prefix_hit_tokens = 899 }, {} }), by_session) end
end)

test("session: a session stays, sessions spread, and other ones go where the fewest went lately", function()
  local router = started("session", { window_s = 10 })
  local counts = { 0, 0, 0, 0 }
  for session = 0, 3999 do
    local place = router:route({ session = session }, replicas { {}, {}, {}, {} })
    counts[place] = counts[place] + 1
    test.equal(router:route({ session = session }, replicas { {}, {}, {}, {} }), place)
  end
  for i = 1, 4 do test.near(counts[i], 1000, 0.35) end
  local plain = started("session", { window_s = 10 })
  local function at(now_s) return plain:route({}, replicas { now_s = now_s, {}, {}, {} }) end
  test.equal(table.concat({ at(0), at(1), at(2), at(10.5), at(11.5) }, " "), "1 2 3 1 2")
  test.equal(plain.recent.times[1], nil, "what left the window is forgotten")
end)

--- Prompts of many groups, each with a long common beginning, on caches that cannot hold all groups.
local function run(router, given)
  local scenario = scene({ hardware = "h100", replicas = 4, router = router, seed = 4,
    deployment = { kv_blocks = 3000 }, workload = require "workloads.poisson" { rate_per_s = 30, num_requests = 400,
      prompt_tokens = 2200, output_tokens = 20, prefix_groups = 40, prefix_tokens = 2000 } }, given)
  return serve.run(scenario).summary
end

local function hit_frac(summary) return summary.cached_tokens / summary.prompt_tokens end

test("in a run every gateway finds more in caches than a random router", function()
  local by_chance = hit_frac(run "random")
  for _, name in ipairs { "prefix_affinity", "llm_d", "dynamo_kv", "sglang_cache_aware", "aibrix_prefix_cache" } do
    test.check(hit_frac(run(name)) > by_chance + 0.03, "%s: %g against %g", name, hit_frac(run(name)), by_chance)
  end
end)

test("events that come late or never find less", function()
  local PrefixAffinity = require "routers.prefix_affinity"
  local exact = hit_frac(run(PrefixAffinity {}))
  local late = hit_frac(run(PrefixAffinity { lag_s = 5 }))
  local lossy = hit_frac(run(PrefixAffinity { loss = 0.9 }))
  test.check(late < exact - 0.02, "late %g, exact %g", late, exact)
  test.check(lossy < exact - 0.02, "lossy %g, exact %g", lossy, exact)
  test.equal(hit_frac(run(PrefixAffinity { lag_s = 1e4 })), hit_frac(run "least_outstanding"))
end)

test("scenario 29: what was sent is as good as events at once; late and lost events are worse", function()
  local cached = {}
  local program = os.getenv "ROOFLUA_PROGRAM" or "build/release/bin/rooflua"
  local pipe = assert(io.popen(program .. " run scenarios/29_prefix_indices.lua --quiet --json -"))
  for _, variant in ipairs(json.decode(pipe:read "*a").variants) do
    cached[variant.name:match "=(.*)$"] = hit_frac(variant.summary)
  end
  pipe:close()
  test.near(cached["events"], 0.8, 0.05)
  test.check(cached["no index"] < 0.2)
  test.near(cached["sent, as a cache"], cached["events"], 0.02)
  test.near(cached["sent, ten caches"], cached["events"], 0.05)
  test.check(cached["sent, half a cache"] < cached["events"] - 0.15)
  test.check(cached["events, 2 s late"] < cached["events, half of them"])
  test.check(cached["events, 30 s late"] < cached["events, 2 s late"] - 0.2)
end)

test("a router says how good its index is, and mistakes are named", function()
  local function error_of(definition, body)
    definition.name, definition.doc = "own", "A router of this test."
    local Own = policy.define(definition)
    function Own:route(request, all) return body and body(self, request, all) or 1 end
    local _, message = pcall(run, Own {})
    return tostring(message)
  end
  local sent = { "prefix_sent_tokens" }
  for _, case in ipairs {
    { { kind = "exact" }, "prefix_index.kind: expected 'approximate' or 'precise'" },
    { { kind = "approximate", lag_s = 1 }, "lag_s" }, { { kind = "precise", ttl_s = 1 }, "ttl_s" },
    { { kind = "precise", loss = 2 }, "prefix_index.loss: expected a share from 0 to 1" },
    { { kind = "precise", most_holders = -1 }, "prefix_index.most_holders" },
    { { kind = "precise", speculative_s = -1 }, "prefix_index.speculative_s" },
    { { kind = "approximate", most_holders = 1 }, "most_holders" },
    { { kind = "approximate", capacity_blocks = 0 }, "capacity_blocks" },
    { { kind = "approximate", forgets = "all" }, "prefix_index.forgets" } } do
    local message = error_of { signals = sent, prefix_index = case[1] }
    test.check(message:find(case[2], 1, true), "%s: %s", case[2], message)
  end
  local undeclared = error_of({}, function(_, _, all) return all[1].prefix_sent_tokens end)
  test.check(undeclared:find("without declaring it", 1, true), undeclared)
end)

test.finish()
