-- What computes a price in steps/kernels is tested: with one of five operations of a file taken out, a test fails. How
-- many go unnoticed must not grow: some choose a text or a way to the same price, others want a test.
local test = dofile "tests/scripts/harness.lua"

local function tests(...)
  local out = {}
  for i, name in ipairs { ... } do out[i] = "tests/scripts/" .. name .. "_test.lua" end
  return out
end

local prices = tests("kernels/prices", "engines/engines", "steps/layer_experts", "steps/layer_kinds")
local grids = tests("kernels/grids", "kernels/prices", "engines/engines", "steps/layer_kinds")
local modules = {
  attention = { unnoticed = 4,
    tests = tests("kernels/prices", "engines/engines", "steps/layer_experts", "steps/layer_kinds", "steps/modules",
      "steps/kinds_law") },
  shared_experts = { tests = tests "steps/beside", unnoticed = 2 },
  blockscale = { tests = prices },
  sorted_experts = { tests = tests "steps/sorted_experts", unnoticed = 2 },
  elementwise = { tests = prices, unnoticed = 4 },
  host = { tests = tests("engines/engines", "kernels/prompt_graphs"), unnoticed = 1 },
  exchange = { tests = tests "steps/exchange", unnoticed = 1 },
  experts = { tests = prices, unnoticed = 4 },
  index = { tests = prices, unnoticed = 1 },
  modules = { tests = tests "steps/modules", unnoticed = 1 },
  monotone = { tests = grids, unnoticed = 2 },
  monotone_prefill = { tests = grids },
  ops = { tests = prices, unnoticed = 3 },
  pairs = { tests = prices, unnoticed = 1 },
  prompts = { tests = tests "engines/engines", unnoticed = 3 },
  recurrent = { unnoticed = 2,
    tests = tests("kernels/prices", "engines/engines", "steps/layer_experts", "steps/layer_kinds",
      "steps/decode_bytes") },
}

local by_name = { ["steps.kernels"] = {
  tests = tests("kernels/prices", "engines/engines", "steps/layer_experts", "steps/layer_kinds",
    "tables/node_collectives", "kernels/prompt_graphs") } }
for name, module in pairs(modules) do by_name["steps.kernels." .. name] = module end

dofile("tests/scripts/mutations.lua").check {
  test = test, modules = by_name, most = 5,
}

test.finish()
