-- `rooflua trace`: its report, page, document and tables, and what it refuses.
local test = dofile "tests/scripts/harness.lua"
local printed = dofile "tests/scripts/printed.lua"
local synthetic = dofile "tests/scripts/profile/synthetic.lua"

local folder = os.tmpname()
os.remove(folder)
assert(os.execute("mkdir " .. folder))
local contexts = {}
for i = 1, 32 do contexts[i] = 4000 end
local given = { decode_contexts = contexts }
local priced = synthetic.price("llama-3.1-8b", "h200-sxm", 2, given)
local said = { decodes = 32, prompts = 0, prompt_tokens = 0 }

local function write(name, hidden, range)
  printed.write(folder .. "/" .. name, (synthetic.trace(priced, range or said, hidden)))
end

local launch = "trace %s --command 'vllm serve meta-llama/Llama-3.1-8B --tensor-parallel-size 2' --hardware h200 "
local function run(file, more) return test.printed((launch .. more):format(file), folder) end

test("report, page and document name the cause", function()
  write("slow.json", { steps = 3, slow = "gate_up", factor = 2, gap_us = 2000, call = "schedule" })
  local out = run("slow.json", "--context 4000 --html p.html --json d.json")
  test.has(out, "gate_up takes", "2 times its tables", "schedule", "idle, between kernels")
  test.has(out, "32 decodes at 4,000 tokens")
  test.has(printed.read(folder .. "/p.html"), "The step", "roofline", "gate_up")
  printed.check_schema("trace", folder .. "/d.json")
end)

test("steps are found without ranges, and are named", function()
  write("bare.json", { steps = 5, ranges = false, graphs = true })
  test.has(run("bare.json", "--decode 4000x32"), "found by repeats", "means of 5")
  test.has(run("bare.json", "--decode 4000x32 --steps 2..3"), "steps 2 to 3, means of 2")
end)

test("with the rows of --data the same step is priced as it was measured", function()
  for name, own in pairs { gpu = { "meta-llama/Llama-3.1-8B", "llama-3.1-8b", "h200-sxm", 2 },
    moe = { "openai/gpt-oss-20b", "gpt-oss-20b", "mi300x", 1 } } do
    local before = synthetic.price(own[2], own[3], own[4], given)
    local factors, sum_s = {}, 0
    for i, each in ipairs(before.of.list) do factors[each.name] = 1.1 + 0.15 * (i % 7) end
    for _, each in ipairs(before.of.list) do
      if each.name == "sampler" or each.table_s == 0 then factors[each.name] = 1 end
      sum_s = sum_s + factors[each.name] * each.table_s
    end
    printed.write(folder .. "/data.json", (synthetic.trace(before, said, { steps = 2, factors = factors,
      graphs = true })))
    local line = ("trace data.json --command 'vllm serve %s --tensor-parallel-size %d' --hardware %s --context 4000 "
      .. "--data %s"):format(own[1], own[4], own[3], name)
    test.has(test.printed(line, folder), "step ")
    local own_s = synthetic.price(own[2], folder .. "/" .. name, own[4], given).priced.time_s - before.of.host_s
    test.check(math.abs(own_s - sum_s) < 0.02 * sum_s, "%s: measured %.5g ms, priced %.5g ms, before %.5g ms", own[2],
      1e3 * sum_s, 1e3 * own_s, 1e3 * before.priced.time_s)
    test.has(printed.read(folder .. "/" .. name .. "/tables.toml"), "[gemm_bf16]", "hash ")
    test.has(test.printed(line, folder), "name a new folder")
  end
  test.has(printed.read(folder .. "/moe/tables.toml"), "[moe_layer_mxfp4]")
end)

test("calibrate takes the times in which no kernel ran as the host's", function()
  local scenario = ([[return { rooflua = 1, model = "llama-3.1-8b", hardware = "h200-sxm", engine = "%s",
    deployment = { tp = 2 }, steps = require "steps.kernels" { host_step_s = 0.0004, host_request_s = 0 },
    workload = require "workloads.poisson" { rate_per_s = 1, num_requests = 4, prompt_tokens = 9,
      output_tokens = 9 } }]])
  printed.write(folder .. "/server.lua", scenario:format "vllm 0.8.0")
  write("gaps.json", { steps = 8, slow = "gate_up", factor = 2, gap_us = 2000, call = "schedule", graphs = true })
  test.has(run("gaps.json", "--context 4000 --json gaps_d.json"), "gate_up takes")
  local out = test.printed("calibrate server.lua --measured gaps_d.json --quiet --json fit.json", folder)
  test.has(out, "rooflua trace", "the host's parameters alone are fitted", "host_step_s = 0.00")
  test.check(not out:find "corrections", "%s", out)
  local found = require("rooflua.json").decode(printed.read(folder .. "/fit.json")).parameters
  test.equal(#found, 1)
  test.check(math.abs(found[1].after / 0.002 - 1) < 0.02, "%g s", found[1].after)
  printed.write(folder .. "/server.lua", scenario:format "vllm 0.24.0")
  -- The host runs beside the GPU: a step lasts as long as the host, 2 ms more than its kernels.
  test.has(test.printed("calibrate server.lua --measured gaps_d.json --quiet --params steps.host_step_s=0.001..0.05",
    folder), "host_step_s = 0.00876")
  local wrong = printed.read(folder .. "/gaps_d.json"):gsub('"idle_s": ?[%d.e-]+', '"idle_s": -1')
  printed.write(folder .. "/bad.json", wrong)
  test.has(test.printed("calibrate server.lua --measured bad.json --quiet", folder), "idle_s")
end)

test("a trace of another model is said to be one", function()
  write("small.json", { steps = 2, graphs = true })
  local out = run("small.json", "--model meta-llama/Llama-3.1-70B --context 4000")
  test.has(out, "of the GEMMs of llama-3.1-70b", "another model")
  test.check(not run("small.json", "--context 4000"):find "another model", "of its own model")
end)

test("ranks are compared, and a rank alone is an error where it is given twice", function()
  write("r0.json", { steps = 2, graphs = true })
  write("r1.json", { steps = 2, graphs = true, slow = "down", factor = 2 })
  test.has(run("r0.json r1.json", "--context 4000"), "r1.json: 2 steps", "shown above", "down takes")
  test.has(run("r0.json r0.json", "--context 4000"), "is given twice")
end)

test("what cannot be compared is refused", function()
  write("ok.json", { steps = 2, graphs = true })
  test.has(run("ok.json", ""), "--context TOKENS")
  test.has(run("ok.json", "--decode 4000x16"), "says 32 decodes, and the command line 16")
  test.has(run("ok.json", "--context 4000 --steps 1..9"), "the trace has 2 steps")
  test.has(run("ok.json", "--context 4000 --steps 2..1"), "expected N..M")
  test.has(run("none.json", "--context 4000"), "none.json", "cannot be read")
  test.has(test.printed("trace ok.json", folder), "--scenario FILE")
  test.has(test.printed("trace --scenario x.lua", folder), "file")
  test.has(test.printed("trace ok.json --command 'vllm serve meta-llama/Llama-3.1-8B'", folder), "--hardware")
  test.has(run("ok.json", "--scenario x.lua"), "give one of them")
  test.has(run("ok.json", "--context 4000 --json ok.json"), "ok.json")
  write("bare.json", { steps = 5, ranges = false, graphs = true })
  test.has(run("bare.json", ""), "says nothing of its batch", "--decode CTXxCOUNT")
end)

test("a batch is what the name of a range says", function()
  local batches = require "rooflua.profile.batches"
  local rows = require "rooflua.profile.rows"
  local known = rows.of()
  local function batch_of(name, context)
    local row, found = rows.step(known.steps, name)
    test.check(row, "%s is no step", name)
    return batches.of_range(found, context)
  end
  local one = batch_of("execute_8192_context_9(sq8155sk8430sqsq7475785sqsk7671310)_generation_37"
    .. "(sq37sk34489sqsq37sqsk34489)")
  test.equal(one.text, "9 prompts of 8,155 new tokens together, 37 decodes at 931 tokens")
  test.equal(#one.given.prefills, 9)
  test.equal(batch_of("step[EXTEND bs=15 toks=15360]").tokens, 15360)
  test.equal(batch_of("step[DECODE bs=32]", 100).text, "32 decodes at 100 tokens")
  test.equal(batch_of "step[DECODE bs=32]", nil)
  test.equal(batch_of("execute_context_2(300)_generation_0(0)").given.prefills[2].new_tokens, 150)
  test.equal(batch_of("[Executor] _forward_step 7: 1 ctx reqs, 64 ctx tokens, 3 gen reqs", 10).tokens, 67)
end)

test("recorded operands decide between GEMMs, and places where there are none", function()
  local placing = require "rooflua.profile.placing"
  local function entry(shape)
    return { class = "gemm", many = false, skip = 0.8, operation = { shapes = { shape } } }
  end
  local sequence = { entry "m=32 k=4096 n=4096 bf16", entry "m=32 k=14336 n=4096 bf16" }
  local function places(shape)
    return placing.align({ { kind = { class = "gemm", shape = shape } } }, sequence)[1]
  end
  test.equal(places "[[32,14336],[14336,4096]]", 2)
  test.equal(places "[[32,4096],[4096,4096]]", 1)
  test.equal(places "[[32,4096],[11008,4096]]", 0)
  test.equal(places "[[32,4096],[4096,4080]]", 1) -- 4,080 padded to 64
  test.equal(placing.align({ { kind = { class = "gemm" } }, { kind = { class = "gemm" } } }, sequence)[2], 2)
  test.equal(placing.align({ { kind = { class = "norm" } } }, sequence)[1], 0)
end)

test("copies beside an all-reduce are a part of it, and the sum is the step where a kernel runs on", function()
  local measured = require "rooflua.profile.measured"
  local kinds = require("rooflua.profile.capture").kinds
  local names = { "nvjet_tst", "multimem_all_reduce_kernel", "Memcpy DtoD (Device -> Device)" }
  local events, numbers = {}, {}
  for i, each in ipairs { { 1, 0, 10 }, { 3, 10, 12 }, { 2, 12, 20 }, { 3, 20, 22 }, { 3, 30, 45 } } do
    events[i - 1] = { name = each[1], shape = -1, kind = each[1] == 3 and kinds.copy or kinds.kernel, in_graph = 0,
      start_ns = each[2], duration_ns = each[3] - each[2] }
    numbers[i - 1] = i - 1
  end
  local file = { events = events, name = function(i) return names[i] end, shape = function() return nil end }
  local function entry(class, name)
    return { class = class, many = false, skip = 0.7, operation = { name = name, shapes = {} } }
  end
  local step = { first = 0, last = 4, start_ns = 0, end_ns = 40, number = 1, expected = { by_name = {} },
    sequence = { entry("gemm", "o"), entry("all_reduce", "attention_all_reduce") } }
  local found = measured.of({ file = file, kernels = { numbers = numbers, count = 5 } }, { step },
    require("rooflua.profile.rows").of())
  test.equal(found.operations.o.ns, 10)
  test.equal(found.operations.attention_all_reduce.ns, 12)
  test.equal(found.operations.attention_all_reduce.kernels, 3)
  test.equal(found.operations.copy.ns, 10)
  test.equal(found.between_ns, 8)
  test.equal(step.named_ns, 22)
end)

os.execute("rm -r " .. folder)
test.finish()
