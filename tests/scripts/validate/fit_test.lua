-- The script that fits parameters of validation finds a known front-end time again, also with one model left out.
local test = dofile "tests/scripts/harness.lua"
local engines = require "rooflua.validate.engines"
local replay = require "rooflua.validate.replay"
local policies = require "rooflua.scenario.policies"
local Reader = require "rooflua.scenario.reader"
local serve = require "rooflua.serve"
local policy = require "rooflua.policy"

os.execute("mkdir " .. test.folder() .. "/measured " .. test.folder() .. "/tables " .. test.folder() .. "/tables/aic")
local folder = test.folder() .. "/measured"

local function write(path, content)
  local file = assert(io.open(path, "w"))
  file:write(content)
  file:close()
end

--- A table of GEMMs at about half of the peak, because validation needs a table.
local gemms = { "gemm_dtype,m,n,k,latency" }
for _, m in ipairs { 1, 16, 256, 4096 } do
  for _, n in ipairs { 4096, 12288, 28672 } do
    gemms[#gemms + 1] = ("bfloat16,%d,%d,4096,%g"):format(m, n, n * 4096 * math.max(2 / 3e9, 2 * m / 5e11))
  end
end
write(test.folder() .. "/tables/aic/h100_sxm_gemm_vllm0.24.csv", table.concat(gemms, "\n") .. "\n")

local planted_s = 0.0053

--- A run of vLLM 0.15 with a front-end time, as if it were measured; `more_s` is added for this run alone.
local function recorded(model, more_s)
  local rows, lines = {}, { "arrival_s,prompt_tokens,output_tokens,ttft_s,e2e_s" }
  for i = 1, 15 do
    rows[i] = { arrival_s = 0.3 * (i - 1), prompt_tokens = 100 + 37 * (i % 11), output_tokens = 10 + i % 3 }
  end
  local database = require("rooflua.mfu").open { path = test.folder() .. "/tables/aic", layout = "aic",
    gpu = "h100-sxm", hardware = "h100-sxm" }
  local result = serve.run({ model = model, hardware = "h100-sxm", steps = "kernels", mfu = database, async_depth = 2,
    deployment = { tp = 1, memory_utilization = 0.9 }, workload = replay.recorded(rows),
    scheduler = policy.with(policies.of(Reader.new "test", "scheduler", "vllm_v1"), { max_num_seqs = 64,
      scheduler_reserve_full_isl = false }),
    frontend = { base_s = planted_s + more_s } }, { requests = true })
  for i, row in ipairs(rows) do
    lines[i + 1] = ("%.9f,%d,%d,%.9f,%.9f"):format(row.arrival_s, row.prompt_tokens, row.output_tokens,
      result.requests.ttfts[i], result.requests.e2els[i])
  end
  return table.concat(lines, "\n") .. "\n"
end

local lines = { "case_id,rating,dataset,file,model,gpu,tp,engine,workload,metrics" }
for i, model in ipairs { "llama-3.1-8b", "llama-2-7b", "mistral-nemo" } do
  write(folder .. "/" .. model .. ".csv", recorded(model, i == 3 and 0.002 or 0))
  lines[#lines + 1] = ("%s,B,own,%s.csv,%s,H100,1,vLLM 0.15.1,max_num_seqs 64,x"):format(model, model, model)
end
lines[#lines + 1] = "engine,B,own,llama-2-7b.csv,llama-2-7b,H100,1,vLLM 0.15.1,max_num_seqs 64,token ts"
write(folder .. "/cases.csv", table.concat(lines, "\n") .. "\n")

local function fit(more)
  local program = os.getenv "ROOFLUA_PROGRAM" or "build/release/bin/rooflua"
  local command = ("%s lua tests/fidelity/frontend_fit.lua %s %s 2>&1"):format(program, folder, more or "")
  local pipe = assert(io.popen(command))
  local said = pipe:read "*a"
  pipe:close()
  return said
end

test("a planted delay is found again, and each model's error is that of a fit without it", function()
  local said = fit()
  test.check(said:find("3 runs of 3 models", 1, true), said)
  local value, error_left = said:match "fitted to all +client_frontend_s ([%d.e-]+): ([%d.]+)"
  test.check(value and math.abs(value - planted_s) < 2e-5, "%s", said)
  test.at_least(tonumber(error_left), 0.5) -- the third model has a front-end time of its own
  value, error_left = said:match "without mistral%-nemo +runs 1 +client_frontend_s ([%d.e-]+): ([%d.]+) on it"
  test.check(value and math.abs(value - planted_s) < 2e-5 and tonumber(error_left) > 5, said)
  test.check(said:match "left out, mean over models: [%d.]+", said)
end)

test("what is fitted is what the engines declare as fitted, within its range", function()
  local fitted = engines.fitted()
  test.equal(next(fitted), "client_frontend_s")
  for name, each in pairs(fitted) do
    test.check(each[1] <= each.value and each.value <= each[2] and each[3] > 0, name)
    test.check(engines.of("vLLM 0.15.1").parameters[name][2]:find("tests/fidelity/frontend_fit.lua", 1, true), name)
  end
end)

test("no run that says anything is an error", function()
  test.check(fit("engine"):find("no run says anything about client_frontend_s", 1, true), fit "engine")
end)

test.finish()
