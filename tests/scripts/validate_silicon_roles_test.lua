-- Measured closed loops of deployments with several engines or ranks: what of a question each of them gets.
local test = dofile "tests/scripts/harness.lua"
local core = require "rooflua.base.core"
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local Reader = require "rooflua.scenario.reader"
local roles = require "rooflua.validate.silicon.roles"
local rows = require "rooflua.validate.silicon.rows"
local serve = require "rooflua.serve"
local settings = require "rooflua.validate.silicon.settings"
local setup = require "rooflua.validate.silicon.setup"
local silicon = require "rooflua.validate.silicon.command"
local spec = require "rooflua.spec"

local write = dofile "tests/scripts/closed_loop_file.lua" (test)

local function scenario(row)
  local steps = policies.of(Reader.new "test", "steps", "kernels")
  return setup.scenario(rows.read(write { row })[1], steps, core.plain(setup.options))
end

local function with(given, more)
  local out = {}
  for name, value in pairs(given) do out[name] = value end
  for name, value in pairs(more) do out[name] = value end
  return out
end

local function requests_of(given) return serve.run(given, { requests = true }).requests end

local function mean(list)
  local sum = 0
  for _, value in ipairs(list) do sum = sum + value end
  return sum / #list
end

local function limits(replica)
  local own = policy.parameters(replica.scheduler)
  return own.max_num_seqs, own.max_num_batched_tokens or own.max_prefill_tokens
end

--- Settings of each role of a row.
local function settings_of(row)
  local question = rows.read(write { row })[1]
  local out, model = {}, spec.model(question.family)
  for i, role in ipairs(roles.of(question, model)) do
    out[i] = roles.of_rank(settings.of(role, spec.hardware(settings.systems[question.system])), role)
  end
  return out
end

local llama = { mode = "pd", workers = "2P3D", widths_tp_dp_moetp_moeep = "1,1,1,1;2,1,2,1", clients = 6 }
local deepseek = { mode = "pd", workers = "1P3D", widths_tp_dp_moetp_moeep = "1,4,1,4;8,1,1,8", clients = 48,
  family = "deepseek-v3", system = "gb200", format = "fp4", engine = "trtllm" }
local mixtral = { family = "mixtral-8x7b", widths_tp_dp_moetp_moeep = "1,2,1,2", clients = 4 }

-- Prefill and decode apart -----------------------------------------------------------------------------------------

test("vLLM's recipes on racks: DP ranks in engines that prefill, and in decode engines of 16 GPUs", function()
  local kimi = { mode = "pd", workers = "1P1D", widths_tp_dp_moetp_moeep = "4,1,1,4;16,1,1,16", clients = 256,
    family = "kimi-k2.5", system = "gb200", format = "fp4", engine = "vllm" }
  local function widths(row)
    local out = {}
    for i, role in ipairs(roles.of(rows.read(write { row })[1], spec.model "kimi-k2.5")) do
      out[i] = ("tp %d dp %d ep %d"):format(role.widths.tp, role.widths.dp, role.widths.ep)
    end
    return table.concat(out, "; ")
  end
  test.equal(widths(kimi), "tp 1 dp 4 ep 4; tp 1 dp 16 ep 16")
  test.equal(widths(with(kimi, { widths_tp_dp_moetp_moeep = "4,1,1,4;4,1,1,4" })), "tp 1 dp 4 ep 4; tp 4 dp 1 ep 4")
  test.equal(widths(with(kimi, { source = "someone.csv" })), "tp 4 dp 1 ep 4; tp 16 dp 1 ep 16", "no recipe")
  test.equal(widths(with(kimi, { engine = "sglang" })), "tp 4 dp 1 ep 4; tp 16 dp 1 ep 16")
  local seats = settings_of(with(kimi, { widths_tp_dp_moetp_moeep = "4,1,1,4;4,1,1,4", isl = 8192 }))[2].seats
  test.equal(seats, 16, "max-num-seqs of the recipe for prompts of 8,192 tokens")
end)

test("TensorRT-LLM's recipes in FP8: the widths and the steps of engines that prefill", function()
  local function prefill(row)
    local given = with({ mode = "pd", workers = "1P1D", widths_tp_dp_moetp_moeep = "8,1,8,1;8,1,8,1", clients = 8,
      family = "deepseek-v3", format = "fp8", engine = "trtllm", isl = 8192 }, row)
    local role = roles.of(rows.read(write { given })[1], spec.model "deepseek-v3")[1]
    local own, widths = settings_of(given)[1], role.widths
    return ("tp %d dp %d moe_tp %d ep %d, %d prompts, %d tokens"):format(widths.tp, widths.dp, widths.moe_tp, widths.ep,
      own.seats, own.budget)
  end
  test.equal(prefill { system = "b200_sxm" }, "tp 1 dp 8 moe_tp 8 ep 1, 1 prompts, 8320 tokens")
  test.equal(prefill { system = "b200_sxm", isl = 1024 }, "tp 8 dp 1 moe_tp 8 ep 1, 16 prompts, 16384 tokens")
  test.equal(prefill { system = "b200_sxm", format = "fp4" }, "tp 8 dp 1 moe_tp 8 ep 1, 2 prompts, 16384 tokens")
  local whole = "8,1,1,8;8,1,1,8"
  test.equal(prefill { system = "h200_sxm", widths_tp_dp_moetp_moeep = whole },
    "tp 8 dp 1 moe_tp 1 ep 8, 2 prompts, 16640 tokens")
  test.equal(prefill { system = "h200_sxm", widths_tp_dp_moetp_moeep = whole, isl = 1024 },
    "tp 1 dp 8 moe_tp 1 ep 8, 8 prompts, 8192 tokens")
  test.equal(prefill { system = "h100_sxm", isl = 1024 }, "tp 8 dp 1 moe_tp 8 ep 1, 2 prompts, 2048 tokens")
end)

test("SGLang's recipes in FP8 turn DeepGEMM off on Blackwell, unless tokens travel by DeepEP", function()
  local function gemms(row)
    local out = {}
    for i, role in ipairs(settings_of(with({ mode = "pd", workers = "1P1D", clients = 64, family = "deepseek-v3",
      engine = "sglang", format = "fp8", widths_tp_dp_moetp_moeep = "8,1,1,8;8,1,1,8" }, row))) do
      out[i] = role.block_gemm or "own"
    end
    return table.concat(out, " ")
  end
  test.equal(gemms { system = "b200_sxm" }, "flashinfer flashinfer")
  test.equal(gemms { system = "b200_sxm", format = "fp4" }, "own own")
  test.equal(gemms { system = "gb200" }, "flashinfer flashinfer")
  test.equal(gemms { system = "gb200", widths_tp_dp_moetp_moeep = "1,8,1,8;1,32,1,32" }, "own own")
  test.equal(gemms { system = "h200_sxm" }, "own own")
  test.equal(gemms { system = "b200_sxm", engine = "trtllm" }, "own own")
  local one = { mode = "agg", family = "deepseek-v3", engine = "sglang", format = "fp8", system = "b200_sxm",
    widths_tp_dp_moetp_moeep = "4,1,4,1" }
  test.equal(scenario(one).steps.block_gemm, "flashinfer", "its launch script as well")
end)

test("engines apart: rows that their GPUs cannot have measured are refused", function()
  local function refused(row)
    local ok, problem = pcall(scenario, with(with(llama, { isl = 4000, osl = 1000 }), row))
    return not ok and tostring(problem) or ""
  end
  -- 61 requests decode on each of three engines. Its two H100 read 15 GB of weights in 2.24 ms, and 65.5 kB (8 bits)
  -- for each of 61 x 4,500 tokens in 2.70 ms.
  local slow = { workers = "6P3D", clients = 200, ttft_ms = 300 }
  test.equal(refused(with(slow, { tpot_ms = 5.2 })), "")
  local told = refused(with(slow, { tpot_ms = 3.5 }))
  test.check(told:find("keys and values in 4.94 ms, and TPOT is 3.50 ms"), "%s", told)
  -- 200 clients of 4.8 s: 42 requests/s of 4,000 tokens are 2.7 Pflop/s, and one H100 has 1.0.
  told = refused(with(slow, { workers = "1P3D", tpot_ms = 5.2 }))
  test.check(told:find("all tokens take 2.%d times the peak"), "%s", told)
  test.equal(refused(with(slow, { workers = "3P3D", tpot_ms = 5.2 })), "")
end)

test("each role has its engines and its widths", function()
  local given = scenario(deepseek)
  local prefill, decode = given.replicas[1], given.replicas[2]
  test.equal(#given.replicas, 2)
  test.equal(prefill.role .. " " .. prefill.count, "prefill 1")
  test.equal(prefill.deployment.tp .. " " .. prefill.deployment.dp .. " " .. prefill.deployment.ep, "1 4 4")
  test.equal(decode.role .. " " .. decode.count, "decode 3")
  test.equal(decode.deployment.tp .. " " .. decode.deployment.ep, "8 8")
  test.equal(decode.deployment.dp, nil)
  test.equal(given.router, "round_robin")
  given = scenario(llama)
  test.equal(given.replicas[1].count .. " " .. given.replicas[2].count, "2 3")
  test.equal(given.replicas[1].deployment.tp .. " " .. given.replicas[2].deployment.tp, "1 2")
end)

test("engines of vLLM get prompts in turn; ranks of its attention by their counts", function()
  test.equal(scenario(with(llama, { engine = "vllm" })).router, "round_robin")
  test.equal(scenario(with(deepseek, { engine = "vllm" })).router, "vllm_dp")
end)

test("heads move over a link per rank of the narrower side; every decode rank reads the whole latent", function()
  local function rate(row, widths)
    local network = scenario(with(row, { widths_tp_dp_moetp_moeep = widths })).network
    test.near(network.alpha_s, row.engine == "trtllm" and 10e-6 or 0.22, 1e-15)
    return network.bytes_per_s
  end
  test.near(rate(llama, "1,1,1,1;2,1,2,1"), 50e9, 1)
  test.near(rate(llama, "2,1,2,1;4,1,4,1"), 100e9, 1)
  test.near(rate(llama, "4,1,4,1;2,1,2,1"), 100e9, 1)
  test.near(rate(with(llama, { system = "b200_sxm" }), "2,1,2,1;2,1,2,1"), 200e9, 1)
  test.near(rate(deepseek, "1,4,1,4;8,1,1,8"), 900e9 / 8, 1)
  test.near(rate(deepseek, "8,1,1,8;8,1,1,8"), 900e9, 1)
  test.near(rate(deepseek, "8,1,1,8;1,8,1,8"), 900e9, 1)
end)

test("the transfer is part of the time to the first token, and of nothing else", function()
  local given = scenario(with(llama, { clients = 1 }))
  local fast = requests_of(given)
  given.network = { alpha_s = given.network.alpha_s + 1, bytes_per_s = given.network.bytes_per_s }
  local slow = requests_of(given)
  test.equal(#slow.ttfts, 10)
  test.near(mean(slow.ttfts) - mean(fast.ttfts), 1, 1e-3)
  test.near(mean(slow.e2els) - mean(fast.e2els), 1, 1e-3)
end)

test("rows of others have what the generator writes: one prompt at a time, seats for the clients of a rank", function()
  local row = with(llama, { source = "gap.csv", clients = 12, isl = 4000, ttft_ms = 2000 })
  for engine, tokens in pairs { vllm = { 5500, 4 }, trtllm = { 5504, 32 }, sglang = { 5500, 5500 } } do
    local given = scenario(with(row, { engine = engine }))
    local seats, budget = limits(given.replicas[1])
    test.equal(seats .. " " .. budget, "1 " .. tokens[1], engine)
    seats, budget = limits(given.replicas[2])
    test.equal(seats .. " " .. budget, "4 " .. tokens[2], engine)
    test.check(not policy.parameters(given.replicas[1].scheduler).enable_mixed_chunk, engine)
  end
end)

test("recipes hold for prefill and decode apart, launch scripts for one engine only", function()
  local own = settings_of(with(deepseek, { isl = 1024 }))
  test.equal(own[1].seats .. " " .. own[1].budget .. " " .. own[1].largest_graph, "16 16384 0")
  test.equal(own[2].seats .. " " .. own[2].budget .. " " .. own[2].largest_graph, "16 32 16")
  test.equal(own[1].kv .. " " .. own[2].kv, "fp8 fp8")
  test.equal(settings_of(with(deepseek, { isl = 20000 }))[1].budget, 20000)
  local row = with(deepseek, { engine = "sglang", format = "fp8", system = "b200_sxm" })
  own = settings_of(with(row, { widths_tp_dp_moetp_moeep = "8,1,1,8;4,1,1,4" }))
  test.equal(own[2].seats .. " " .. own[2].chunk, "512 32768") -- the launch script of one engine: 32 seats
  own = settings_of(with(row, { system = "gb300", widths_tp_dp_moetp_moeep = "1,4,4,1;8,1,1,8" }))
  test.equal(own[1].memory[2] .. " " .. own[2].memory[2], "0.95 0.85")
end)

test("a recipe of TensorRT-LLM has a few clients more than seats, or serves several numbers of clients", function()
  local function seats(system, format, workers, widths, isl, clients)
    return settings_of(with(deepseek, { system = system, format = format, workers = workers, isl = isl, osl = 1024,
      widths_tp_dp_moetp_moeep = widths, clients = clients }))[2].seats
  end
  local tep, dep = "1,4,1,4;8,1,1,8", "1,4,1,4;1,8,1,8"
  test.equal(seats("gb200", "fp8", "1P3D", tep, 1024, 27), 8)
  test.equal(seats("gb200", "fp8", "1P3D", tep, 8192, 6), 1)
  test.equal(seats("gb300", "fp8", "1P4D", tep, 1024, 24), 4)
  test.equal(seats("gb200", "fp4", "1P1D", dep, 1024, 6144), 768)
  test.equal(seats("gb200", "fp4", "1P1D", dep, 1024, 4301), 512)
  test.equal(seats("b200_sxm", "fp4", "1P5D", tep, 1024, 10), 32)   -- one recipe from 10 to 180 clients
  test.equal(seats("b200_sxm", "fp4", "1P6D", tep, 1024, 450), 64)
  test.equal(seats("h200_sxm", "fp8", "1P9D", "8,1,1,8;8,1,1,8", 1024, 72), 8)  -- room for all
  test.equal(seats("b200_sxm", "fp8", "2P1D", "1,8,8,1;1,8,1,8", 8192, 640), 1024)
end)

test("all-reduces over two nodes cross the network", function()
  local given = scenario(with(deepseek, { system = "h100_sxm", format = "fp8", clients = 9,
    widths_tp_dp_moetp_moeep = "1,16,1,16;16,1,1,16" }))
  test.equal(policy.class_of(given.corrections[1]).name, "network")
  test.equal(scenario(deepseek).corrections, nil)
end)

test("all-reduces of Qwen3.5 and their norms were two kernels in SGLang before 0.5.10", function()
  local row = { family = "qwen3.5-397b-a17b", engine = "sglang", engine_version = "0.5.9", system = "b300_sxm",
    format = "fp8", widths_tp_dp_moetp_moeep = "8,1,8,1", isl = 1024, osl = 1024 }
  local own = scenario(row).corrections[1]
  test.equal(policy.class_of(own).name, "norm_apart")
  test.near(policy.parameters(own).longer_s, 11.1e-6, 1e-12)
  test.equal(scenario(with(row, { engine_version = "0.5.10" })).corrections, nil)
  test.equal(scenario(with(row, { family = "deepseek-v3" })).corrections, nil)
end)

test("SGLang divides its settings among the ranks of an engine", function()
  local own = settings_of(with(deepseek, { engine = "sglang", widths_tp_dp_moetp_moeep = "1,8,1,8;8,1,1,8" }))
  test.equal(own[1].seats .. " " .. own[1].chunk .. " " .. own[1].budget, "128 16384 16384")
  test.equal(own[2].seats .. " " .. own[2].chunk .. " " .. own[2].budget, "512 32768 32768")
end)

test("a question with prefill and decode apart is scored in its class", function()
  local out = silicon.run { folder = write { llama, with(llama, { engine = "sglang",
    widths_tp_dp_moetp_moeep = "1,1,1,1;1,1,1,1" }), with(llama, { engine = "trtllm" }) } }
  test.equal(out.ran, 3)
  test.equal(out.document.silicon.class.pd.deployments, 3)
end)

-- Attention on DP ranks --------------------------------------------------------------------------------------------

test("the ranks of one engine share the clients and step together", function()
  for engine, router in pairs { vllm = "vllm_dp", sglang = "round_robin", trtllm = "round_robin" } do
    local given = scenario(with(mixtral, { engine = engine }))
    test.equal(#given.replicas, 1)
    test.equal(given.replicas[1].count, 1)
    test.equal(given.replicas[1].role, nil)
    test.equal(policy.parameters(given.replicas[1].steps).dp_padding, engine == "sglang" and "sglang" or "vllm")
    test.equal(given.replicas[1].deployment.dp, 2)
    test.equal(given.router, router)
    test.equal(given.network, nil)
    local summary = serve.run(given).summary
    test.equal(#summary.replicas, 2, engine)
    test.equal(summary.replicas[2].name, "engine 1 rank 2")
    test.equal(summary.replicas[1].steps, summary.replicas[2].steps)
    test.equal(summary.replicas[1].completed + summary.replicas[2].completed, 40, engine)
    test.check(summary.replicas[1].completed > 10 and summary.replicas[2].completed > 10, engine)
  end
end)

test("what engines do for ranks of attention only is set where there are some", function()
  local function of(engine, widths)
    local given = scenario { family = "deepseek-v3", system = "b200_sxm", format = "fp4", engine = engine,
      widths_tp_dp_moetp_moeep = widths, clients = 64, isl = 1024, osl = 1024 }
    return policy.parameters((given.replicas and given.replicas[1] or given).scheduler)
  end
  local balanced, alone = of("trtllm", "1,8,1,8"), of("trtllm", "8,1,1,8")
  test.equal(tostring(balanced.attention_dp_balance) .. " " .. balanced.attention_dp_timeout_iters .. " "
    .. balanced.attention_dp_batching_wait_iters, "true 60 0")
  test.equal(alone.attention_dp_balance, false)
  test.equal(of("sglang", "1,8,1,8").schedule_conservativeness, 0.3)
  test.equal(of("sglang", "8,1,1,8").schedule_conservativeness, 1)
end)

test("copies of a dense model are engines of their own", function()
  local given = scenario { widths_tp_dp_moetp_moeep = "1,2,2,1", clients = 4 }
  test.equal(given.replicas[1].count, 2)
  test.equal(given.replicas[1].deployment.dp, nil)
  local plain = scenario { clients = 4 }
  plain.replicas, plain.router = 2, "vllm_dp"
  local a, b = requests_of(given), requests_of(plain)
  for i = 1, #b.ttfts do
    test.equal(a.ttfts[i], b.ttfts[i], "TTFT of request " .. i)
    test.equal(a.e2els[i], b.e2els[i], "end of request " .. i)
  end
end)

test.finish()
