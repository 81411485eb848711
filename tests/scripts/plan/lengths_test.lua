-- The longest request for which a plan starts engines: from the workload, never from the requests of one seed.
local test = dofile "tests/scripts/harness.lua"
local deploy = require "rooflua.plan.deploy"
local lengths = require "rooflua.lengths"
local question = require "rooflua.plan.question"
local Reader = require "rooflua.scenario.reader"

local function asked(workload, load, seed)
  return question.of(Reader.new "question", { kind = "plan", model = "qwen3-32b", seed = seed or 1, workload = workload,
    plan = { load = load or { rate_per_s = 5 }, slo = { ttft_s_p99 = 20 }, replicates = 0,
      gpus = { { "h100-sxm", most = 8, price_per_hour = 3 } } } })
end

local multi_turn = require "workloads.multi_turn" { sessions = 200, session_rate_per_s = 0.5, turns = 8,
  system_tokens = 1000, prompt_tokens = 800, output_tokens = 250, think_time_s = 3 }

test("whole sessions are drawn, not first turns", function()
  local drawn = asked(multi_turn, "recorded").drawn
  test.equal(drawn.count, 200 * 8)
  test.equal(drawn.longest_prompt, 1000 + 8 * 800 + 7 * 250)
  test.equal(drawn.longest, 1000 + 8 * (800 + 250))
  test.equal(drawn.mean_prompt, 1000 + 4.5 * 800 + 3.5 * 250)
end)

test("the length that engines are started for is the workload's bound, whatever the seed", function()
  local function poisson(prompt)
    return require "workloads.poisson" { prompt_tokens = prompt, output_tokens = { distribution = "uniform", min = 10,
      max = 90 } }
  end
  local bounded = poisson { distribution = "lognormal", mean = 1000, sigma = 0.8, max = 9000 }
  for seed = 1, 3 do test.equal(deploy.max_model_len(asked(bounded, nil, seed)), 9216, "seed " .. seed) end
  test.equal(deploy.max_model_len(asked(poisson(500))), 1024)
  local open = poisson { distribution = "lognormal", mean = 1000, sigma = 0.8 }
  test.equal(deploy.max_model_len(asked(open)), 40960, "without a bound as long as the model allows")
  test.equal(deploy.max_model_len(asked(multi_turn, "recorded")), 32768, "max_context_tokens")
  test.equal(deploy.max_model_len(asked(require "workloads.presets" { preset = "chatbot" })), 2048)
  test.equal(deploy.max_model_len(asked(require "workloads.vllm_bench" { random_input_len = 1000,
    random_output_len = 200, random_range_ratio = 0.5 })), 2048)
end)

test("an engine whose cache holds less is started for what it holds", function()
  local open = require "workloads.poisson" { prompt_tokens = { distribution = "lognormal", mean = 100, sigma = 0.5 },
    output_tokens = 10 }
  test.equal(deploy.max_model_len(asked(open), 1600), 1600)
end)

test("distributions know their largest length", function()
  for expected, spec in pairs { [7] = 7, [8] = { distribution = "uniform", min = 1, max = 8 },
    [9] = { distribution = "normal", mean = 3, deviation = 1, max = 9 },
    [11] = { distribution = "empirical", values = { 3, 11, 5 } } } do
    test.equal(lengths.most(spec), expected)
  end
  test.equal(lengths.most { distribution = "lognormal", mean = 5, sigma = 1 }, nil)
end)

test.finish()
