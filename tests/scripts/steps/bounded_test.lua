-- Contexts that attention reads in part: what a step model is told of them, by the engine and in batches made by hand.
local test = dofile "tests/scripts/harness.lua"
local core = require "rooflua.base.core"
local native = require "rooflua.native"
local policy = require "rooflua.policy"
local rooflua = require "rooflua"
local VllmV1 = require "schedulers.vllm_v1"
local border = require("rooflua.border.views").border
local batch, serve = rooflua.cost.batch, rooflua.serve

--- The bounds that the engine has summed for the batch at hand, in words.
local function kept_bounds()
  local bounds = border.batch.bounds
  if bounds == nil then return "none" end
  return ("%d %d %d %d, %d"):format(bounds.caps[0], bounds.caps[1], bounds.caps[2], bounds.caps[3], bounds.chunk)
end

local function walked(now, cap, chunk)
  local bounded, inside = 0, 0
  for _, context in ipairs(now.decode_contexts) do
    bounded, inside = bounded + math.min(context + 1, cap), inside + context % chunk + 1
  end
  return bounded, inside
end

-- Batches made by hand --------------------------------------------------------------------------

test("a batch made of contexts counts each with its new token, up to the cap", function()
  local now = batch { decode_contexts = { 9, 100, 1000 } }
  test.equal(now:bounded_tokens(128), 10 + 101 + 128)
  test.equal(now:bounded_tokens(1), 3)
  test.equal(now:bounded_tokens(1e9), 10 + 101 + 1001)
  test.equal(now:chunk_tokens(100), 10 + 1 + 1)
  test.equal(now:chunk_tokens(1e9), 10 + 101 + 1001)
  test.equal(select(2, now:bounded_tokens(128)), true)
  test.equal(select(2, now:chunk_tokens(100)), true)
end)

test("in a batch made of a sum each context is the mean, and the answer says so", function()
  local now = batch { decodes = 4, decode_context_tokens = 400 }
  test.equal(now:bounded_tokens(64), 4 * 64)
  test.equal(now:bounded_tokens(128), 4 * 101)
  test.equal(now:chunk_tokens(30), 4 * 11)
  test.equal(select(2, now:bounded_tokens(64)), false)
  test.equal(select(2, now:chunk_tokens(30)), false)
end)

test("a batch without decodes reads no context", function()
  local now = batch { prefills = { { new_tokens = 5 } } }
  test.equal(now:bounded_tokens(64), 0)
  test.equal(now:chunk_tokens(64), 0)
end)

test("a bound below one token, or none, is an error", function()
  local now = batch { decode_contexts = { 5 } }
  test.raises("bounded_tokens: expected a finite number of tokens >= 1, found number 0", function()
    now:bounded_tokens(0)
  end)
  test.raises("bounded_tokens: expected a finite number of tokens >= 1, found nil", function() now:bounded_tokens() end)
  test.raises("chunk_tokens: expected a finite number", function() now:chunk_tokens(0 / 0) end)
  test.raises("chunk_tokens: expected a finite number", function() now:chunk_tokens(math.huge) end)
  test.raises("did you mean 'bounded_tokens'", function() return now.bounded_token end)
end)

-- The engine's batches --------------------------------------------------------------------------

local stream = { -- sent, prompts and answers of many lengths; several are preempted
  next = function(state)
    local i = (state.sent or 0) + 1
    state.sent = i
    if i <= 400 then return i * 0.8, 1 + i * 37 % 300, 1 + i * 53 % 200 end
  end,
}

local function replica(extra)
  local out = { kv_blocks = 100, max_num_seqs = 12, max_num_batched_tokens = 256, async_depth = 2 }
  for key, value in pairs(extra) do out[key] = value end
  return out
end

local function open(config, steps)
  local state = { next = stream.next }
  return native.serve_open({ replicas = { config } }, { VllmV1 { max_num_seqs = 12, max_num_batched_tokens = 256 } },
    { { steps = steps } }, nil, state)
end

local Asks = policy.define { name = "asks", doc = "Walks the contexts beside their sums.", params = {} }
function Asks:time(now)
  if now.decodes > 0 then self.kept = kept_bounds() end
  for _, bound in ipairs(self.asked) do
    local bounded, inside = walked(now, bound, bound)
    local one, exact = now:bounded_tokens(bound)
    local other, exactly = now:chunk_tokens(bound)
    self.steps, self.wrong = self.steps + 1, self.wrong + (one ~= bounded and 1 or 0) + (other ~= inside and 1 or 0)
    if not (exact and exactly) then self.guessed = self.guessed + 1 end
  end
  return 1
end

for _, kept in ipairs { true, false } do
  local what = kept and "of its bounds" or "of other bounds"
  test(("a step model that asks a replica for sums %s gets those of the contexts"):format(what), function()
    local steps = Asks {}
    steps.asked, steps.steps, steps.wrong, steps.guessed = { 16, 64, 150, 400 }, 0, 0, 0
    local config = replica(kept and { context_caps = { 16, 64, 150, 400 }, context_chunk = 64 } or {})
    local run = open(config, steps)
    native.serve_advance(run)
    local summary = native.serve_summary(run)
    test.equal(summary.completed, 400)
    test.check(summary.preemptions > 20, "%d preemptions", summary.preemptions)
    test.check(steps.steps > 4 * 1000, "%d questions", steps.steps)
    test.equal(steps.kept, kept and "16 64 150 400, 64" or "none")
    test.equal(steps.wrong, 0)
    test.equal(steps.guessed, 0)
  end)
end

test("a replica has at most four caps, and they are whole numbers", function()
  local function refused(what, extra) test.raises(what, function() open(replica(extra), Asks {}) end) end
  refused("replicas[1].context_caps: expected at most 4, found 5", { context_caps = { 1, 2, 3, 4, 5 } })
  refused("replicas[1].context_caps[2]: expected a whole number from 0 to 1e+09 tokens", { context_caps = { 1, 2.5 } })
  refused("replicas[1].context_caps[1]: expected 0 to 1e+09 tokens, found -1", { context_caps = { -1 } })
  refused("replicas[1].context_caps: expected a list", { context_caps = 7 })
  refused("replicas[1].context_chunk: expected 0 to 1e+09 tokens, found -8", { context_chunk = -8 })
  open(replica { context_caps = {} }, Asks {})
end)

-- From the model to the replica and to the step model ---------------------------------------------

local Told = policy.define { name = "told", doc = "Keeps what it is bound to.", params = {} }
local told
function Told:bind(context) told = context end
function Told:time(now)
  for _, cap in ipairs(told.context_caps) do
    if walked(now, cap, 1) ~= now:bounded_tokens(cap) then told.wrong = true end
  end
  if now.decodes > 0 and told.context_chunk then
    told.chunks, told.kept = (told.chunks or 0) + 1, kept_bounds()
    if select(2, walked(now, 1, told.context_chunk)) ~= now:chunk_tokens(told.context_chunk) then told.wrong = true end
  end
  return 0.01
end

local function scenario(model)
  return { model = model, hardware = "h100-sxm", seed = 1, steps = Told {}, scheduler = VllmV1 {},
    workload = require "workloads.poisson" {
      rate_per_s = 20, num_requests = 30, prompt_tokens = 90, output_tokens = 40 } }
end

test("a model without caps has none: the list is empty, the chunk is nil", function()
  serve.run(scenario "llama-3.1-8b")
  test.equal(#told.context_caps, 0)
  test.equal(told.context_chunk, nil)
end)

test("the caps and the chunk of a model reach its replicas and what is bound to it", function()
  local model = rooflua.spec.model "llama-3.1-8b"
  local fields = core.object_fields[model]
  fields.context_caps, fields.context_chunk = core.readonly({ 100, 120 }, "caps"), 32
  serve.run(scenario(model))
  test.equal(table.concat(told.context_caps, " "), "100 120")
  test.equal(told.context_chunk, 32)
  test.equal(told.kept, "100 120 0 0, 32")
  test.check(not told.wrong)
  test.check(told.chunks > 20, "found %s", tostring(told.chunks))
end)

-- The library reads the batch of this test from here on: it comes last.
test("only the bounds of a replica are kept: others cost a walk over the requests", function()
  local own = require "rooflua.border.batch"
  local ffi = require("rooflua.border.abi").ffi
  local numbers, asked = ffi.new("int32_t[2]", { 10, 50 }), 0
  local bounds, data = ffi.new "rooflua_context_bounds", ffi.new "rooflua_batch"
  bounds.caps[0], bounds.caps[3], bounds.chunk = 20, 40, 7
  data.decodes, data.bounds = 2, bounds
  data.bounded_tokens[0], data.bounded_tokens[3], data.chunk_tokens = 1000, 4000, 7000
  require("rooflua.border.views").border.batch = data
  own.attach(function() return 50 end, function()
    asked = asked + 1
    return numbers
  end)
  local now = own.live()
  test.equal(now:bounded_tokens(20), 1000)
  test.equal(now:bounded_tokens(40), 4000)
  test.equal(now:chunk_tokens(7), 7000)
  test.equal(asked, 0)
  test.equal(now:bounded_tokens(30), 11 + 30)
  test.equal(now:chunk_tokens(30), 11 + 21)
  test.equal(asked, 1)
  test.raises("read-only", function() now.bounded_tokens = 1 end)
  own.live()
  test.raises("used after its step", function() now:bounded_tokens(20) end)
end)

test.finish()
