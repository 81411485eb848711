-- A question about a measured closed loop as a scenario of kind "serve", and the reasons for which one is refused.
--
-- InferenceX's client warms up with copies of one request and waits until they are answered. Prefix caching is off, so
-- that the warm-up leaves an empty engine as it found it: it is not simulated. Then all clients send at once
-- (client.lua).
local client = require "rooflua.validate.silicon.client"
local core = require "rooflua.base.core"
local memory = require "rooflua.engines.memory"
local mfu = require "rooflua.mfu"
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local possible = require "rooflua.validate.silicon.possible"
local Reader = require "rooflua.scenario.reader"
local roles = require "rooflua.validate.silicon.roles"
local score = require "rooflua.validate.score"
local serve = require "rooflua.serve"
local settings = require "rooflua.validate.silicon.settings"
local spec = require "rooflua.spec"
local statistics = require "rooflua.base.statistics"
local widths = require "rooflua.validate.widths"

local setup = {}

--- What --set silicon.NAME=VALUE may change besides the engine's settings. requests_per_client 0: as many as the
--- program sends that measured the row. refuse: rows that the stated GPUs cannot have measured, or whose transfer is
--- not modelled, are refused.
setup.options = { seed = 0, seeds = 1, requests_per_client = 0, refuse = true }

-- Refusals -------------------------------------------------------------------------------------------------

local models = {}

--- The shipped model of a family; nil if there is none.
local function model_of(family)
  if models[family] == nil then
    local ok, model = pcall(spec.model, family)
    models[family] = ok and model or false
  end
  return models[family] or nil
end

--- The class of a deployment: pd, dpa, tep, moe-tp or dense. A model that is not shipped may be dense or not; then the
--- widths must tell, else the class is nil.
function setup.class(question)
  if question.mode == "pd" then return "pd" end
  if question.widths.dp > 1 then return "dpa" end
  if question.widths.ep > 1 then return "tep" end
  local model = model_of(question.family)
  return model and (model.moe and "moe-tp" or "dense") or nil
end

--- Why SGLang's hand-over of keys and values is not modelled; nil if it is. Where prefill and decode divide the heads
--- differently, it sends a piece for each token, layer and head.
--- Source: SGLang pull requests 18968 ("any reasonable load will grind a deployment to a halt"), 19890
local function unmodelled_transfer(list, model)
  local prefill, decode = list[1], list[2]
  if not decode or prefill.engine ~= "sglang" or model.mla or prefill.widths.tp == decode.widths.tp then return nil end
  return "SGLang's transfer between different tp, head by head, is not modelled"
end

--- Why a question is not simulated; nil if it is.
--- @param options table as setup.options
function setup.refusal(question, options)
  if not settings.newest[question.engine] then
    return core.unknown_name("engine", question.engine, core.sorted_keys(settings.newest))
  end
  if not settings.systems[question.system] then
    return core.unknown_name("system", question.system, core.sorted_keys(settings.systems))
  end
  local model = model_of(question.family)
  if not model then return "model not shipped: " .. question.family end
  local list = roles.of(question, model)
  for _, role in ipairs(list) do
    local refusal = widths.refusal(role.widths, model)
    if refusal then return refusal end
  end
  return options.refuse and unmodelled_transfer(list, model) or nil
end

-- The scenario -----------------------------------------------------------------------------------------------

local function scheduler(values, role)
  local own = { max_num_seqs = values.seats }
  if values.scheduler == "sglang" then
    own.max_prefill_tokens, own.chunked_prefill_size = values.budget, values.chunk
    own.scheduler_recv_interval, own.enable_mixed_chunk = values.recv_interval, values.mixed_chunk
    own.max_speculative_seqs = 0  -- the seats are given
    own.schedule_conservativeness = values.conservativeness
  else
    own.max_num_batched_tokens = values.budget
  end
  if values.batch_wait then
    own.batch_wait_timeout_iters, own.batch_wait_max_tokens_ratio = values.batch_wait[1], values.batch_wait[2]
  end
  -- A prompt whose keys and values have arrived needs one token of the step, not a block of them.
  if values.scheduler == "trtllm" and role.role == "decode" then own.chunk_unit_size = 1 end
  if values.scheduler == "vllm_v1" then
    own.scheduler_reserve_full_isl, own.prefill_schedule_interval = values.reserve_full, values.prefill_interval
  end
  if values.prompt_balance and role.widths.dp > 1 then
    own.attention_dp_balance = true
    own.attention_dp_timeout_iters, own.attention_dp_batching_wait_iters = values.prompt_balance[1],
      values.prompt_balance[2]
  end
  return policy.with(policies.of(Reader.new "validate", "scheduler", values.scheduler), own)
end

local function deployment(question, values, model, hardware, repeats)
  local out = widths.keys(question.widths)
  out.weights, out.kv, out.block_size = values.weights, values.kv, values.block_size
  local tried = { model = model, hardware = hardware, max_num_seqs = values.seats,
    max_num_batched_tokens = values.budget }
  for name, value in pairs(out) do tried[name] = value end
  out.kv_blocks = memory.of_share(values.memory, tried)
  out.engine, out.prefix_caching = question.engine, repeats and values.prefix_caching or false
  return out
end

local function steps_of(values, steps, model)
  if steps.name ~= "kernels" then return steps end
  local own = {}
  local sorts = model.sampling and model.sampling.sorts
  if sorts and values.sorted_logit_s and not policy.is_given(steps, "sorted_logit_s") then
    own.sorted_logit_s = values.sorted_logit_s
  end
  for _, name in ipairs { "largest_graph", "largest_prefill_graph", "experts_kernels", "dp_padding",
    "recurrent_copies", "exchange", "prompt_overhead", "block_gemm" } do
    if not policy.is_given(steps, name) then own[name] = values[name] end
  end
  return policy.with(steps, own)
end

local databases = {}

local function database(hardware, engine)
  local key = hardware.name .. "\0" .. engine
  databases[key] = databases[key] or mfu.open { hardware = hardware, engine = engine }
  return databases[key]
end

--- What one rank of a role runs, as keys of a scenario or of its replica.
local function replica(role, values, steps, model, hardware, repeats)
  return { steps = steps_of(values, steps, model), deployment = deployment(role, values, model, hardware, repeats),
    scheduler = scheduler(values, role) }
end

--- One replica's keys are those of the scenario; several stand in the list `replicas`.
local function put_replicas(scenario, list, each_values, steps, repeats)
  local own = {}
  for i, role in ipairs(list) do
    own[i] = replica(role, each_values[i], steps, scenario.model, scenario.hardware, repeats)
    own[i].role, own[i].count = role.role, role.engines
  end
  if #own > 1 or list[1].ranks > 1 then
    scenario.replicas, scenario.router = own, roles.router(list)
    return
  end
  own[1].count = nil
  for name, value in pairs(own[1]) do scenario[name] = value end
end

--- What of the drafts of DeepSeek-R1's own multi-token prediction is accepted. No run states it. TensorRT-LLM's authors
--- (tech blog 2) have answers 2.16 times as fast with three drafts, one client and NVFP4 on eight B200. Steps with them
--- take 1.21 times as long here: 2.61 tokens a round, so 1 + a + a^2 + a^3 = 2.61.
local accepted = 0.72

--- Drafts of the model's own multi-token prediction.
local function speculation(values)
  if not values.drafts then return nil end
  return { speculator = require "speculators.fixed" { draft_tokens = values.drafts },
    acceptance = require "acceptance.constant" { rate = accepted },
    drafter = require "drafters.mtp" {} }
end

--- What of a question's scenario is assumed.
--- @param role table of roles.of: the one engine, or those that decode
local function notes_of(question, role, values)
  local _, note = settings.version(question)
  local out = { note }
  if question.mode == "agg" and role.engines > 1 then
    out[#out + 1] = ("%d engines share the clients: the widths are of one"):format(role.engines)
  end
  if values.drafts then out[#out + 1] = "with drafts, as image and widths tell: acceptance is assumed" end
  local longer = client.tokens_per_token(question)
  if longer > 1 then
    out[#out + 1] = ("prompts have %.2f times the tokens that the client counts, whose tokenizer was broken")
      :format(longer)
  end
  return out
end

--- What the collectives of a deployment take beside their rows. Over several nodes they cross the network, where the
--- GPU's hardware.toml states one.
local function corrections(list, hardware, values)
  local out, over_nodes = {}, false
  for _, role in ipairs(list) do
    over_nodes = over_nodes or role.widths.tp * role.widths.dp > hardware.domain_gpus
  end
  if over_nodes and hardware.network_bytes_per_s > 0 then out[1] = require "corrections.network" {} end
  if values.norm_apart_s then
    out[#out + 1] = require "corrections.norm_apart" { longer_s = values.norm_apart_s }
  end
  return out[1] and out or nil
end

--- @param question table of rows.read
--- @param steps table the step model
--- @param options table as setup.options, `overrides` of engine settings
--- @return table scenario
--- @return table notes, what of it is assumed
function setup.scenario(question, steps, options)
  local hardware, model = spec.hardware(settings.systems[question.system]), model_of(question.family)
  local list, each_values = roles.of(question, model), {}
  for i, role in ipairs(list) do
    each_values[i] = roles.of_rank(settings.of(role, hardware, options.overrides), role)
  end
  local last = each_values[#list]
  local out = {
    title = question.id, seed = options.seed, model = model, hardware = hardware,
    mfu = database(hardware, question.engine), async_depth = last.async_depth,
    workload = client.workload(question, options.requests_per_client),
    speculation = speculation(last), corrections = corrections(list, hardware, last),
    frontend = { base_s = last.frontend_s, per_prompt_token_s = last.frontend_token_s },
  }
  local repeats = client.repeats(question, options.requests_per_client)
  put_replicas(out, list, each_values, steps, repeats)
  local each_keys = {}
  for i in ipairs(list) do each_keys[i] = (out.replicas and out.replicas[i] or out).deployment end
  local impossible = possible.refusal(list, model, hardware, each_keys, each_values,
    { drafts = last.drafts, repeats = repeats })
  if impossible and options.refuse then core.fail("%s", impossible) end
  if list[2] then out.network = roles.network(list[1], list[2], model, last) end
  return out, notes_of(question, list[#list], last)
end

-- Answers ------------------------------------------------------------------------------------------------------

local function figures_of(scenario)
  local result, requests = serve.run(scenario, { requests = true }), {}
  local columns = result.requests
  for i, ttft_s in ipairs(columns.ttfts) do
    if columns.errors[i] ~= "" then core.fail("a request is refused: %s", columns.errors[i]) end
    requests[i] = { ttft_s = ttft_s, e2e_s = columns.e2els[i], output_tokens = columns.output_lens[i] }
  end
  local figures = score.figures(requests)
  return figures, result.summary.evidence
end

local kept = { "ttft_mean", "ttft_p50", "tpot_mean", "tpot_p50" }

--- The simulated figures of a question, the mean over options.seeds seeds.
--- @return table {simulated = {ttft_mean, ttft_p50, tpot_mean, tpot_p50}, evidence, notes}
function setup.answer(question, steps, options)
  local found, evidence, notes = {}, nil, nil
  for i = 1, options.seeds do
    local own = { seed = options.seed + i - 1, requests_per_client = options.requests_per_client,
      refuse = options.refuse, overrides = options.overrides }
    local scenario
    scenario, notes = setup.scenario(question, steps, own)
    local figures, of_run = figures_of(scenario)
    evidence = evidence or of_run
    for _, name in ipairs(kept) do
      found[name] = found[name] or {}
      table.insert(found[name], figures[name])
    end
  end
  local out = { simulated = {}, evidence = evidence, notes = notes }
  for name, values in pairs(found) do out.simulated[name] = statistics.mean(values) end
  return out
end

return setup
