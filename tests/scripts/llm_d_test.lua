-- llm-d's router: what it remembers, what it scores, when its filter gives way, and what that does to a run.
local test = dofile "tests/scripts/harness.lua"
local in_flight = require "routers.llm_d.in_flight"
local random = require "rooflua.random"
local scorers = require "routers.llm_d.scorers"
local sent = require "routers.llm_d.sent"
local serve = require "rooflua.serve"
local LlmD = require "routers.llm_d"

--- Candidates that have the segments of one prompt, as plain tables.
local function candidates(list, segments)
  for i, each in ipairs(list) do
    each.index = each.index or i
    for _, field in ipairs { "outstanding", "waiting", "running", "kv_used_frac", "prefix_hit_tokens", "decodes",
      "landing_prompts" } do each[field] = each[field] or 0 end
  end
  function list.segment(_, k)
    local segment = segments and segments[k]
    if segment then return segment[1], segment[2] end
  end
  return list
end

local function prompt_of(segments)
  local tokens = 0
  for _, each in ipairs(segments) do tokens = tokens + each[2] end
  return { prompt_tokens = tokens }
end

local function chain(index, segments) return index:chain(prompt_of(segments), candidates({}, segments)) end

test("the index knows the common beginning of what was sent, in whole blocks, of each replica", function()
  local index = sent.new { block_tokens = 10, most_blocks = 100, capacity_blocks = 1000 }
  index:add(chain(index, { { 7, 55 }, { 8, 20 } }), 1)
  local function known(segments, replica) return index:tokens(chain(index, segments), replica or 1) end
  test.equal(known { { 7, 55 }, { 8, 20 } }, 70)
  test.equal(known { { 7, 55 }, { 9, 20 } }, 50)
  test.equal(known { { 7, 30 }, { 8, 20 } }, 30, "another text behind 30 tokens of the same")
  test.equal(known { { 6, 55 }, { 8, 20 } }, 0)
  test.equal(known({ { 7, 55 }, { 8, 20 } }, 2), 0)
  test.equal(known { { 0, 55 } }, 0)
end)

test("content that is private is never known again, and takes room all the same", function()
  local index = sent.new { block_tokens = 10, most_blocks = 100, capacity_blocks = 10 }
  index:add(chain(index, { { 7, 50 } }), 1)
  index:add(chain(index, { { 0, 40 } }), 1)
  test.equal(index:tokens(chain(index, { { 7, 50 } }), 1), 50)
  index:add(chain(index, { { 0, 40 } }), 1)
  test.equal(index:tokens(chain(index, { { 7, 50 } }), 1), 0, "the oldest is forgotten first")
end)

test("what is sent again is forgotten last; only so many blocks of a prompt are looked at", function()
  local index = sent.new { block_tokens = 10, most_blocks = 4, capacity_blocks = 10 }
  for _, content in ipairs { 1, 2, 1, 3 } do index:add(chain(index, { { content, 40 } }), 1) end
  test.equal(index:tokens(chain(index, { { 1, 40 } }), 1), 40)
  test.equal(index:tokens(chain(index, { { 2, 40 } }), 1), 0)
  index:add(chain(index, { { 5, 4000 } }), 2)
  test.equal(index:tokens(chain(index, { { 5, 4000 } }), 2), 40)
  test.equal(index:blocks(chain(index, { { 5, 4000 } })), 4)
end)

test("tokens in flight are those of the last prompts that were sent and have no first token", function()
  local tokens, one = in_flight.new(), { index = 1, outstanding = 0, decodes = 0, landing_prompts = 0 }
  test.equal(tokens:of(one), 0)
  for _, count in ipairs { 100, 20, 3 } do tokens:add(one, count) end
  one.outstanding = 3
  test.equal(tokens:of(one), 123)
  one.decodes, one.landing_prompts = 2, 1
  test.equal(tokens:of(one), 23, "the second is computed in the step that runs")
  one.landing_prompts = 0
  test.equal(tokens:of(one), 3)
  one.outstanding, one.decodes = 9, 0
  test.equal(tokens:of(one), 123, "never more than was sent")
end)

test("scorers are 1 for the best and 0 for the worst", function()
  local seen = { waiting = { 0, 5, 10 }, outstanding = { 4, 2, 0 }, in_flight = { 0, 4194304, 10 },
    uncached = { 0, 5, 0 }, kv_used = { 0.25, 1, 0 }, share = { 0.5, 1, 0 }, cold = { 7, 0, 3 }, any_hit = false }
  local function all(name)
    local out = {}
    for place = 1, 3 do out[place] = ("%.3g"):format(scorers[name](seen, place)) end
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
  seen.waiting = { 3, 3, 3 }
  test.equal(all "queue", "1 1 1")
end)

local function router(parameters)
  local out = LlmD(parameters)
  out:start(random.streams(1))
  return out
end

test("the filter keeps replicas that hold most of the prompt until they have too much in flight", function()
  local own = router { affinity_threshold = 0.8, max_penalty_tokens = 1000, queue = 0, kv = 0, prefix = 0,
    token_load = 1 }
  local segments = { { 1, 640 } }
  local request = prompt_of(segments)
  local first = own:route(request, candidates({ {}, {}, {} }, segments))
  local state = {}
  for i = 1, 3 do state[i] = { waiting = i == first and 50 or 0 } end
  test.equal(own:route(request, candidates(state, segments)), first, "it holds all of it")
  own.tokens:add({ index = first }, 2000)
  for i = 1, 3 do state[i].outstanding = i == first and 3 or 0 end
  test.check(own:route(request, candidates(state, segments)) ~= first, "2,000 tokens more than the others")
end)

test("equal replicas are drawn", function()
  local own, counts = router { prefix = 0 }, { 0, 0, 0 }
  for i = 1, 300 do
    local place = own:route({ prompt_tokens = 100 }, candidates({ {}, {}, {} }, { { i, 100 } }))
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
