-- A value that changes nothing where it should is an error, or takes effect.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local rooflua = require "rooflua"
local opening = require "rooflua.runs.opening"
local mfu = rooflua.mfu

--- Whether call(...) raises an error with this part.
local function raises(part, call, ...)
  local arguments, count = { ... }, select("#", ...)
  test.raises(part, function() call(unpack(arguments, 1, count)) end)
end

local function opened(sets, more)
  local given = scene({ kind = "price", price = { { decodes = 1 } } }, more)
  return opening.table(given, { set = sets, file = "made up" })
end

test("--set of what every variant replaces is an error that says what to change", function()
  local function refused(set, more)
    test.raises("has no effect: `", function() opened({ set }, more) end)
  end
  refused("hardware=h20", { vary = { hardware = { "h100-sxm", "h200-sxm" } } })
  refused("deployment.tp=2", { vary = { ["deployment.tp"] = { 1, 4 } } })
  refused("steps.host_step_s=1e-3", { vary = { steps = { "kernels", "roofline_v2" } } })
  refused("steps.host_step_s=1e-3", { sweep = { n = 2, params = { ["steps.host_step_s"] = { 0.001, 0.002 } } } })
  refused("steps.host_step_s=1e-3", { sweep = { n = 2, params = { "steps.host_step_s" } } })
end)

test("--set of a key without its group says the group", function()
  raises("expert_gpus is a key of deployment (known:", opened, { "expert_gpus=8" })
  raises("max_loras is a key of adapters (known:", opened, { "max_loras=8" })
end)

test("--set of a key that is set already is an error that names both", function()
  test.raises("--set deployment.tp=4: deployment.tp is set already, by --set deployment.tp=2; give one of them",
    function() opened { "deployment.tp=2", "deployment.pp=2", "deployment.tp=4" } end)
end)

test("--set of anything else takes effect, also beside what varies", function()
  local both = opened({ "deployment.tp=2" }, { vary = { ["deployment.pp"] = { 1, 2 } } })
  test.equal(both.given.deployment.tp, 2)
  test.equal(opened({ 'vary={"deployment.tp": [2]}' }, { vary = { ["deployment.tp"] = { 1 } } }).given.vary
    ["deployment.tp"][1], 2)
  test.equal(opened({ "steps.host_step_s=1e-3" }, { vary = { ["steps.sampler_s"] = { 0, 1e-4 } } }).given.steps
    .host_step_s, 1e-3)
end)

--- A scenario whose `vary` has cases with these sets, and `--set` of a text.
local function with_cases(cases, set, more)
  local listed = {}
  for i, case in ipairs(cases) do listed[i] = { label = "case " .. i, set = case } end
  local given = { vary = { cases = listed } }
  for key, value in pairs(more or {}) do given[key] = value end
  return opened({ set }, given)
end

local function cases_refuse(part, ...)
  raises(part, with_cases, ...)
end

test("--set of what every case sets is an error that names the cases", function()
  local what = "has no effect: every case of `vary.cases` sets deployment.tp of its own; change the cases in the file, "
    .. "or leave the cases out: --set 'vary={}'"
  cases_refuse(what, { { ["deployment.tp"] = 1 }, { ["deployment.tp"] = 2 } }, "deployment.tp=4")
  cases_refuse(what, { { deployment = { pp = 2 } }, { deployment = {} } }, "deployment.tp=4")
  cases_refuse(what, { { deployment = {} }, { ["deployment.tp"] = 2 } }, "deployment.tp=4")
  cases_refuse("--set steps.host_step_s=1: has no effect", { { steps = "kernels" }, { steps = "infersim" } },
    "steps.host_step_s=1")
  cases_refuse("--set mfu=nearest: has no effect", { { ["mfu.lookup"] = "nearest" }, { mfu = "nearest" } },
    "mfu=nearest")
  cases_refuse("sets deployment of its own", { { ["deployment.tp"] = 1 }, { ["deployment.tp"] = 2 } },
    'deployment={"tp":4}')
  cases_refuse("sets deployment of its own", { { deployment = {} }, { deployment = { tp = 2 } } }, "deployment={}")
end)

test("--set of what some cases leave takes effect", function()
  local some = { { ["deployment.tp"] = 1 }, { ["deployment.pp"] = 2 } }
  test.equal(with_cases(some, "deployment.tp=4").given.deployment.tp, 4)
  with_cases({ {}, { deployment = { tp = 2 } } }, "deployment.tp=4")
  with_cases({ { ["deployment.tp"] = 1 } }, 'deployment={"tp":4,"pp":2}')
  with_cases({ { ["hardware.memory_gb"] = 50 } }, "hardware=h200-sxm")
  with_cases({ { ["steps.host_step_s"] = 0 } }, "steps=kernels")
  -- The table takes pp away from the deployment, which the case leaves as it is.
  with_cases({ { ["deployment.tp"] = 1 } }, 'deployment={"tp":4}', { deployment = { pp = 2 } })
  -- `cases` is a name here and `hardware` in `vary` as well: its values set another key.
  opened({ "hardware=h20" }, { vary = { hardware = { { label = "a", set = { ["deployment.tp"] = 2 } } } } })
end)

test("lists, functions and cases with values replace their key like others", function()
  local function by_key(key, values, set) raises("has no effect: `vary` gives", opened, { set }, { vary = {
    [key] = values } }) end
  local function labelled(a, b) return { { label = "a", value = a }, { label = "b", value = b } } end
  by_key("price", labelled({ { decodes = 1 } }, { { decodes = 2 } }), 'price=[{"decodes":3}]')
  by_key("static", labelled(print, type), "static={}")
  by_key("deployment.tp", labelled(1, 2), "deployment.tp=4")
  by_key("corrections", labelled({}, { "step_overhead" }), "corrections=[]")
  local mixed = { { label = "one", value = 1 }, { label = "two", set = { deployment = { tp = 2 } } } }
  raises("every case of `vary.deployment.tp` sets", opened, { "deployment.tp=4" }, { vary = {
    ["deployment.tp"] = mixed } })
  -- An entry of a list has a position and a name.
  local corrections = { corrections = { "step_overhead" } }
  cases_refuse("has no effect", { { ["corrections.1.overhead_s"] = 1 } }, "corrections.step_overhead.overhead_s=2",
    corrections)
  with_cases({ { ["corrections.1.overhead_s"] = 1 } }, "corrections.step_overhead=step_overhead", corrections)
end)

test("--seed, a launch command and the one variant that runs follow the same rule", function()
  local seeds = { vary = { seed = { 1, 2 } } }
  local function of(more, options)
    local given = scene({ kind = "price", price = { { decodes = 1 } } }, more)
    options.file = "made up"
    return opening.table(given, options)
  end
  raises("--seed 3: has no effect: `vary` gives values of its own to seed", of, seeds, { seed = 3 })
  raises("--set seed=3: has no effect", of, seeds, { set = { "seed=3" } })
  local command = { text = "vllm serve Qwen/Qwen3-8B", engine = "vllm 0.19" }
  local cases = { { label = "a", set = { model = "qwen3-32b" } }, { label = "b", set = { model = "qwen3-8b" } } }
  raises("--command: has no effect: every case of `vary.m` sets model", of, { vary = { m = cases } },
    { command = command })
  cases[1].set = {}
  test.equal(of({ vary = { m = cases } }, { command = command }).given.model, "Qwen/Qwen3-8B")
  of({ vary = { m = cases } }, { set = { "model=qwen3-8b" } })
  raises("has no effect: variant 2, m=b, sets model of its own", of, { vary = { m = cases } },
    { set = { "model=qwen3-8b" }, variant = 2 })
  of({ vary = { m = cases } }, { set = { "model=qwen3-8b" }, variant = 1 })
end)

test("what every run of a search replaces is refused as well", function()
  local function of(search, set)
    local workload = { rate_per_s = 1, prompt_tokens = 100, output_tokens = 10, num_requests = 10 }
    return opening.table({ kind = "search", model = "llama-3.1-8b", hardware = "h100-sxm", search = search,
      workload = require "workloads.poisson"(workload) }, { file = "made up", set = { set } })
  end
  local slo = { ttft_s_p99 = 1 }
  local rate = { goal = "rate", slo = slo, min = 1, max = 4 }
  raises("has no effect: `search` gives values of its own to workload.rate_per_s; change `search.min`", of, rate,
    "workload.rate_per_s=3")
  of(rate, "workload.prompt_tokens=200")
  of({ goal = "rate", slo = slo }, "workload.rate_per_s=3") -- the range follows from the value
  of({ goal = "rate", slo = slo, min = 1, max = 4, parameter = "workload.prompt_tokens" }, "workload.rate_per_s=3")
  raises("has no effect: `search.seeds` gives", of, { goal = "rate", slo = slo, min = 1, max = 4, seeds = 2 },
    "seed=3")
  local pareto = { goal = "pareto", vary = { ["deployment.tp"] = { 1, 2 } } }
  raises("has no effect: `search.vary` gives values of its own to deployment.tp", of, pareto, "deployment.tp=4")
  of(pareto, "deployment.pp=2")
  local deployments = { { name = "a", cost_per_hour = 1, set = { ["deployment.tp"] = 1 } },
    { name = "b", cost_per_hour = 2, set = { deployment = { tp = 2 } } } }
  local cheapest = { goal = "cheapest", slo = slo, deployments = deployments }
  raises("every case of `search.deployments` sets deployment.tp", of, cheapest, "deployment.tp=4")
  of(cheapest, "deployment.pp=2")
end)

test("mfu.gpu takes the tables of another GPU, and an unknown one is an error", function()
  local question = { op = "gemm", dtype = "bf16", m = 64, k = 4096, n = 4096 }
  local function latency(options)
    local _, answer = mfu.open(options):lookup(question)
    return answer.latency_s
  end
  local own, lent = latency { hardware = "h100-sxm" }, latency { hardware = "h100-sxm", gpu = "l40s" }
  test.equal(lent, latency { hardware = "l40s" })
  test.check(own ~= lent, "the tables of the L40S are others")
  test.equal(latency { hardware = "h100-sxm", gpu = "h100" }, own)
  test.raises("nonsense", function() mfu.open { hardware = "h100-sxm", gpu = "nonsense" } end)
  local Prepared, Reader = require "rooflua.machine.prepared", require "rooflua.scenario.reader"
  local given = opened({ "mfu.gpu=l40s" }).given
  local _, answer = Prepared.of(Reader.new "made up", given).mfu:lookup(question)
  test.equal(answer.latency_s, lent)
end)

local function step_s(steps, weights, model)
  local Prepared, Reader = require "rooflua.machine.prepared", require "rooflua.scenario.reader"
  local given = opened({}, { model = model or "llama-3.1-8b", hardware = "b200", steps = steps,
    deployment = { weights = weights, tp = model and 8 or 1 } }).given
  return require("rooflua.machine.prices").price(Prepared.of(Reader.new "made up", given)).time_s
end

test("infersim refuses weights in a format that it does not have", function()
  for _, format in ipairs { "int4", "int8", "mxfp4", "nvfp4", "fp32" } do
    test.raises("infersim: weights in " .. format, function() step_s("infersim", format) end)
  end
end)

test("the rooflines price every number format that the engine has", function()
  for _, steps in ipairs { "roofline_v1", "roofline_v2" } do
    for _, format in ipairs(mfu.formats()) do
      if format.name ~= "fp32" and not format.of_cache then
        test.check(step_s(steps, format.name) > 0, steps .. ", " .. format.name)
      end
    end
    test.check(step_s(steps, nil, "kimi-k2.5") > 0, steps)
  end
end)

test("a plan refuses keys that it chooses itself, and limits that no bound reads", function()
  local kinds = require "rooflua.program.kinds"
  local function check(more, slo)
    local given = { kind = "plan", model = "llama-3.1-8b",
      workload = require "workloads.poisson" { prompt_tokens = 500, output_tokens = 20 },
      plan = { load = { rate_per_s = 5 }, slo = slo or { ttft_s_p99 = 20 },
        gpus = { { "h100-sxm", most = 8, price_per_hour = 3 } } } }
    for key, value in pairs(more) do given[key] = value end
    kinds.check(opening.table(given, { file = "made up" }))
  end
  for _, key in ipairs { "tp", "pp", "dp", "ep", "max_num_seqs", "max_num_batched_tokens" } do
    test.raises("a plan chooses it", function() check { deployment = { [key] = 2 } } end)
  end
  test.raises("say engine = \"sglang\" at the top", function() check { deployment = { engine = "sglang" } } end)
  test.raises("no bound of plan.slo reads", function() check { slo = { ttft_s = 0.5 } } end)
  check({ slo = { ttft_s = 0.5 } }, { slo_attainment_frac = 0.9 })
  check { deployment = { memory_utilization = 0.8, kv = "fp8" }, engine = "sglang 0.5.9" }
end)

test("a changed GPU tells what its keys change, and in which words they are said", function()
  local spec, specs = require "rooflua.spec", require "rooflua.border.specs"
  local function refused(part, keys)
    keys.from = "h100-sxm"
    test.raises(part, function() spec.hardware(keys) end)
  end
  refused("l2_bytes: has no effect", { l2_bytes = 1e8 })
  refused("hardware.l2_mib: has no effect", { l2_mib = 100 })
  refused("hardware.memory_bytes: says the same as memory_gb", { memory_gb = 100, memory_bytes = 1e11 })
  local function like(one, other)
    one.from, other.from = "h100-sxm", "h100-sxm"
    test.check(specs.same(spec.hardware(one), spec.hardware(other)))
  end
  like({ peak_tflop_per_s = { bf16 = 500 } }, { peak_flop_per_s = { bf16 = 500e12 } })
  like({ memory_gb = 100 }, { memory_bytes = 100e9 })
  like({ clock_mhz = 1000, usable_memory_gib = 64 }, { clock_hz = 1e9, usable_memory_bytes = 64 * 2 ^ 30 })
  local base, more = spec.hardware "h100-sxm", spec.hardware { from = "h100-sxm", memory_bytes = 160e9 }
  test.near(more.usable_memory_bytes / more.memory_bytes, base.usable_memory_bytes / base.memory_bytes, 1e-6)
  test.equal(spec.hardware { from = "h100-sxm", memory_bytes = 160e9, usable_memory_bytes = 90e9 }.usable_memory_bytes,
    90e9)
end)

test("figures that tables do not follow are told with the share of time that they act on", function()
  local Prepared, Reader = require "rooflua.machine.prepared", require "rooflua.scenario.reader"
  local function notes_of(hardware, mfu_keys)
    local given = opened({}, { hardware = hardware, mfu = mfu_keys }).given
    local priced = require("rooflua.machine.prices").price(Prepared.of(Reader.new "made up", given))
    return table.concat(priced.notes, "\n")
  end
  local told = notes_of { from = "h100-sxm", sms = 66, clock_hz = 1e9 }
  test.check(told:find "h100%-sxm%+: clock_hz and sms act on modelled kernels only, which are %d+%.%d %% of the time",
    "%s", told)
  local with_constants = notes_of({ from = "h100-sxm", sms = 66 }, { model = { kernel_launch_s = 1e-6 } })
  test.check(with_constants:find "sms acts on modelled")
  test.check(not notes_of({ from = "h100-sxm", memory_bytes = 90e9 }):find "acts? on modelled")
  test.check(not notes_of("h100-sxm"):find "acts? on modelled")
end)

test.finish()
