-- Schedulers are called when something changed. If they are called at every step, each of them must plan the same. The
-- workloads are random and memory is short: seats, budgets, prefixes, priorities, one and two steps in flight. Every
-- request ends, and no call of a scheduler is refused.
local schedule = dofile "tests/scripts/schedulers/schedule.lua"
local test = schedule.test
local policy = require "rooflua.policy"
local random = require "rooflua.random"

local CASES = 60

--- A scheduler of this name with parameters for a small replica.
local makers = {
  vllm_v1 = function(draw)
    return { max_num_seqs = draw(1, 12), max_num_batched_tokens = draw(8, 64),
      long_prefill_token_threshold = draw(0, 1) * draw(1, 20), enable_chunked_prefill = draw(0, 3) > 0,
      scheduler_reserve_full_isl = draw(0, 1) == 1, watermark = draw(0, 1) * 0.1 }
  end,
  priority = function(draw) return { max_num_seqs = draw(1, 12), max_num_batched_tokens = draw(8, 64) } end,
  sjf = function(draw) return { max_num_seqs = draw(1, 12), max_num_batched_tokens = draw(8, 64) } end,
  vllm_v0 = function(draw)
    return { max_num_seqs = draw(1, 12), max_num_batched_tokens = draw(30, 64), watermark = draw(0, 1) * 0.05 }
  end,
  orca = function(draw) return { max_num_seqs = draw(1, 12), max_output_tokens = draw(1, 20) } end,
  static_batch = function(draw) return { max_num_seqs = draw(1, 12), max_output_tokens = draw(1, 20) } end,
  sarathi = function(draw)
    return { max_num_seqs = draw(1, 12), chunk_size = draw(8, 64), watermark = draw(0, 1) * 0.05 }
  end,
  sglang = function(draw)
    local policies = { "fcfs", "lof", "lpm" }
    return { max_num_seqs = draw(1, 12), schedule_policy = policies[draw(1, 3)], enable_mixed_chunk = draw(0, 2) == 0,
      max_prefill_tokens = draw(8, 64), chunked_prefill_size = draw(3, 16) * 4,
      schedule_conservativeness = draw(0, 10) / 10,
      new_token_ratio_decay_steps = draw(1, 40), default_max_new_tokens = draw(1, 30) }
  end,
  trtllm = function(draw)
    local capacity = { "guaranteed_no_evict", "max_utilization", "static_batch" }
    local chunking = { "first_come_first_served", "equal_progress" }
    return { max_num_seqs = draw(1, 12), max_num_batched_tokens = draw(30, 64), max_output_tokens = draw(1, 20),
      capacity_scheduler_policy = capacity[draw(1, 3)], enable_chunked_context = draw(0, 1) == 1,
      context_chunking_policy = chunking[draw(1, 2)] }
  end,
}

local function requests_of(draw, count)
  local requests, clock_s = {}, 0
  for i = 1, count do
    clock_s = clock_s + draw(0, 6) / 4
    local shared, own = draw(0, 3) * 4, draw(1, 24)
    local fields = { priority = draw(0, 2), max_output_tokens = draw(0, 1) * draw(12, 20),
      predicted_output_tokens = draw(1, 12) }
    fields.content = shared > 0 and { { draw(1, 2), shared }, { 0, own } } or { { 0, own } }
    requests[i] = { clock_s, shared + own, draw(1, 12), fields }
  end
  return requests
end

local names = {}
for name in pairs(makers) do names[#names + 1] = name end
table.sort(names)
for number, name in ipairs(names) do
  local Class = require("schedulers." .. name)
  local Always = policy.define {
    name = name .. "_always", doc = "Asked at every step.", extends = Class, every_step = true,
  }
  test(name .. " plans the same when it is asked at every step", function()
    local preempted = 0
    for case = 1, CASES do
      local stream = random.streams(1000 * number + case):stream("case")
      local function draw(low, high) return stream:integer(low, high) end
      local parameters, count = makers[name](draw), draw(5, 40)
      local given = { requests = requests_of(draw, count), kv_blocks = draw(12, 30),
        block_size = draw(0, 2) == 0 and 1 or 4, async_depth = draw(1, 2), prefix_caching = draw(0, 1) == 1 }
      if given.block_size == 1 then given.kv_blocks = given.kv_blocks * 4 end
      given.scheduler = Class(parameters)
      local rows, summary = schedule.run(given)
      given.scheduler = Always(parameters)
      local always, always_summary = schedule.run(given)
      test.equal(table.concat(rows, "\n"), table.concat(always, "\n"), "case " .. case)
      test.equal(summary.requests, count, "case " .. case .. ": requests")
      test.equal(summary.completed, always_summary.completed, "case " .. case .. ": completed")
      preempted = preempted + summary.preemptions
    end
    if name ~= "orca" and name ~= "static_batch" then test.at_least(preempted, 5, "preemptions") end
  end)
end

-- Outputs are at most 12 tokens, and every limit is 12 or more.
for number, name in ipairs { "orca", "static_batch", "trtllm" } do
  local Class = require("schedulers." .. name)
  test(name .. " never preempts a request that keeps to its limit", function()
    local completed = 0
    for case = 1, CASES do
      local stream = random.streams(90000 + 1000 * number + case):stream("case")
      local function draw(low, high) return stream:integer(low, high) end
      local parameters, requests = makers[name](draw), requests_of(draw, 30)
      if name == "trtllm" then parameters.capacity_scheduler_policy = "guaranteed_no_evict" end
      for _, each in ipairs(requests) do each[4].max_output_tokens = draw(12, 20) end
      local _, summary = schedule.run { scheduler = Class(parameters), requests = requests, kv_blocks = draw(20, 30),
        async_depth = draw(1, 2), prefix_caching = draw(0, 1) == 1 }
      test.equal(summary.preemptions, 0, "case " .. case .. ": preemptions")
      completed = completed + summary.completed
    end
    test.at_least(completed, CASES * 20, "completed")
  end)
end

test.finish()
