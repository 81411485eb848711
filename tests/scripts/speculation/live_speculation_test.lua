-- Speculation in live simulations: what they show of it, another speculator on the way, and what drafting costs there.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local serve = rooflua.serve

local function scenario(speculator, more)
  return scene({
    hardware = "h200-sxm", seed = 3,
    workload = require "workloads.closed_loop" { clients = 8, num_requests = 40, prompt_tokens = 200,
      output_tokens = 100, max_output_tokens = "exact" },
    speculation = speculator and { speculator = speculator,
      acceptance = require "acceptance.per_position" { rates = { 0.7, 0.4, 0.2 } },
      drafter = require "drafters.eagle" {} } or nil,
  }, more)
end

local function fixed(k) return require "speculators.fixed" { draft_tokens = k } end

test("a run with drafts is faster than one without, and lands the same tokens", function()
  local plain, drafting = serve.run(scenario(nil)).summary, serve.run(scenario(fixed(3))).summary
  test.equal(drafting.output_tokens, plain.output_tokens)
  test.check(drafting.output_tokens_per_s > 1.2 * plain.output_tokens_per_s)
end)

test("a live simulation shows drafts of its steps and of its requests", function()
  local live = serve.open(scenario(fixed(3)))
  live:step(30)
  local last = live:last_step()
  test.equal(last.decodes, 8)
  test.equal(last.decode_tokens, 32)
  test.equal(last.decode_widths[1], 4)
  test.equal(last.prefill_tokens, 0)
  test.check(last.accepted >= 0 and last.accepted <= 24)
  local plain = serve.open(scenario(nil))
  plain:step(30)
  test.equal(plain:last_step().decode_tokens, nil)
end)

test("the last step is explained with its drafter, whose operations have names of their own", function()
  local live = serve.open(scenario(fixed(3)))
  live:step(30)
  local priced = live:explain()
  test.near(priced.time_s, priced.was_s, 1e-9)
  local drafter_s, heads = 0, 0
  for _, row in ipairs(priced.rows) do
    if row.name:find "^draft%." then drafter_s = drafter_s + row.time_s * row.count end
    if row.name == "draft.lm_head" then heads = heads + 1 end
  end
  test.equal(heads, 3, "passes")
  test.check(drafter_s > 0.05 * priced.time_s and drafter_s < 0.5 * priced.time_s)
end)

test("another speculator is asked at the next plan, whose drafts are those of the plan after it", function()
  local live = serve.open(scenario(fixed(3)))
  live:step(30)
  live:set { speculator = fixed(1) }
  live:step(3)
  test.equal(live:last_step().decode_tokens, 32, "one runs, one is planned, and the next has its drafts already")
  live:step()
  test.equal(live:last_step().decode_tokens, 16)
  live:set { speculator = require "speculators.goodput" { draft_tokens = 2 } }
  test.check(live:step(5))
end)

test("a speculator with more drafts than before is refused, and any where nothing is drafted", function()
  local live = serve.open(scenario(fixed(3)))
  test.raises("asks for up to 4 drafts, and this simulation was opened with 3", function()
    live:set { speculator = fixed(4) }
  end)
  test.raises("opened without `speculation`", function() serve.open(scenario(nil)):set { speculator = fixed(1) } end)
end)

test("another step model and another drafter reach what is bound to them", function()
  local goodput = require "speculators.goodput" { draft_tokens = 3 }
  local live = serve.open(scenario(goodput))
  live:step(20)
  local before_s = live:explain(1).time_s
  live:set { steps = "roofline_v2" }
  live:step(60)
  local names = {}
  for _, row in ipairs(live:explain(1).rows) do names[row.name:match "^[^.@]*"] = true end
  test.check(names.draft, "the drafter is still priced")
  test.check(live:explain(1).time_s ~= before_s, "by another step model")
  live:set { steps = require "steps.kernels" {}, speculator = require "speculators.goodput" { draft_tokens = 2 } }
  live:step(20)
  test.equal(live:last_step().decodes, 8)
end)

test("a fork goes on with its own state of the speculator", function()
  local live = serve.open(scenario(require "speculators.ema" { draft_tokens = 1 }))
  live:step(40)
  local fork = live:fork()
  live:run()
  fork:run()
  test.equal(fork:result().summary.duration_s, live:result().summary.duration_s)
end)

test("policies that are read again go on where they were: the same future", function()
  local chunks, reload = require "rooflua.sandbox.chunks", require "rooflua.repl.reload"
  local function same(found, expected, what)
    if type(expected) ~= "table" then return test.equal(found, expected, what) end
    for key, value in pairs(expected) do same(found[key], value, what .. "." .. key) end
  end
  local function summary_of(speculator, parameters, read_again)
    local given = scenario(chunks.require("speculators." .. speculator)(parameters))
    given.speculation.acceptance =
      chunks.require "acceptance.per_position" { rates = { 0.7, 0.4, 0.2 }, spread = 0.5 }
    given.speculation.drafter = chunks.require "drafters.eagle" {}
    local live = serve.open(given)
    live:step(40)
    if read_again then
      local text = reload.run { lives = { a = live }, order = { "a" } }
      for _, module in ipairs { "speculators." .. speculator, "acceptance.per_position", "drafters.eagle" } do
        test.check(text:find(module, 1, true) and not text:find("stays", 1, true), text)
      end
    end
    live:run()
    return live:result().summary
  end
  -- The gate is closed for good by then.
  for speculator, parameters in pairs { fixed = {}, goodput = {}, ema = {},
    gate = { threshold = 2.6, window = 100 } } do
    local read_once = summary_of(speculator, parameters, false)
    local read_again = summary_of(speculator, parameters, true)
    for _, key in ipairs { "duration_s", "output_tokens", "tpot_s", "itl_s", "speculation" } do
      same(read_again[key], read_once[key], speculator .. ": " .. key)
    end
    test.check(read_once.speculation.rounds > 500)
  end
end)

test("every shipped speculator, acceptance and drafter runs", function()
  local function run(changes)
    local given = scenario(fixed(3))
    for key, value in pairs(changes) do given.speculation[key] = value end
    return serve.run(given).summary.completed
  end
  for _, kind in ipairs { "speculators", "acceptance", "drafters" } do
    for _, each in ipairs(rooflua.list(kind)) do
      local slot = kind == "speculators" and "speculator" or kind == "drafters" and "drafter" or kind
      local instance = each.name == "draft_model" and require(each.module) { model = "qwen2.5-1.5b" }
        or require(each.module) {}
      test.equal(run { [slot] = instance }, 40, each.module)
    end
  end
end)

test("a drafter takes KV blocks, unless their number is given", function()
  local function blocks(given)
    local live = serve.open(given)
    return live:replica().total_blocks
  end
  local plain, drafting = blocks(scenario(nil)), blocks(scenario(fixed(3)))
  test.check(drafting < 0.97 * plain and drafting > 0.9 * plain, "%g of %g", drafting, plain)
  test.equal(blocks(scenario(fixed(3), { deployment = { kv_blocks = 500 } })), 500)
end)

test.finish()
