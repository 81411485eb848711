-- A measured run of speculative decoding as a scenario of kind "serve". Acceptance is the run's own; everything else
-- follows from settings of engine and client. The client's warm-up leaves an empty engine and is not simulated, except
-- where prompts were cached by it.
local core = require "rooflua.base.core"
local engines = require "rooflua.validate.engines"
local load = require "rooflua.validate.speculation.load"
local mfu = require "rooflua.mfu"
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local Reader = require "rooflua.scenario.reader"
local sampling = require "rooflua.validate.sampling"
local score = require "rooflua.validate.score"
local serve = require "rooflua.serve"
local spec = require "rooflua.spec"

local setup = {}

--- What --set speculation.NAME=VALUE may change.
setup.options = { seed = 0, spread = 0 }

local function policy_of(key, name, parameters)
  return policy.with(policies.of(Reader.new "validate", key, name), parameters)
end

--- "H200-SXM", "H100-SXM-80GB (GKE)" as shipped GPUs.
local function hardware_of(case)
  local name = case.gpu:lower():match "^[%w]+%-?s?x?m?"
  return spec.hardware(name)
end

--- The shipped model of a case.
function setup.model(case) return spec.model(case.model) end

local function steps_of(case, steps, model, engine)
  if steps.name ~= "kernels" then return steps end
  local own = sampling.parameters(case.sampling or "plain", model, engine) or {}
  own.largest_graph = case.graph_max_tokens
  if case.is_marlin then own.experts_kernels = "marlin" end
  for name in pairs(own) do
    if policy.is_given(steps, name) then own[name] = nil end
  end
  return policy.with(steps, own)
end

local function workload_of(case)
  if case.load.clients then
    return policy_of("workload", "closed_loop", { clients = case.load.clients, num_requests = case.requests,
      prompt_tokens = case.prompt, output_tokens = case.output, max_output_tokens = "exact" })
  end
  local sharing = case.sharing or { tokens = 0, systems = 1, questions = 1 }
  return load { rate_per_s = case.load.rate_per_s, in_flight = case.load.in_flight, num_requests = case.requests,
    prompt_tokens = case.prompt, output_tokens = case.output, shared_tokens = sharing.tokens,
    systems = sharing.systems, questions = sharing.questions, lead_in = setup.lead_in(case) }
end

--- Requests that warm the prefix cache before those that are measured, as the stages before did.
function setup.lead_in(case)
  if not case.prefix_caching or not case.sharing or case.load.is_first then return 0 end
  return case.sharing.questions
end

--- Drafts with the measured acceptance; nil without drafts. The published heads of these drafters are one layer of the
--- target's sizes with a vocabulary of 32,000, which are the drafter's defaults.
local function speculation_of(case, options)
  if case.k == 0 then return nil end
  if not case.drafter:find "^eagle3" then
    core.fail("drafter: expected an eagle3, found '%s'; others have not been measured yet", case.drafter)
  end
  local parameters = { tp = tonumber(case.drafter:match "draft_tp (%d+)") or 0 }
  for name, value in pairs(options.drafter or {}) do parameters[name] = value end
  return {
    speculator = require "speculators.fixed" { draft_tokens = case.k },
    acceptance = require "acceptance.per_position" { rates = case.rates, spread = options.spread },
    drafter = require "drafters.eagle" (parameters),
  }
end

local databases = {}

local function database(hardware, engine)
  local key = hardware.name .. " " .. engine
  databases[key] = databases[key] or mfu.open { hardware = hardware, engine = engine }
  return databases[key]
end

--- @param case table of rows.read
--- @param steps table the step model
--- @param options table as setup.options; `drafter` has parameters of the drafter
--- @return table scenario
function setup.scenario(case, steps, options)
  local model, hardware = setup.model(case), hardware_of(case)
  local engine = engines.of(case.engine, nil, hardware)
  return {
    title = case.id, seed = options.seed, model = model, hardware = hardware, mfu = database(hardware, engine.tables),
    steps = steps_of(case, steps, model, engine), async_depth = case.async_depth,
    deployment = { engine = engine.tables, tp = case.tp, kv_blocks = case.kv_blocks, max_model_len = case.max_model_len,
      weights = case.weights, kv = case.kv,
      memory_utilization = case.memory_utilization, prefix_caching = case.prefix_caching },
    scheduler = policy_of("scheduler", engine.scheduler, { max_num_seqs = case.max_num_seqs,
      max_num_batched_tokens = case.max_num_batched_tokens,
      scheduler_reserve_full_isl = engine.parameters.reserve_full_sequence[1] }),
    workload = workload_of(case), frontend = { base_s = engine.parameters.client_frontend_s[1] },
    speculation = speculation_of(case, options),
  }
end

--- Tokens per second between the first request's start and the last answer's end.
local function throughput(requests)
  local tokens, first, last = 0, math.huge, 0
  for _, each in ipairs(requests) do
    tokens = tokens + each.output_tokens
    first, last = math.min(first, each.start_s), math.max(last, each.start_s + each.e2e_s)
  end
  return tokens / (last - first)
end

--- @return table {simulated = {tpot, ttft, throughput}, evidence, rounds}
function setup.answer(case, steps, options)
  local result, requests = serve.run(setup.scenario(case, steps, options), { requests = true }), {}
  local columns, skipped = result.requests, setup.lead_in(case)
  for i, ttft_s in ipairs(columns.ttfts) do
    if columns.errors[i] ~= "" then core.fail("a request is refused: %s", columns.errors[i]) end
    if i > skipped then
      requests[#requests + 1] = { ttft_s = ttft_s, e2e_s = columns.e2els[i], output_tokens = columns.output_lens[i],
        start_s = columns.start_times[i] }
    end
  end
  local figures = score.figures(requests)
  return { simulated = { tpot = figures.tpot_mean, ttft = figures.ttft_mean, throughput = throughput(requests) },
    evidence = result.summary.evidence, speculation = result.summary.speculation }
end

return setup
