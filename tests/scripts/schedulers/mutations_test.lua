-- Rules of schedulers are needed: with an operation taken out of the script, a schedule in its test changes. How many
-- go unnoticed must not grow.
local test = dofile "tests/scripts/harness.lua"

local function tests(...)
  local out = {}
  for i, name in ipairs { ... } do out[i] = "tests/scripts/schedulers/" .. name .. "_test.lua" end
  return out
end

dofile("tests/scripts/mutations.lua").check {
  test = test, most = 120,
  modules = {
    ["schedulers.orca"] = { tests = tests "orca", unnoticed = 1 },
    ["schedulers.priority"] = { tests = tests "priority", unnoticed = 1 },
    ["schedulers.sarathi"] = { tests = tests "sarathi", unnoticed = 1 },
    ["schedulers.sglang"] = { unnoticed = 20, tests = tests("sglang", "sglang_order", "sglang_retract", "longest") },
    ["schedulers.sglang.order"] = { tests = tests "sglang_order", unnoticed = 20 },
    ["schedulers.sjf"] = { tests = tests "sjf" },
    ["schedulers.static_batch"] = { tests = tests "static_batch", unnoticed = 1 },
    ["schedulers.trtllm"] = { unnoticed = 24, tests = tests("trtllm", "trtllm_limits", "trtllm_reuse", "longest") },
    ["schedulers.vllm_v0"] = { tests = tests "vllm_v0", unnoticed = 5 },
    ["schedulers.vllm_v1"] = { unnoticed = 33,
      tests = { "tests/scripts/schedulers/vllm_v1_test.lua", "tests/scripts/schedulers/vllm_hybrids_test.lua",
        "tests/scripts/serving/adapters_test.lua", "tests/reference/engines/expectations_test.lua vllm" } },
  },
}

test.finish()
