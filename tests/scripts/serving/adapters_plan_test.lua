-- Low-rank adapters in plans and in launch commands: memory, what is refused, flags that are written and read again.
local test = dofile "tests/scripts/harness.lua"
local setup = dofile "tests/scripts/plan/setup.lua"
local artefacts = require "rooflua.plan.artefacts"
local command = require "rooflua.applied.command"
local deploy = require "rooflua.plan.deploy"
local flags = require "rooflua.plan.flags"
local opening = require "rooflua.runs.opening"
local serve = require "rooflua.serve"

local function copied(given, more)
  local out = {}
  for _, each in ipairs { given, more or {} } do
    for key, value in pairs(each) do out[key] = value end
  end
  return out
end

--- A plan of one rank whose scenario has adapters (nil: none).
local function planned(adapters, axes, more, model)
  local own = copied({ engines = { "vllm" }, tp = { 1 }, max_num_seqs = { 32 }, max_num_batched_tokens = { 1024 } },
    axes)
  return setup.report(copied({ ranks = 1, candidates = require "candidates.ladder" (own),
    gpus = { { "h100-sxm", most = 16, price_per_hour = 3 } } }, more), { steps = "kernels", adapters = adapters,
      model = model })
end

local function written(done)
  local files = {}
  for _, each in ipairs(artefacts.files(done)) do files[each.path] = each.text end
  return files
end

local eight = { count = 64, max_loras = 8, rank = 16, zipf = 1, share = 0.5 }

test("a plan takes the memory of slots, and a load with adapters holds no more than one without", function()
  local plain, with = planned(nil), planned(eight)
  local a, b = plain.plan.ranks[1], with.plan.ranks[1]
  local slot = 16 * 32 * 2 * ((3 * 4096 + 6144) + 8192 + (2 * 4096 + 28672) + 18432) -- of Llama-3.1-8B
  local lost = a.candidate.deployment.kv_blocks - b.candidate.deployment.kv_blocks
  test.check(math.abs(lost - 8 * slot / (16 * 131072)) <= 1, "%d blocks", lost)
  test.check(b.result.metrics.tpot_s_p99 > a.result.metrics.tpot_s_p99, "GEMMs of adapters take time")
  test.check(b.result.cost_per_hour >= a.result.cost_per_hour)
  test.check(with.text:find("adapters: their GEMMs are modelled", 1, true), "the answer has the note: %s", with.text)
end)

test("what is priced is what run simulates", function()
  local done = planned(eight)
  local rank, question = done.plan.ranks[1], done.question
  local given = deploy.scenario(question, rank.candidate, rank.result.replicas, { requests = question.requests,
    scale = rank.result.scale })
  test.equal(given.adapters, eight)
  test.near(serve.run(given).summary.tpot_s.p99, rank.result.metrics.tpot_s_p99, 1e-9)
  test.check(written(done)["1/scenario.lua"]:find("adapters = {\n    count = 64,", 1, true), "the file has them")
end)

test("the flags of a plan are written and read as its slots, rank and memory of the host", function()
  for _, case in ipairs {
    { eight, { max_loras = 8, max_lora_rank = 16 }, 64 },
    { copied(eight, { rank = { 8 }, count = 1, max_loras = 2 }), { max_loras = 2, max_lora_rank = 8 }, 2 },
    { copied(eight, { store_bytes_per_s = 2e9, max_cpu_loras = 24 }), { max_loras = 8, max_lora_rank = 16 }, 24 },
  } do
    local files = written(planned(case[1]))
    local text = files["1/serve.sh"]
    test.check(text:find("--max-cpu-loras " .. case[3], 1, true), text)
    local found = command.read(text)
    local keys = command.keys(found, { adapters = { count = 64, store_bytes_per_s = 2e9 } })
    for name, value in pairs(case[2]) do test.equal(keys.adapters[name], value, name) end
    test.equal(keys.adapters.max_cpu_loras, case[3])
    test.check(files["1/kubernetes.yaml"]:find("'--enable-lora'", 1, true), "the manifest has the flags")
    test.check(files["1/kubernetes.yaml"]:find("# adapters are not named here: add --lora-modules", 1, true))
    test.equal(files["1/bench.sh"], nil)
    test.check(files["1/README"]:find("bench.sh is not written: the benchmark cannot ask", 1, true))
  end
  local plain = written(planned(nil))
  test.check(not plain["1/serve.sh"]:find("lora", 1, true) and plain["1/bench.sh"], "a plan without adapters")
end)

test("prefill and decode split have the flags in both commands", function()
  local done = planned(eight, { split = { { 1, 1 } } })
  local split
  for _, candidate in ipairs(done.found.candidates) do
    if candidate.split then split = candidate end
  end
  test.check(split and split.ended ~= "does not fit", split and split.problem or "no candidate is split")
  for _, role in ipairs { "prefill", "decode" } do
    local words = table.concat(flags.words(done.question, split, "0.24.0", role), " ")
    test.check(words:find("--enable-lora --max-loras 8 --max-lora-rank 16 --max-cpu-loras 64", 1, true), words)
  end
end)

test("a rank that vLLM does not take has no commands, and the reason says so", function()
  local files = written(planned(copied(eight, { rank = 12 })))
  test.equal(files["1/serve.sh"], nil)
  test.check(files["1/README"]:find("vllm takes --max-lora-rank 8, 16, 32", 1, true), files["1/README"])
  test.check(written(planned(copied(eight, { rank = 12, max_lora_rank = 16 })))["1/serve.sh"])
end)

test("candidates that cannot serve adapters are refused by name", function()
  local done = planned(eight, { engines = { "vllm", "sglang", "trtllm" }, tp = { 1, 2 } })
  local reasons = {}
  for _, candidate in ipairs(done.found.candidates) do
    reasons[candidate.engine] = reasons[candidate.engine] or candidate.problem or "none"
  end
  test.equal(reasons.sglang, "the scheduler of sglang has no rule for requests whose adapter has no slot")
  test.equal(reasons.trtllm, "the scheduler of trtllm has no rule for requests whose adapter has no slot")
  for part, case in pairs {
    ["adapters are not priced with dcp 2"] = { { tp = { 8 }, dcp = { 1, 2 } } },
    ["adapters are not priced with expert_gpus 4"] = { { dp = { 4 }, ep = { "all" }, expert_gpus = { 0, 4 } },
      "qwen3-30b-a3b" },
  } do
    done = planned(eight, case[1], nil, case[2])
    local found = {}
    for _, candidate in ipairs(done.found.candidates) do found[#found + 1] = candidate.problem end
    test.check(table.concat(found, "\n"):find(part, 1, true), table.concat(found, "\n"))
  end
end)

test("mistakes in adapters are errors of their key, not deployments that do not fit", function()
  local function refuses(part, adapters) test.raises(part, function() planned(adapters) end) end
  refuses("adapters.count: is missing", { max_loras = 2 })
  refuses("adapters.max_lora_rank: found 8, and an adapter has the rank 16", { count = 2, max_lora_rank = 8 })
  refuses("target_modules", { count = 2, target_modules = { "qkvv" } })
end)

-- Commands ----------------------------------------------------------------------------------------------------

local vllm = "vllm serve meta-llama/Llama-3.1-8B --enable-lora"

local function of_command(text, given) return command.keys(command.read(text, { engine = "vllm 0.24" }), given) end

local function tells(part, told)
  local all = table.concat(told, "\n")
  test.check(all:find(part, 1, true), "expected '%s', found '%s'", part, all)
end

test("a command gives slots and rank, and the scenario which adapters there are", function()
  local keys = of_command(vllm .. " --max-loras 4 --max-lora-rank 64", { adapters = { count = 9, share = 0.5 } })
  test.equal(keys.adapters.count, 9)
  test.equal(keys.adapters.share, 0.5)
  test.equal(keys.adapters.max_loras, 4)
  test.equal(keys.adapters.max_lora_rank, 64)
  test.equal(of_command(vllm, { adapters = { count = 2, rank = 8 } }).adapters.max_lora_rank, 16) -- vLLM's default
  test.equal(of_command(vllm, { adapters = { count = 2, max_loras = 2 } }).adapters.max_loras, 2)
  local own, told = of_command(vllm .. " --max-loras 2 --lora-modules a=/a b=/b c=/c --max-lora-rank 8")
  test.equal(own.adapters.count, 3)
  test.equal(own.adapters.rank, 8)
  tells("3 adapters of --lora-modules: all requests have one", told)
end)

test("what a command leaves open or says in vain is told", function()
  local keys, told = of_command(vllm .. " --max-loras 4")
  test.equal(keys.adapters, nil)
  tells("--enable-lora: which adapters there are is not said", told)
  keys, told = of_command("vllm serve meta-llama/Llama-3.1-8B --max-loras 4")
  test.equal(keys.adapters, nil)
  tells("--max-loras: no effect without --enable-lora", told)
  keys, told = of_command("vllm serve meta-llama/Llama-3.1-8B", { adapters = { count = 2 } })
  test.equal(keys.adapters, nil)
  tells("adapters are those of the scenario", told)
  keys, told = of_command(vllm .. " --max-cpu-loras 8", { adapters = { count = 9 } })
  test.equal(keys.adapters.max_cpu_loras, nil)
  tells("--max-cpu-loras: no effect without adapters.store_bytes_per_s", told)
  test.raises("--max-loras: the scenario states adapters.max_loras as well", function()
    of_command(vllm .. " --max-loras 8", { adapters = { count = 9, max_loras = 4 } })
  end)
end)

test("adapters of --set are those to which a command adds its slots", function()
  local given = { model = "qwen3-8b", hardware = "h100-sxm", workload = require "workloads.poisson" { rate_per_s = 2,
    prompt_tokens = 100, output_tokens = 10, num_requests = 10 } }
  local function opened(set)
    return opening.table(given, { file = "made up", set = { set }, command = { text = vllm .. " --max-loras 4",
      engine = "vllm 0.24" } }).given.adapters
  end
  test.equal(opened('adapters={"count":12}').max_loras, 4)
  test.equal(opened("adapters.count=12").count, 12)
  test.equal(opened("seed=1"), nil)
end)

test.finish()
