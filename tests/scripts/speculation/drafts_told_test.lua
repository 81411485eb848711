-- What records, metrics, notes and messages tell of drafts and of runs of steps.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local batch = require "rooflua.border.batch"
local border = require "rooflua.border.abi"
local native = require "rooflua.native"
local policy = require "rooflua.policy"
local serve = require "rooflua.serve"

local Second = policy.define { name = "second", doc = "A step takes a second.", params = {} }
function Second:time() return 1 end

local Three = policy.define { name = "three", doc = "Three drafts.", depth = 3, params = {} }
function Three:drafts() return 3 end

--- Ten requests of 100 and 20 tokens at once.
local Few = policy.define { name = "few", doc = "Ten requests at once.", params = {} }
function Few:requests()
  local sent = 0
  return { next = function()
    sent = sent + 1
    if sent <= 10 then return 0, 100, 20 end
  end }
end

local function acceptance(curve)
  local Class = policy.define { name = "theirs", doc = "Theirs.", params = {} }
  function Class:curve(request) return curve(request, self) end
  return Class {}
end

local function half() return { 0.5, 0.5, 0.5 } end

local function scenario(changes)
  return scene({ steps = Second {}, workload = Few {}, seed = 4,
    speculation = { speculator = Three {}, acceptance = acceptance(half) } }, changes)
end

test("the work of a recorded step adds up to its tokens: a decode has its drafts", function()
  local run = native.serve_open({ record = true, replicas = { { kv_blocks = 1000, async_depth = 1 } } },
    { require "schedulers.vllm_v1" {} }, { { steps = Second {} } }, nil, Few {}:requests(), nil,
    { { speculator = Three {}, acceptance = acceptance(half), depth = 3 } })
  native.serve_advance(run)
  local decodes = 0
  for _, step in ipairs(native.serve_record(run)) do
    for _, each in ipairs(step.work) do
      if each.kind == "decode" then
        decodes = decodes + 1
        test.equal(each.tokens, 4)
      else
        test.equal(each.tokens, 100)
      end
    end
  end
  test.check(decodes > 50)
end)

test("a metric does not take drafts for tokens of prompts", function()
  local Prompts = policy.define { name = "prompts", doc = "Prompt tokens.", unit = "tokens", better = "more",
    params = {} }
  function Prompts:on_step(step) self.sum = (self.sum or 0) + step.prefill_tokens end
  function Prompts:value() return self.sum end
  local summary = serve.run(scenario { metrics = { prompts = Prompts {} } }).summary
  test.equal(summary.own.prompts, 1000)
end)

test("a curve that is neither a list nor rounds is refused, by what is wrong with it", function()
  local function run(answer)
    return serve.run(scenario { speculation = { speculator = Three {},
      acceptance = acceptance(function() return answer end) } }).summary
  end
  local function refused(part, answer)
    test.raises("acceptance theirs: curve(request, rng): " .. part, function() run(answer) end)
  end
  refused("found the field rates; a list of probabilities, or {rounds =", { rates = { 0.8 } })
  refused("found the field a; a list", { 0.8, a = 1 })
  refused("entry 1: found number 2.5; a whole number of tokens from 1 is right", { rounds = { 2.5 } })
  refused("rounds: found number 3; a list of tokens per round is right", { rounds = 3 })
  refused("rounds: the list is empty", { rounds = {} })
  refused("found probabilities beside rounds; one of the two is right", { 0.5, rounds = { 2 } })
  refused("the list has a hole", { 0.5, [4] = 0.5 })
  test.equal(run({}).speculation.accepted_tokens, 0, "no draft is ever accepted")
end)

test("the notes of a result tell the first error of a method run", function()
  local asked = 0
  local Wrong = policy.define { name = "wrong", doc = "A step takes a second.", params = {} }
  function Wrong:time() return 1 end
  function Wrong:run()
    asked = asked + 1
    error("error number " .. asked)
  end
  local workload = require "workloads.poisson" { rate_per_s = 1, num_requests = 3, prompt_tokens = 32,
    output_tokens = 60 }
  local given = { model = "llama-3.1-8b", hardware = "h100-sxm", workload = workload, seed = 4 }
  local function notes_of(steps)
    given.steps = steps
    return table.concat(serve.run(given).notes or {}, "\n")
  end
  local told = notes_of(Wrong {})
  test.check(asked > 1, "asked %d times", asked)
  test.check(told:find("wrong: its method run ended in an error, so its steps were priced one by one:", 1, true), told)
  test.check(told:find("error number 1", 1, true), told)
  test.check(not told:find("error number 2", 1, true), told)
  test.check(not notes_of(Second {}):find("method run", 1, true))
end)

test("speculators are set for each replica that has one", function()
  local live = serve.open(scenario())
  live:step(3)
  live:set { speculator = Three {} }
  local run = native.serve_open({ replicas = { { kv_blocks = 1000 } } }, { require "schedulers.vllm_v1" {} },
    { { steps = Second {} } }, nil, Few {}:requests())
  local own = { speculator = Three {}, acceptance = acceptance(half), depth = 3 }
  test.raises("replica 1 does not speculate and gets a speculator", function()
    native.serve_set(run, nil, nil, nil, { own })
  end)
  test.raises("expected one speculator per replica", function() native.serve_set(run, nil, nil, nil, { own, own }) end)
  native.serve_set(run, nil, nil, nil, { false })
end)

-- The last test: the engine's batch is another one after it.
test("widths of rows are collected once per step", function()
  local ffi = border.ffi
  local data, widths = ffi.new "rooflua_batch", ffi.new("int32_t[3]", 4, 1, 2)
  data.decodes, data.decode_tokens = 3, 7
  local asked = 0
  require("rooflua.border.views").border.batch = data
  batch.attach(nil, nil, function()
    asked = asked + 1
    return widths
  end)
  for step = 1, 2 do
    local live, sum = batch.live(), 0
    for i = 1, live.decodes do sum = sum + live.decode_widths[i] end
    test.equal(sum, 7)
    test.equal(asked, step)
  end
end)

test.finish()
