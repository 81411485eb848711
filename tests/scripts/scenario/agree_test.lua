-- A scenario has one answer, whichever command is asked: check, run, step and plan take the same and refuse the same,
-- for the same reason.
local test = dofile "tests/scripts/harness.lua"
local check = require "rooflua.program.check"
local kinds = require "rooflua.program.kinds"
local opening = require "rooflua.runs.opening"

--- What `check` and `run` say of a scenario: {errors, warnings, told} as texts, and the run's result or its error.
local function asked(text)
  local path = test.file(".lua", "return " .. text)
  local checked = { error = "", warning = "" }
  for _, finding in ipairs(check.file(path).findings) do
    checked[finding.level] = checked[finding.level] .. finding.message .. "\n"
  end
  local ok, result = pcall(kinds.run, opening.file(path), 1, { document = true })
  return checked, ok and result or nil, ok and "" or result
end

local function served(keys, workload)
  return ([[{ rooflua = 1, model = "qwen3-8b", hardware = "h100", %s workload = require "workloads.constant" {
    rate_per_s = 5, num_requests = 6, output_tokens = 10, %s } }]]):format(keys, workload or "prompt_tokens = 300")
end

local function notes_of(result) return table.concat(result.notes or {}, "\n") end

--- Both commands end in an error with this text.
local function both_refuse(part, text)
  local checked, _, problem = asked(text)
  test.check(checked.error:find(part, 1, true), "check: expected '%s', found: %s", part, checked.error)
  test.check(problem:find(part, 1, true), "run: expected '%s', found: %s", part, problem)
end

--- Both take it. The run has a note with this text, and check a warning; `completed` requests.
local function both_tell(part, text, completed)
  local checked, result, problem = asked(text)
  test.check(result ~= nil, "run: %s", problem)
  test.check(checked.warning:find(part, 1, true), "check: expected '%s', found: %s", part, checked.warning)
  test.check(notes_of(result):find(part, 1, true), "run: expected '%s', found: %s", part, notes_of(result))
  test.equal(checked.error, "")
  test.equal(result.summary.completed, completed)
end

--- No request is completed: check has an error with this text, the run a note.
local function none_runs(part, text)
  local checked, result, problem = asked(text)
  test.check(result ~= nil, "run: %s", problem)
  test.check(checked.error:find(part, 1, true), "check: expected '%s', found: %s", part, checked.error)
  test.check(notes_of(result):find(part, 1, true), "run: expected '%s', found: %s", part, notes_of(result))
  test.equal(result.summary.completed, 0)
end

test("more KV blocks than there is room for are taken and told", function()
  local told = "deployment.kv_blocks: 900,000 blocks of 16 tokens are taken as they are stated: qwen3-8b on h100-sxm "
  both_tell(told, served "deployment = { kv_blocks = 900000 },", 6)
  both_tell(told, served 'engine = { "vllm 0.19", num_gpu_blocks_override = 900000 },', 6)
  both_tell(told, served "replicas = { { deployment = { kv_blocks = 900000 } }, {} },", 6)
  both_tell("without the memory for them: deepseek-v3 does not fit",
    (served('deployment = { kv_blocks = 9000 },'):gsub("qwen3%-8b", "deepseek-v3")), 6)
  local checked, priced = asked [[{ rooflua = 1, kind = "price", model = "qwen3-8b", hardware = "h100",
    deployment = { kv_blocks = 900000 }, price = { { decodes = 1 } } }]]
  test.check(checked.warning:find(told, 1, true) and notes_of(priced):find(told, 1, true))
  local _, fits = asked(served "deployment = { kv_blocks = 9000 },")
  test.check(not notes_of(fits):find "taken as they are stated")
end)

test("stated blocks are compared with the room that the engine's own rule leaves", function()
  local found = require("rooflua.engines").capacity { model = "qwen3-30b-a3b", hardware = "h100",
    deployment = { tp = 2, ep = 2 } }
  local there = math.floor(found.kv_tokens / 16) - 1 -- vLLM keeps one block
  local function told(blocks)
    local _, result = asked((served(("deployment = { tp = 2, ep = 2, kv_blocks = %d },"):format(blocks))
      :gsub("qwen3%-8b", "qwen3-30b-a3b")))
    return notes_of(result):find "taken as they are stated" ~= nil
  end
  test.check(not told(there))
  test.check(told(there + 1))
end)

test("a request that is longer than the model's context is refused, unless another length is stated", function()
  local long = "prompt_tokens = 60000"
  none_runs("6 of 6 requests exceed max_model_len: their prompts leave no room for a token within max_model_len, "
    .. "40,960 tokens (qwen3-8b's; deployment.max_model_len = N states a longer one, which vllm ", served("", long))
  for engine, words in pairs {
    ["vllm 0.10.2"] = [[--rope-scaling '{"rope_type": "yarn", "factor": F, ...}' --max-model-len N]],
    ["vllm 0.11.2"] = [[--hf-overrides '{"rope_scaling": {...}}' --max-model-len N]],
    ["vllm 0.24"] = [[--hf-overrides '{"rope_parameters": {...}}' --max-model-len N]],
    ["sglang 0.5.9"] = [[--json-model-override-args '{"rope_scaling": {...}}' --context-length N]],
    ["trtllm 1.2.0rc2"] = "rope_scaling in the model's config.json and --max_seq_len N",
    ["trtllm 1.3"] = "model_kwargs: {rope_scaling: {...}} of its YAML file and --max_seq_len N" } do
    none_runs(("which %s takes with %s)"):format(engine, words), served(("engine = %q,"):format(engine), long))
  end
  local learned = test.file("config.json", [[{ "architectures": ["OPTForCausalLM"], "model_type": "opt",
    "hidden_size": 768, "ffn_dim": 3072, "num_hidden_layers": 12, "num_attention_heads": 12, "vocab_size": 50272,
    "max_position_embeddings": 2048, "word_embed_proj_dim": 768, "tie_word_embeddings": true,
    "torch_dtype": "float16" }]])
  none_runs("its positions are a learned table, which no setting makes longer",
    (served("", long):gsub("qwen3%-8b", learned)))
  both_tell("deployment.max_model_len: 70,000 is more than the 40,960 that qwen3-8b is made for",
    served("deployment = { max_model_len = 70000 },", long), 6)
  none_runs("within max_model_len, 200 tokens (as stated; qwen3-8b takes up to 40,960)",
    served "deployment = { max_model_len = 200 },")
  local some = "prompt_tokens = { distribution = 'empirical', values = { 300, 60000 }, weights = { 1, 1 } }"
  local checked, result = asked(served("", some))
  test.check(checked.error == "" and checked.warning:find("more than qwen3-8b's max_model_len, 40960", 1, true))
  test.check(notes_of(result):find("requests exceed max_model_len", 1, true))
  test.check(result.summary.completed > 0 and result.summary.completed < 6)
  local _, _, none = asked((served("", long):gsub('"qwen3%-8b"', '{ from = "qwen3-8b", max_model_len = 0 }')))
  test.equal(none, "", "a model that states no length has none")
end)

test("answers that max_model_len cuts are counted", function()
  local _, result = asked(served "deployment = { max_model_len = 305 },")
  test.check(notes_of(result):find("6 answers are cut at max_model_len, 305 tokens", 1, true), "%s", notes_of(result))
  test.equal(result.summary.output_tokens, 30)
end)

test("a plan refuses the same lengths, and takes the same that are stated", function()
  local function planned(keys)
    local given = opening.table({ kind = "plan", model = "qwen3-8b", deployment = keys,
      workload = require "workloads.poisson" { prompt_tokens = 45000, output_tokens = 10 },
      plan = { load = { rate_per_s = 0.1 }, slo = { ttft_s_p99 = 60 }, replicates = 0, requests = 20,
        candidates = require "candidates.ladder" { tp = { 1 }, max_num_seqs = { 64 },
          max_num_batched_tokens = { 2048 } },
        gpus = { { "h200-sxm", most = 1, price_per_hour = 3 } } } }, { file = "made up" })
    return kinds.run(given, 1, {}).text
  end
  test.check(planned():find("a request of 45010 tokens, and qwen3-8b", 1, true), "%s", planned())
  test.check(not planned { max_model_len = 50000 }:find("no deployment meets", 1, true))
end)

test("vLLM does not start with a budget below max_model_len without chunks", function()
  local off = 'scheduler = require "schedulers.vllm_v1" { enable_chunked_prefill = false, '
    .. 'max_num_batched_tokens = %d },'
  local told = "vLLM does not start: enable_chunked_prefill is false, and max_num_batched_tokens = %d is less than "
    .. "max_model_len = %d"
  both_refuse(told:format(2048, 40960), served(off:format(2048)))
  both_refuse(told:format(2048, 4096), served(off:format(2048) .. "deployment = { max_model_len = 4096 },"))
  both_refuse(told:format(2048, 40960),
    served 'engine = { "vllm 0.19", enable_chunked_prefill = false, max_num_batched_tokens = 2048 },')
  both_refuse(told:format(100, 40960), served((off:format(100):gsub("vllm_v1", "priority"))))
  both_refuse("vLLM does not start: it does not cut prompts, and max_num_batched_tokens = 100",
    served 'scheduler = require "schedulers.vllm_v0" { max_num_batched_tokens = 100 },')
  for _, keys in ipairs { off:format(40960), off:format(2048) .. "deployment = { max_model_len = 2048 },",
    'scheduler = require "schedulers.vllm_v1" { max_num_batched_tokens = 2048 },', 'scheduler = "vllm_v0",' } do
    local checked, result, problem = asked(served(keys))
    test.equal(checked.error .. problem, "")
    test.equal(result.summary.completed, 6)
  end
end)

test("a stated length above the KV cache keeps vLLM from starting, and not SGLang", function()
  local keys = "deployment = { kv_blocks = 100, max_model_len = 2000 },"
  both_refuse("the KV cache holds 1,600 tokens, fewer than deployment.max_model_len, 2,000: vLLM would not start",
    served(keys))
  both_tell("the KV cache holds 1,598 tokens, fewer than deployment.max_model_len, 2,000: longer requests fail",
    served 'engine = "sglang 0.5.9", deployment = { kv_blocks = 1600, max_model_len = 2000 },', 6)
  both_tell("the KV cache holds 1,600 tokens, fewer than qwen3-8b's max_model_len, 40,960",
    served "deployment = { kv_blocks = 100 },", 6)
end)

test("requests that a scheduler rejects are told with its reason", function()
  local chunks_off = 'scheduler = require "schedulers.trtllm" { max_num_batched_tokens = 200, max_num_seqs = 8 },'
  none_runs("6 of 6 requests were rejected by the scheduler trtllm: the prompt is longer than max_num_batched_tokens = "
    .. "200, and enable_chunked_context is false", served(chunks_off))
  none_runs("were rejected by the scheduler trtllm",
    served 'engine = { "trtllm", max_num_tokens = 200, max_batch_size = 8 },')
  for _, name in ipairs { "orca", "static_batch" } do
    none_runs("by the scheduler " .. name .. ": the prompt and the output that is reserved for it", served(
      ('scheduler = require "schedulers.%s" { max_output_tokens = 5000 }, deployment = { kv_blocks = 100 },'):format(
        name)))
  end
  local some = "prompt_tokens = { distribution = 'empirical', values = { 100, 300 }, weights = { 1, 1 } }"
  local checked, result = asked(served(chunks_off, some))
  test.check(notes_of(result):find("requests were rejected by the scheduler trtllm", 1, true))
  test.check(result.summary.completed > 0)
  test.equal(checked.error, "", "some requests run")
end)

test("a scheduler of the user that rejects or starves everything is told by check as by run", function()
  local function own(body)
    return served(([[scheduler = (function()
      local Own = require("rooflua.policy").define { name = "own", doc = "d" }
      function Own:plan(replica, plan)
        local waiting = replica:waiting()
        while %s do plan:reject(waiting[1]%s) end
      end
      return Own {}
    end)(),]]):format(body and "#waiting > 0" or "false", body or ""))
  end
  none_runs("6 of 6 requests were rejected by the scheduler own: of replica 1", own ', "of replica " .. replica.index')
  none_runs("by the scheduler own, which gives no reason", own "")
  none_runs("6 of 6 requests starved: the scheduler own never planned them", own())
end)

test("a fork knows why requests before it were rejected", function()
  local serve = require "rooflua.serve"
  local live = serve.open { model = "qwen3-8b", hardware = "h100",
    scheduler = require "schedulers.trtllm" { max_num_batched_tokens = 200, max_num_seqs = 8 },
    workload = require "workloads.constant" { rate_per_s = 5, num_requests = 6, output_tokens = 10,
      prompt_tokens = 300 } }
  live:run_until(0.7)
  local fork = live:fork()
  fork:run()
  test.check(notes_of(fork:result()):find("6 of 6 requests were rejected by the scheduler trtllm: the prompt", 1, true))
end)

test.finish()
