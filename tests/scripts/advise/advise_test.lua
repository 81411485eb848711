-- `rooflua advise`: what is proposed, what is not, and what stands in the answer.
local test = dofile "tests/scripts/harness.lua"
local setup = dofile "tests/scripts/advise/setup.lua"
local command = require "rooflua.advise.command"
local json = require "rooflua.json"

local function said(given)
  given.hardware = given.hardware or not given.scenario and "h100-sxm" or nil
  given.command = given.command and { text = given.command }
  return command.run(given)
end

local eager = "vllm serve Qwen/Qwen3-8B --enforce-eager"

local function eager_answer(more)
  local given = { command = eager, workload = "1000+100", rate = 4, requests = 60, slo = { "tpot_mean=12ms" } }
  for key, value in pairs(more or {}) do given[key] = value end
  return said(given)
end

test("a setting that costs time is taken back, by the name of the command's flag", function()
  local answer = eager_answer()
  local change = answer.document.changes[1]
  test.equal(answer.status, 0)
  test.equal(#answer.document.changes, 1)
  test.equal(change.set, "--enforce-eager")
  test.equal(change.before, true)
  test.equal(change.after, false)
  test.check(change.metrics.tpot_s_mean <= 0.012, "TPOT %g", change.metrics.tpot_s_mean)
  test.check(change.brings.tpot_s_mean < 0, "TPOT falls")
  test.check(change.memory.kv_tokens > 0 and change.memory.kv_tokens_before > 0, "memory")
  test.equal(change.record.lever, "enforce_eager")
  test.check(answer.document.after.meets and not answer.document.before.meets, "before and after")
  test.check(answer.document.after.intervals.tpot_s.low > 0, "interval")
end)

test("the answer is the same for any number of jobs", function()
  local one, two = eager_answer(), eager_answer { jobs = 2 }
  test.equal(one.text, two.text)
  test.equal(json.encode(one.document), json.encode(two.document))
end)

test("an SLO that is met needs no change", function()
  local answer = eager_answer { slo = { "tpot_mean=1s" } }
  test.equal(answer.status, 0)
  test.equal(#answer.document.changes, 0)
  test.check(answer.text:find "met as it is", answer.text)
end)

test("what no request can reach alone is said to bind", function()
  local answer = eager_answer { slo = { "ttft_p99=1ms" } }
  test.equal(answer.status, 1)
  test.equal(#answer.document.changes, 0)
  test.check(answer.document.binds.is_bound and answer.document.binds.bound > 0.001, "the bound")
  test.check(answer.text:find "nothing helps" and answer.text:find "one request alone takes", answer.text)
end)

test("formats change the answers and are not proposed", function()
  local answer = eager_answer { slo = { "ttft_p99=1ms" } }
  test.equal(table.concat(answer.document.not_tried, " "), "--kv-cache-dtype --quantization")
  local asked = setup.asked({ model = "qwen3-8b", hardware = "h100-sxm", engine = { "vllm 0.19" },
    workload = require "workloads.poisson" { num_requests = 5 } }, { ttft_s_p99 = 1 })
  for _, move in ipairs(asked.moves) do
    test.check(move.key ~= "deployment.weights" and move.key ~= "deployment.kv", move.set)
  end
end)

test("widths stay within the GPUs that there are", function()
  local given = { command = "vllm serve Qwen/Qwen3-8B", workload = "4000+50", rate = 6, requests = 60,
    slo = { "ttft_p99=150ms" } }
  test.equal(said(given).status, 1)
  local answer = said { command = "vllm serve Qwen/Qwen3-8B", workload = "4000+50", rate = 6, requests = 60,
    slo = { "ttft_p99=150ms" }, gpus = 4 }
  test.equal(answer.document.changes[1].set, "--tensor-parallel-size")
  test.equal(answer.document.changes[1].after, 4)
end)

test("a scenario's own key path is the name of what it states, and the engine's option otherwise", function()
  local workload = require "workloads.poisson" { num_requests = 5 }
  local asked = setup.asked({ model = "qwen3-8b", hardware = "h100-sxm", engine = "vllm 0.19",
    deployment = { max_model_len = 8192 }, scheduler = require "schedulers.vllm_v1" { max_num_seqs = 64 },
    workload = workload }, { ttft_s_p99 = 1 })
  local seen = {}
  for _, move in ipairs(asked.moves) do seen[move.set] = move.before end
  test.equal(seen["scheduler.max_num_seqs"], 64)
  test.equal(seen["engine.max_num_seqs"], nil)
  test.equal(seen["engine.max_num_batched_tokens"], 8192)
  test.equal(seen["deployment.max_model_len"], 8192)
end)

test("a length that requests of the load exceed is not proposed", function()
  local asked = setup.asked({ model = "qwen3-8b", hardware = "h100-sxm", engine = { "vllm 0.19", max_model_len = 8192 },
    workload = require "workloads.poisson" { num_requests = 5, prompt_tokens = 3000, output_tokens = 10 } },
    { ttft_s_p99 = 1 })
  for _, move in ipairs(asked.moves) do
    if move.option == "max_model_len" then test.check(move.after >= 3010, "max_model_len %d", move.after) end
  end
end)

test("no run of a setting is faster than its bound", function()
  local given = { model = "qwen3-8b", hardware = "h100-sxm", engine = { "vllm 0.19" }, seed = 2,
    workload = require "workloads.poisson" { num_requests = 30, prompt_tokens = 900, output_tokens = 20,
      rate_per_s = 3 } }
  local found = setup.searched(given, { ttft_s_p99 = 1e-3, tpot_s_p99 = 1 }, 2)
  test.check(#found.singles > 20, "settings")
  for _, each in ipairs(found.singles) do
    for metric, least in pairs(each.about.least.latency) do
      local value = each.verdict.metrics[metric]
      test.check(value >= least * (1 - 1e-9), "%s of %s: %.17g below %.17g", metric, each.moves[1].set, value, least)
    end
  end
end)

test("a search that takes too long says so, and what it found", function()
  local asked = setup.asked({ model = "qwen3-8b", hardware = "h100-sxm", engine = { "vllm 0.19", enforce_eager = true },
    workload = require "workloads.poisson" { num_requests = 20, rate_per_s = 5 } }, { tpot_s_mean = 1e-4 })
  local asks = 0
  asked.is_late = function()
    asks = asks + 1
    return asks > 20
  end
  local found = require("rooflua.advise.search").run(asked)
  test.equal(found.is_late, true)
  test.check(found.closest ~= nil, "the closest so far")
  asked.not_tried, asked.notes, asked.limit_s = {}, {}, 30
  local document = require("rooflua.advise.answer").document(found, asked)
  local text = require("rooflua.advise.text").of(document)
  test.check(text:find "stopped   after 30 s" and text:find "nothing found that helps", text)
end)

test("drafts of a model's own prediction layers are proposed, in the words of the engine's command", function()
  local sets = {}
  for _, text in ipairs { "vllm serve deepseek-ai/DeepSeek-R1 -tp 8",
    "trtllm-serve deepseek-ai/DeepSeek-R1 --tp_size 8",
    "python3 -m sglang.launch_server --model-path deepseek-ai/DeepSeek-R1 --tp-size 8", eager } do
    local opened = require("rooflua.runs.opening").table({ hardware = "h200-sxm",
      workload = require "workloads.poisson" { num_requests = 5 } }, { command = { text = text } })
    local base = require("rooflua.advise.deployment").of(opened.reader, opened.given, {})
    local found = "none"
    for _, move in ipairs((require("rooflua.advise.moves").of(opened.reader, opened.given,
      { replica = base.replica, gpus = 8, is_command = true }))) do
      if move.option == "speculation" and found == "none" then found = move.set .. " " .. move.after end
    end
    sets[#sets + 1] = found
  end
  test.equal(table.concat(sets, "\n"), '--speculative-config {"method":"mtp","num_speculative_tokens":1}\n'
    .. "speculative_config decoding_type=MTP max_draft_len=1\n--speculative-algorithm EAGLE --speculative-num-steps 1 "
    .. "--speculative-eagle-topk 1 --speculative-num-draft-tokens 2\nnone")
end)

test("questions that lack something say what", function()
  local function fails(given, pattern)
    local ok, problem = pcall(said, given)
    test.check(not ok and tostring(problem):find(pattern), "%s: %s", pattern, tostring(problem))
  end
  fails({ slo = { "ttft_p99=1s" } }, "needs a scenario")
  fails({ command = eager, workload = "10+10", rate = 1 }, "needs %-%-slo")
  fails({ command = eager, slo = { "ttft_p99=1s" }, rate = 1, clients = 2 }, "give one of them")
  fails({ command = eager, slo = { "tft_p99=1s" } }, "ttft_s_p99")
  fails({ scenario = "scenarios/02_chunk_size.lua", slo = { "ttft_p99=1s" } }, "needs one variant")
  fails({ scenario = "scenarios/01_hello.lua", slo = { "ttft_p99=1s" } }, "kind")
  fails({ scenario = "scenarios/12_replay.lua", slo = { "ttft_p99=1s" }, rate = 3 }, "%-%-rate is said by")
  fails({ command = eager .. " -tp 2", slo = { "ttft_p99=1s" }, gpus = 1 }, "the deployment has 2")
end)

test.finish()
