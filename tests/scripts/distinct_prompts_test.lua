-- Clients that send the same prompts again: the workload closed_loop with distinct_prompts, and the measured closed
-- loops whose clients do so.
local test = dofile "tests/scripts/harness.lua"
local core = require "rooflua.base.core"
local client = require "rooflua.validate.silicon.client"
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local random = require "rooflua.random"
local Reader = require "rooflua.scenario.reader"
local rows = require "rooflua.validate.silicon.rows"
local serve = require "rooflua.serve"
local setup = require "rooflua.validate.silicon.setup"

local write = dofile "tests/scripts/closed_loop_file.lua" (test)

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

-- The workload -----------------------------------------------------------------------------------------------------

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

-- Measured closed loops ------------------------------------------------------------------------------------------

local function question(row) return rows.read(write { row })[1] end

local function scenario(row)
  return setup.scenario(question(row), policies.of(Reader.new "test", "steps", "kernels"), core.plain(setup.options))
end

local generated = { isl = 1000, osl = 100, clients = 16, source = "someone/vllm/model.csv" }

local function with(more)
  local out = {}
  for name, value in pairs(generated) do out[name] = value end
  for name, value in pairs(more) do out[name] = value end
  return out
end

test("AIPerf's hundred prompts are sent again; genai-perf's and InferenceX's are not", function()
  test.equal(client.repeats(question(generated), 10), true)
  test.equal(client.repeats(question(with { isl = 1024 }), 10), false, "a power of two")
  test.equal(client.repeats(question(with { clients = 10 }), 10), false, "as many requests as prompts")
  test.equal(client.repeats(question(with { source = "source_file=2026-04-06.csv" }), 10), false)
end)

test("vLLM and TensorRT-LLM have their prefix cache on where prompts come again, SGLang has none", function()
  for engine, caches in pairs { vllm = true, trtllm = true, sglang = false } do
    local given = scenario(with { engine = engine })
    test.equal(given.deployment.prefix_caching, caches, engine)
    test.equal(policy.parameters(given.workload).distinct_prompts, 100, engine)
  end
  local other = scenario(with { isl = 1024 })
  test.equal(other.deployment.prefix_caching, false)
  test.equal(policy.parameters(other.workload).distinct_prompts, 0)
end)

test("one release of TensorRT-LLM decodes more than one request outside of graphs", function()
  local function largest(version, source)
    local given = scenario(with { engine = "trtllm", engine_version = version, source = source })
    return policy.parameters(given.steps).largest_graph
  end
  test.equal(largest "1.3.0rc1", 1)
  test.equal(largest "1.2.0", 16)
end)

test.finish()
