-- A question about a measured closed loop as a scenario of kind "serve": the engine with the options that the row
-- states, the widths, the clients. Everything else follows from the engine's rules, as in any scenario.
local client = require "rooflua.validate.closed_loops.client"
local core = require "rooflua.base.core"
local engine = require "rooflua.validate.closed_loops.engine"
local engines = require "rooflua.validate.engines"
local kinds = require "rooflua.intervals.kinds"
local mfu = require "rooflua.mfu"
local policy = require "rooflua.policy"
local score = require "rooflua.validate.score"
local serve = require "rooflua.serve"
local spec = require "rooflua.spec"
local statistics = require "rooflua.base.statistics"
local weights = require "rooflua.validate.closed_loops.weights"

local setup = {}

--- What --set silicon.NAME=VALUE may change. requests_per_client 0: as many as the row says.
--- modelled 1: no table is read, so that every kernel is modelled. frontend 1: requests are completions, 2: chats, of
--- which the front end is a queue; 0: chats where the row says so, else it is a delay; 3: a delay.
setup.options = { seed = 0, seeds = 1, requests_per_client = 0, modelled = 0, frontend = 0 }

local models, databases = {}, {}

--- The model of a question: the one that the row names, else that of its family.
local function model_of(question, folder)
  local name = question.model ~= "" and question.model or question.family
  if name:find "%.json$" then name = folder .. name end
  if models[name] == nil then
    local ok, found = pcall(spec.model, name)
    models[name] = ok and found or tostring(found)
  end
  if type(models[name]) == "string" then core.fail("model not known: %s: %s", question.family, models[name]) end
  return models[name]
end

local function hardware_of(question)
  local ok, found = pcall(spec.hardware, question.system)
  return ok and found or core.fail("system not known: %s", question.system)
end

--- The architecture of a question's GPU; nil where the GPU is not known.
function setup.architecture(question)
  local ok, hardware = pcall(hardware_of, question)
  return ok and hardware.architecture or nil
end

--- The class of a deployment: pd, dpa, tep, moe-tp or dense; nil where the model is not known.
function setup.class(question, folder)
  local ok, model = pcall(model_of, question, folder)
  local widths, is_split = question.parts[1].widths, question.mode == "pd"
  if not ok and widths.ep == 1 and widths.dp == 1 and not is_split then return nil end
  return kinds.class_of(ok and model or {}, widths, is_split)
end

--- The database of a GPU with the kernels of an engine, opened once.
--- @param has_tables boolean
local function database(hardware, name, has_tables)
  local key = hardware.name .. "\0" .. name .. "\0" .. tostring(has_tables)
  databases[key] = databases[key] or mfu.open { hardware = hardware, engine = name, tables = has_tables }
  return databases[key]
end

--- What of the drafts of a model's own multi-token prediction is accepted. No run states it. TensorRT-LLM's authors
--- (tech blog 2) have answers 2.16 times as fast with three drafts, one client and NVFP4 on eight B200. Steps with them
--- take 1.21 times as long here: 2.61 tokens a round, so 1 + a + a^2 + a^3 = 2.61.
local accepted = 0.72

--- The part of drafts that is accepted where a run printed how many tokens a round has:
--- accept_length = 1 + a + a^2 + ... + a^drafts.
function setup.accepted_part(accept_length, drafts)
  local low, high = 0, 1
  for _ = 1, 60 do
    local middle, sum = (low + high) / 2, 1
    for i = 1, drafts do sum = sum + middle ^ i end
    if sum < accept_length then low = middle else high = middle end
  end
  return (low + high) / 2
end

--- The drafts of a question with what is accepted of them; nil without drafts.
local function speculation_of(question, found, notes)
  if not found then return nil end
  local length, rate, own = tonumber(question.accept_length), accepted, found.acceptance
  local is_tree = policy.is_instance(own) and own.topk ~= nil
  if length then rate = setup.accepted_part(length, is_tree and own.steps or found.speculator.draft_tokens) end
  notes[#notes + 1] = length and "acceptance of drafts is the run's own"
    or ("acceptance of drafts is assumed: %g"):format(accepted)
  local acceptance = require "acceptance.constant" { rate = rate }
  if is_tree then -- what a run prints is that of its tree; what is assumed is that of a chain
    acceptance = policy.with(own, { chain = acceptance, topk = not length and found.drafter.topk or 1 })
  end
  return { speculator = found.speculator, drafter = found.drafter, acceptance = acceptance }
end

--- Widths as keys of a deployment, and how many engines there are. Copies of a dense model, and of a model whose engine
--- says so, are engines of their own.
local function widths_of(part, model, copies)
  local widths, count = part.widths, part.engines
  local out = { tp = widths.tp }
  if widths.dp > 1 and (not model.moe or copies > 1) then
    count = count * widths.dp
    if widths.ep > 1 then out.ep = math.min(widths.ep, widths.tp) end
  else
    if widths.dp > 1 then out.dp = widths.dp end
    if widths.ep > 1 then out.ep = widths.ep end
  end
  if out.ep and not model.moe then core.fail("widths: ep of a model without experts") end
  return out, count
end

--- Words of the column kv_type, the first that begins it.
local kv_words = { { "tq3", "turboquant_3bit_nc" }, { "int8-pth", "int8_per_token_head" }, { "fp8", "fp8" },
  { "bf16", "bf16" } }

--- The format of the KV cache that a row states beside its command; nil where it states none.
local function kv_of(question)
  for _, each in ipairs(kv_words) do
    if question.kv_type:lower():sub(1, #each[1]) == each[1] then return each[2] end
  end
end

--- What one kind of engine of a question runs.
local function engine_of(question, part, model, chosen, notes)
  local keys, told = engine.of(question, part, chosen)
  local deployment, count = widths_of(part, model, keys.copies)
  deployment.weights = weights.of(model, question.format)
  if keys.engine.kv_cache_dtype == nil then deployment.kv = kv_of(question) end
  for _, note in ipairs(told) do notes[#notes + 1] = note end
  keys.speculation = speculation_of(question, part.role ~= "prefill" and keys.speculation or nil, notes)
  return { role = part.role, count = count, engine = keys.engine, deployment = deployment,
    speculation = keys.speculation }
end

--- Where prompts go from engines that prefill to those that decode: each rank of a TP group has a link and its part of
--- the heads. The latent of MLA is whole on every rank, and every rank of the decode group reads all of it.
--- Transfers of a replica share its wire: {network, links}.
local function network_of(question, model, hardware, own)
  local prefill, decode = question.parts[1], question.parts[2]
  local gpus = 0
  for _, part in ipairs(question.parts) do gpus = gpus + part.engines * part.widths.tp * part.widths.dp end
  local links = math.min(prefill.widths.tp, decode.widths.tp)
  if model.mla then links = math.min(1, prefill.widths.tp / decode.widths.tp) end
  local inside = gpus <= hardware.domain_gpus or hardware.network_bytes_per_s == 0
  local rate = links * (inside and hardware.link_bytes_per_s or hardware.network_bytes_per_s)
  return { alpha_s = own.handover_s, path = { "wire" } }, { wire = { bytes_per_s = rate, per = "replica" } }
end

--- Time outside of the engine: a delay, of which a front end that is a queue has its part.
--- @param own table values of the engine
--- @param which number setup.options.frontend
local function frontend_of(own, sends, which)
  if which == 0 then which = sends.chats and 2 or 3 end
  local base_s, served_s = engines.fitted().client_frontend_s.value, own.frontend_completion_s
  local out = { base_s = base_s, per_prompt_token_s = sends.is_text and engines.text_token_s or 0 }
  if which == 3 or not served_s then return out end
  if which == 2 then served_s = own.frontend_chat_s end
  out.endpoint, out.base_s = which == 2 and "chat" or "completions", math.max(0, base_s - served_s)
  return out
end

--- @param question table of rows.read
--- @param steps table? the step model
--- @param options table as setup.options, and `folder` of the file
--- @return table scenario
--- @return string[] notes, what of it is assumed
--- @return table client of client.of
function setup.scenario(question, steps, options)
  local model, hardware = model_of(question, options.folder), hardware_of(question)
  local chosen, note = engine.chosen(question)
  local own = engine.values(chosen, { hardware = hardware, model = model, tp = 1, dp = 1, pp = 1, ep = 1 })
  local sends = client.of(question, options.folder, own.random_text_tokens)
  local notes = { note }
  for _, each in ipairs(sends.notes) do notes[#notes + 1] = each end
  if question.config == "none" then notes[#notes + 1] = "settings not stated: defaults of the release" end
  local list = {}
  for i, part in ipairs(question.parts) do list[i] = engine_of(question, part, model, chosen, notes) end
  if question.speculation == "mtp" and not list[#list].speculation then
    notes[#notes + 1] = "the row says that its engine drafts, and no option of it does: simulated without drafts"
  end
  local out = { title = question.id, seed = options.seed, model = model, hardware = hardware, steps = steps,
    mfu = database(hardware, chosen.engine.tables.name, options.modelled ~= 1),
    workload = client.workload(question, sends, options.requests_per_client), speculation = list[#list].speculation,
    frontend = frontend_of(own, sends, options.frontend) }
  for _, each in ipairs(list) do each.speculation = nil end
  if list[2] then
    out.replicas = list
    out.network, out.links = network_of(question, model, hardware, own)
  else
    out.engine, out.deployment = list[1].engine, list[1].deployment
    if list[1].count > 1 then out.replicas = list[1].count end
  end
  return out, notes, sends
end

-- Answers ------------------------------------------------------------------------------------------------------

local function figures_of(scenario)
  local result, requests = serve.run(scenario, { requests = true }), {}
  local columns, first, last, tokens = result.requests, math.huge, 0, 0
  for i, ttft_s in ipairs(columns.ttfts) do
    if columns.errors[i] ~= "" then core.fail("a request is refused: %s", columns.errors[i]) end
    requests[i] = { ttft_s = ttft_s, e2e_s = columns.e2els[i], output_tokens = columns.output_lens[i] }
    first = math.min(first, columns.start_times[i])
    last = math.max(last, columns.start_times[i] + columns.e2els[i])
    tokens = tokens + columns.input_lens[i] + columns.output_lens[i]
  end
  local figures = score.figures(requests)
  figures.makespan_s, figures.total_tokens_per_s = last - first, tokens / (last - first)
  figures.queue_mean = result.summary.queue_s.mean
  return figures, result
end

local kept = { "ttft_mean", "ttft_p50", "tpot_mean", "tpot_p50", "queue_mean", "e2e_mean", "makespan_s",
  "total_tokens_per_s" }

--- The simulated figures of a question, the mean over options.seeds seeds.
--- @return table {simulated = {ttft_mean, ttft_p50, tpot_mean, tpot_p50, queue_mean, e2e_mean, makespan_s,
---   total_tokens_per_s}, output_tokens, drafts, evidence, notes}
function setup.answer(question, steps, options)
  local found, evidence, notes, sends, drafts = {}, nil, nil, nil, false
  for i = 1, options.seeds do
    local own = { seed = options.seed + i - 1, requests_per_client = options.requests_per_client,
      folder = options.folder, modelled = options.modelled, frontend = options.frontend }
    local scenario
    scenario, notes, sends = setup.scenario(question, steps, own)
    drafts = scenario.speculation ~= nil
    local figures, result = figures_of(scenario)
    evidence = evidence or result.summary.evidence
    for _, note in ipairs(result.notes or {}) do notes[#notes + 1] = note end
    for _, name in ipairs(kept) do
      found[name] = found[name] or {}
      table.insert(found[name], figures[name])
    end
  end
  local out = { simulated = {}, output_tokens = client.mean_output(sends), evidence = evidence, notes = notes,
    drafts = drafts }
  for name, values in pairs(found) do out.simulated[name] = statistics.mean(values) end
  return out
end

return setup
