-- load_frac tells replicas apart that are all busy; prefill replicas too.
local test = dofile "tests/scripts/harness.lua"
local serve = require "rooflua.serve"

local function replicas_at(rate_per_s, roles)
  return serve.run { model = "llama-3.1-8b", hardware = "h200-sxm", replicas = roles,
    workload = require "workloads.poisson" { rate_per_s = rate_per_s, num_requests = 200, prompt_tokens = 1000,
      output_tokens = 200 } }.summary.replicas
end

test("a replica that always decodes is busy at every load, and load_frac grows with the load", function()
  local last = 0
  for _, rate_per_s in ipairs { 5, 10, 20, 40 } do
    local replica = replicas_at(rate_per_s, 1)[1]
    test.at_least(replica.busy_frac, 0.9)
    test.at_least(replica.load_frac, 1.3 * last)
    test.at_least(replica.busy_frac, replica.load_frac)
    last = replica.load_frac
  end
end)

test("of prefill and decode replicas the one that is the limit is loaded most", function()
  local one = replicas_at(30, { { role = "prefill" }, { role = "decode", count = 3 } })
  local three = replicas_at(30, { { role = "prefill", count = 3 }, { role = "decode" } })
  test.at_least(three[4].load_frac, 2 * one[2].load_frac)
  test.at_least(one[1].load_frac, 1.5 * three[1].load_frac)
  for _, replica in ipairs(one) do test.at_least(1, replica.load_frac) end
end)

-- Of the whole run ---------------------------------------------------------------------------------------------

local function used(rate_per_s, metrics)
  return serve.run { model = "llama-3.1-8b", hardware = "h200-sxm", replicas = 2, metrics = metrics,
    workload = require "workloads.poisson" { rate_per_s = rate_per_s, num_requests = 100, prompt_tokens = 1000,
      output_tokens = 50 } }.summary
end

test("the idle part of a run is what its replicas are not busy, and falls with the load", function()
  local quiet, loaded = used(0.2), used(20)
  test.near(quiet.idle_frac, 1 - (quiet.replicas[1].busy_frac + quiet.replicas[2].busy_frac) / 2, 1e-9)
  test.at_least(quiet.idle_frac, 0.8)
  test.at_least(0.3, loaded.idle_frac)
end)

test("MFU and bandwidth are there where they are asked for, and grow with the load", function()
  test.check(used(2).overall_mfu ~= used(2).overall_mfu or used(2).overall_mfu == nil, "without sampling")
  local few, many = used(2, { utilisation = true }), used(20, { utilisation = true })
  for _, name in ipairs { "overall_mfu", "bandwidth_frac" } do
    test.at_least(few[name], 0.001)
    test.at_least(many[name], 2 * few[name])
    test.at_least(1, many[name])
  end
  local ok, problem = pcall(used, 2, { utilisation = 1 })
  test.check(not ok and tostring(problem.message or problem):find "expected true or false", "a number is no answer")
end)

test("sampling changes nothing else", function()
  local without, with = used(2), used(2, { utilisation = true })
  test.equal(with.ttft_s.p99, without.ttft_s.p99)
  test.equal(with.steps, without.steps)
end)

test.finish()
