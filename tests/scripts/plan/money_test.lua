-- Dollars and joules of a plan: at which load they hold, and which GPUs they count.
local test = dofile "tests/scripts/harness.lua"
local setup = dofile "tests/scripts/plan/setup.lua"
local json = require "rooflua.json"

local function flat(text) return (text:gsub("%s+", " ")) end
local has = test.has

--- A plan of one candidate on `count` GPUs, with its document.
local function asked(more, top, count)
  local plan = { gpus = { { "h100-sxm", most = count or 16, price_per_hour = 3 } }, ranks = 1,
    candidates = require "candidates.listed" { list = { { tp = 1, max_num_seqs = 32,
      max_num_batched_tokens = 1024 } } } }
  for key, value in pairs(more) do plan[key] = value end
  local done = setup.report(plan, top)
  return json.decode(json.encode(done.document)).ranks[1], flat(done.text), flat(setup.page_text(done))
end

test("with a peak the figures stand at the peak and at the load without it, and both say their load", function()
  for peak in pairs { [2] = true, [3] = true, [0.5] = true } do
    local rank, text, shown = asked { load = { rate_per_s = 60, peak = peak } }
    local plain = asked { load = { rate_per_s = 60 } }
    local per_gpu, usual = plain.per_million.output / plain.gpus.total, rank.without_peak
    test.near(usual.load, 60, 1e-9)
    test.near(usual.per_million.output, per_gpu * rank.gpus.total, 0.02)
    test.near(rank.per_million.output * peak, usual.per_million.output, 1e-9)
    test.near(rank.joules_per_token * peak, usual.joules_per_token, 1e-9)
    test.check(text:find(("per 1M output tokens at %.3g/s, %%$[%%d.]+ at 60/s"):format(60 * peak)), "%s", text)
    local range = " %([%d.]+ to [%d.]+%)"
    local at_both = ("at %.3g/s, [%%d.]+%s at 60/s"):format(60 * peak, range)
    test.check(text:find("at most [%d.]+" .. range .. " J/token " .. at_both), "%s", text)
    test.check(shown:find(("%%$[%%d.]+ at %.3g/s, %%$[%%d.]+ at 60/s"):format(60 * peak)), "%s", shown)
    test.check(shown:find("at most [%d.]+" .. range .. " " .. at_both), "%s", shown)
    for _, each in ipairs { rank, usual } do
      test.near(each.joules.high, each.joules_per_token, 1e-12)
      test.near(each.joules.low, 0.15 * each.joules_per_token, 1e-12)
    end
    for _, form in ipairs { text, shown } do
      has(form, ("%g requests/s (a peak of %g x 60) of"):format(60 * peak, peak))
    end
    test.equal(plain.without_peak, nil)
  end
end)

test("clients and recorded loads have both loads as well, each of a run of its own", function()
  local workload = { workload = require "workloads.closed_loop" { prompt_tokens = 300, output_tokens = 20 } }
  local rank, text = asked({ load = { clients = 8, peak = 2 } }, workload)
  has(text, "at 16 clients, ")
  has(text, "at 8 clients")
  test.check(rank.without_peak.per_million.output > rank.per_million.output, "half of the clients are as cheap")
  rank, text = asked { load = { peak = 2 } }
  has(text, "at 1.00 x the load, ")
  has(text, "at 0.50 x the load")
  test.check(rank.without_peak.per_million.output > rank.per_million.output, "half of the load is as cheap")
end)

test("joules count the idle GPUs of nodes that are paid, and the text says how many", function()
  local load = { load = { rate_per_s = 60 } }
  local function with(more)
    local out = { load = load.load, buy = "node" }
    for key, value in pairs(more) do out[key] = value end
    return out
  end
  local gpu, of_gpu = asked(load)
  local node, text, shown = asked(with {})
  test.check(not of_gpu:find "idle GPUs", "%s", of_gpu)
  test.near(node.joules_per_token / gpu.joules_per_token, node.gpus.paid / gpu.gpus.total, 1e-9)
  has(text, ("J/token, with %d idle GPUs"):format(node.gpus.paid - node.gpus.total))
  has(shown, (", with %d idle GPUs"):format(node.gpus.paid - node.gpus.total))
  local linear = require "power.linear" { idle_frac = 0.2 }
  local one, all = asked { load = load.load, power = linear }, asked(with { power = linear })
  local idle_w = 0.2 * 700 * (all.gpus.paid - all.gpus.total)
  local output_per_s = one.joules_per_token > 0 and gpu.gpus.total * 700 / gpu.joules_per_token
  test.near(all.joules_per_token - one.joules_per_token, idle_w / output_per_s, 1e-6)
  test.near(all.joules.high - one.joules.high, 0.25 * 700 * (all.gpus.paid - all.gpus.total) / output_per_s, 1e-6)
end)

test("every figure of energy has bounds and says what it rests on: text, document and page", function()
  local load = { rate_per_s = 60 }
  for power, told in pairs {
    [require "power.tdp" {}] = "the datasheet's power at all times",
    [require "power.linear" {}] = "by busy share from 15 % on, assumed",
    [require "power.measured" {}] = "steady loads that were measured (scripts/collect/power.py), from the lowest",
    [require "power.measured" { host_w = 340 }] = "GPUs + 340 W (170 to 578) for the host of each",
  } do
    local rank, text, shown = asked({ load = load, power = power }, { steps = require "steps.kernels" {} })
    test.check(rank.joules.low < rank.joules_per_token and rank.joules_per_token <= rank.joules.high, "%g in %g to %g",
      rank.joules_per_token, rank.joules.low, rank.joules.high)
    has(rank.power_from, told)
    has(text, "power " .. rank.power_from)
    has(shown, rank.power_from)
    has(text, rank.power == "at most" and "at most" or "about")
    test.check(text:find "[%d.]+ %([%d.]+ to [%d.]+%) J/token", "%s", text)
  end
end)

test("a host adds its watts to each paid GPU, and its bounds", function()
  local function of(host_w)
    return (asked { load = { rate_per_s = 60 }, buy = "node", power = require "power.tdp" { host_w = host_w } })
  end
  local alone, wall = of(0), of(340)
  test.near(wall.joules.low / alone.joules.low, (0.15 * 700 + 170) / (0.15 * 700), 1e-9)
  test.near(wall.joules.high / alone.joules.high, (700 + 578) / 700, 1e-9)
  test.near(wall.joules_per_token, wall.joules.high, 1e-12)
end)

test("a power policy that says no bounds gets none, and the answer says so", function()
  local policy = require "rooflua.policy"
  local Mine = policy.define { name = "mine", doc = "500 W.", params = {} }
  function Mine:watts() return 500, "about" end -- luacheck: ignore 212
  local rank, text = asked { load = { rate_per_s = 60 }, power = Mine {} }
  test.equal(rank.joules, nil)
  test.equal(rank.power_from, "policy mine, which says no bounds")
  has(text, "power policy mine, which says no bounds")
  test.check(text:find "about [%d.]+ J/token", "%s", text)
end)

test("the program takes every power policy, with a host", function()
  local program = os.getenv "ROOFLUA_PROGRAM" or "build/release/bin/rooflua"
  for power, told in pairs { tdp = "at most", linear = "about", measured = "about" } do
    local pipe = io.popen(("%s plan --model llama-3.1-8b --workload 300+20 --rate 5 --slo tpot_p99=50ms"
      .. " --gpus h100-sxm:1@3 --tp 1 --seats 32 --budgets 1024 --replicates 0 --requests 200 --quiet --power %s"
      .. " --set plan.power.host_w=340 2>&1"):format(program, power))
    local text = flat(pipe:read "*a")
    pipe:close()
    test.check(text:find(told .. " [%d.]+ %([%d.]+ to [%d.]+%) J/token"), "%s: %s", power, text)
    has(text, "GPUs + 340 W (170 to 578) for the host of each")
  end
end)

test.finish()
