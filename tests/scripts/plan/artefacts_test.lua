-- The files of a plan: what was priced is what is written. Each command is parsed back into a deployment.
local test = dofile "tests/scripts/harness.lua"
local setup = dofile "tests/scripts/plan/setup.lua"
local artefacts = require "rooflua.plan.artefacts"
local capacity_of = require("rooflua.engines").capacity
local plan_command = require "rooflua.plan.command"
local flags = require "rooflua.plan.flags"
local json = require "rooflua.json"
local opening = require "rooflua.runs.opening"
local quoting = require "rooflua.text.quoting"
local verify = require "rooflua.plan.verify"

local function ladder(more)
  local out = { tp = { 2 }, max_num_seqs = { 32 }, max_num_batched_tokens = { 1024 } }
  for key, value in pairs(more) do out[key] = value end
  return require "candidates.ladder" (out)
end

--- A plan with one rank, and its files by name.
local function written(more, engines)
  local done = setup.report { ranks = 1, candidates = ladder(more), engines = engines,
    gpus = { { "h100-sxm", most = 16, price_per_hour = 3 } } }
  local files = {}
  for _, each in ipairs(artefacts.files(done)) do files[each.path] = each.text end
  return done, files
end

--- Options of a command by name; switches are true.
local function parsed(text)
  local out, last = {}, nil
  local command = text:gsub("\\\n", " "):match "exec ([^\n]*)"
  for word in command:gmatch "%S+" do
    if word:sub(1, 2) == "--" then
      last, out[word] = word, true
    elseif last then
      out[last], last = word, nil
    end
  end
  return out
end

test("vLLM's command has every number that was priced", function()
  local done, files = written {}
  local item, options = done.plan.ranks[1], parsed(files["1/serve.sh"])
  local own = item.candidate.deployment
  test.equal(tonumber(options["--tensor-parallel-size"]), item.candidate.tp)
  test.equal(tonumber(options["--pipeline-parallel-size"]), 1)
  test.equal(tonumber(options["--max-num-seqs"]), 32)
  test.equal(tonumber(options["--max-num-batched-tokens"]), 1024)
  test.equal(tonumber(options["--gpu-memory-utilization"]), own.memory_utilization)
  test.equal(tonumber(options["--block-size"]), own.block_size)
  test.check(options["--enable-prefix-caching"] and options["--async-scheduling"], "switches are missing")
  local longest = done.question.drawn.longest
  test.check(tonumber(options["--max-model-len"]) >= longest, "shorter than the longest request, %d", longest)
end)

test("GPUs of the manifests are those of the price", function()
  for _, more in ipairs { {}, { split = "only" } } do
    local done, files = written(more)
    local gpus, text = 0, files["1/kubernetes.yaml"]
    local replicas = {}
    for count in text:gmatch "\n  replicas: (%d+)" do replicas[#replicas + 1] = tonumber(count) end
    local i = 0
    for limit in text:gmatch "nvidia%.com/gpu: (%d+)" do
      i = i + 1
      gpus = gpus + replicas[i] * tonumber(limit)
    end
    test.equal(gpus, done.plan.ranks[1].result.gpus)
  end
end)

test("the scripts are shell that bash can read, and the scenario gives what was priced", function()
  for _, more in ipairs { {}, { engines = { "sglang" } }, { engines = { "trtllm" } }, { split = "only" } } do
    local _, files = written(more)
    for _, name in ipairs { "1/serve.sh", "1/bench.sh" } do
      local path = test.file(name:gsub("/", "_"), files[name])
      test.equal(os.execute("bash -n " .. path), 0, name)
    end
  end
  local done, files = written {}
  local text = files["1/scenario.lua"]
  local function field(name) return tonumber(text:match(name .. " = (%d+)")) end
  test.equal(field "replicas", done.plan.ranks[1].result.replicas)
  test.equal(field "max_num_seqs", 32)
  test.equal(field "tp", 2)
end)

test("SGLang and TensorRT-LLM count in their own way", function()
  local done, files = written { engines = { "sglang" } }
  local options, own = parsed(files["1/serve.sh"]), done.plan.ranks[1].candidate.deployment
  test.equal(tonumber(options["--tp-size"]), 2)
  test.equal(tonumber(options["--chunked-prefill-size"]), 1024)
  test.equal(tonumber(options["--max-running-requests"]), 32)
  local room = capacity_of { model = "llama-3.1-8b", hardware = done.question.gpus[1].hardware,
    engine = { "sglang", tp_size = 2, mem_fraction_static = tonumber(options["--mem-fraction-static"]) } }
  test.near(room.kv_tokens, own.kv_blocks * own.block_size, 1e-4)
  files = select(2, written { engines = { "trtllm" } })
  options = parsed(files["1/serve.sh"])
  test.equal(tonumber(options["--tp_size"]), 2)
  test.equal(tonumber(options["--max_batch_size"]), 32)
  test.equal(tonumber(options["--max_num_tokens"]), 1024)
  test.check(files["1/serve.sh"]:find("enable_block_reuse: true", 1, true), "no YAML")
end)

test("releases choose rows; older ones are refused, newer ones take the newest with a note", function()
  local _, files = written({ engines = { "trtllm" } }, { trtllm = "1.2.0" })
  test.check(parsed(files["1/serve.sh"])["--extra_llm_api_options"], "1.2 has another flag")
  files = select(2, written({ engines = { "trtllm" } }, { trtllm = "1.3.0" }))
  test.check(parsed(files["1/serve.sh"])["--config"], "1.3 has --config")
  files = select(2, written({}, { vllm = "9.0.0" }))
  test.check(files["1/serve.sh"]:find("vllm 9.0.0 is newer than the table of flags", 1, true), "no note")
  test.raises("flags are known from 0.12.0 on", function() written({}, { vllm = "0.8.5" }) end)
  test.check(flags.version(flags.engine "vllm", "0.12.0") == "0.12.0", "the oldest is known")
end)

--- Compares a file with the one that is kept; ROOFLUA_UPDATE_GOLDEN=1 writes it.
local function compare_golden(name, text)
  local path = "tests/fixtures/plan/" .. name
  if os.getenv "ROOFLUA_UPDATE_GOLDEN" then
    local out = assert(io.open(path, "w"))
    out:write(text)
    out:close()
  end
  local handle = io.open(path)
  test.check(handle ~= nil, "%s is missing", path)
  local kept = handle:read "*a"
  handle:close()
  test.equal(text, kept, path)
end

test("commands and manifests of every engine are those that are kept", function()
  for _, case in ipairs { { "vllm", { engines = { "vllm" } } }, { "vllm_split", { split = "only" } },
    { "sglang", { engines = { "sglang" } } }, { "trtllm", { engines = { "trtllm" } } } } do
    local _, files = written(case[2])
    compare_golden(case[1] .. "_serve.sh", files["1/serve.sh"])
    compare_golden(case[1] .. "_kubernetes.yaml", files["1/kubernetes.yaml"])
  end
end)

test("a fixed number of drafts stands on the command; what has no flag is refused by name", function()
  local done = written {}
  local function candidate_of(engine, drafter, speculator)
    local out = {}
    for key, value in pairs(done.plan.ranks[1].candidate) do out[key] = value end
    out.engine, out.speculation = engine, { drafter = drafter, speculator = speculator
      or require "speculators.fixed" { draft_tokens = 3 } }
    return out
  end
  local release
  local function command(...)
    local candidate = candidate_of(...)
    local version = release or flags.version(flags.engine(candidate.engine))
    local list = flags.command(done.question, candidate, version)
    for _, word in ipairs(flags.words(done.question, candidate, version)) do list[#list + 1] = word end
    for i, word in ipairs(list) do list[i] = quoting.word(word) end
    return table.concat(list, " ")
      .. (flags.yaml(done.question, candidate, version) or "")
  end
  local mtp, free = require "drafters.mtp" {}, require "drafters.free" {}
  local has = test.has
  has(command("vllm", mtp), [[--speculative-config '{"method":"mtp","num_speculative_tokens":3}']])
  has(command("sglang", mtp), "--speculative-num-steps 3 --speculative-eagle-topk 1 --speculative-num-draft-tokens 4")
  test.check(not command("sglang", mtp):find("SGLANG_ENABLE_SPEC_V2", 1, true), "it is gone in 0.5.14")
  release = "0.5.13"
  has(command("sglang", mtp), "env SGLANG_ENABLE_SPEC_V2=True python -m sglang.launch_server ")
  release = nil
  has(command("trtllm", mtp), "  decoding_type: MTP\n  max_draft_len: 3")
  release = "1.2.0"
  has(command("trtllm", mtp), "  decoding_type: MTP\n  num_nextn_predict_layers: 3")
  release = "0.5.5"
  test.raises("sglang before 0.5.6 drafts without preparing steps ahead; price it so: async_depth = 1", function()
    command("sglang", mtp)
  end)
  release = nil
  test.raises("vLLM refuses --async-scheduling with look-ups", function() command("vllm", free) end)
  test.raises("TensorRT-LLM looks up drafts in the prompt without its overlap", function() command("trtllm", free) end)
  done.question.base.async_depth = 1
  has(command("vllm", free), [["method":"ngram","num_speculative_tokens":3]])
  has(command("vllm", free), "--no-async-scheduling")
  has(command("trtllm", free), "  decoding_type: NGram\n  max_draft_len: 3\n  max_matching_ngram_size: 4")
  test.check(not command("sglang", mtp):find("SGLANG_ENABLE_SPEC_V2", 1, true), "the overlap scheduler is on")
  test.raises("flags of sglang for the drafter free are not known; known are those of mtp", function()
    command("sglang", free)
  end)
  test.raises("no engine has a flag for the speculator ema", function()
    command("vllm", mtp, require "speculators.ema" {})
  end)
end)

test("the checkpoint is the one that was asked for, in the format that was priced", function()
  local done = written {}
  --- What is started for a name of a model; `weights` is what the candidate states.
  local function started(name, weights, engine)
    local model = require "rooflua.spec".model(name)
    local question = setmetatable({ model = model, given_model = name,
      base = setmetatable({ model = model }, { __index = done.question.base }) }, { __index = done.question })
    local candidate = setmetatable({ engine = engine or "vllm", weights = weights },
      { __index = done.plan.ranks[1].candidate })
    local start = flags.checkpoint(question, candidate)
    return (start.name or "MODEL") .. (start.quantised and " quantised" or "") .. (start.note and ", noted" or "")
  end
  for _, case in ipairs {
    { "meta-llama/Llama-3.1-8B", nil, "meta-llama/Llama-3.1-8B" },
    { "llama-3.1-8b", nil, "meta-llama/Llama-3.1-8B" },
    { "Llama-3.1-8B-Instruct", nil, "meta-llama/Llama-3.1-8B-Instruct" },
    { "meta-llama/meta-llama-3.1-8b-instruct", nil, "meta-llama/Meta-Llama-3.1-8B-Instruct" },
    { "llama3-8b", nil, "meta-llama/Meta-Llama-3-8B" },
    { "deepseek-r1", nil, "deepseek-ai/DeepSeek-R1" },
    { "deepseek-ai/DeepSeek-R1-0528", "fp8_block", "deepseek-ai/DeepSeek-R1-0528" },
    { "deepseek-r1", "nvfp4", "nvidia/DeepSeek-R1-NVFP4" },
    { "deepseek-r1-0528", "nvfp4", "nvidia/DeepSeek-R1-0528-NVFP4-v2" },
    { "Qwen/Qwen3-32B-FP8", "fp8_block", "Qwen/Qwen3-32B-FP8" },
    { "qwen3-32b", "fp8_block", "Qwen/Qwen3-32B-FP8" },
    { "qwen3-32b", "fp8", "RedHatAI/Qwen3-32B-FP8-dynamic" },
    { "qwen3-32b", "nvfp4", "nvidia/Qwen3-32B-NVFP4", "sglang" },
    { "nvidia/Qwen3-32B-NVFP4", "nvfp4", "nvidia/Qwen3-32B-NVFP4" },
    { "llama-3.1-8b", "fp8", "meta-llama/Llama-3.1-8B quantised" },
    { "Llama-3.1-8B-Instruct", "fp8", "RedHatAI/Meta-Llama-3.1-8B-Instruct-FP8-dynamic" },
    { "gpt-oss-120b", nil, "openai/gpt-oss-120b" },
    { "gpt-oss-120b", "mxfp4", "openai/gpt-oss-120b" },
    { "kimi-k2", "fp8_block", "moonshotai/Kimi-K2-Instruct" },
    { "Qwen/Qwen3-235B-A22B-Instruct-2507-FP8", "fp8_block", "Qwen/Qwen3-235B-A22B-Instruct-2507-FP8" },
  } do
    test.equal(started(case[1], case[2], case[4]), case[3], case[1] .. " " .. tostring(case[2]))
  end
  test.raises("vllm has no flag for weights in nvfp4, and no checkpoint of Qwen/Qwen3-8B in that format is known",
    function() started("qwen3-8b", "nvfp4") end)
  test.raises("name one that is: nvidia/DeepSeek-R1-NVFP4", function() started("deepseek-v3", "nvfp4") end)
  test.raises("trtllm has no flag for weights in fp8", function() started("qwen3-8b", "fp8", "trtllm") end)
  local own = test.file("own.json", io.open "tests/fixtures/models/hf/glm-5.json":read "*a")
  test.equal(started(own, nil), "MODEL")
end)

test("an engine on several nodes has no commands, and its README says why; its scenario is there", function()
  local function files_of(per_node)
    local done = setup.report({ ranks = 1,
      gpus = { { "h200-sxm", most = 16, price_per_hour = 3, per_node = per_node } },
      candidates = require "candidates.listed" { list = { { tp = 1, dp = 16, ep = 16, max_num_seqs = 8,
        max_num_batched_tokens = 1024 } } } }, { model = "qwen3-235b-a22b" })
    local out = {}
    for _, each in ipairs(artefacts.files(done)) do out[each.path] = each.text end
    return out
  end
  local apart, together = files_of(8), files_of(16)
  test.equal(apart["1/serve.sh"], nil)
  test.equal(apart["1/kubernetes.yaml"], nil)
  test.check(apart["1/README"]:find("one engine on 16 GPUs takes 2 nodes of 8", 1, true), "%s", apart["1/README"])
  test.check(apart["1/scenario.lua"]:find("dp = 16", 1, true), "no scenario")
  test.check(together["1/kubernetes.yaml"]:find("nvidia.com/gpu: 16", 1, true), "a node of 16 is one pod")
end)

test("the scenario of a rank runs again with the priced figures, of a model from a table or a file as well", function()
  local own = test.file("own.toml", io.open "scenarios/models/qwen3-8b.toml":read "*a")
  for _, case in ipairs { { '"llama-3.1-8b"', '"h100-sxm"' }, { ("%q"):format(own), '"h100-sxm"' },
    { ([[{ from = %q, name = "x \93\93 '", layers = 30 }]]):format(own),
      '{ from = "h100-sxm", name = "slow", memory_bytes_per_s = 2e12 }' } } do
    local path = test.file("plan.lua", ([[return { rooflua = 1, kind = "plan", model = %s,
      workload = require "workloads.poisson" { prompt_tokens = { distribution = "lognormal", mean = 300, sigma = 0.5,
        max = 2000 }, output_tokens = 20 },
      plan = { load = { rate_per_s = 5 }, slo = { ttft_s_p99 = 5 }, requests = 200, replicates = 0, ranks = 1,
        gpus = { { %s, most = 4, price_per_hour = 3 } },
        candidates = require "candidates.ladder" { tp = { 2 }, max_num_seqs = { 32 },
          max_num_batched_tokens = { 1024 } } } }]]):format(case[1], case[2]))
    local done, text = plan_command.run { scenario = path, jobs = 1, files = true, page = true }, nil
    for _, each in ipairs(done.files) do text = each.path == "1/scenario.lua" and each.text or text end
    local given = opening.file(test.file("scenario.lua", text)).given
    local rows = require "rooflua.sweep".grid { given, seeds = { given.seed } }
    test.equal(rows[1].summary.ttft_s.p99, done.document.ranks[1].metrics.ttft_s_p99.value, case[1])
  end
end)

test("a name that tells a format is started, whatever was priced", function()
  local done = setup.report({ ranks = 1, candidates = ladder {},
    gpus = { { "h100-sxm", most = 16, price_per_hour = 3 } } }, { model = "Qwen/Qwen3-32B-FP8" })
  local text = artefacts.files(done)[1].text
  test.check(text:find("exec vllm serve Qwen/Qwen3-32B-FP8 ", 1, true), "%s", text)
  test.check(not text:find("--quantization", 1, true), "quantised again")
end)

test("verify tells which measured figures lie inside", function()
  local done = written {}
  local own = done.document.ranks[1].bench
  local plan = test.file("plan.json", json.encode(done.document))
  local result = test.file("result.json", json.encode { mean_ttft_ms = own.ttft_s_mean.value * 1e3,
    mean_tpot_ms = own.tpot_s_mean.high * 5e3 })
  local found = verify.run { verify = result, scenario = plan }
  test.equal(#found.document.figures, 2)
  test.equal(found.document.outside, 1)
  test.equal(found.status, 1)
  local asked = done.document.ranks[1].bench_asked
  local function text_of(prompt)
    local other = test.file("other.json", json.encode { mean_ttft_ms = 1, completed = 50,
      total_input_tokens = 50 * prompt, total_output_tokens = 50 * asked.output_tokens_mean })
    return verify.run { verify = other, scenario = plan }.text
  end
  test.check(text_of(2 * asked.prompt_tokens_mean):find("tokens of a prompt on average, and the plan has", 1, true))
  local same = text_of(asked.prompt_tokens_mean)
  test.check(not same:find("another benchmark", 1, true), same)
  test.check(same:find("measured: 50 requests, ", 1, true), same)
  test.raises("has none of the figures", function() verify.run { verify = plan, scenario = plan } end)
end)

test("a plan that no deployment meets writes its document and its page", function()
  local folder = test.file "unmet"
  test.printed("plan --model llama-3.1-8b --workload 2000+300 --rate 5 --slo ttft_p99=1ms --gpus h100-sxm "
    .. "--requests 10 --write " .. folder, ".")
  local document = json.decode(assert(io.open(folder .. "/plan.json")):read "*a")
  test.equal(#document.ranks, 0)
  assert(io.open(folder .. "/plan.html")):close()
end)

test.finish()
