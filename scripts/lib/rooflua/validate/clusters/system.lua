-- The deployment of a measured cluster as a scenario of kind "serve": engine, replicas or pools, router, tiers, client.
local core = require "rooflua.base.core"
local engine = require "rooflua.validate.clusters.engine"
local engines = require "rooflua.validate.engines"
local mfu = require "rooflua.mfu"
local native = require "rooflua.native"
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local Reader = require "rooflua.scenario.reader"
local release = require "rooflua.engines.release"
local router = require "rooflua.validate.clusters.router"
local scaling = require "rooflua.validate.clusters.scaling"
local sessions = require "rooflua.validate.clusters.sessions"
local setup = require "rooflua.validate.closed_loops.setup"
local spec = require "rooflua.spec"
local tiers = require "rooflua.validate.clusters.tiers"
local transport = require "rooflua.validate.clusters.transport"
local values = require "rooflua.engines.values"
local weights = require "rooflua.validate.closed_loops.weights"

local system = {}

-- Parts -----------------------------------------------------------------------------------------------------------

--- Names of a model that may be meant: without a remark in brackets, and without the word of a format after it.
local function model_names(text)
  local bare = text:gsub("%s*%b()", "")
  return { text, bare, (bare:gsub("%-[Gg][Pp][Tt][Qq].*$", ""):gsub("%-[Aa][Ww][Qq].*$", "")) }
end

local function model_of(row)
  local problem
  for _, name in ipairs(model_names(row.model)) do
    local ok, found = pcall(spec.model, name)
    if ok then return found end
    problem = problem or tostring(found):gsub("^[^%s:]+:%d+: ", "")
  end
  return core.fail("%s: model: %s", row.where, (problem:gsub(" %(known:.*", "")))
end

local function hardware_of(row)
  local ok, found = pcall(spec.hardware, row.gpu)
  return ok and found or core.fail("%s: gpu: nothing is known of '%s'", row.where, row.gpu)
end

local databases = {}

local function database(hardware, name)
  local key = hardware.name .. "\0" .. name
  databases[key] = databases[key] or mfu.open { hardware = hardware, engine = name }
  return databases[key]
end

--- "gptq-int4" and "fp4/fp8" as words of formats.
local function format_of(row, model)
  local word = row.weights_format:lower():gsub("^gptq%-", ""):gsub("^awq%-", ""):gsub("^nv", ""):match "^[%w]+"
  return word and weights.of(model, word) or nil
end

--- The deployment of one kind of replica. `tp` and `dp` are its own.
local function deployment_of(row, model, tp, dp)
  local out = { tp = tp, weights = format_of(row, model), kv = row.kv_dtype ~= "" and row.kv_dtype:lower() or nil,
    memory_utilization = row.memory_utilization, block_size = row.block_tokens, max_model_len = row.max_model_len }
  if model.moe and (dp or 1) > 1 then out.dp = dp end
  if model.moe and (row.ep or 1) > 1 then out.ep = row.ep end
  if (row.pp or 1) > 1 then out.pp = row.pp end
  if row.prefix_caching ~= "" then out.prefix_caching = row.prefix_caching == "on" end
  if row.kv_tokens_per_replica then
    out.kv_blocks = math.floor(row.kv_tokens_per_replica / (row.block_tokens or 16))
  end
  return out
end

--- Whether a row has pools for prefill and decode.
--- The drafts of a row: how many there are and what of them is accepted, where it says both. accept_len, or a number
--- after "acceptance", is the tokens of a round.
local function speculation_of(row, notes)
  local said = row.speculation:lower()
  local drafts = tonumber(said:match "k=(%d+)" or said:match "(%d+) steps" or said:match "(%d+) drafts")
  local length = row.accept_len or tonumber(said:match "acceptance ([%d.]+)")
  if row.speculation == "" or said:find "^none" then return nil end
  if not drafts or not length or length < 1 or length > drafts + 1 then
    notes[#notes + 1] = ("drafts without their number and the tokens of a round are not simulated: %s"):format(
      row.speculation)
    return nil
  end
  notes[#notes + 1] = "drafts are those of the model's own multi-token prediction, the acceptance is the run's own"
  return { speculator = require "speculators.fixed" { draft_tokens = drafts }, drafter = require "drafters.mtp" {},
    acceptance = require "acceptance.constant" { rate = setup.accepted_part(length, drafts) } }
end

local function is_split(row) return row.prefill_replicas ~= nil or row.layout:lower():find "^%d+p%d+d$" ~= nil end

local function pools_of(row, model)
  local prefill, decode = row.layout:lower():match "^(%d+)p(%d+)d$"
  local out = {}
  for i, role in ipairs { "prefill", "decode" } do
    local count = row[role .. "_replicas"] or tonumber(i == 1 and prefill or decode)
    local tp = row[role .. "_tp"] or row.tp
    if not count or not tp then core.fail("%s: the replicas and tp of its %s pool are not stated", row.where, role) end
    out[i] = { role = role, count = count, deployment = deployment_of(row, model, tp, row[role .. "_dp"]) }
  end
  return out
end

--- The wire of each replica between pools, on which its transfers wait for each other: {network, links}. Ranks of a
--- decode replica that keep copies of the KV each get one.
local function network_of(row, model, hardware, pools, notes)
  local own = pools[2].deployment
  local token_bytes = native.kv_of_prompts(model, own.kv or "bf16").bytes_per_token
  local found = transport.of(row.transport, { hardware = hardware, model = model,
    tp = math.min(pools[1].deployment.tp, own.tp), token_bytes = token_bytes,
    block_tokens = own.block_size or 16 }, notes)
  return { alpha_s = found.alpha_s, path = { "wire" }, copies = model.mla and "ranks" or nil },
    { wire = { bytes_per_s = found.bytes_per_s, per = "replica" } }
end

--- Copies of a dense model are replicas of their own.
local function count_of(row, model)
  local of_gpus = row.gpus and row.tp and math.max(1, math.floor(row.gpus / row.tp / (row.dp or 1)))
  local count = row.replicas or of_gpus or 1
  return model.moe and count or count * (row.dp or 1)
end

--- The time outside of engines. Of pools, a proxy passes the prompt on, and as many front ends as the engine has in
--- turn read its text: {base_s, per_prompt_token_s}. Of every token, what its profile states of the way besides.
local function frontend_of(row, chosen, facts, way_token_s)
  local base_s = engines.fitted().client_frontend_s.value
  if not is_split(row) then
    return { base_s = base_s, per_prompt_token_s = engines.text_token_s + way_token_s }
  end
  local own = values.of(chosen.engine, chosen.release, facts).values
  local proxies = row.router:lower():find "llm%-d" and 0 or 1
  return { base_s = base_s * (own.split_front_ends + proxies),
    per_prompt_token_s = engines.text_token_s * own.split_texts + way_token_s }
end

-- Scenarios --------------------------------------------------------------------------------------------------------

local function workload_of(about, stages, model)
  if about.form == "sessions" then return sessions.of(about.prompts, stages[1].duration_s, model) end
  if about.form == "conversations" then
    return policy.with(policies.of(Reader.new "validate", "workload", "conversations"), core.copy(about.prompts,
      { clients = stages[1].clients, num_requests = stages[1].requests }))
  end
  local instance = policies.of(Reader.new "validate", "workload", "shared_prefix_stages")
  local prompts = about.prompts
  return policy.with(instance, { groups = prompts.groups, prompts_per_group = prompts.prompts_per_group,
    shared_prefix_tokens = prompts.shared_prefix_tokens, question_tokens = prompts.question_tokens,
    output_tokens = prompts.output_tokens, arrivals = about.arrivals, gap_s = about.gap_s,
    max_in_flight = about.in_flight, stages = stages })
end

--- @param row table of rows.read
--- @param about table of load.of
--- @param stages table list of stages of workloads.shared_prefix_stages
--- @param options table {steps, seed}
--- @return table scenario
--- @return string[] notes, what of it is assumed
function system.scenario(row, about, stages, options)
  local notes = {}
  local model, hardware = model_of(row), hardware_of(row)
  local chosen = engine.chosen(row, notes)
  local out = { title = row.id, seed = options.seed, model = model, hardware = hardware, steps = options.steps,
    engine = engine.of(row, chosen, notes),
    mfu = database(hardware, chosen.engine.tables.name), workload = workload_of(about, stages, model),
    frontend = frontend_of(row, chosen, { model = model, hardware = hardware, tp = 1, dp = 1, pp = 1, ep = 1 },
      about.path_prompt_token_s or 0) }
  local tp, replicas = row.tp or 1, count_of(row, model)
  local wires
  out.speculation = speculation_of(row, notes)
  if row.first_token_timeout_s then
    out.client = require "clients.impatient" { first_token_s = row.first_token_timeout_s }
  end
  if is_split(row) then
    out.replicas = pools_of(row, model)
    for i, pool in ipairs(scaling.is_scaled(row) and out.replicas or {}) do
      out.replicas[i] = core.copy(pool, scaling.pool(row, notes, pool))
    end
    out.network, wires = network_of(row, model, hardware, out.replicas, notes)
    tp, replicas = out.replicas[1].deployment.tp, out.replicas[1].count
  else
    out.deployment = deployment_of(row, model, tp, row.dp)
    if scaling.is_scaled(row) then
      out.replicas = { scaling.pool(row, notes) }
      replicas = out.replicas[1].max
    elseif replicas > 1 then
      out.replicas = replicas
    end
  end
  out.router = router.of(row, replicas, engine.day(row), notes)
  out.links, out.tiers = tiers.of(row, { model = model, hardware = hardware, tp = tp,
    before = function(name) return release.earlier(chosen.release, name) end,
    kv = row.kv_dtype ~= "" and row.kv_dtype:lower() or nil }, notes)
  if wires then out.links = core.copy(out.links, wires) end
  return out, notes
end

return system
