-- What the program answers to words that a user tries first: parts of a model that is named, "slowest" in place of a
-- number, limits by class, names of models in help, numbers with units, long lists of known names.
local test = dofile "tests/scripts/harness.lua"
local json = require "rooflua.json"
local verify = require "rooflua.plan.verify"

local folder = os.tmpname()
os.remove(folder)

local function quoted(text) return "'" .. text:gsub("'", "'\\''") .. "'" end
assert(os.execute("mkdir -p " .. quoted(folder)) == 0)

local function write(name, text)
  local file = assert(io.open(folder .. "/" .. name, "w"))
  file:write(text)
  file:close()
end

--- What a command line prints, errors included.
local function told(line) return test.printed(line, folder) end

local has = test.has

write("serve.lua", [[return { rooflua = 1, seed = 1, model = "llama-3.1-8b", hardware = "h100-sxm",
  slo = { ttft_s = 1 }, metrics = { slow = require "metrics.ttft_above_frac" { above_s = 0.01 } },
  workload = require "workloads.poisson" { rate_per_s = 20, num_requests = 40,
    prompt_tokens = { distribution = "uniform", min = 100, max = 4000 },
    output_tokens = { distribution = "uniform", min = 1, max = 30 } } }]])

test("a key of a model or GPU that is named can be set, in every command that has --set", function()
  has(told "run serve.lua --quiet --set model.max_model_len=50", "exceeds_max_model_len")
  has(told "check serve.lua --set model.max_model_lem=50", "did you mean 'max_model_len'?")
  local step = "step --model llama-3.1-8b --hardware h100 --decode 1000x4 --intervals off"
  local function ms(more) return tonumber(told(step .. more):match "step: ([%d.]+)") end
  local whole, half = ms "", ms " --set model.layers=16"
  test.near(half / whole, 0.52, 0.1)
  test.at_least(ms " --set mfu.tables=false --set hardware.memory_bytes_per_s=1e12", 2 * whole)
  has(told("plan --model qwen3-8b --set model.max_model_len=90000 --workload 60000+10 --rate 0.1 --slo ttft_p95=60s "
    .. "--gpus h100-sxm:1@3 --tp 1 --seats 8 --budgets 8192 --replicates 1 --requests 10 --quiet"), "1  1 x H100")
  has(told "run serve.lua --set model.moe.experts=4", "'moe' is a table of the model", "say --set 'model.moe={...}'")
  has(told "step --model Qwen/Qwen3-32B-FP8 --hardware h100 --decode 9x1 --set model.max_model_len=99",
    "weights fp8_block")
end)

test("--why takes a word for the slowest request, and finds the one with the longest time", function()
  told "run serve.lua --quiet --requests rows.csv"
  local most, ids, first = {}, {}, nil
  for line in io.lines(folder .. "/rows.csv") do
    local cells = {}
    for cell in (line .. ","):gmatch "([^,]*)," do cells[#cells + 1] = cell end
    if not first then
      first = {}
      for i, name in ipairs(cells) do first[name] = i end
    else
      for word, column in pairs { slowest = "e2e_s", slowest_ttft = "ttft_s", slowest_tpot = "tpot_s" } do
        local value = tonumber(cells[first[column]])
        if value and value > (most[word] or 0) then most[word], ids[word] = value, cells[1] end
      end
    end
  end
  for word, id in pairs(ids) do
    local out = told("run serve.lua --quiet --why " .. word)
    has(out, "request " .. id .. "  ")
    test.equal(out, told("run serve.lua --quiet --why " .. id), word)
  end
  has(told "run serve.lua --why slow", "slowest_ttft", "found 'slow'")
  has(told "run serve.lua --quiet --why slowest --set model.max_model_len=50", "no request was completed")
  write("lines.txt", ":run\n:why slowest\n:why slow\n")
  has(told "repl serve.lua < lines.txt", "request " .. ids.slowest .. "  ", "found 'slow'")
end)

test("a class has limits of its own, by number and by the name of a trace", function()
  write("t.csv", "arrival_s,prompt_tokens,output_tokens,class\n0,500,9,chat\n1,9000,9,report\n2,500,9,chat\n")
  local text = [[return { rooflua = 1, model = "llama-3.1-8b", hardware = "h100-sxm",
    slo = { ttft_s = 0.1, classes = %s },
    workload = require "workloads.trace" { path = "t.csv" } }]]
  local function good(classes)
    write("c.lua", text:format(classes))
    local out = told "run c.lua --quiet --json -"
    local ok, document = pcall(json.decode, out)
    if not ok then return out end
    local by = {}
    for _, each in ipairs(document.variants[1].summary.classes) do by[each.name] = each.goodput_per_s > 0 end
    return by
  end
  test.equal(good("{ }").report, false)
  for _, classes in ipairs { "{ report = { ttft_s = 9 } }", "{ [1] = { ttft_s = 9 } }" } do
    local by = good(classes)
    test.check(by.report and by.chat, classes)
  end
  test.equal(good("{ chat = { ttft_s = 1e-6 } }").chat, false)
  has(good "{ chats = { ttft_s = 9 } }", "unknown class 'chats'; did you mean 'chat'?")
  has(good "{ chat = { ttft = 9 } }", "unknown key 'ttft'; did you mean 'ttft_s'?")
  has(good "{ chat = 9 }", "slo.classes.chat: expected limits")
  has(good "{ [-1] = { ttft_s = 1 } }", "number of a class from 0 on")
  write("c.lua", text:format "{ report = { ttft_s = 9 } }":gsub("return {", "return { vary = { seed = { 1, 2 } },"))
  local out = told "run c.lua --quiet"
  has(out, "variant  class ", "seed=1   chat ", "seed=2   report ")
end)

test("results export takes a metric of the scenario by the name that it has there", function()
  os.remove(folder .. "/r.sqlite")
  told "run serve.lua --quiet --results r.sqlite"
  local named = told "results export r.sqlite --format csv --select slow"
  has(named, ",own_slow\n")
  test.equal(named, told "results export r.sqlite --format csv --select own_slow")
  has(told "results export r.sqlite --format csv --select own_slov", "did you mean 'own_slow'")
end)

test("help knows models and GPUs by any of their names", function()
  has(told "help llama-3.1-8b", "llama-3.1-8b: a model", "131,072 tokens")
  has(told "help deepseek-r1", "deepseek-v3: a model, by another name of it")
  has(told "help Qwen/Qwen3-32B-FP8", "fp8_block under this name")
  has(told "help H100", "h100-sxm: a GPU, by another name of it", "TB/s")
  has(told "help lama-3.1-8c", "unknown topic")
  has(told "list models", "rooflua list models --aliases")
end)

test("a number with a unit is answered with the plain number", function()
  has(told "check serve.lua --set slo.ttft_s=500ms", "500ms is 0.5")
  has(told "check serve.lua --set steps.host_step_s=6ms", "6ms is 0.006")
  test.check(not told "check serve.lua --set slo.ttft_s=soon":find "soon is")
end)

test("of many known names an error lists those that are near and the number of all", function()
  write("s.lua", [[return { rooflua = 1, kind = "search", model = "llama-3.1-8b", hardware = "h100",
    workload = "poisson", search = { slo = { ttft95 = 1 }, min = 1, max = 2 } }]])
  local out = told "check s.lua"
  has(out, "unknown metric 'ttft95'; did you mean 'ttft_s_p95'? (", " names are known)")
  test.at_least(200, #out:match "[^\n]*")
  has(told "check serve.lua --set router=robin", "(known: adapter_affinity, ")
end)

test("a hardware.toml is told all that it lacks at once", function()
  os.execute("mkdir -p " .. quoted(folder .. "/gpu"))
  write("gpu/hardware.toml", 'name = "mine"\nmemory_gb = 80\n')
  has(told "step --model llama-3.1-8b --hardware gpu --decode 9x1", "these keys are missing: architecture, ",
    "memory_gb_per_s", "peak_tflop_per_s")
end)

test("an explained step states its evidence once; diff compares numbers of intervals, not their words", function()
  local out = told "step --model llama-3.1-8b --hardware h100 --decode 9x1 --explain"
  local _, times = out:gsub("measured [%d.]+ %%, ", "")
  test.equal(times, 1)
  told "run serve.lua --quiet --json a.json"
  told "run serve.lua --quiet --seed 2 --json b.json"
  local different = told "diff a.json b.json"
  has(different, "intervals.ttft_s.value")
  test.check(not different:find "%.text", different)
end)

test("--jit-log says whether the scenario's own lines were compiled", function()
  local out = told "run serve.lua --quiet --jit-log"
  test.check(out:find "every line of the scenario and its policies that ran often was compiled"
    or out:find "%.lua:%d+: not compiled", out)
end)

test("plan --verify says where the benchmark was another one than bench.sh asks for", function()
  local asked = { num_prompts = 2000, request_rate = 5 }
  local plan = { schema = "rooflua.plan/1", ranks = { { name = "x", bench_asked = asked,
    bench = { ttft_s_mean = { value = 0.1, low = 0.05, high = 0.2 } } } } }
  local function of(result)
    return verify.run { scenario = test.file(".json", json.encode(plan)),
      verify = test.file(".json", json.encode(result)) }
  end
  local same = of { mean_ttft_ms = 100, num_prompts = 2000, request_rate = 5 }
  test.equal(same.document.differences, nil)
  local other = of { mean_ttft_ms = 100, num_prompts = 5156, request_rate = "inf" }
  test.equal(#other.document.differences, 2)
  has(other.text, "5156 requests, and bench.sh asks for 2000", "inf requests/s, and bench.sh asks for 5")
end)

os.execute("rm -rf " .. quoted(folder))
test.finish()
