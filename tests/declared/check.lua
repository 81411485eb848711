--- What must follow from the declarations of additions.lua. Run by the program that was built from the copy, in it.
local mfu, spec = require "rooflua.mfu", require "rooflua.spec"

local passed, failed = 0, 0
local function check(ok, what)
  if ok then passed = passed + 1 else failed = failed + 1 print("FAIL " .. what) end
end
local program = arg[1]
--- What the program prints, errors included.
local function output(arguments)
  local pipe = io.popen(("%s %s 2>&1"):format(program, arguments))
  local text = pipe:read "*a"
  pipe:close()
  return text
end
local function holds(text, part, what)
  check(text:find(part, 1, true) ~= nil, what .. ": no " .. part .. " in:\n" .. text)
end

-- The op: its table is read, questions are checked and answered between rows, and other keys stand in.
local db = mfu.open "h200-sxm"
local _, answer = db:lookup { op = "sample_scan", state_size = 128, tokens = 200 }
check(answer.evidence == "interpolated" and math.abs(answer.latency_s - 20e-6) < 1e-9, "sample_scan between two rows: "
  .. tostring(answer))
_, answer = db:lookup { op = "sample_scan", state_size = 64, tokens = 100 }
check(answer.evidence == "stand_in", "sample_scan of another state: " .. tostring(answer))
local ok, problem = pcall(db.lookup, db, { op = "sample_scan", state_sise = 128, tokens = 1 })
check(not ok and problem:find("did you mean 'state_size'", 1, true), "a misspelt field: " .. tostring(problem))
ok, problem = pcall(db.lookup, db, { op = "sample_scam", tokens = 1 })
check(not ok and problem:find("did you mean 'sample_scan'", 1, true), "a misspelt op: " .. tostring(problem))
holds(output "data describe h200-sxm", "sample_scan", "data describe")
holds(output "data verify bench_data/h200-sxm", "sample_scan", "data verify")

-- The number format: deployments know its size, and errors its name.
local model = spec.model "llama-3.1-8b"
local function weight_bytes(format)
  return spec.deployment { model = model, hardware = "h200-sxm", weights = format }.weight_bytes
end
local share = (weight_bytes "sample6" - weight_bytes "fp8") / (weight_bytes "bf16" - weight_bytes "fp8")
check(math.abs(share + 0.25) < 1e-9, "6 bits lie a quarter of the way below 8: " .. share)
ok, problem = pcall(weight_bytes, "sample7")
check(not ok and problem:find("did you mean 'sample6'", 1, true), "a misspelt format: " .. tostring(problem))

-- The metric: in the document, the report of several variants, the help, and searches know it.
local scenario = "tests/declared/scenario.lua"
local served = scenario .. " --set kind=serve"
local json = output("run " .. served .. " --quiet --json -")
local value = tonumber(json:match '"longest_step_s": ([%d.e+-]+)')
check(value and value > 0.01 and value < 10, "longest_step_s in JSON: " .. tostring(value))
holds(output "help metrics", "longest_step_s", "help metrics")
holds(output("run " .. scenario .. " --quiet"), "longest_step_s", "a search for the metric")

-- The scenario key: checked, set, in the help.
holds(output "help scenario", "sample_label", "help scenario")
holds(output("run " .. served .. " --quiet --set sample_label=x"), "TTFT", "a run with the key")
holds(output("check " .. served .. " --set sample_lable=x"), "did you mean 'sample_label'", "a misspelt key")
holds(output("check " .. served .. " --set sample_label=5"), "sample_label: expected text", "a key of another type")

print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and 0 or 1)
