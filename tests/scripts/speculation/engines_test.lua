-- What engines other than vLLM do with drafts: rows that are not cut, seats, steps of their own.
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local policy, serve = rooflua.policy, rooflua.serve

local Steps = policy.define { name = "one_second", doc = "A step takes a second.", params = {} }
function Steps:time() return 1 end

local Workload = policy.define { name = "at_once", doc = "Requests that come together.", params = {
  requests_count = { default = 6, doc = "How many." } } }
function Workload:requests()
  local sent = 0
  return { next = function()
    sent = sent + 1
    if sent <= self.requests_count then return 0, 8, 20, 20 end
  end }
end

--- Runs with 3 drafts, and returns the summary and the numbers of {decodes, tokens of decodes} in its steps.
local function run(scheduler, count, seen)
  seen = seen or {}
  local Three = policy.define { name = "three", doc = "Three drafts.", depth = 3, params = {} }
  function Three:drafts(batch)
    if batch.decodes > 0 then seen[#seen + 1] = { batch.decodes, batch.decode_tokens, #batch.prefills } end
    return 3
  end
  local summary = serve.run { model = "llama-3.1-8b", hardware = "h100-sxm", steps = Steps {}, seed = 4,
    workload = Workload { requests_count = count }, scheduler = scheduler,
    deployment = { kv_blocks = 10000 },
    speculation = { speculator = Three {}, acceptance = require "acceptance.constant" { rate = 0.5 } } }.summary
  return summary, seen
end

test("TensorRT-LLM takes rows with all of their drafts or leaves them out; vLLM cuts drafts", function()
  local function most(scheduler)
    local _, seen = run(scheduler, 6)
    local widest = 0
    for _, step in ipairs(seen) do widest = math.max(widest, step[2]) end
    return widest
  end
  test.equal(most(require "schedulers.trtllm" { max_num_batched_tokens = 10, chunk_unit_size = 4,
    enable_chunked_context = true }), 8)
  test.equal(most(require "schedulers.vllm_v1" { max_num_batched_tokens = 10 }), 10)
end)

test("decode steps are counted with drafts as without them: SGLang looks for new requests as often", function()
  local asked, seen, inner = 0, {}, require "schedulers.sglang" {}
  local Counting = policy.define { name = "counting", doc = "SGLang; it compares what it sees.", params = {} }
  function Counting:plan(replica, plan) -- luacheck: ignore self
    asked = asked + (#seen > 0 and 1 or 0)
    test.equal(replica.decode_steps, #seen)
    inner:plan(replica, plan)
  end
  run(Counting {}, 4, seen)
  test.at_least(#seen, 5)
  test.at_least(asked, 2)
end)

test("SGLang seats 48 requests where it speculates, unless told otherwise", function()
  local function most(scheduler)
    local _, seen = run(scheduler, 60)
    local decodes = 0
    for _, step in ipairs(seen) do
      decodes = math.max(decodes, step[1])
      test.equal(step[3], 0)  -- prompts run in steps of their own
    end
    return decodes
  end
  local Sglang = require "schedulers.sglang"
  test.equal(most(Sglang {}), 48)
  test.equal(most(Sglang { max_speculative_seqs = 50 }), 50)
  test.equal(most(Sglang { max_speculative_seqs = 0 }), 60)
  test.equal(most(Sglang { max_num_seqs = 20 }), 20)
end)

test("SGLang has no steps of prompts and decodes together where it speculates", function()
  test.raises("enable_mixed_chunk: SGLang turns it off with speculation", function()
    run(require "schedulers.sglang" { enable_mixed_chunk = true }, 6)
  end)
end)

test.finish()
