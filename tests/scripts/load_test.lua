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

test.finish()
