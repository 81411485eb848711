-- What `rooflua advise` and `rooflua check-run` print and write, as files of tests/golden and docs/schema have it.
-- ROOFLUA_UPDATE_GOLDEN=1 writes the files of tests/golden.
local test = dofile "tests/scripts/harness.lua"
local printed = dofile "tests/scripts/printed.lua"

local folder = test.folder()

local server = [[
return { model = "qwen3-8b", hardware = "h100-sxm", engine = { "vllm 0.19", enforce_eager = true, max_num_seqs = 8 },
  workload = require "workloads.poisson" { rate_per_s = 6, prompt_tokens = 1000, output_tokens = 60,
    num_requests = 80 } }
]]
printed.write(folder .. "/server.lua", server)

local long_prompts = [[
return { model = "qwen3-8b", hardware = "h100-sxm",
  engine = { "vllm 0.24", enforce_eager = true, max_num_seqs = 64, max_num_batched_tokens = 2048 },
  workload = require "workloads.poisson" { rate_per_s = 5, prompt_tokens = 4000, output_tokens = 200,
    num_requests = 300 }, seed = 1 }
]]
printed.write(folder .. "/long_prompts.lua", long_prompts)

test("advice of one change, of several, and none", function()
  local out = {}
  for i, words in ipairs { "server.lua --slo tpot_mean=12ms", "long_prompts.lua --slo ttft_p99=500ms,tpot_p99=41ms",
    "server.lua --slo ttft_p99=1ms" } do
    out[i] = test.printed(("advise %s --json a%d.json"):format(words, i), folder)
  end
  printed.compare_with_golden("advise", table.concat(out, "\n"))
  printed.check_schema("advise", folder .. "/a1.json", folder .. "/a2.json", folder .. "/a3.json")
end)

test("a run that is plausible, and one that is not", function()
  local out = {}
  for i, set in ipairs { "seed=5", "deployment.tp=2", "workload.rate_per_s=12" } do
    test.printed(("run server.lua --quiet --set %s --requests r%d.json"):format(set, i), folder)
    out[i] = test.printed(("check-run r%d.json server.lua --json c%d.json"):format(i, i), folder)
  end
  printed.compare_with_golden("check_run", table.concat(out, "\n"))
  printed.check_schema("check_run", folder .. "/c1.json", folder .. "/c2.json", folder .. "/c3.json")
end)

test("the exit status says what the answer is", function()
  local function status(line) return printed.status(line, folder) end
  test.equal(status "advise server.lua --slo tpot_mean=1s", 0)
  test.equal(status "advise server.lua --slo ttft_p99=1ms", 1)
  test.equal(status "advise server.lua", 2)
  test.equal(status "check-run r1.json server.lua", 0)
  test.equal(status "check-run r2.json server.lua", 1)
  test.equal(status "check-run server.lua", 1)
end)

test.finish()
