-- `rooflua plan`: options become a scenario, and wrong ones are refused by name before anything runs.
local test = dofile "tests/scripts/harness.lua"
local command = require "rooflua.plan.command"
local options = require "rooflua.plan.options"

local function given(more)
  local out = { model = "llama-3.1-8b", workload = "300+20", rate = 5, slo = { "ttft_p99=500ms" },
    gpus = { "h100-sxm:8@3.00" }, jobs = 1, replicates = 0, requests = 200, tp = { "1" }, seats = { "32" },
    budgets = { "1024" } }
  for key, value in pairs(more or {}) do out[key] = value or nil end
  return out
end

local function refused(part, more)
  test.raises(part, function() command.run(given(more)) end)
end

test("options are the keys of a scenario, and its text asks the same", function()
  local scenario = options.scenario(given { slo = { "tpot_s_p99=0.02", "e2e_mean=3s" } })
  test.equal(scenario.plan.slo.tpot_s_p99, 0.02)
  test.equal(scenario.plan.slo.e2e_s_mean, 3)
  test.equal(scenario.plan.gpus[1].most, 8)
  test.equal(scenario.plan.gpus[1].price_per_hour, 3)
  local emitted = command.run(given { emit = true }).scenario
  local path = test.file("question.lua", emitted)
  local from_options = command.run(given()).text
  test.equal(command.run({ scenario = path, jobs = 1 }).text, from_options)
end)

test("wrong options are refused by name, with what would be right", function()
  refused("--workload chatbt: expected PROMPT+ANSWER", { workload = "chatbt" })
  refused("did you mean 'chatbot'", { workload = "chatbt" })
  refused("500 seconds? Say 500ms", { slo = { "ttft_p99=500" } })
  refused("expected METRIC=LIMIT", { slo = { "fast" } })
  refused("expected a price per GPU and hour", { gpus = { "h100@x" } })
  refused("--gpus h100:0@3: expected 1 GPU or more", { gpus = { "h100:0@3" } })
  refused("--gpus :3@2: expected NAME[:COUNT][@PRICE]", { gpus = { ":3@2" } })
  refused("unknown hardware 'h1000'", { gpus = { "h1000@1" } })
  refused("there is no price of l40s", { gpus = { "l40s" } })
  refused("--rate, --users or --clients: one of them", { rate = false })
  refused("give one of them", { clients = 3 })
  refused("--tp 0: expected whole numbers", { tp = { "0" } })
  refused("unknown engine 'vlm'", { engines = { "vlm" } })
  refused("unknown policy of objectives 'cheap'", { objective = "cheap" })
  refused("slo_attainment_frac", { slo = { "slo_attainment_frac=0.99" } })
  refused("plan: plan.gpus[1]: unknown hardware", { gpus = { "h1000@1" } })
  refused("--engines vlm: unknown engine 'vlm'; did you mean 'vllm'", { engines = { "vlm" } })
  refused("--slo ttft_p99=0: expected a time above 0", { slo = { "ttft_p99=0" } })
  refused("did you mean 'ttft_s_p99'", { slo = { "tft_p99=1s" } })
  refused("weights: dtype: unknown dtype 'fp9'; did you mean 'fp8'", { weights = { "fp9" } })
  refused("llama-3.1-8b has no experts, so its attention is not data-parallel", { dp = { "2" } })
  local negative = [[return { kind = "plan", model = "llama-3.1-8b", workload = require "workloads.poisson" {},
    plan = { load = { rate_per_s = 1 }, slo = { ttft_s_p99 = 1 }, gpus = { { "h100-sxm", price_per_hour = -1 } } } }]]
  test.raises("expected a price from 0 on, found number -1", function()
    command.run { scenario = test.file("negative.lua", negative), jobs = 1 }
  end)
  refused("the objective rate takes all GPUs, so say how many", { objective = "rate", gpus = { "h100@1" } })
  refused("the objective rate looks for the largest rate", { objective = "rate", rate = false, clients = 3 })
  refused("--watts h100: expected GPU=WATTS", { watts = { "h100" } })
  test.raises("needs --model, --command or --from, --workload or --bench, --slo, --gpus", function() command.run {} end)
end)

test("an option that changes nothing is refused: one that stands twice, watts of a GPU that is not bought", function()
  refused("--slo ttft_s_p99=2: ttft_s_p99 has a limit already", { slo = { "ttft_p99=1s", "ttft_s_p99=2" } })
  refused("--engines vllm=0.19: vllm stands twice", { engines = { "vllm=0.24.0", "vllm=0.19" } })
  refused("--watts h100-sxm=5: the watts of h100-sxm stand twice", { watts = { "h100-sxm=4", "h100-sxm=5" } })
  refused("--watts l40s: the plan buys no such GPU (it buys: h100-sxm)", { watts = { "l40s=300" } })
end)

--- The options with a launch command in place of model, widths and seats.
local function launched(line, more)
  return given(require("rooflua.base.core").copy({ command = line, model = false, tp = false, seats = false,
    budgets = false }, more))
end

local function ladder_of(line, more)
  local scenario, told = options.scenario(launched(line, more))
  return scenario.plan.candidates and scenario.plan.candidates.params, scenario, table.concat(told, "\n")
end

test("a launch command states the model, the engine, and one value of each axis that it states", function()
  local ladder, scenario = ladder_of("vllm serve openai/gpt-oss-120b --tensor-parallel-size 2 --max-num-seqs 128 "
    .. "--enable-expert-parallel --kv-cache-dtype fp8 --max-num-batched-tokens 4096", { engine = "vllm 0.19" })
  test.equal(scenario.model, "openai/gpt-oss-120b")
  test.equal(scenario.engine[1], "vllm 0.19")
  test.equal(scenario.engine.kv_cache_dtype, "fp8")
  test.equal(scenario.engine.tensor_parallel_size, nil)
  for name, value in pairs { tp = 2, ep = "all", max_num_seqs = 128, max_num_batched_tokens = 4096 } do
    test.equal(#ladder[name], 1)
    test.equal(ladder[name][1], value)
  end
  test.equal(ladder.dp, nil)
  ladder = ladder_of("python -m sglang.launch_server --model-path deepseek-ai/DeepSeek-V3 --tp-size 8 --dp-size 8 "
    .. "--enable-dp-attention")
  test.equal(ladder.tp[1], 1)
  test.equal(ladder.dp[1], 8)
  ladder = ladder_of("trtllm-serve serve openai/gpt-oss-120b --tp_size 4 --ep_size 2 --max_batch_size 64")
  test.equal(ladder.ep[1], 2)
  test.equal(ladder.max_num_seqs[1], 64)
  scenario = select(2, ladder_of("vllm serve meta-llama/Llama-3.1-8B-Instruct", { model = "qwen3-8b" }))
  test.equal(scenario.model, "qwen3-8b")
end)

test("what a command says besides is said in the answer, and in the scenario that is written", function()
  local line = "vllm serve meta-llama/Llama-3.1-8B-Instruct --data-parallel-size 4 --tensor-parallel-size 1 "
    .. "--max-num-seqs 32 --max-num-batched-tokens 1024 --speculative-config "
    .. "'{\"method\":\"ngram\",\"num_speculative_tokens\":3}'"
  local _, scenario, told = ladder_of(line)
  test.equal(scenario.speculation.speculator.params.draft_tokens, 3)
  test.check(told:find("without experts these are engines of their own", 1, true), "%s", told)
  local answer = command.run(launched(line)).text
  test.check(answer:find("how many drafts are accepted", 1, true), "%s", answer)
  local emitted = command.run(launched(line, { emit = true })).scenario
  test.check(emitted:find("-- Of the command: --data-parallel-size 4", 1, true), "%s", emitted)
  local from_file = command.run({ scenario = test.file("launched.lua", emitted), jobs = 1 }).text
  test.equal(from_file:match "(.-)\nprices", answer:match "(.-)\nprices")
end)

test("an option beside a command that states the same is refused, and names both", function()
  local function both(part, line, more)
    test.raises(part, function() command.run(launched(line, more)) end)
  end
  local line = "vllm serve openai/gpt-oss-120b --tensor-parallel-size 2 --kv-cache-dtype fp8"
  both("--tp: --command states it as well (--tensor-parallel-size = 2)", line, { tp = { "4" } })
  both("--kv: --command states it as well (--kv-cache-dtype = fp8)", line, { kv = { "bf16" } })
  both("--engines: --command states the engine", line, { engines = { "sglang" } })
  both("the command starts vllm, and the engine that is stated is sglang", line, { engine = "sglang 0.5.9" })
  both("--ignore, --read-as: --command states the model", line, { model = { from = "x", ignore = { "y" } } })
  both("another generator does not read tp of --command", line, { candidates = "listed" })
  both("the model 'no/model' is not known", "vllm serve no/model")
  both("--chunked-prefill-size -1: a plan tries values from 1 on; leave it out, and say --budgets",
    "python -m sglang.launch_server --model-path meta-llama/Llama-3.1-8B-Instruct --chunked-prefill-size -1")
  local path = test.file("question.lua", command.run(given { emit = true }).scenario)
  test.raises("leave out --command, or change it in the file", function()
    command.run { scenario = path, command = line }
  end)
end)

test("beside a file an option is refused with the key that --set changes", function()
  local path = test.file("question.lua", command.run(given { emit = true }).scenario)
  for part, more in pairs {
    ["leave out --rate, or change it with --set plan.load.rate_per_s=..."] = { rate = 6 },
    ["leave out --model, or change it with --set model=..."] = { model = "qwen3-8b" },
    ["leave out --expert-gpus, or change it in the file"] = { expert_gpus = { "0" } },
    ["leave out --horizon, or change it with --set plan.horizon_s=..."] = { horizon_s = 60 },
  } do
    more.scenario = path
    test.raises(part, function() command.run(more) end)
  end
  test.raises("there is no such file", function() command.run { scenario = "no/such.lua", split = true } end)
end)

test("nodes, clients, spare replicas, energy and a page", function()
  local done = command.run(given { buy = "node" })
  test.equal(done.document.ranks[1].gpus.paid, 8)
  test.equal(done.document.ranks[1].cost_per_hour, 24)
  done = command.run(given { survive = 1, page = true })
  test.equal(done.document.ranks[1].gpus.replicas, 2)
  test.equal(done.page.title, "5 requests/s of llama-3.1-8b within TTFT p99 <= 500 ms")
  done = command.run(given { rate = false, clients = 4 })
  test.equal(done.document.question.load.kind, "clients")
  done = command.run(given { watts = { "h100-sxm=500" } })
  local rank = done.document.ranks[1]
  test.near(rank.joules_per_token, 500 / (5 * 20), 1e-9)
  test.equal(rank.power, "measured")
  test.equal(rank.power_from, "500 W as given for each GPU")
  test.equal(rank.joules.low, rank.joules.high)
end)

test("what nothing can serve is answered with what would be possible", function()
  local function text(more) return command.run(given(more)).text end
  local has = test.has
  has(text { rate = 900, gpus = { "h100-sxm:2@3" } }, "too few GPUs: they serve at most")
  has(text { slo = { "ttft_p99=1us" } }, "TTFT p99 <= 1 us is below what any step allows: at least")
  has(text { tp = { "16" } }, "1 does not fit: H100, tp 16, vllm, 32 seats, budget 1024: tp 16 is more than the 8 GPUs")
  has(text { model = "llama-3.1-70b", gpus = { "l4:2@1" } }, "it fits with tp = 8")
end)

test("the largest rate of two GPUs is told as a rate, in the document as well", function()
  local done = command.run(given { objective = "rate", gpus = { "h100-sxm:2@3" } })
  local rank = done.document.ranks[1]
  test.equal(rank.gpus.total, 2)
  test.near(rank.load.served, -rank.objective, 1e-9)
  test.equal(rank.load.asked, 5)
  test.check(done.text:find(("%.4g/s\n"):format(rank.load.served), 1, true), "%s", done.text)
end)

test("the command of a benchmark is the workload and its load, in an answer and in a file", function()
  local tool = "vllm bench serve --random-input-len 100 --random-output-len 20 "
  local function asked(flags, more)
    local own = { bench = tool .. flags, workload = false, rate = false }
    for key, value in pairs(more or {}) do own[key] = value end
    return command.run(given(own))
  end
  local rate = asked("--request-rate 5").document.question.load
  test.equal(rate.kind, "rate")
  test.equal(rate.value, 5)
  local clients = asked("--max-concurrency 4", { peak = 2 }).document.question.load
  test.equal(clients.kind, "clients")
  test.equal(clients.value, 4)
  test.equal(clients.peak, 2)
  local text = asked("--request-rate 5", { emit = true }).scenario
  test.has(text, 'workload = require "workloads.vllm_bench" {')
  test.has(text, "load = { rate_per_s = 5 }")
  test.raises("sends all requests at once", function() asked "" end)
  test.raises("--bench and --workload: give one", function() asked("--request-rate 5", { workload = "100+20" }) end)
  local told = asked("--request-rate 5 --unheard-of 3").text
  test.has(told, "nothing follows from it: --unheard-of")
end)

test("--all lists every candidate, and --why tells of one", function()
  local done = command.run(given { all = true, why = 1, seats = { "16", "32" } })
  test.check(done.text:find("H100, tp 1, vllm, 16 seats, budget 1024", 1, true), "%s", done.text)
  test.check(done.text:find("candidate 1: ", 1, true) and done.text:find("rate of a replica: at most", 1, true), "%s",
    done.text)
  refused("--why 9: there are candidates 1 to 1", { why = 9 })
end)

test.finish()
