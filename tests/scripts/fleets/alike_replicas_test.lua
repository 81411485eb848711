-- Replicas that are alike share their model, tables and step model, unless something may tell them apart.
local test = dofile "tests/scripts/harness.lua"
local policy = require "rooflua.policy"
local serve = require "rooflua.serve"

local binds

local function second_steps(name, extra)
  local Steps = policy.define { name = name, doc = "Every step takes one second.", params = {} }
  function Steps:bind(context)
    binds[#binds + 1] = context.mfu
    self.instance = #binds
  end
  function Steps:time() return 1 end
  for key, value in pairs(extra or {}) do Steps[key] = value end
  return Steps {}
end

local function run(steps, replicas, corrections)
  binds = {}
  return serve.run { rooflua = 1, model = "llama-3.1-8b", hardware = "h200-sxm", steps = steps, replicas = replicas,
    corrections = corrections, workload = require "workloads.poisson" { rate_per_s = 1, num_requests = 8,
      prompt_tokens = 32, output_tokens = 4 } }
end

test("alike replicas share a step model, whether they are counted or listed", function()
  run(second_steps "second", 4)
  test.equal(#binds, 1)
  run(second_steps "second", { { count = 3 }, { count = 2, deployment = { max_model_len = 4096 } } })
  test.equal(#binds, 2)
end)

test("a step model with a summary is one per replica, and so are their summaries", function()
  local result = run(second_steps("told", { summary = function(self) return { instance = self.instance } end }), 3)
  test.equal(#binds, 3)
  local told = {}
  for i, each in ipairs(result.policies.steps) do told[i] = each.instance end
  test.equal(table.concat(told, " "), "1 2 3")
  test.check(binds[1] == binds[2] and binds[2] == binds[3], "alike replicas read their tables apart")
end)

test("corrections are one per replica", function()
  local Twice = policy.define { name = "twice", doc = "Twice the time.", params = {} }
  function Twice:step(_, time_s) return 2 * time_s end
  run(second_steps "second", 3, { Twice {} })
  test.equal(#binds, 3)
end)

test.finish()
