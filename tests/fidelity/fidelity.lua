-- Measured serving runs, simulated: prints the error table, holds the errors to what they were and to
-- the bounds that were promised. tests/fidelity/errors.json keeps errors, never measured values;
-- ROOFLUA_UPDATE_FIDELITY=1 writes it anew, and the diff is reviewed.
local test = dofile "tests/scripts/harness.lua"
local discrepancy = require "rooflua.intervals.discrepancy"
local json = require "rooflua.json"
local validate = require "rooflua.validate.command"

local recorded_path, most_growth = "tests/fidelity/errors.json", 0.02
local most_drift = 0.005 -- of what intervals take the model to be off by
local judged_metrics = { "e2e_mean", "tpot_mean", "ttft_p50", "ttft_mean", "step_time", "throughput" }

local result
test("measured runs are simulated", function()
  local folder = test.shared "truth/cases.csv"
  test.shared "tables/aic/README.md"
  local pipe = io.popen "mktemp -d"
  local scratch = pipe:read "*l"
  pipe:close()
  result = validate.run { folder = folder, steps = { "kernels", "kernels, shipped data" }, scratch = scratch }
  os.execute("rm -r " .. scratch)
  print(result.text)
  test.check(result.ran == #result.document.cases, "%d of %d cases ran", result.ran, #result.document.cases)
end)
if not result then test.finish() return end

--- vLLM V1 is judged case by case; other engines, whose settings are not known, by group.
local function is_judged(case) return case.group:find "^vLLM 16 bit" ~= nil end

--- What is kept: errors of judged cases, totals of the other groups; the same of shipped data.
local function to_record(document)
  local out = { cases = {}, shipped_cases = {}, groups = {} }
  for _, case in ipairs(document.cases) do
    if is_judged(case) then
      out.cases[case.case_id] = case.errors
      out.shipped_cases[case.case_id] = case.others["kernels, shipped data"].errors
    end
  end
  for group, metrics in pairs(document.totals) do
    if group:find "^TensorRT" or group:find "^vLLM V0" then
      out.groups[group] = {}
      for name, total in pairs(metrics) do out.groups[group][name] = total.mean_abs_error end
    end
  end
  return out
end

local function rounded(value)
  if type(value) == "number" then return math.floor(value * 1e4 + 0.5) / 1e4 end
  if type(value) ~= "table" then return value end
  local out = {}
  for key, each in pairs(value) do out[key] = rounded(each) end
  return out
end

local now = to_record(result.document)
if os.getenv "ROOFLUA_UPDATE_FIDELITY" == "1" then
  local file = assert(io.open(recorded_path, "w"))
  file:write((json.encode(rounded(now)):gsub("},", "},\n")), "\n")  -- a case per line
  file:close()
end
local before = json.read(recorded_path)

--- Every error of `old` that grew by more than two points.
local function grown(old, new, kind)
  local out = {}
  for name, errors in pairs(old) do
    for _, metric in ipairs(judged_metrics) do
      local a, b = errors[metric], (new[name] or {})[metric]
      if a and not b then
        out[#out + 1] = ("%s %s: %s is gone"):format(kind, name, metric)
      elseif a and math.abs(b) > math.abs(a) + most_growth then
        out[#out + 1] = ("%s %s: %s was %+.1f %%, is %+.1f %%"):format(kind, name, metric, a * 100, b * 100)
      end
    end
  end
  table.sort(out)
  return out
end

for _, kind in ipairs { "cases", "shipped_cases", "groups" } do
  test("no error of " .. kind .. " grew by more than two points", function()
    local list = grown(before[kind], now[kind], kind)
    test.check(#list == 0, "%d errors grew:\n  %s", #list, table.concat(list, "\n  "))
  end)
end

test("E2E and TPOT of every vLLM run on H100 are within 15 %, 10 % on average; p50 TTFT within 25 %", function()
  local total = result.document.totals["vLLM 16 bit on h100-sxm, serving"]
  for _, metric in ipairs { "e2e_mean", "tpot_mean" } do
    test.check(total[metric].worst_abs_error < 0.15, "%s: worst %.1f %%", metric, total[metric].worst_abs_error * 100)
    test.check(total[metric].mean_abs_error < 0.10, "%s: mean %.1f %%", metric, total[metric].mean_abs_error * 100)
  end
  test.check(total.ttft_p50.worst_abs_error < 0.25, "p50 TTFT: worst %.1f %%", total.ttft_p50.worst_abs_error * 100)
end)

test("TPOT of the Qwen3-32B closed loop is within 15 % on average", function()
  local total = result.document.totals["vLLM 16 bit on h100-sxm, closed loop"]
  test.check(total.tpot_mean.mean_abs_error < 0.15, "mean %.1f %%", total.tpot_mean.mean_abs_error * 100)
end)

test("what intervals take the model to be off by is what these runs show", function()
  local sums = {}
  for _, case in ipairs(result.document.cases) do
    local metric = discrepancy.metric_of(case.errors, case.group:find "closed loop$" ~= nil)
    local error, models = case.errors[metric], discrepancy.known[case.kind]
    if error and models then
      test.check(models[case.model], "%s: %s is not declared", case.kind, case.model)
      local key = case.kind .. "\0" .. case.model
      sums[key] = sums[key] or { runs = 0, square = 0, declared = models[case.model] }
      sums[key].runs, sums[key].square = sums[key].runs + 1, sums[key].square + math.log(1 + error) ^ 2
    end
  end
  local count = 0
  for key, each in pairs(sums) do
    count = count + 1
    test.equal(each.declared.runs, each.runs, key)
    local now_is = math.sqrt(each.square / each.runs)
    test.check(math.abs(now_is - each.declared.residual) < most_drift, "%s: declared %.2f %%, is %.2f %%", key,
      each.declared.residual * 100, now_is * 100)
  end
  test.check(count >= discrepancy.fewest_models, "only %d models", count)
end)

test.finish()
