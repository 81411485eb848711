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

-- The op with a model and an index: rows between which k and n lie, and the model where there is no table.
local function gemm_of(database, op)
  local _, found = database:lookup { op = op, m = 64, k = 3000, n = 5000 }
  return found.latency_s, found.evidence
end
local latency_s, evidence = gemm_of(db, "sample_gemm")
check(evidence == "interpolated" and math.abs(latency_s - 15e-6) < 1e-9, "sample_gemm within four rows: " .. latency_s)
local bare = mfu.open { hardware = "h200-sxm", tables = false }
latency_s, evidence = gemm_of(bare, "sample_gemm")
check(evidence == "modelled" and latency_s == 2 * (gemm_of(bare, "gemm")), "sample_gemm without rows: " .. latency_s)
holds(output "data describe h200-sxm", "sample_gemm", "data describe")

-- The number format: deployments know its size, and errors its name.
local model = spec.model "llama-3.1-8b"
local function weight_bytes(format)
  return spec.deployment { model = model, hardware = "h200-sxm", weights = format }.weight_bytes
end
local share = (weight_bytes "sample6" - weight_bytes "fp8") / (weight_bytes "bf16" - weight_bytes "fp8")
check(math.abs(share + 0.25) < 1e-9, "6 bits lie a quarter of the way below 8: " .. share)
ok, problem = pcall(weight_bytes, "sample7")
check(not ok and problem:find("did you mean 'sample6'", 1, true), "a misspelt format: " .. tostring(problem))

-- The figure of a model: read, checked at the key that the file states, shown to scripts, in documents and stubs.
local function wide(value) return spec.model { from = "llama-3.1-8b", sample_width = value }.sample_width end
check(wide(7) == 7 and model.sample_width == 0, "sample_width of a model: " .. tostring(wide(7)))
ok, problem = pcall(wide, 501)
check(not ok and problem:find("sample_width: expected 0 to 500 elements, found 501", 1, true), tostring(problem))
ok, problem = pcall(spec.model, { from = "llama-3.1-8b", sample_widht = 7 })
check(not ok and problem:find("did you mean 'sample_width'", 1, true), "a misspelt figure: " .. tostring(problem))
ok, problem = pcall(function() return model.sample_widht end)
check(not ok and problem:find("did you mean 'sample_width'", 1, true), "a misspelt field: " .. tostring(problem))

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

-- The option of a deployment: read, shown, checked, in the help, the stubs and the documents.
local function share_of(given)
  return spec.deployment { model = model, hardware = "h200-sxm", sample_share = given }.sample_share
end
check(share_of(nil) == 0.5 and share_of(0.75) == 0.75, "the default and the value of the option")
ok, problem = pcall(share_of, 0.1)
check(not ok and problem:find("deployment.sample_share: expected 0.25 to 1, found 0.1", 1, true), tostring(problem))
ok, problem = pcall(share_of, "much")
check(not ok and problem:find("deployment.sample_share: expected a number", 1, true), tostring(problem))
ok, problem = pcall(spec.deployment, { model = model, hardware = "h200-sxm", sample_shares = 1 })
check(not ok and problem:find("did you mean 'sample_share'", 1, true), tostring(problem))
holds(output("run " .. served .. " --quiet --set deployment.sample_share=0.75"), "TTFT", "a run with the option")
holds(output("check " .. served .. " --set deployment.sample_share=75"), "deployment.sample_share: expected 0.25 to 1, "
  .. "found 75; 75 % is 0.75", "a share in percent")
holds(output "help scenario.deployment.sample_share", "default 0.5", "the default in the help")
holds(output "help scenario.deployment.sample_share", "an example of an option", "the sentence in the help")

-- The release, the option and the engine: runs, plans, help, completion and documents know them.
local function seats_of(engine)
  local text = output(("run %s --quiet --set deployment.kv_blocks=90000 --engine '%s' --json -"):format(served, engine))
  if not text:find('"summary"', 1, true) then return text end
  return require("rooflua.engines").of(engine, { hardware = "h200-sxm" }).values.max_num_seqs
end
check(seats_of "vllm 0.99" == 77, "seats of the new release: " .. tostring(seats_of "vllm 0.99"))
check(seats_of "vllm 0.24" == 1024, "seats of the release before: " .. tostring(seats_of "vllm 0.24"))
check(seats_of "sample_engine 1.0" == 48, "seats of the fork: " .. tostring(seats_of "sample_engine 1.0"))
local option = " --set engine.sample_len=3000"
holds(output("run " .. served .. " --quiet --engine 'vllm 0.99'" .. option), "TTFT", "a run with the option")
holds(output("check " .. served .. " --engine 'vllm 0.24'" .. option), "since 0.99", "before it came")
local launched = "step --command 'vllm serve Qwen/Qwen3-8B --sample-len 3000' --hardware h200-sxm --decode 100x1"
holds(output(launched .. " --engine 'vllm 0.99'"), "step: ", "a launch command with the option")
holds(output(launched .. " --engine 'vllm 0.24'"), "since 0.99", "a launch command before it came")
holds(output((launched:gsub("sample%-len", "sample-lne"))), "did you mean --sample-len", "the option's neighbour")
holds(output("check " .. served .. " --engine 'sample_engine 2'"), "ok (1 variant", "a newer release of the fork")
holds(output "list engines", "sample_engine", "list engines")
holds(output "help engines.vllm", "an example of a rule", "help engines.vllm")
holds(output "help engines.vllm", "sample_len -> deployment.max_model_len since 0.99", "help engines.vllm")
holds(output "help 'sample_engine 1.0'", "an example of a fork", "help of the fork")
holds(output "__complete plan --engines ''", "sample_engine", "completion")

-- The kind of policy: listed, in the help, completed, known to scripts and stubs.
holds(output "list", "samples       an example of a kind of policies", "list")
holds(output "list samples", "Decides nothing.", "list samples")
holds(output "help samples", "Decides nothing.", "help samples")
holds(output "help samples.first", "Part of nothing.", "help samples.first")
holds(output "__complete list ''", "samples", "completion of list")
check(require("rooflua").list("samples")[1].module == "samples.first", "rooflua.list")

-- The kinds of layers: known to every model, priced, counted, served, planned, exported.
local layered = spec.model "sample-layers"
check(layered.attention[2].kind == "sample_attention" and layered.mlp[2].kind == "sample_mlp", "kinds of a model")
check(layered:parameters() == 2 * 32000 * 1024 + 1024 * (1 + 4 * 2) -- embeddings; norms
  + 4 * 4 * 1024 * 1024 + 2 * 3 * 1024 * 4096 + 2 * 2 * 1024 * 3072, "parameters: " .. layered:parameters())
check(layered:kv_bytes_per_token "bf16" == 2 * 1024 * 2, "a token in the one full layer")
holds(output "list models", "3 sample_attention", "list models")
local layers = "--model sample-layers --hardware h200-sxm "
local priced = output("step " .. layers .. "--tp 2 --decode 9999x16 --explain")
holds(priced, "pairs=8000", "16 decodes of a window of 500")
holds(priced, "bend ", "the work of the MLP")
holds(priced, "sample_mlp, which a file declares", "the interval of the step")
for _, engine in ipairs { "vllm", "sglang", "trtllm" } do
  holds(output("capacity " .. layers .. "--engine " .. engine), "sample_mlp, which a file", "capacity by " .. engine)
end
holds(output("run " .. served .. " --quiet --set model=sample-layers"), "which a file", "the interval of a run")
holds(output("step " .. layers .. "--tp 3 --decode 100x1"), "deployment.tp", "ranks that do not divide the heads")

-- The column of a measured set: read, checked, compared, in the text and the document.
local started = "validate tests/declared/starts.csv"
holds(output(started), "graphs: median GiB", "the text of validate")
json = output(started .. " --json -")
holds(json, '"graph_gib": 0.5', "the measured value in the document")
check(json:match '"graphs": {\n%s*"median": %d', "errors of the column in the document")
holds(json, "graph_gib: expected a number, found 'much'", "a row whose cell is none")

-- The part of a run: counted where its key asks for it, in the document, the report, the page, the help.
local slow = served .. " --quiet --set slow_limit_s=0.12"
local counted = tonumber(output("run " .. slow .. " --json -"):match '"slow": (%d+)')
check(counted and counted > 0 and counted < 30, "slow requests in JSON: " .. tostring(counted))
holds(output("run " .. slow), ("slow      %d requests ("):format(counted or 0), "the sentence of the part")
check(not output("run " .. served .. " --quiet"):find("slow   ", 1, true), "a run without the part says nothing of it")
-- The part in the loop: its steps take longer, in runs on several cores and of one request as well.
local function metric_of(arguments, name)
  return tonumber(output("run " .. arguments .. " --json -"):match('"' .. name .. '": ([%d.e+-]+)'))
end
local step_s = metric_of(slow, "longest_step_s")
local longer_s = metric_of(slow .. " --set slow_step_s=0.5", "longest_step_s")
check(longer_s and longer_s > step_s + 0.49 and longer_s < step_s + 5, "steps with slow_step_s: " .. tostring(longer_s))
check(metric_of(slow .. " --set slow_step_s=0", "longest_step_s") == step_s, "slow_step_s = 0 changes nothing")
local page = os.tmpname()
output("run " .. slow .. " --html " .. page)
local handle = io.open(page)
holds(handle:read "*a", "slow share", "the table of the part on the page")
handle:close()
os.remove(page)
holds(output "help scenario.slow_limit_s", "counts as slow", "the key of the part in the help")
holds(output("check " .. served .. " --set slow_limit_s=fast"), "slow_limit_s: expected a number", "the part's key")
holds(output("run " .. slow .. " --jobs 2"), ("slow      %d requests ("):format(counted or 0), "two jobs")

local folder = os.tmpname()
os.remove(folder)
local asked = "plan --model llama-3.1-8b --workload 200+20 --rate 2 --slo ttft_p99=5s --gpus h200-sxm:2@4 --tp 1 "
  .. "--seats 64 --budgets 2048 --replicates 0 --requests 50 --quiet --write " .. folder
holds(output(asked .. " --engine 'vllm 0.99'"), "1 x H200", "a plan with the release")
local function content(path)
  local file = io.open(path)
  local text = file and file:read "*a" or ""
  if file then file:close() end
  return text
end
holds(content(folder .. "/1/serve.sh"), "--sample-len", "the command of the plan")
holds(content(folder .. "/1/scenario.lua"), 'engine = "vllm 0.99', "the scenario of the plan")
os.execute("rm -rf " .. folder)

-- A plan of a model with the kinds of layers.
holds(output((asked:gsub("llama%-3.1%-8b", "sample-layers"))), "wider: ", "the interval of a plan")
holds(content(folder .. "/1/scenario.lua"), 'model = "sample-layers"', "the plan's scenario of a kind of layers")
os.execute("rm -rf " .. folder)

-- The axis of a plan: an option, a parameter of the ladder, and a field of candidates that acts.
holds(output "plan --help", "Tokens of a KV block to try", "plan --help")
holds(output "__complete plan --block", "--block-sizes", "completion of plan")
holds(output "help candidates.ladder", "An example of an axis.", "help candidates.ladder")
holds(output "help capabilities", "block_size", "help capabilities")
local tried = asked .. " --all --block-sizes own,32 --json " .. folder .. ".json"
local told = output(tried)
holds(told, "budget 2048, blocks of 32", "the name of a candidate")
check(not told:find("other blocks", 1, true), "two values of the axis are tried")
holds(output(asked), "other blocks", "one value of the axis is tried")
output(tried:gsub("own,32", "32"))
holds(content(folder .. ".json"), '"block_size": 32', "the axis in the JSON of the plan")
holds(content(folder .. "/1/serve.sh"), "--block-size 32", "the axis in the command of the plan")
holds(content(folder .. "/1/scenario.lua"), "block_size = 32", "the axis in the scenario of the plan")
holds(output(asked .. " --block-sizes 0"), "--block-sizes 0: expected whole numbers from 1 on", "a wrong value")
holds(output("plan scenarios/23_plan.lua --block-sizes 32"), "leave out --block-sizes, or change it in the file",
  "the option beside a file")
holds(output(asked .. " --block-size 32"), "did you mean '--block-sizes'", "a misspelt option")
os.execute("rm -rf " .. folder .. " " .. folder .. ".json")

holds(output(asked .. " --engine 'sample_engine 1.0'"), "1 x H200", "a plan with the fork")
holds(content(folder .. "/1/scenario.lua"), "schedulers.sjf", "the scheduler of the fork in the plan's scenario")
os.execute("rm -rf " .. folder)
output "lua tests/generated.lua --write"
holds(content "docs/DATA.md", "| `sample_width` | 0 to 500 elements |", "the keys of a model in docs/DATA.md")
holds(content "docs/ROBUSTNESS.md", "`sample_width`", "the ranges in docs/ROBUSTNESS.md")
holds(content "scripts/meta/spec.lua", "---@field sample_width integer a sample", "scripts/meta/spec.lua")
holds(content "scripts/meta/plan.lua", "---@field block_size integer? tokens", "the stub of candidates")
holds(content "docs/schema/result.json", '"slow_frac": ', "the figures of the part in the schema")
holds(content "scripts/meta/rooflua.lua", '"samples"', "the kinds in scripts/meta/rooflua.lua")
holds(content "docs/ENGINES.md", "| sample_engine |", "the table of engines in docs/ENGINES.md")
holds(content "docs/LUA_API.md", "| deployment.sample_share | number |  | 0.5 |", "the keys in docs/LUA_API.md")
holds(content "docs/ROBUSTNESS.md", "`sample_share` | 0.25 to 1", "the ranges in docs/ROBUSTNESS.md")
holds(content "scripts/meta/serve.lua", "@field sample_share number?", "the stub of scenarios")
holds(content "scripts/meta/spec.lua", "@field sample_share number? default 0.5", "the stub of options")
holds(content "docs/ENGINES.md", "`sample_len`", "the table of options in docs/ENGINES.md")

print(("%d passed, %d failed"):format(passed, failed))
os.exit(failed == 0 and 0 or 1)
