-- Low-rank adapters: keys, memory, prices, runs, and what is refused. Schedules are compared in tests/reference.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local core = require "rooflua.base.core"
local policy = require "rooflua.policy"
local cost = require "rooflua.cost"
local Prepared = require "rooflua.machine.prepared"
local Reader = require "rooflua.scenario.reader"
local serve = require "rooflua.serve"
local application = require "rooflua.applied.application"

local function scenario(adapters, more)
  return scene({ engine = "vllm 0.24", seed = 3, adapters = adapters,
    workload = require "workloads.poisson" { rate_per_s = 20, num_requests = 120, prompt_tokens = 300,
      output_tokens = 40 } }, more)
end

local function run(adapters, more) return serve.run(scenario(adapters, more)).summary end

local function prepared(given)
  local reader = Reader.new "made up"
  return Prepared.of(reader, given, application.of(reader, given, true))
end

--- Prices of batches.
local function prices(adapters, batches, more)
  local own = prepared(scenario(adapters, more))
  local steps, out = Prepared.steps(own), {}
  for i, batch in ipairs(batches) do out[i] = steps:time(cost.batch(batch)) end
  return out
end

local function refuses(message, adapters, more)
  local ok, problem = pcall(run, adapters, more)
  test.check(not ok, "it runs")
  test.check(tostring(problem):find(message, 1, true), "expected '%s', found '%s'", message, tostring(problem))
end

test("slots are taken off the KV cache, by the largest rank", function()
  local function blocks(adapters) return prepared(scenario(adapters)).deployment.kv_blocks end
  local none = blocks(nil)
  -- A of 3 x 4096 and B of 6144 for q, k, v; 4096 + 4096; 2 x 4096 + 28672; 14336 + 4096: in 32 layers, of 2 bytes
  local per_rank = 32 * 2 * ((3 * 4096 + 6144) + 8192 + (2 * 4096 + 28672) + 18432)
  local block = 16 * 131072
  for _, case in ipairs { { 1, 16 }, { 8, 16 }, { 8, 64 }, { 32, 64 } } do
    local slots, rank = case[1], case[2]
    local lost = none - blocks { count = 64, max_loras = slots, rank = rank }
    local expected = slots * rank * per_rank / block
    test.check(math.abs(lost - expected) <= 1, "%d slots of rank %d: %d blocks", slots, rank, lost)
  end
  test.equal(blocks { count = 2, rank = { 8, 64 } }, blocks { count = 2, rank = 64 })
  test.equal(blocks { count = 2, rank = 8, max_lora_rank = 64 }, blocks { count = 2, rank = 64 })
end)

test("tensor-parallel ranks divide one of the two matrices of each module", function()
  local one = prepared(scenario({ count = 1 }, { model = "qwen3-32b", deployment = { tp = 1 } })).adapters
  local four = prepared(scenario({ count = 1 }, { model = "qwen3-32b", deployment = { tp = 4 } })).adapters
  test.equal(four.whole_rank_bytes, one.rank_bytes)
  test.check(four.rank_bytes > one.rank_bytes / 4 and four.rank_bytes < one.rank_bytes, "%g", four.rank_bytes)
end)

test("a batch without adapters costs what it cost, and more adapters or tokens never cost less", function()
  local batches = { { decodes = 32, decode_context_tokens = 32000 }, { prefills = { { new_tokens = 500 } } } }
  local before, after = prices(nil, batches), prices({ count = 64, max_loras = 64 }, batches)
  for i = 1, #batches do test.equal(after[i], before[i]) end
  for _, rank in ipairs { 1, 16, 128 } do
    local last = 0
    local grown = {}
    for _, adapters in ipairs { 0, 1, 2, 8, 32 } do
      grown[#grown + 1] = { decodes = 32, decode_context_tokens = 32000, adapters = adapters }
    end
    for i, time_s in ipairs(prices({ count = 64, max_loras = 32, rank = rank }, grown)) do
      test.check(time_s > last, "rank %d, batch %d: %g after %g", rank, i, time_s, last)
      last = time_s
    end
    grown, last = {}, 0
    for tokens = 1, 512, 7 do
      grown[#grown + 1] = { prefills = { { new_tokens = 512 } }, adapters = 1, adapter_tokens = tokens }
    end
    for _, time_s in ipairs(prices({ count = 1, rank = rank }, grown)) do
      test.at_least(time_s, last)
      last = time_s
    end
  end
end)

test("no kernel of an adapter beats the bandwidth or the peak", function()
  local own = prepared(scenario { count = 64, max_loras = 64, rank = 64 })
  local steps, hardware = Prepared.steps(own), own.hardware
  for _, batch in ipairs { { decodes = 8, decode_context_tokens = 8000, adapters = 8 },
    { prefills = { { new_tokens = 8000 } }, adapters = 1 } } do
    local seen = 0
    for _, row in ipairs(cost.explain(function() return steps:time(cost.batch(batch)) end).rows) do
      if row.name:find "_lora_" then
        seen = seen + 1
        test.at_least(row.time_s, row.bytes / hardware.memory_bytes_per_s, row.name)
        test.at_least(row.time_s, row.flop / hardware.peak_flop_per_s.bf16, row.name)
      end
    end
    test.equal(seen, 8)
  end
end)

test("adapters that no request has change nothing but the summary", function()
  local none, unused = run(nil, { deployment = { kv_blocks = 5000 } }),
    run({ count = 4, share = 0 }, { deployment = { kv_blocks = 5000 } })
  for _, metric in ipairs { "ttft_s", "tpot_s", "e2e_s", "queue_s" } do
    test.equal(unused[metric].mean, none[metric].mean, metric)
    test.equal(unused[metric].max, none[metric].max, metric)
  end
  test.equal(none.adapters, nil)
  test.equal(unused.adapters.loads, 0)
  test.equal(unused.adapters.adapters_max, 0)
end)

test("few slots hold requests, and slots for all hold none", function()
  local last
  for _, slots in ipairs { 1, 2, 4, 8, 16 } do
    local s = run { count = 16, max_loras = slots }
    test.equal(s.completed, 120)
    test.at_least(slots, s.adapters.adapters_max)
    test.near(s.adapters.token_share, 1, 1e-12)
    if last then test.at_least(last, s.adapters.held) end
    last = s.adapters.held
  end
  test.equal(last, 0)
end)

test("a request that waits for a slot holds up none after it, and is served when there is one", function()
  local function sent(adapters)
    local next, Sent = 0, policy.define { name = "sent", doc = "A list.", params = {} }
    function Sent.requests()
      return function()
        next = next + 1
        if adapters[next] then return 0.001 * next, 200, 30, { adapter = adapters[next] } end
      end
    end
    return { workload = Sent {} }
  end
  local function starts(adapters, more)
    local out = {}
    local Look = policy.define { name = "look", doc = "Looks.", unit = "1", better = "less", params = {} }
    function Look.on_done(_, request) out[request.id + 1] = request.scheduled_s end
    function Look.value() return 0 end
    run({ count = 3, max_loras = 1 }, core.copy(core.copy(sent(adapters), more), { metrics = { look = Look {} } }))
    return out
  end
  local at = starts({ 1, 2, 1, 0, 3, 0 }, { scheduler = require "schedulers.vllm_v1" {} })
  test.check(at[1] < at[3] and at[3] == at[4], "the third and the fourth are admitted together")
  test.check(at[2] > at[3] and at[5] > at[2], "the second waits for the first, and the fifth for the second")
  test.check(at[6] == at[4], "the sixth is behind two that wait")
  local seats = starts({ 1, 2, 1, 1 }, { scheduler = require "schedulers.vllm_v1" { max_num_seqs = 2 } })
  test.check(seats[3] < seats[2], "seats are left")
  test.check(seats[4] < seats[2], "the fourth takes the first free seat")
end)

test("every adapter is loaded once where all have slots, and a store is read once", function()
  local s = run { count = 16, max_loras = 16 }
  local own = prepared(scenario { count = 16, max_loras = 16 }).adapters
  test.equal(s.adapters.loads, 16)
  test.near(s.adapters.load_s, 16 * own.slot_s[1], 1e-9)
  local from_store = run { count = 16, max_loras = 16, store_bytes_per_s = 1e9 }
  local longer = from_store.adapters.load_s - s.adapters.load_s
  test.near(longer, 16 * 16 * own.whole_rank_bytes / 1e9, 1e-9)
end)

test("copies before admission leave steps as they are", function()
  local slow = { count = 16, max_loras = 2, store_bytes_per_s = 5e8 }
  local in_step = run(slow)
  slow.load = "admission"
  local before = run(slow)
  test.equal(before.completed, 120)
  test.at_least(2, before.adapters.adapters_max)
  test.check(before.itl_s.max < in_step.itl_s.max, "%g s, not below %g s", before.itl_s.max, in_step.itl_s.max)
end)

test("requests of different adapters share no prefix", function()
  local workload = require "workloads.poisson" { rate_per_s = 10, num_requests = 60, prompt_tokens = 16,
    prefix_tokens = 1600, output_tokens = 5 }
  local one = run({ count = 1 }, { workload = workload })
  local many = run({ count = 10, max_loras = 10 }, { workload = workload })
  local none = run(nil, { workload = workload })
  test.equal(one.cached_tokens, none.cached_tokens)
  test.equal(none.cached_tokens, 59 * 1600)
  test.equal(many.cached_tokens, 50 * 1600)
end)

test("requests of a session have one adapter, and so have retries", function()
  local of_session, checked, retried, several = {}, 0, 0, false
  local Look = policy.define { name = "look", doc = "Looks at adapters.", unit = "1", better = "less", params = {} }
  function Look:on_done(request)
    self.last = request.id
    local before = of_session[request.session]
    if before then
      test.equal(request.adapter, before)
      checked = checked + 1
    end
    for _, each in pairs(of_session) do several = several or each ~= request.adapter end
    of_session[request.session] = request.adapter
    retried = retried + (request.attempt > 0 and 1 or 0)
  end
  function Look:value() return self.last end
  run({ count = 9, max_loras = 9 }, { client = require "clients.openai" { timeout_s = 0.6 },
    metrics = { look = Look {} },
    workload = require "workloads.multi_turn" { sessions = 20, session_rate_per_s = 30, turns = 4, think_time_s = 0.1,
      prompt_tokens = 2000, output_tokens = 60 } })
  test.at_least(checked, 40)
  test.at_least(retried, 5)
  test.check(several, "all sessions have one adapter")
end)

test("a workload may say the adapter, and one that there is not is an error", function()
  local function mixed(first, second)
    local function part(name, adapter)
      return { name = name, adapter = adapter, workload = require "workloads.poisson" { rate_per_s = 10,
        num_requests = 20, prompt_tokens = 200, output_tokens = 20 } }
    end
    return { workload = require "workloads.mix" { parts = { part("a", first), part("b", second) } } }
  end
  local s = run({ count = 7, max_loras = 7 }, mixed(7, 0))
  test.equal(s.adapters.loads, 1)
  refuses("adapter: found 8; adapters.count is 7", { count = 7 }, mixed(8, 0))
  refuses("adapter: found 1; the scenario has no adapters", nil, mixed(1, 1))
end)

test("drafts, stages, ranks, and replicas that are split have adapters, too", function()
  local adapters = { count = 6, max_loras = 2 }
  local more = {
    drafts = { speculation = { speculator = require "speculators.fixed" {},
      acceptance = require "acceptance.constant" {} } },
    stages = { deployment = { pp = 2 } },
    ranks = { model = "qwen3-30b-a3b", deployment = { dp = 2, ep = 2 } },
    split = { replicas = { { role = "prefill" }, { role = "decode" } } },
    lost = { replicas = 2,
      faults = require "faults.scripted" { list = { { time_s = 2, replica = 1, repair_s = 1 } } } },
    stores = { deployment = { kv_blocks = 400 }, tiers = { policy = "vllm_cpu", stores = { { name = "cpu",
      capacity_bytes = 1e10 } } } },
  }
  for name, changes in pairs(more) do
    for _, load in ipairs { "step", "admission" } do
      adapters.load = load
      local s = run(adapters, changes)
      local ended = s.completed + (s.faults and s.faults.lost_requests or 0)
      test.equal(ended, 120, name)
      test.at_least(2, s.adapters.adapters_max, name)
      test.at_least(s.adapters.loads, 6, name)
    end
  end
end)

test("the router of adapters loads fewer of them than one that takes turns", function()
  local adapters = { count = 12, max_loras = 3 }
  local turns = run(adapters, { replicas = 4, router = "round_robin" })
  local affine = run(adapters, { replicas = 4, router = "adapter_affinity" })
  test.check(affine.adapters.loads < turns.adapters.loads / 2, "%d loads, after %d", affine.adapters.loads,
    turns.adapters.loads)
  test.equal(affine.completed, 120)
end)

test("a fork goes on as the simulation does", function()
  local one = serve.open(scenario { count = 9, max_loras = 2 })
  one:run_until(2)
  local other = one:fork()
  one:run()
  other:run()
  local a, b = one:result().summary, other:result().summary
  test.equal(a.e2e_s.mean, b.e2e_s.mean)
  test.equal(a.adapters.loads, b.adapters.loads)
  test.equal(a.adapters.held, b.adapters.held)
end)

test("BLIS's rule multiplies the step by 1 + factor x adapters", function()
  local adapters = { count = 4, gemms = false, load = "admission", max_loras = 4 }
  local one = require "corrections.adapter_factor" { factor = 0.05 }
  local given = scenario(adapters, { kind = "price", corrections = { one }, workload = nil,
    price = { { decodes = 8, decode_context_tokens = 8000, adapters = 4 },
      { decodes = 8, decode_context_tokens = 8000 } } })
  given.workload = nil
  local reader = Reader.new "made up"
  local batches = require("rooflua.machine.prices").price(Prepared.of(reader, given)).batches
  test.near(batches[1].time_s, 1.2 * batches[2].time_s, 1e-12)
end)

test("what makes no sense is refused, with its key", function()
  refuses("adapters.count: is missing", {})
  refuses("adapters.max_cpu_loras: has no effect", { count = 4, max_cpu_loras = 2 })
  refuses("adapters.max_cpu_loras: found 1; at least max_loras = 2", { count = 4, max_loras = 2, max_cpu_loras = 1,
    store_bytes_per_s = 1e9 })
  refuses("adapters.max_lora_rank: found 8, and an adapter has the rank 16", { count = 1, max_lora_rank = 8 })
  refuses("adapters.rank: expected 3, one per adapter, found 2", { count = 3, rank = { 8, 16 } })
  refuses("adapters.share: expected a part from 0 to 1", { count = 1, share = 2 })
  refuses("adapters.weights: and zipf both", { count = 1, zipf = 1, weights = { 1 } })
  refuses("adapters.target_modules: unknown module 'qvk'", { count = 1, target_modules = { "qvk" } })
  refuses("adapters.target_modules: expected at least one of down, gate_up, o, qkv", { count = 1, target_modules = {} })
  refuses("adapters.load_s: a copy of an adapter takes 1e+09 s; at most 1e+06 s", { count = 1, load_s = 1e9 })
  refuses("adapters.host_bytes_per_s: a copy of an adapter takes", { count = 1, host_bytes_per_s = 1 })
  refuses("adapters.store_bytes_per_s: an adapter takes", { count = 1, store_bytes_per_s = 1 })
  refuses("the scheduler sglang has no rule", { count = 1 }, { engine = "sglang 0.5.9" })
  refuses("the step model roofline_v1 prices no adapters", { count = 1 }, { steps = "roofline_v1" })
  refuses("does not fit", { count = 4096, max_loras = 4096, rank = 256 })
  test.raises("2 adapters with 1 tokens cannot be", function() cost.batch { decodes = 1, adapters = 2 } end)
  test.raises("1 adapters with 3 tokens cannot be", function()
    cost.batch { decodes = 2, adapters = 1, adapter_tokens = 3 }
  end)
end)

test.finish()
