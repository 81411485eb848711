-- The scenario of a case with a step model: the measured run with its settings.
local core = require "rooflua.base.core"
local policy = require "rooflua.policy"
local random = require "rooflua.random"
local replay = require "rooflua.validate.replay"
local policies = require "rooflua.scenario.policies"
local Reader = require "rooflua.scenario.reader"
local spec = require "rooflua.spec"
local widths = require "rooflua.validate.widths"

local question = {}

--- Number of different prompts that inference-perf's shared-prefix load sends in turn.
local distinct_prompts = 100
--- Requests per client in a closed loop; all clients start at once.
--- Source: aiconfigurator, eval/benchmarks/genai_perf_runner.py (10 per client, after a separate warm-up of 2).
local rounds = 10

--- A setting that the run states, else the engine's default.
local function setting(case, measured, name, default)
  return measured.settings[name] or case.settings[name] or default
end

local function scheduler(case, measured, engine)
  local parameters, values = engine.parameters, {}
  if engine.scheduler == "static_batch" then
    return policy.with(policies.of(Reader.new "validate", "scheduler", engine.scheduler), {
      max_num_seqs = case.settings.batch, max_output_tokens = case.settings.output_tokens })
  end
  values.max_num_seqs = setting(case, measured, "max_num_seqs", parameters.seats[1])
  values.max_num_batched_tokens = setting(case, measured, "max_num_batched_tokens", parameters.budget[1])
  local class = policies.of(Reader.new "validate", "scheduler", engine.scheduler)
  local declared = policy.definition(class).params
  if declared.max_output_tokens then values.max_output_tokens = case.settings.output_tokens end
  if declared.scheduler_reserve_full_isl then
    values.scheduler_reserve_full_isl = parameters.reserve_full_sequence[1]
  end
  return policy.with(class, values)
end

--- KV blocks of a static batch: at least those of the whole batch, because the measured run had them.
local function blocks_of_batch(case, hardware, given)
  local settings = case.settings
  local found = spec.deployment { model = case.model, hardware = hardware, tp = given.tp, weights = given.weights,
    kv = given.kv, memory_utilization = given.memory_utilization }
  local of_one = math.ceil(((settings.prompt_tokens or 0) + (settings.output_tokens or 0)) / found.block_size)
    + found.seat_blocks
  return math.max(found.kv_blocks, settings.batch * of_one)
end

--- Ranks, number formats and memory of a run.
function question.deployment(case, measured, engine, hardware)
  local out = widths.keys(case.widths)
  out.weights, out.kv, out.kv_blocks = case.weights, case.kv, setting(case, measured, "kv_blocks")
  out.memory_utilization = measured.settings.gpu_mem_util or case.settings.memory_utilization
    or engine.parameters.memory_utilization[1]
  if engine.scheduler == "static_batch" and case.settings.batch and not out.kv_blocks then
    out.kv_blocks = blocks_of_batch(case, hardware, out)
  end
  return out
end

--- 2 if a step is planned while one runs.
function question.async_depth(case, engine) return case.settings.async_depth or engine.parameters.async_depth[1] end

local function serving_deployment(case, measured, engine, hardware)
  local out = question.deployment(case, measured, engine, hardware)
  out.prefix_caching = engine.parameters.prefix_caching[1]
  out.max_model_len = setting(case, measured, "max_model_len")
  return out
end

--- Time of the front-end, which depends on where times were measured: at the client, in the process of the server, or
--- by the engine itself.
function question.frontend_s(case, engine)
  if case.metrics:find "token ts" or case.settings.batch then return 0 end
  local name = case.metrics:find "server" and "server_frontend_s" or "client_frontend_s"
  return engine.parameters[name][1]
end

--- Stages of the run up to the one of the case, from the rows of its table.
local function stages_of(case, measured)
  local row = measured.row
  if not row or not row.stage then
    return { { rate_per_s = case.settings.rate_per_s or measured.settings.rate_per_s,
      duration_s = case.settings.duration_s or measured.settings.duration_s } }
  end
  local stages = {}
  for _, each in ipairs(measured.rows) do
    if each.experiment == row.experiment and each.stage <= row.stage then
      stages[each.stage + 1] = { rate_per_s = each.rate_rps, duration_s = each.duration_s }
    end
  end
  return stages
end

--- Lengths of a closed loop: equal, or uniform from (1 - spread) L to L.
local function lengths_of(tokens, spread)
  if not spread then return tokens end
  return { distribution = "uniform", min = math.max(1, math.floor((1 - spread) * tokens)), max = tokens }
end

--- The workload of a case, and its requests with `scored`.
local function workload(case, measured, seed)
  local settings = case.settings
  if settings.length_spread and not settings.clients then
    core.fail("%s: workload: length_spread: only a closed loop (c=N) draws its lengths", case.where)
  end
  if measured.requests then
    return replay.recorded(measured.requests, settings.shared_prefix_tokens), measured.requests
  end
  local prompt = measured.settings.prompt_tokens or settings.prompt_tokens
  local output = measured.settings.output_tokens or settings.output_tokens
  if not prompt or not output then
    core.fail("%s: workload: prompt and output lengths are not stated (in=.. out=..)", case.where)
  end
  prompt, output = math.floor(prompt + 0.5), math.floor(output + 0.5)
  if settings.batch then return replay.batch(settings.batch, prompt, output) end
  if settings.clients then
    return policy.with(policies.of(Reader.new "validate", "workload", "closed_loop"), {
      clients = settings.clients, num_requests = rounds * settings.clients,
      prompt_tokens = lengths_of(prompt, settings.length_spread),
      output_tokens = lengths_of(output, settings.length_spread) })
  end
  local stages = stages_of(case, measured)
  if not stages[1].rate_per_s or not stages[1].duration_s then
    core.fail("%s: workload: neither a rate (Poisson R rps D s), a closed loop (c=N) nor a static batch", case.where)
  end
  local shared = measured.row and measured.row.system_prompt_len and distinct_prompts or nil
  local load, requests = replay.poisson(stages, prompt, output, shared, random.streams(seed))
  for _, each in ipairs(requests) do each.scored = each.stage == #stages - 1 end
  return load, requests
end

--- Whether the token budget of a step is known, so that it is never drawn.
function question.states_budget(case, measured)
  return setting(case, measured, "max_num_batched_tokens") ~= nil
end

--- Sets another token budget if neither the case nor its file states one.
function question.set_budget(given, case, measured, budget)
  if budget and not question.states_budget(case, measured) and given.scheduler.name == "vllm_v1" then
    given.scheduler = policy.with(given.scheduler, { max_num_batched_tokens = budget })
  end
end

--- @return table scenario of kind "serve"
--- @return table? requests of the workload, in order of arrival, with `scored`
function question.serve(case, measured, engine, hardware, steps, database)
  local load, requests = workload(case, measured, 0)
  return {
    title = case.id, model = case.model, hardware = hardware, mfu = database, steps = steps,
    deployment = serving_deployment(case, measured, engine, hardware), scheduler = scheduler(case, measured, engine),
    async_depth = question.async_depth(case, engine), workload = load,
    frontend = { base_s = question.frontend_s(case, engine) },
  }, requests
end

return question
