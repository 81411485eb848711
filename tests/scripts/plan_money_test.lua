-- Dollars and joules of a plan: at which load they hold, and which GPUs they count.
local test = dofile "tests/scripts/harness.lua"
local setup = dofile "tests/scripts/plan_setup.lua"
local json = require "rooflua.json"

local function flat(text) return (text:gsub("%s+", " ")) end
local function has(text, part) test.check(text:find(part, 1, true), "no '%s' in %s", part, text) end

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
    test.check(text:find(("J/token at %.3g/s, [%%d.]+ at 60/s"):format(60 * peak)), "%s", text)
    test.check(shown:find(("%%$[%%d.]+ at %.3g/s, %%$[%%d.]+ at 60/s"):format(60 * peak)), "%s", shown)
    test.check(shown:find(("at most [%%d.]+ at %.3g/s, [%%d.]+ at 60/s"):format(60 * peak)), "%s", shown)
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
  test.check(not of_gpu:find "idle", "%s", of_gpu)
  test.near(node.joules_per_token / gpu.joules_per_token, node.gpus.paid / gpu.gpus.total, 1e-9)
  has(text, ("J/token, with %d idle GPUs"):format(node.gpus.paid - node.gpus.total))
  has(shown, (", with %d idle GPUs"):format(node.gpus.paid - node.gpus.total))
  local linear = require "power.linear" { idle_frac = 0.2 }
  local one, all = asked { load = load.load, power = linear }, asked(with { power = linear })
  local idle_w = 0.2 * 700 * (all.gpus.paid - all.gpus.total)
  local output_per_s = one.joules_per_token > 0 and gpu.gpus.total * 700 / gpu.joules_per_token
  test.near(all.joules_per_token - one.joules_per_token, idle_w / output_per_s, 1e-6)
end)

test.finish()
