-- Measured closed loops of deployments: how the loop of a row is set up, and what each engine does in it.
local test = dofile "tests/scripts/harness.lua"
local core = require "rooflua.base.core"
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local Reader = require "rooflua.scenario.reader"
local rows = require "rooflua.validate.silicon.rows"
local serve = require "rooflua.serve"
local settings = require "rooflua.validate.silicon.settings"
local setup = require "rooflua.validate.silicon.setup"
local spec = require "rooflua.spec"

local write = dofile "tests/scripts/closed_loop_file.lua" (test)

local function steps() return policies.of(Reader.new "test", "steps", "kernels") end

local function with(row, more)
  local out = {}
  for name, value in pairs(row) do out[name] = value end
  for name, value in pairs(more) do out[name] = value end
  return out
end

local function served(row, options)
  local given = setup.scenario(rows.read(write { row })[1], steps(), core.plain(options or setup.options))
  return given, serve.run(given, { requests = true }).requests
end

test("InferenceX draws whole lengths from floor(0.8 L) to L, prompts and answers apart; others are exact", function()
  local _, requests = served { clients = 32, isl = 103, osl = 31 }
  test.equal(#requests.input_lens, 320)
  local least, most, same = 1e9, 0, 0
  for i, prompt in ipairs(requests.input_lens) do
    least, most = math.min(least, prompt), math.max(most, prompt)
    local output = requests.output_lens[i]
    test.check(output >= 24 and output <= 31, "an answer of %d tokens", output)
    same = same + ((prompt - 82) / 21 == (output - 24) / 7 and 1 or 0)
  end
  test.equal(least, 82)
  test.equal(most, 103)
  test.check(same < 160, "prompts and answers are drawn together")
  _, requests = served { clients = 4, source = "gap.csv" }
  for i = 1, 40 do
    test.equal(requests.input_lens[i], 200)
    test.equal(requests.output_lens[i], 20)
  end
end)

test("DeepSeek's prompts are longer than InferenceX's client counts where its tokenizer is broken", function()
  local broken = { family = "deepseek-v3", engine = "sglang", engine_version = "0.5.10.post1", system = "b300_sxm",
    format = "fp8", widths_tp_dp_moetp_moeep = "8,1,8,1", isl = 7140, osl = 100, clients = 1, tpot_ms = 9 }
  local function prompts(more)
    local question = rows.read(write { with(broken, more) })[1]
    local given, notes = setup.scenario(question, steps(), core.plain(setup.options))
    local parameters = policy.parameters(given.workload)
    return parameters.prompt_tokens, notes[#notes], parameters.output_tokens
  end
  local drawn, note, answers = prompts {}
  test.equal(drawn.max, 35921)  -- what InferenceX's pull request 937 measured
  test.equal(drawn.min, 28737)  -- 0.8 of 7,140 is 5,712; 28,736.8
  test.equal(answers.max, 100)
  test.check(note:find("5.03 times the tokens", 1, true), "the report says nothing: %s", note)
  for _, other in ipairs { { engine_version = "0.5.9" }, { source = "db-dump/2026-05-15" }, { family = "glm-5" },
    { engine = "trtllm", engine_version = "1.3.0rc5" } } do
    test.equal(prompts(other).max, 7140)
  end
  local own = setup.scenario(rows.read(write { with(broken, { source = "gap.csv" }) })[1], steps(),
    core.plain(setup.options))
  test.equal(policy.parameters(own.workload).prompt_tokens, 7140)
end)

--- The closed loop of a scenario, `start_s` after a warm-up of 2 x clients copies of its longest request.
local function warmed_up(given, start_s)
  local loop, clients = given.workload, policy.parameters(given.workload).clients
  local class = policy.define { name = "warmed_up", doc = "A warm-up, then a closed loop.", params = {} }
  function class:requests(rng) -- luacheck: ignore 212
    local inner = loop:requests(rng)
    return { inner = inner, warm = 0, waited = 0,
      next = function(state)
        if state.warm < 2 * clients then
          state.warm = state.warm + 1
          return 0, 200, 20, { max_output_tokens = 20 }
        end
        local at_s, prompt, output, fields = state.inner.next(state.inner)
        return at_s and start_s, prompt, output, fields
      end,
      done = function(state, now_s)
        if now_s < start_s then return nil end
        return state.inner.done(state.inner, now_s)
      end }
  end
  local out = {}
  for name, value in pairs(given) do out[name] = value end
  out.workload = class {}
  return out
end

test("a warm-up that is awaited changes nothing, so that it need not be simulated", function()
  for _, engine in ipairs { "vllm", "sglang", "trtllm" } do
    local given, plain = served { engine = engine, clients = 4 }
    local warm = serve.run(warmed_up(given, 1000), { requests = true }).requests
    local first = #warm.ttfts - #plain.ttfts
    test.equal(first, 8, engine)
    for i = 1, #plain.ttfts do
      test.near(warm.ttfts[first + i], plain.ttfts[i], 1e-6, engine .. " TTFT of request " .. i)
      test.near(warm.e2els[first + i], plain.e2els[i], 1e-6, engine .. " end of request " .. i)
    end
  end
end)

test("each engine has its scheduler, its tables and no prefix cache", function()
  for engine, scheduler in pairs { vllm = "vllm_v1", sglang = "sglang", trtllm = "trtllm" } do
    local given = served { engine = engine }
    test.equal(policy.describe(given.scheduler).name or given.scheduler.name, scheduler)
    test.equal(given.deployment.engine, engine)
    test.equal(given.mfu.engine, engine)
    test.equal(given.deployment.prefix_caching, false)
  end
end)

test("settings of launch scripts hold for their model on their engine, and only for InferenceX' rows", function()
  local row = { family = "llama-3.1-70b", system = "h200_sxm", format = "fp8", widths_tp_dp_moetp_moeep = "8,1,8,1" }
  local function of(more)
    local question = rows.read(write { with(row, more) })[1]
    return settings.of(question, spec.hardware(settings.systems[question.system]))
  end
  test.equal(of({ clients = 6 }).seats, 6)
  test.equal(of({ clients = 6 }).kv, "fp8")
  test.equal(of({ clients = 6, source = "gap.csv" }).seats, 6)
  test.equal(of({ clients = 6, isl = 1000, source = "gap.csv" }).budget, 2506)
  test.equal(of({ source = "gap.csv" }).kv, "fp8")
  test.equal(of({ source = "gap.csv", format = "bf16" }).kv, nil)
  test.equal(of({ engine = "trtllm", isl = 1024, osl = 1024 }).budget, 16384)
  test.equal(of({ engine = "trtllm", isl = 15000, source = "gap.csv" }).budget, 16512)
  test.equal(of({ engine = "trtllm", clients = 6, source = "gap.csv" }).seats, 6)
  test.equal(of({ system = "b200_sxm", engine = "sglang", source = "gap.csv" }).chunk, 16384)
  test.equal(of({ engine = "sglang", source = "gap.csv" }).chunk, 8192)
  test.equal(of({}).weights, "fp8")
  test.equal(of({ family = "deepseek-v3" }).weights, "fp8_block")
  test.equal(of({ format = "fp4" }).weights, "nvfp4")
  test.equal(of({ system = "b200_sxm" }).largest_prefill_graph, 0)
end)

test("SGLang's share holds weights and cache; TensorRT-LLM's is of what is free", function()
  local question = { engine = "sglang", format = "fp4", family = "deepseek-v3", system = "b200_sxm",
    widths_tp_dp_moetp_moeep = "8,1,8,1", clients = 1 }
  local given = setup.scenario(rows.read(write { question })[1], steps(), setup.options)
  local deployment = spec.deployment { model = given.model, hardware = given.hardware, tp = 8, kv = "fp8",
    weights = "nvfp4", kv_blocks = given.deployment.kv_blocks, block_size = 64 }
  local share = (deployment.weight_bytes + given.deployment.kv_blocks * deployment.kv_bytes_per_block)
    / given.hardware.usable_memory_bytes
  test.near(share, 0.85, 0.01)
end)

test("vLLM before 0.16 sorts logits where the model's own sampling asks for it, and the client for nothing", function()
  local function sorts(row)
    local given = setup.scenario(rows.read(write { row })[1], steps(), setup.options)
    local own = given.replicas and given.replicas[#given.replicas].steps or given.steps
    return own.sorted_logit_s > 0
  end
  local qwen = { family = "qwen3-32b", engine = "vllm", engine_version = "0.12.0", source = "gap.csv",
    widths_tp_dp_moetp_moeep = "8,1,8,1" }
  test.equal(sorts(qwen), true)
  test.equal(sorts(with(qwen, { engine_version = "0.16.0" })), false, "from 0.16 on nothing is sorted")
  test.equal(sorts(with(qwen, { engine = "sglang", engine_version = "0.5.9" })), false, "another engine")
  test.equal(sorts(with(qwen, { family = "llama-3.1-70b" })), false, "a model without sampling of its own")
  test.equal(sorts(with(qwen, { source = "source_file=2026-04-06.csv" })), false, "InferenceX's client is greedy")
  test.equal(sorts(with(qwen, { mode = "pd", workers = "1P1D", widths_tp_dp_moetp_moeep = "8,1,8,1;8,1,8,1" })), false,
             "prefill and decode apart: the router is not vLLM's own server")
end)

test("the image of a run says whether it drafts, and the number of drafts follows from its ranks", function()
  local function given(row)
    return setup.scenario(rows.read(write { row })[1], steps(), setup.options)
  end
  local r1 = { family = "deepseek-v3", engine = "trtllm", engine_version = "1.2.0rc6.post3", system = "b200_sxm",
    format = "fp4", widths_tp_dp_moetp_moeep = "8,1,1,8", clients = 16, isl = 1024, osl = 1024 }
  local scenario = given(r1)
  test.equal(scenario.speculation.speculator.draft_tokens, 3)
  test.equal(scenario.scheduler.max_num_seqs, 16)
  test.equal(scenario.scheduler.max_num_batched_tokens, 1152)  -- 4 x 16 + 1,024 + 64, in whole 64s
  test.equal(scenario.steps.largest_graph, 64)
  local ranks = given(with(r1, { widths_tp_dp_moetp_moeep = "1,8,1,8" }))
  test.equal(ranks.speculation.speculator.draft_tokens, 1)
  for _, other in ipairs { { engine_version = "1.2.0rc6.post2" }, { format = "fp8" }, { family = "glm-5" },
                           { source = "gap.csv", isl = 1000 } } do
    test.equal(given(with(r1, other)).speculation, nil, "a run without drafts")
  end
end)

test("SGLang 0.5.9 drafts for Qwen3.5 in FP8 where experts are neither whole nor on eight GPUs", function()
  local function given(more)
    local row = { family = "qwen3.5-397b-a17b", engine = "sglang", engine_version = "0.5.9", system = "b300_sxm",
      format = "fp8", widths_tp_dp_moetp_moeep = "4,1,4,1", clients = 16, isl = 1024, osl = 1024 }
    return setup.scenario(rows.read(write { with(row, more) })[1], steps(), setup.options)
  end
  local drafting = given {}
  test.equal(drafting.speculation.speculator.draft_tokens, 3)
  test.equal(drafting.async_depth, 1)
  test.equal(drafting.steps.largest_graph, 64)
  test.equal(drafting.steps.recurrent_copies, 7)
  for _, other in ipairs { { widths_tp_dp_moetp_moeep = "4,1,1,4" }, { widths_tp_dp_moetp_moeep = "8,1,8,1" },
                           { engine_version = "0.5.10.post1" }, { system = "h200_sxm" }, { format = "fp4" } } do
    test.equal(given(other).speculation, nil, "a run without drafts")
  end
  test.equal(given({ engine_version = "0.5.10.post1" }).steps.recurrent_copies, 1, "one kernel since then")
end)

test.finish()
