-- How sure an answer is: run, step and Lua say the same of the same deployment, from what was measured of its kind.
local scene = dofile "tests/scripts/scene.lua"
local test = dofile "tests/scripts/harness.lua"
local json = require "rooflua.json"
local serve = require "rooflua.serve"
local widths = require "rooflua.intervals.widths"

local program = os.getenv "ROOFLUA_PROGRAM"
if not program then
  print "SKIPPED: ROOFLUA_PROGRAM is not set"
  os.exit(0)
end

local function scenario(changes)
  return scene({ model = "gpt-oss-120b", hardware = "b200", engine = "vllm 0.19", deployment = { tp = 2 },
    workload = require "workloads.closed_loop" { clients = 4, num_requests = 16, prompt_tokens = 100,
      output_tokens = 20 } }, changes)
end

local function intervals(changes) return serve.run(scenario(changes)).intervals end

local text = [[
return { model = "gpt-oss-120b", hardware = "b200", engine = "vllm 0.19", deployment = { tp = 2 }, %s
  workload = require "workloads.closed_loop" { clients = 4, num_requests = 16, prompt_tokens = 100,
    output_tokens = 20 } }
]]

local function run(arguments)
  local path = test.folder() .. "/out"
  local status = os.execute(("%s %s >%s 2>&1"):format(program, arguments, path))
  local file = assert(io.open(path))
  local out = file:read "*a"
  file:close()
  test.equal(status, 0, out)
  return out
end

test("a known kind has its own ends, and names how many deployments and the nearest points", function()
  local found = intervals()
  local kind = { engine = "vllm", class = "moe-tp", architecture = "blackwell" }
  local of = widths.of(kind, "unsaturated", "tables")
  test.equal(found.deployments, of.deployments)
  test.at_least(found.deployments, 2)
  test.equal(found.load, "unsaturated")
  test.near(math.log(found.tpot_s.low / found.tpot_s.value), of.tpot[1], 1e-12)
  test.near(math.log(found.tpot_s.high / found.tpot_s.value), of.tpot[2], 1e-12)
  test.equal(found.nearest[1].gpu, "b200")
  test.equal(found.nearest[1].load, "unsaturated")
  test.at_least(found.nearest[1].points, 10)
  test.check(found.text[1]:find(("; %d deployments like this one)"):format(found.deployments), 1, true), found.text[1])
end)

test("a run that is over before it is steady is wider, and says why", function()
  local load = require "workloads.closed_loop"
  local function of(clients, requests)
    return intervals { workload = load { clients = clients, num_requests = requests, prompt_tokens = 100,
      output_tokens = 20 } }
  end
  local steady, burst = of(4, 16), of(4, 4)
  test.equal(steady.transient, nil)
  test.at_least(burst.transient.deployments, 20)
  test.check(table.concat(burst.text, " "):find("less than 3 times its mean E2E", 1, true), "%s", burst.text[1])
  for _, metric in ipairs { "tpot_s", "ttft_s", "e2e_s" } do
    local function high(found) return found[metric].high / found[metric].value end
    test.check(high(burst) > high(steady), "%s: %g", metric, high(burst))
  end
  test.equal(of(1, 1).transient, nil, "one request at a time is steady")
end)

test("what an engine does not fuse was compared with it, and what a scenario corrects was not", function()
  local own = { engine = "sglang 0.5.14", model = "llama-3.1-8b", hardware = "h100-sxm", deployment = { tp = 2 } }
  test.check(intervals(own).tpot_s, intervals(own).unknown)
  own.corrections = { require "corrections.norm_apart" { longer_s = 1e-6 } }
  test.check(intervals(own).unknown:find("with the correction norm_apart", 1, true))
end)

test("on tables of another GPU it is as wide as without tables, and names both GPUs", function()
  local function of(hardware)
    return intervals { model = "llama-3.1-8b", hardware = hardware, deployment = { tp = 1 } }
  end
  local own, borrowed = of "h100-sxm", of "h100-pcie"
  test.equal(own.borrowed, nil)
  test.equal(borrowed.borrowed.from, "h100-sxm")
  test.equal(borrowed.borrowed.gpu, "h100-pcie")
  test.check(borrowed.borrowed.share > 0.2)
  test.equal(borrowed.deployments, 0)
  for _, metric in ipairs { "tpot_s", "ttft_s", "e2e_s" } do
    local function width(found) return found[metric].high / found[metric].low end
    test.check(width(borrowed) > 1.2 * width(own), metric)
  end
  local said = table.concat(borrowed.text, "\n")
  test.check(said:find("rests on tables of h100-sxm, read for h100-pcie", 1, true), said)
end)

test("the interval follows the engine", function()
  local seen = {}
  for _, engine in ipairs { "vllm 0.19", "sglang", "trtllm" } do
    local found = intervals { engine = engine }
    test.equal(found.kinds[1].engine, engine:match "^%a+")
    seen[("%.6f"):format(found.tpot_s.high / found.tpot_s.value)] = true
  end
  local count = 0
  for _ in pairs(seen) do count = count + 1 end
  test.equal(count, 3, "three engines, three widths")
  local by_scheduler = intervals { engine = nil, scheduler = "sglang" }
  test.equal(by_scheduler.kinds[1].engine, "vllm", "the engine that no scenario states is the default")
end)

test("a kind that was never measured has the interval of most kinds, and says so", function()
  local found = intervals { hardware = "l40s", deployment = { tp = 4 } }
  test.equal(found.deployments, 0)
  test.check(found.text[1]:find("no deployment like this one was measured: as wide as that of most kinds", 1, true),
    found.text[1])
  local basis, further, all = found.modelled and "models" or "tables", 0, 0
  for _, class in ipairs { "dense", "moe-tp", "tep", "dpa", "pd" } do
    for _, engine in ipairs { "vllm", "sglang", "trtllm" } do
      for _, architecture in ipairs { "hopper", "blackwell" } do
        local of = widths.of({ engine = engine, class = class, architecture = architecture }, "unsaturated", basis)
        for _, metric in ipairs(widths.metrics) do
          local one, own = found[metric .. "_s"], of[metric]
          all = all + 2
          if math.log(one.low / one.value) > own[1] + 1e-9 then further = further + 1 end
          if math.log(one.high / one.value) < own[2] - 1e-9 then further = further + 1 end
        end
      end
    end
  end
  test.check(further > 0 and further <= 0.1 * all, "%d of %d ends of kinds are further out", further, all)
end)

test("what is measured of another vendor's GPUs stands behind an answer for them", function()
  local found = intervals { hardware = "mi300x", engine = "sglang", deployment = { tp = 4 } }
  test.at_least(found.deployments, 2)
  test.equal(found.nearest[1].gpu, "mi300x")
  test.at_least(found.modelled.share, 0.2)
  test.equal(found.modelled.fitted, true)
end)

test("modelled kernels with constants of another family make an interval wider, and it says so", function()
  local with, without = intervals(), intervals { mfu = { tables = false } }
  test.at_least(without.modelled.share, 0.7)
  test.equal(without.modelled.fitted, false)
  test.check(without.tpot_s.high / without.tpot_s.low > 1.1 * with.tpot_s.high / with.tpot_s.low, "wider")
  test.check(table.concat(without.text, "\n"):find("constants of another family of GPUs", 1, true),
    table.concat(without.text, "\n"))
  local hopper = intervals { hardware = "h200-sxm", mfu = { tables = false } }
  test.equal(hopper.modelled.fitted, true, "Hopper has constants of its own")
end)

test("nodes that no measured deployment has make it as wide as of a kind never measured", function()
  local ends = require "rooflua.intervals.ends"
  local residuals = require "rooflua.intervals.residuals"
  local function differs(found, basis)
    local unseen = ends.unseen(residuals, found.load, basis)
    for _, metric in ipairs(ends.metrics) do
      local one = found[metric .. "_s"]
      if math.log(one.low / one.value) > unseen[metric][1] + 1e-9 then return true end
      if math.log(one.high / one.value) < unseen[metric][2] - 1e-9 then return true end
    end
    return false
  end
  local function of(more)
    local found = intervals(more)
    test.at_least(found.deployments, 1)
    return found, table.concat(found.text, " ")
  end
  local plain = of {}
  test.equal(#plain.unlike, 0)
  test.check(differs(plain, plain.modelled and "models" or "tables"), "a kind that was measured has ends of its own")
  for _, each in ipairs {
    { { hardware = "h200-sxm", deployment = { tp = 16 }, model = "deepseek-v3" }, "cross the network" } } do
    local found, said = of(each[1])
    test.check(said:find(each[2], 1, true), said)
    test.check(not differs(found, found.modelled and "models" or "tables"), each[2])
  end
end)

test("a GPU without tables is wider by what others were off that were priced without theirs", function()
  local distances = require "rooflua.intervals.distances"
  local found = intervals { hardware = "gb10", deployment = { tp = 1 } }
  test.equal(found.distance.rows, 0)
  test.equal(found.distance.gpus, distances.gpus)
  test.equal(found.modelled, nil)
  test.has(table.concat(found.text, "\n"), "the datasheet of the GPU and the nearest family")
  local one = found.tpot_s
  test.at_least(math.log(one.high / one.value), distances[1].decode[2])
  test.at_least(distances[1].decode[1], math.log(one.low / one.value))
  for i = 2, #distances do
    for _, step in ipairs { "decode", "prefill" } do
      local wide, narrow = distances[i - 1][step], distances[i][step]
      test.at_least(1.02 * (wide[2] - wide[1]), narrow[2] - narrow[1], step .. " of " .. distances[i].name)
    end
  end
  test.equal(intervals({ hardware = "b200", mfu = { tables = false } }).distance, nil, "it has tables")
end)

test("where requests wait for seats the load is saturated", function()
  local found = intervals { deployment = { tp = 2, max_num_seqs = 1 } }
  test.equal(found.load, "saturated")
  test.check(found.about:find("saturated; ", 1, true), found.about)
end)

test("split engines are of class pd; attention on data-parallel ranks of dpa, whole experts of tep", function()
  test.equal(intervals { replicas = { { role = "prefill" }, { role = "decode" } },
    network = { bytes_per_s = 1e11, alpha_s = 1e-4 } }.kinds[1].class, "pd")
  test.equal(intervals { deployment = { tp = 2, ep = 2 } }.kinds[1].class, "tep")
  test.equal(intervals { deployment = { dp = 2, ep = 2 } }.kinds[1].class, "dpa")
  test.equal(intervals { model = "llama-3.1-8b" }.kinds[1].class, "dense")
  local stages = intervals { model = "llama-3.1-8b", deployment = { pp = 2 } }
  test.equal(stages.kinds[1].class .. " " .. stages.deployments, "pp 0", "no pipeline was measured")
end)

test("replicas of two kinds have ends that hold for both", function()
  local b200, h200 = intervals(), intervals { hardware = "h200-sxm" }
  local both = intervals { replicas = { { hardware = "b200" }, { hardware = "h200-sxm" } } }
  test.equal(#both.kinds, 2)
  test.equal(both.deployments, math.min(b200.deployments, h200.deployments))
  for _, each in ipairs { b200, h200 } do
    test.at_least(both.e2e_s.high / both.e2e_s.value + 2e-2, each.e2e_s.high / each.e2e_s.value)
  end
end)

test("other step models, parameters, corrections and GPUs have no known interval, and say why", function()
  local Own = require "rooflua.policy".define { name = "own", doc = "A step of one millisecond.", params = {} }
  function Own:time() return 1e-3 end -- luacheck: ignore 212
  for _, each in ipairs {
    { { steps = Own {} }, "the step model own" },
    { { steps = "roofline_v1" }, "the step model roofline_v1" },
    { { steps = require "steps.kernels" { host_step_s = 1e-3 } }, "steps.host_step_s of the scenario" },
    { { corrections = { require "corrections.step_overhead" {} } }, "the correction step_overhead" },
    { { mfu = { model = { gemm_math = 0.5 } } }, "constants of modelled kernels that the scenario states" },
    { { hardware = { from = "b200", sms = 100 } }, "other figures than its own" },
  } do
    local found = intervals(each[1])
    test.check(found.unknown, "%s: %s", each[2], json.encode(found.text))
    test.check(found.unknown:find("no interval is known for", 1, true), found.unknown)
    test.check(found.unknown:find(each[2], 1, true), found.unknown)
    test.equal(found.tpot_s, nil)
    test.equal(found.text[1], found.unknown)
  end
  test.equal(intervals { steps = "kernels" }.unknown, nil, "the name alone changes nothing")
end)

test("text, page, document and Lua have the same figures of a run", function()
  local path = test.file("one.lua", text:format "")
  local page = test.folder() .. "/page.html"
  local document = json.decode(run("run " .. path .. " --json - --html " .. page))
  local found, own = document.variants[1].intervals, intervals()
  for _, name in ipairs { "tpot_s", "ttft_s", "e2e_s" } do
    for _, field in ipairs { "value", "low", "high", "text" } do
      test.equal(found[name][field], own[name][field], name .. "." .. field)
    end
    test.equal(found[name].value, document.variants[1].summary[name].mean, name)
  end
  local said = run("run " .. path)
  test.check(said:find("interval  TPOT " .. own.tpot_s.text:sub(1, -2), 1, true), said)
  local file = assert(io.open(page))
  local html = file:read "*a"
  file:close()
  for _, part in ipairs { "How sure", own.tpot_s.text, own.ttft_s.text, own.e2e_s.text } do
    test.check(html:find(part, 1, true), part)
  end
end)

test("without intervals every output is as if there were none", function()
  local path, off = test.file("on.lua", text:format ""), test.file("off.lua", text:format 'intervals = "off",')
  local plain = run("run " .. path .. " --intervals off")
  test.equal(run("run " .. off), plain, "the key and the option")
  local notes = plain:match "\n(modelled kernels: .*)$"
  test.equal((run("run " .. path):gsub("interval  .*$", "") .. "\n" .. notes), plain, "the report in front of them")
  test.check(not plain:find("interval", 1, true), plain)
  local with, without = json.decode(run("run " .. path .. " --json -")),
    json.decode(run("run " .. path .. " --intervals off --json -"))
  with.variants[1].intervals, without.set = nil, nil
  test.equal(json.encode(with), json.encode(without), "the document")
  test.equal(serve.run(scenario { intervals = "off" }).intervals, nil)
  test.raises("intervals: unknown intervals 'none'", function() serve.run(scenario { intervals = "none" }) end)
  local step = "step --model llama-3.1-8b --hardware h200-sxm --decode 2048x64"
  test.check(not run(step .. " --intervals off"):find("interval", 1, true))
  local priced = json.decode(run(step .. " --intervals off --json -"))
  test.equal(priced.variants[1].intervals, nil)
  test.equal(priced.variants[1].price[1].interval, nil)
  local page = test.folder() .. "/off.html"
  run("run " .. path .. " --intervals off --html " .. page)
  local file = assert(io.open(page))
  test.check(not file:read "*a":find("How sure", 1, true), "the page")
  file:close()
end)

test("a step of decodes has the interval of TPOT, one with prompts that of TTFT", function()
  local function step(batch)
    local document = json.decode(run("step --model llama-3.1-8b --hardware h200-sxm --json - " .. batch))
    local variant = document.variants[1]
    test.equal(variant.price[1].interval.low_s, variant.intervals.step_s.low)
    test.equal(variant.price[1].interval.high_s, variant.intervals.step_s.high)
    return variant.intervals
  end
  local of = widths.of({ engine = "vllm", class = "dense", architecture = "hopper" }, "unsaturated", "tables")
  local decode, prefill = step "--decode 2048x64", step "--prefill 0+4096 --decode 2048x64"
  test.near(math.log(decode.step_s.high / decode.step_s.value), of.tpot[2], 0.1)
  test.near(math.log(prefill.step_s.high / prefill.step_s.value), of.ttft[2], 0.1)
  local said = run "step --model llama-3.1-8b --hardware h200-sxm --decode 2048x64"
  test.check(said:find(("(%s;"):format(decode.step_s.text:match "%((.*)%)"), 1, true), said)
  said = run "step --model llama-3.1-8b --hardware h200-sxm --decode 2048x64 --steps roofline_v1"
  test.check(said:find("no interval is known for the step model roofline_v1", 1, true), said)
end)

test("many variants have intervals in their documents, and one line for each kind in the report", function()
  local path = test.file("many.lua", text:format 'vary = { hardware = { "b200", "h200-sxm" }, seed = { 1, 2 } },')
  local document = json.decode(run("run " .. path .. " --jobs 2 --json -"))
  test.equal(#document.variants, 4)
  for _, variant in ipairs(document.variants) do test.check(variant.intervals.tpot_s.low > 0, variant.name) end
  local _, lines = run("run " .. path):gsub("90 %% intervals: ", "")
  test.equal(lines, 2)
end)

test("a plan says of each rank what was measured of its kind", function()
  local document = json.decode(run("plan --model llama-3.1-8b --workload 500+50 --rate 5 --slo tpot_p99=100ms "
    .. "--gpus h100-sxm:2@3.00 --gpus l40s:2@1.00 --tp 1 --seats 64 --budgets 2048 --replicates 2 --json -"))
  local seen = {}
  for _, rank in ipairs(document.variants and document.variants[1].plan.ranks or document.ranks) do
    local ada = rank.name:find "L40S" ~= nil
    seen[ada] = true
    test.equal(rank.measured.deployments == 0, ada, rank.name)
    test.check(rank.measured.tpot.low < 1 and rank.measured.tpot.high > 1)
  end
  test.check(seen[true] and seen[false], "two GPUs")
end)

test("a run in which nothing completes has no interval, and says so", function()
  local found = intervals { workload = require "workloads.closed_loop" { clients = 1, num_requests = 1,
    prompt_tokens = 5000, output_tokens = 20 }, deployment = { tp = 2, max_model_len = 100 } }
  test.check(found.unknown:find("no request was completed", 1, true), found.unknown)
end)

test("a plan says how sure it is of each rank, unless its scenario wants none", function()
  local function planned(more)
    local path = test.file("plan.lua", [[return { rooflua = 1, kind = "plan", model = "llama-3.1-8b", ]] .. more .. [[
      workload = require "workloads.poisson" { prompt_tokens = 500, output_tokens = 40 },
      plan = { load = { rate_per_s = 10 }, slo = { ttft_s_p95 = 0.4 }, replicates = 0, requests = 50,
        gpus = { { "h100-sxm", most = 1, price_per_hour = 3 } } } }]])
    local said, document = run("run " .. path), json.decode(run("run " .. path .. " --json -"))
    return said:find("90 % intervals", 1, true) ~= nil, document.variants[1].plan.ranks[1].measured ~= nil
  end
  local told, stands = planned ""
  test.check(told and stands)
  told, stands = planned 'intervals = "off",'
  test.check(not told and not stands)
end)

test.finish()
