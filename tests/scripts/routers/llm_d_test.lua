-- llm-d's router: what it remembers, what it scores, when its filter gives way, and what that does to a run.
local test = dofile "tests/scripts/harness.lua"
local pickers = require "routers.llm_d.pickers"
local policy = require "rooflua.policy"
local random = require "rooflua.random"
local releases = require "routers.llm_d.releases"
local scorers = require "routers.llm_d.scorers"
local sessions = require "routers.llm_d.sessions"
local serve = require "rooflua.serve"
local LlmD = require "routers.llm_d"

--- Candidates as plain tables.
local function candidates(list)
  for i, each in ipairs(list) do
    each.index = each.index or i
    for _, field in ipairs { "outstanding", "waiting", "running", "kv_used_frac", "prefix_hit_tokens",
      "prefix_sent_tokens", "prefill_tokens_in_flight" } do each[field] = each[field] or 0 end
  end
  return list
end

test("scorers are 1 for the best and 0 for the worst", function()
  local seen = { waiting = { 0, 5, 10 }, outstanding = { 4, 2, 0 }, in_flight = { 0, 4194304, 10 },
    uncached = { 0, 5, 0 }, kv_used = { 0.25, 1, 0 }, share = { 0.5, 1, 0 }, cold = { 7, 0, 3 }, any_hit = false,
    index = { 1, 2, 3 }, prompt_tokens = 2000, last_of_session = 2 }
  local parameters = { idle_threshold = 0, max_busy_score = 1, ttft_slo_s = 2, prefill_tokens_per_s = 10,
    ranges = { { 0, 2000 }, { 0, 12000 } } }
  local function all(name)
    local out = {}
    for place = 1, 3 do out[place] = ("%.3g"):format(scorers[name](seen, place, parameters)) end
    return table.concat(out, " ")
  end
  test.equal(all "queue", "1 0.5 0")
  test.equal(all "kv", "0.75 0 1")
  test.equal(all "active", "0 0.5 1")
  test.equal(all "token_load", "1 0 1")
  test.equal(all "prefix", "0.5 1 0")
  test.equal(all "no_hit_lru", "0 1 0.5")
  seen.any_hit, seen.is_precise, seen.share = true, true, { 0.5, 0.75, 0.25 }
  test.equal(all "no_hit_lru", "0.5 0.5 0.5")
  test.equal(all "prefix", "0.5 1 0")
  parameters.prefix_score = "share"
  test.equal(all "prefix", "0.5 0.75 0.25")
  test.equal(all "load_aware", "0.5 0.48 0.461")
  parameters.idle_threshold, parameters.max_busy_score = 2, 0.5
  test.equal(all "active", "0 1 1", "the second is idle, too")
  parameters.idle_threshold = 1
  test.equal(all "active", "0 0.25 1")
  test.equal(all "session", "0 1 0")
  -- A range that ends at the prompt: 0.3 + 0.7 * 0.7 / 1.2; a wide one: 0.3 + 0.7 * (0.7 / 2.2 + 0.3 * 5 / 6).
  test.equal(all "context_length", "0.708 0.698 0.5")
  seen.prompt_tokens = 3000
  test.equal(all "context_length", "0.15 0.68 0.5", "outside by 1,000 tokens")
  -- TTFT 0 s, 419,431 s and 1 s, of 2 s: the last is closest to the limit.
  test.equal(all "headroom", "0 0 1")
  parameters.ttft_slo_s, seen.outstanding, seen.in_flight = 0, { 4, 2, 1 }, { 10, 20, 40 }
  test.equal(all "headroom", "1 0.5 0", "none keeps it: who misses it by the least")
  seen.outstanding = { 4, 2, 0 }
  test.equal(all "headroom", "0 0 0.5", "none keeps it: an idle one")
  seen.waiting = { 3, 3, 3 }
  test.equal(all "queue", "1 1 1")
end)

--- How often each of the places 1, 2, 3 is picked by these scores.
local function shares_of(name, scores)
  local draws, counts, trials = random.streams(7):stream "router", { 0, 0, 0 }, 20000
  for _ = 1, trials do
    local place = pickers[name]({ 1, 2, 3 }, function(each) return scores[each] end, draws)
    counts[place] = counts[place] + 1
  end
  for place in ipairs(counts) do counts[place] = counts[place] / trials end
  return counts
end

test("the highest score is picked, or each replica with a probability by its score", function()
  local function near(name, scores, expected)
    local found = shares_of(name, scores)
    for place, share in ipairs(expected) do
      test.check(math.abs(found[place] - share) < 0.015, "%s: place %d: %g, not %g", name, place, found[place], share)
    end
  end
  near("max_score", { 1, 5, 2 }, { 0, 1, 0 })
  near("max_score", { 5, 1, 5 }, { 0.5, 0, 0.5 })
  near("weighted_random", { 1, 5, 2 }, { 1 / 8, 5 / 8, 2 / 8 })
  near("weighted_random", { 0.02, 0.06, 0 }, { 0.25, 0.75, 0 })
  near("weighted_random", { 0, 0, 0 }, { 1 / 3, 1 / 3, 1 / 3 })
end)

test("what a release did is told by the day of a run; the newest one has the defaults", function()
  local function text(day, index)
    local out = {}
    for name, value in pairs(releases.of(day, index)) do out[#out + 1] = name .. "=" .. tostring(value) end
    table.sort(out)
    return table.concat(out, " ")
  end
  test.equal(text("2025-09-31", "approximate"), "block_tokens=16 max_prefix_tokens=4096")
  test.equal(text("2026-05-31", "approximate"), "")
  test.equal(text("2026-05-31", "precise"), "prefix_score=relative")
  test.equal(text("2026-07-31", "precise"), "")
  test.equal(text("", "precise"), "")
  local own = policy.parameters(LlmD:preset "precise" {})
  test.equal(("%s %g %g %g %g"):format(own.index, own.prefix, own.no_hit_lru, own.speculative_ttl_s, own.most_holders),
    "precise 3 2 2 10")
end)

local function router(parameters)
  local out = LlmD(parameters)
  out:start(random.streams(1))
  return out
end

test("the filter keeps replicas that hold most of the prompt until they have too much in flight", function()
  local request = { prompt_tokens = 640 }
  local function chosen(given, in_flight)
    local own = router { affinity_threshold = 0.8, max_penalty_tokens = 1000, queue = 1, kv = 0, prefix = 0,
      exploration = given }
    return own:route(request, candidates { {}, { prefix_sent_tokens = 512, waiting = 50,
      prefill_tokens_in_flight = in_flight }, { prefix_sent_tokens = 448 } })
  end
  test.equal(chosen(0, 0), 2, "it holds 0.8 of it; the other 0.7")
  test.equal(chosen(0, 1000), 2)
  test.check(chosen(0, 1001) ~= 2, "1,001 tokens more than the others")
  test.check(chosen(1, 0) ~= 2, "it always explores")
end)

test("a prompt is looked at up to max_prefix_tokens, in whole blocks", function()
  local own = router { affinity_threshold = 1, max_prefix_tokens = 128, queue = 1, kv = 0, prefix = 0 }
  test.equal(own:route({ prompt_tokens = 1000 }, candidates { {}, { prefix_sent_tokens = 128, waiting = 9 } }), 2)
end)

test("the last sessions are remembered, and not all of them", function()
  local own = sessions.new()
  for i = 1, 200000 do own:set(i, i % 7) end
  test.equal(own:last(200000), 200000 % 7)
  test.equal(own:last(200000 - 60000), (200000 - 60000) % 7)
  test.equal(own:last(1), nil)
  local count = 0
  for _, list in ipairs { own.young, own.old } do for _ in pairs(list) do count = count + 1 end end
  test.check(count <= 2 * 65536)
end)

test("equal replicas are drawn", function()
  local own, counts = router { prefix = 0 }, { 0, 0, 0 }
  for _ = 1, 300 do
    local place = own:route({ prompt_tokens = 100 }, candidates { {}, {}, {} })
    counts[place] = counts[place] + 1
  end
  for place = 1, 3 do test.at_least(counts[place], 60) end
end)

local function hits(given)
  local workload = require "workloads.shared_prefix_stages" { groups = 24, prompts_per_group = 2,
    shared_prefix_tokens = 4000, question_tokens = 100, output_tokens = 20,
    stages = { { rate_per_s = 20, duration_s = 5 }, { rate_per_s = 20, duration_s = 10 } } }
  local summary = serve.run { model = "llama-3.1-8b", hardware = "h100", replicas = 4, router = given, seed = 4,
    deployment = { kv_blocks = 4000 }, workload = workload }.summary
  return summary.prefix_hit_frac or summary.cached_frac, summary.ttft_s.mean
end

test("in a run both indices keep prefixes in their places, and a random router does not", function()
  local _, random_ttft = hits(require "routers.random" {})
  local _, approximate = hits(LlmD {})
  local _, precise = hits(LlmD { index = "precise" })
  test.check(approximate < 0.7 * random_ttft, "%g against %g", approximate, random_ttft)
  test.check(precise < 0.7 * random_ttft, "%g against %g", precise, random_ttft)
end)

test.finish()
