-- Plans whose prefill engines are wider or narrower than their decode engines.
local test = dofile "tests/scripts/harness.lua"
local setup = dofile "tests/scripts/plan/setup.lua"
local artefacts = require "rooflua.plan.artefacts"
local deploy = require "rooflua.plan.deploy"

local function ladder(more)
  local out = { tp = { 1, 2 }, prefill_tp = { "same", 1, 2 }, max_num_seqs = { 32 }, max_num_batched_tokens = { 1024 },
    split = { { 1, 1 }, { 2, 1 }, only = true } }
  for key, value in pairs(more or {}) do out[key] = value end
  return require "candidates.ladder"(out)
end

local function searched(candidates, more)
  local plan = { candidates = candidates, gpus = { { "h100-sxm", most = 16, price_per_hour = 3 } } }
  for key, value in pairs(more or {}) do plan[key] = value end
  return setup.searched(plan)
end

test("the ladder tries each pair of widths once", function()
  local names = {}
  for i, each in ipairs(searched(ladder()).found.candidates) do names[i] = each.name end
  table.sort(names)
  test.equal(table.concat(names, "\n"), table.concat({
    "H100, tp 1, 1 prefill + 1 decode, vllm, 32 seats, budget 1024",
    "H100, tp 1, 1 prefill of tp 2 + 1 decode, vllm, 32 seats, budget 1024",
    "H100, tp 1, 2 prefill + 1 decode, vllm, 32 seats, budget 1024",
    "H100, tp 1, 2 prefill of tp 2 + 1 decode, vllm, 32 seats, budget 1024",
    "H100, tp 2, 1 prefill + 1 decode, vllm, 32 seats, budget 1024",
    "H100, tp 2, 1 prefill of tp 1 + 1 decode, vllm, 32 seats, budget 1024",
    "H100, tp 2, 2 prefill + 1 decode, vllm, 32 seats, budget 1024",
    "H100, tp 2, 2 prefill of tp 1 + 1 decode, vllm, 32 seats, budget 1024" }, "\n"))
end)

test("a scenario has pools of these widths, and GPUs are counted by pool", function()
  local done = searched(ladder { tp = { 2 }, prefill_tp = { 1 }, split = { { 2, 1 }, only = true } })
  local candidate = done.found.candidates[1]
  local scenario = deploy.scenario(done.question, candidate, 3)
  test.equal(scenario.replicas[1].count, 6)
  test.equal(scenario.replicas[1].deployment.tp, 1)
  test.equal(scenario.replicas[2].count, 3)
  test.equal(scenario.deployment.tp, 2)
  test.equal(deploy.gpus(done.question, candidate, 3), 12)
end)

test("wider prefill engines answer prompts faster than narrow ones", function()
  local function ttft(width)
    local done = setup.answer { candidates = ladder { tp = { 1 }, prefill_tp = { width },
      split = { { 1, 1 }, only = true } }, gpus = { { "h100-sxm", most = 16, price_per_hour = 3 } },
      load = { rate_per_s = 10 }, slo = { ttft_s_p99 = 10 } }
    local result = done.plan.ranks[1].result
    return result.metrics.ttft_s_p99, result.gpus
  end
  local narrow, gpus = ttft "same"
  test.equal(gpus, 2)
  local wide, more = ttft(4)
  test.equal(more, 5)
  test.check(wide < ttft(2) and ttft(2) < narrow)
end)

test("bounds drop nothing that meets the SLO", function()
  local more = { slo = { ttft_s_p99 = 0.05, tpot_s_p99 = 0.02 }, load = { rate_per_s = 40 } }
  local function best(strategy)
    more.strategy = strategy
    return setup.ranking(searched(ladder { tp = { 1, 2 }, prefill_tp = { "same", 1, 2, 4 } }, more))[1]
  end
  local all, bounded = best(require "strategies.exhaustive" {}), best(require "strategies.bounded" {})
  test.equal(all and all.score, bounded and bounded.score)
end)

test("each role is started with its own width", function()
  local done = setup.report { candidates = ladder { tp = { 2 }, prefill_tp = { 4 }, split = { { 1, 1 }, only = true } },
    gpus = { { "h100-sxm", most = 16, price_per_hour = 3 } } }
  local text = ""
  for _, file in ipairs(artefacts.files(done)) do
    if file.path:find "serve.sh" then text = text .. file.text end
  end
  test.check(text:find "prefill engines: 1, each on 4 GPUs", "%s", text)
  test.check(text:find "decode engines: 1, each on 2 GPUs", "%s", text)
  test.check(text:find "tensor%-parallel%-size 4" and text:find "tensor%-parallel%-size 2", "%s", text)
end)

test("experts over sixteen decode ranks beside two narrower prefill engines fit on 32 GPUs", function()
  local opened = require("rooflua.runs.opening").table(setup.scenario({ load = { rate_per_s = 4 },
    slo = { ttft_s_p99 = 5 }, gpus = { { "h200-sxm", most = 32, price_per_hour = 3 } },
    candidates = require "candidates.ladder" { tp = { 1 }, dp = { 16 }, ep = { "all" }, prefill_tp = { 8 },
      prefill_dp = { 1 }, prefill_ep = { "all" }, max_num_seqs = { 256 }, max_num_batched_tokens = { 8192 },
      split = { { 2, 1 }, only = true } } }, { model = "deepseek-v3" }), {})
  local question = require("rooflua.plan.run").check(opened.reader, opened.given)
  local candidates = require "rooflua.plan.candidates"
  local fit = candidates.fitting(question, candidates.all(question))
  test.equal(#fit, 1)
  test.equal(fit[1].name, "H200, tp 1 x dp 16 x ep 16, 2 prefill of tp 8 x ep 8 + 1 decode, vllm, 256 seats, "
    .. "budget 8192")
  test.equal(deploy.gpus(question, fit[1], 1), 32)
end)

test("what is wrong is named", function()
  local function problem(more)
    local ok, message = pcall(searched, ladder(more))
    test.check(not ok)
    return tostring(message)
  end
  test.check(problem { prefill_tp = { 0 } }:find("prefill_tp[1]", 1, true))
  test.check(problem { prefill_dp = { 2 } }:find("prefill_dp", 1, true))
  local listed = require "candidates.listed" {
    list = { { tp = 1, split = { prefill = 1, decode = 1, prefil_tp = 2 } } } }
  local ok, message = pcall(searched, listed)
  test.check(not ok and tostring(message):find("prefill_tp", 1, true), "%s", tostring(message))
end)

test.finish()
