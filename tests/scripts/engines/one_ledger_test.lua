-- Law of ledgers: of one deployment `capacity`, `run`, `check`, `step` and `plan` have the same tokens of KV cache, the
-- same longest request and the same verdict on its start, over random models, GPUs, engines, widths, lengths and
-- stated blocks.
local test = dofile "tests/scripts/harness.lua"
local candidates = require "rooflua.plan.candidates"
local check = require "rooflua.program.check"
local deploy = require "rooflua.plan.deploy"
local engines = require "rooflua.engines"
local kinds = require "rooflua.program.kinds"
local opening = require "rooflua.runs.opening"
local plan = require "rooflua.plan.run"
local serving = require "rooflua.serving.pieces"

local deployments = tonumber(os.getenv "ROOFLUA_LEDGERS") or 40

--- Whole numbers of a fixed sequence, so that a failure comes again.
local state = tonumber(os.getenv "ROOFLUA_SEED") or 2024
local function random(most)
  state = (state * 16807) % 2147483647
  return math.floor(state / 2147483647 * most)
end
local function one_of(list) return list[random(#list) + 1] end
local function maybe(share) return random(100) < share end

-- Plain ones, and those with windows, states, a latent and a compressed cache, images.
local models = { "qwen3-8b", "llama-3.1-8b", "qwen3-32b", "mixtral-8x7b", "gpt-oss-20b", "gpt-oss-120b", "gemma-3-27b",
  "qwen3-next-80b-a3b", "nemotron-nano-9b-v2", "qwen3.5-27b", "granite-4.0-h-small", "deepseek-v3", "kimi-k2",
  "deepseek-v4-flash", "glm-4.5-air", "qwen3-vl-32b" }
local with_experts = { ["mixtral-8x7b"] = true, ["gpt-oss-120b"] = true, ["deepseek-v3"] = true,
  ["glm-4.5-air"] = true }
local gpus = { "h100-sxm", "h200-sxm", "a100-sxm-80gb", "l40s", "b200", "t4", "gh200" }
local names = {
  vllm = { releases = { "0.7.3", "0.8.5", "0.12", "0.17", "0.19", "0.21", "0.24", "0.26" }, length = "max_model_len",
    seats = "max_num_seqs", tp = "tensor_parallel_size", blocks = "num_gpu_blocks_override",
    share = "gpu_memory_utilization" },
  sglang = { releases = { "0.4.9", "0.5.6", "0.5.9", "0.5.12" }, length = "context_length",
    seats = "max_running_requests", tp = "tp_size", share = "mem_fraction_static" },
  trtllm = { releases = { "1.0.0", "1.2.0", "1.3.0" }, length = "max_seq_len", seats = "max_batch_size",
    tp = "tp_size" },
}
local lengths = { 256, 2048, 8192, 16384, 32768 }

--- Random keys of a scenario: {model, hardware, engine, deployment, speculation}, and options of the engine.
local function drawn()
  local name = one_of { "vllm", "vllm", "sglang", "trtllm" }
  local words, tp = names[name], one_of { 1, 1, 2, 4, 8 }
  local options, deployment = {}, {}
  local out = { model = one_of(models), hardware = one_of(gpus), name = name, tp = tp, options = options,
    release = one_of(words.releases), deployment = deployment }
  if maybe(50) then
    out.length = one_of(lengths)
    if maybe(50) then options[words.length] = out.length else deployment.max_model_len = out.length end
  end
  if maybe(40) then out.seats = one_of { 16, 64, 300, 1024 } end
  if maybe(20) then deployment.kv = "fp8" end
  if maybe(15) then deployment.prefix_caching = false end
  if maybe(15) then
    out.blocks = one_of { 60, 600, 6000 }
    if words.blocks and maybe(50) then options[words.blocks] = out.blocks else deployment.kv_blocks = out.blocks end
  elseif words.share and maybe(30) then
    options[words.share] = one_of { 0.5, 0.8, 0.95 }
  end
  if name == "vllm" and maybe(15) then options.enforce_eager = true end
  if name == "vllm" and not out.release:find "^0%.[78]" and maybe(15) then options.language_model_only = true end
  if maybe(25) then deployment.weights = one_of { "fp8", "nvfp4", "mxfp4" } end
  if name == "vllm" and with_experts[out.model] and maybe(30) then out.dp = 2 end
  if out.model == "deepseek-v3" and maybe(50) then out.speculates = true end
  return out
end

local function literal(value) return type(value) == "string" and ('"%s"'):format(value) or tostring(value) end
local function fields(given)
  local out = {}
  for key, value in pairs(given) do out[#out + 1] = ("%s = %s"):format(key, literal(value)) end
  table.sort(out)
  return table.concat(out, ", ")
end

local speculation = [[ speculation = { speculator = require "speculators.fixed" { draft_tokens = 1 },
  drafter = "mtp", acceptance = require "acceptance.constant" {} },]]

--- The keys as text: of a plan without those that it chooses itself.
local function keys_of(about, of_plan)
  local options, words = {}, names[about.name]
  for key, value in pairs(about.options) do options[key] = value end
  if not of_plan then
    options[words.tp], options[words.seats] = about.tp, about.seats
  end
  local deployment = { dp = not of_plan and about.dp or nil }
  for key, value in pairs(about.deployment) do deployment[key] = value end
  return ('model = "%s", hardware = %s, engine = { "%s %s", %s }, deployment = { %s },%s'):format(about.model,
    of_plan and "nil" or literal(about.hardware), about.name, about.release, fields(options), fields(deployment),
    about.speculates and speculation or "")
end

local function document_of(text)
  local given = opening.file(test.file(".lua", ("return { rooflua = 1, %s %s }"):format(text,
    'workload = require "workloads.constant" { rate_per_s = 1, num_requests = 1, prompt_tokens = 20, '
      .. "output_tokens = 2 }"))).given
  local ok, found = pcall(engines.capacity, { model = given.model, hardware = given.hardware, engine = given.engine,
    deployment = given.deployment, speculation = given.speculation })
  return ok and found or nil, found
end

--- "tokens of length" and the verdict, as a line of `run` or `check` prints them; nil where it prints none.
local function printed(text)
  local tokens, length = text:match "GPU KV cache size: ([%d,]+) tokens, [%d.,]+x of ([%d,]+) tokens per request"
  if not tokens then return nil end
  return ("%s of %s"):format(tokens:gsub(",", ""), (length:gsub(",", ""))),
    text:match "tokens per request; would not start: ([^\n]*)"
end

local function is_verdict(problem)
  return problem:find "would not start" or problem:find "does not start" or problem:find "not fit"
end

--- Whether an answer without a line says why: nothing would start.
local function check_error(found, what, problem)
  test.check(is_verdict(problem), "%s ends without a verdict: %s", what, problem)
  test.check(not found or not found.starts, "capacity starts, %s does not: %s", what, problem)
end

--- Both say the same of the tokens, the length and the start.
local function check_line(found, what, text, problem)
  local numbers, refusal = printed(text)
  if not numbers then return check_error(found, what, problem) end
  test.check(found, "capacity refuses what %s takes", what)
  test.equal(numbers, ("%d of %d"):format(found.kv_tokens, found.deployment.max_model_len), what)
  test.equal(refusal, found.reason, what .. ": verdict")
end

--- What is simulated: the cache of models whose blocks the engine counts in the same way, and the longest request.
local function check_simulated(found, opened)
  local config = serving.check(opened.reader, opened.given).replicas[1].config
  if config.seat_blocks == 0 and found.groups == 1 then
    test.near(config.kv_blocks * config.block_size, found.kv_tokens, 2 * config.block_size / found.kv_tokens,
      "simulated")
  end
  local most = found.deployment.max_model_len
  test.check(config.max_model_len == most or config.max_model_len < most and config.max_model_len
    <= config.kv_blocks * config.block_size, "%s of %s tokens", config.max_model_len, most)
end

local function check_served(about, found)
  local text = ('return { rooflua = 1, %s workload = require "workloads.constant" { rate_per_s = 1, '
    .. "num_requests = 1, prompt_tokens = 20, output_tokens = 2 } }"):format(keys_of(about))
  local path = test.file(".lua", text)
  local checked, problems = check.file(path), {}
  for _, each in ipairs(checked.findings) do problems[#problems + 1] = each.message end
  check_line(found, "check", table.concat(checked.notes or {}, "\n"), table.concat(problems, "\n"))
  local ok, result = pcall(kinds.run, opening.file(path), 1, {})
  check_line(found, "run", ok and result.text or "", ok and "" or tostring(result))
  if ok then check_simulated(found, opening.file(path)) end
end

local function check_priced(about, found)
  local text = ('return { rooflua = 1, kind = "price", %s price = { { decode_contexts = { 20 } } } }'):format(
    keys_of(about))
  local ok, result = pcall(kinds.run, opening.file(test.file(".lua", text)), 1, { document = true })
  if not ok then return check_error(found, "step", tostring(result)) end
  local refusal = table.concat(result.notes or {}, "\n"):match "would not start: ([^\n]*)"
  test.equal(refusal, found and found.reason, "step: verdict")
end

--- The same keys as the only candidate of a plan.
local function check_planned(about, found)
  local text = ([[return { rooflua = 1, kind = "plan", %s
    workload = require "workloads.poisson" { prompt_tokens = 20, output_tokens = 2 },
    plan = { load = { rate_per_s = 1 }, slo = { ttft_s_p99 = 9 }, requests = 10, replicates = 0,
      gpus = { { "%s", most = 16, price_per_hour = 1 } },
      candidates = require "candidates.ladder" { tp = { %d }, dp = { %d }, max_num_seqs = { %d },
        max_num_batched_tokens = { 8192 } } } }]]):format(keys_of(about, true), about.hardware, about.tp,
    about.dp or 1, about.seats or 128)
  local opened = opening.file(test.file(".lua", text))
  local ok, question = pcall(plan.check, opened.reader, opened.given)
  if not ok then return check_error(found, "plan", tostring(question)) end
  local list = candidates.all(question)
  local fitted, problem = pcall(candidates.fitting, question, list)
  local given = deploy.scenario(question, list[1], 1)
  local asked, own = pcall(engines.capacity, { model = given.model, hardware = given.hardware, engine = given.engine,
    deployment = given.deployment, scheduler = given.scheduler, speculation = given.speculation })
  problem = not fitted and tostring(problem) or list[1].problem
  if problem then
    if problem:find "^a request of" or problem:find "more than the" then return end -- of this workload or this plan
    return check_error(asked and own, "plan", problem)
  end
  test.check(asked and own.starts, "plan buys what capacity refuses: %s", asked and own.reason or own)
  if about.length then test.equal(own.deployment.max_model_len, about.length, "plan: the stated length") end
  local planned = list[1].deployment
  if planned.seat_blocks == 0 and own.groups == 1 and not about.blocks then
    test.near(planned.kv_blocks * planned.block_size, own.kv_tokens, 2 * planned.block_size / own.kv_tokens, "plan")
  end
end

local started, stopped = 0, 0
for i = 1, deployments do
  local about = drawn()
  test(("deployment %d has one ledger: %s tp %d seats %s"):format(i, keys_of(about), about.tp,
    tostring(about.seats)), function()
    local found, problem = document_of(keys_of(about))
    if not found then test.check(is_verdict(tostring(problem)), "%s", problem) end
    check_served(about, found)
    check_priced(about, found)
    check_planned(about, found)
    if found and found.starts then started = started + 1 else stopped = stopped + 1 end
  end)
end

test("some start and some do not", function()
  test.at_least(started, deployments / 8)
  test.at_least(stopped, deployments / 8)
end)

test.finish()
