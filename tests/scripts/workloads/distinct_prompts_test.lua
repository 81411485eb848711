-- Clients that send the same prompts again: the workload closed_loop with distinct_prompts.
local test = dofile "tests/scripts/harness.lua"
local core = require "rooflua.base.core"
local random = require "rooflua.random"
local serve = require "rooflua.serve"

--- What a loop of one client sends: {prompt tokens, content} of each request.
local function sent(parameters)
  local given = { clients = 1, num_requests = 250, prompt_tokens = { distribution = "uniform", min = 100, max = 900 } }
  for name, value in pairs(parameters) do given[name] = value end
  local state = require "workloads.closed_loop" (given):requests(random.streams(1))
  local out, _, prompt, _, fields = {}, state.next(state)
  while prompt do
    out[#out + 1] = { prompt, fields and fields.content }
    _, prompt, _, fields = state.done(state, #out)
  end
  return out
end

test("every prompt is sent once before one is sent again, in an order that is drawn each time", function()
  local list, orders = sent { distinct_prompts = 50 }, {}
  test.equal(#list, 250)
  for round = 0, 4 do
    local seen, ids = {}, {}
    for i = 1, 50 do
      local id = list[50 * round + i][2][1][1]
      test.check(not seen[id] and id >= 1 and id <= 50, "round %d: %d", round, id)
      seen[id], ids[i] = true, id
    end
    orders[table.concat(ids, " ")] = true
  end
  test.equal(#core.sorted_keys(orders), 5, "five orders")
end)

test("a prompt keeps its length, and its content is its own", function()
  local lengths, different = {}, {}
  for _, each in ipairs(sent { distinct_prompts = 20 }) do
    local id, tokens = each[2][1][1], each[2][1][2]
    test.equal(#each[2], 1)
    test.equal(tokens, each[1])
    test.equal(lengths[id] or tokens, tokens)
    lengths[id], different[tokens] = tokens, true
  end
  test.equal(#lengths, 20)
  test.at_least(#core.sorted_keys(different), 10, "lengths are drawn")
end)

test("without distinct_prompts nothing is sent twice, and the draws are those of a loop that never had it", function()
  for _, each in ipairs(sent {}) do test.equal(each[2], nil) end
  local plain, pooled = sent {}, sent { distinct_prompts = 250 }
  local function sorted(list)
    local out = {}
    for i, each in ipairs(list) do out[i] = each[1] end
    table.sort(out)
    return table.concat(out, " ")
  end
  test.equal(sorted(pooled), sorted(plain), "as many prompts as requests: the same lengths")
end)

test("a prefix cache hits what was sent before: all but the last block, from the second round on", function()
  local function run(distinct, caching)
    return serve.run { model = "llama-3.1-8b", hardware = "h100-sxm",
      deployment = { prefix_caching = caching, max_num_seqs = 4 },
      workload = require "workloads.closed_loop" { clients = 4, num_requests = 60, prompt_tokens = 1024,
        output_tokens = 4, distinct_prompts = distinct } }.summary.cached_tokens
  end
  test.equal(run(0, true), 0)
  test.equal(run(20, false), 0)
  test.equal(run(20, true), 40 * (1024 - 16))
end)

test.finish()
