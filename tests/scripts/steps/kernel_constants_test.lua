-- The fitted constants of modelled kernels: set by a scenario, refused, varied, and told of in results.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local declared = require "rooflua.applied.declared"
local help = require "rooflua.help.topics"
local kinds = require "rooflua.program.kinds"
local opening = require "rooflua.runs.opening"
local Prepared = require "rooflua.machine.prepared"
local Reader = require "rooflua.scenario.reader"

local serve, mfu, spec = rooflua.serve, rooflua.mfu, rooflua.spec
local poisson = require "workloads.poisson"

local function priced(hardware, more)
  local given = scene({ kind = "price", model = "qwen3-8b", hardware = hardware, engine = "vllm 0.24",
    deployment = { tp = 2 }, price = { { decodes = 8, decode_context_tokens = 8000 } } }, more)
  return kinds.run(opening.table(given), 1)
end

local function refused(more, part)
  local ok, problem = pcall(priced, "h100-sxm", more)
  test.check(not ok and tostring(problem):find(part, 1, true) ~= nil, tostring(problem))
end

test("a scenario sets a constant, of kernels and of collectives", function()
  local as_fitted = priced("h20").time_s
  test.check(priced("h20", { mfu = { model = { kernel_launch_s = 9e-6 } } }).time_s > as_fitted)
  test.check(priced("h20", { mfu = { model = { all_reduce_2_s = 90e-6 } } }).time_s > as_fitted)
  test.equal(priced("h20", { mfu = { model = { kernel_launch_s = 2.2e-6 } } }).time_s, as_fitted)
end)

test("the GPU that step models see has the constants too", function()
  local prepared = Prepared.of(Reader.new "s",
    { model = "qwen3-8b", hardware = "h20", mfu = { model = { gemm_math = 0.5 } } })
  test.equal(prepared.hardware.constants.gemm_math, 0.5)
  test.equal(prepared.mfu.hardware.constants.gemm_math, 0.5)
  test.equal(spec.hardware("h20").constants.gemm_math, 0.85)
end)

test("a database has constants of its own", function()
  local function latency(db) return (select(2, db:gemm(64, 4096, 4096))).latency_s end
  local slow = mfu.open { gpu = "h20", model = { kernel_launch_s = 12.2e-6 } }
  test.near(latency(slow) - latency(mfu.open "h20"), 10e-6, 1e-12)
end)

test("unknown names, values outside the range and other things than numbers are refused", function()
  refused({ mfu = { model = { gemm_mth = 0.5 } } },
    "mfu.model.gemm_mth: unknown constant 'gemm_mth'; did you mean 'gemm_math'?")
  refused({ mfu = { model = { gemm_math = 1.5 } } }, "mfu.model.gemm_math: expected 0.01 to 1, found 1.5")
  refused({ mfu = { model = { gemm_math = "fast" } } }, "gemm_math: expected a number, found text")
  refused({ mfu = { model = 3 } }, "mfu.model: expected a table")
end)

test("help lists every constant with its source", function()
  local text = help.text "mfu.model"
  for name in pairs(spec.hardware("h20").constants) do
    test.check(text:find("  " .. name .. " = ", 1, true) ~= nil, name)
  end
  test.check(text:find("source: fitted: bf16 GEMM, H100 and H200", 1, true) ~= nil)
  test.check(text:find("taken over, none fitted: Ada, Ampere, Ascend, Blackwell", 1, true) ~= nil)
end)

test("a constant is a parameter that fits and searches can vary, with its declared range", function()
  local given = { model = "qwen3-8b", hardware = "h20" }
  local range = declared.range(Reader.new "s", given, "mfu.model.gemm_math", true, "params")
  test.equal(range.min, 0.01)
  test.equal(range.max, 1)
  test.equal(range.now, 0.85)
  for _, each in ipairs(declared.all(Reader.new "s", given)) do
    test.check(not each.path:find "^mfu", each.path)
  end
end)

local note = "modelled kernels: constants fitted on Hopper (H100, H200), none on Ampere"

test("a result of a family without a fit has the note, one of Hopper has none", function()
  local notes = priced("a100-sxm-80gb").notes
  test.equal(#notes, 1)
  test.equal(notes[1], note)
  test.equal(priced("h100-sxm").notes, nil)
end)

test("a run has the notes of all its replicas, each once", function()
  local function run(replicas)
    return serve.run { model = "qwen3-8b", hardware = "h100-sxm", engine = "vllm 0.24", replicas = replicas,
      workload = poisson { rate_per_s = 4, num_requests = 8 } }.notes
  end
  local notes = run { { hardware = "a100-sxm-80gb", count = 2 }, {} }
  test.equal(#notes, 1)
  test.equal(notes[1], note)
  test.equal(run(2), nil)
end)

test("time that is not modelled needs no note", function()
  local notes = require "rooflua.machine.notes"
  local prepared = { { hardware = spec.hardware "a100-sxm-80gb" } }
  test.equal(notes.of(prepared, { measured = 1 }), nil)
  test.equal(notes.of(prepared, { measured = 0.9, modelled = 0.1 })[1], note)
end)

test.finish()
