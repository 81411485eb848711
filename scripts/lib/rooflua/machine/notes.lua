-- Notes of a result: sentences that a reader needs besides the figures, and the share of time that they make doubtful.
-- The notes stand under a report, on its page and as `notes` in its document. They come from the reader of the model
-- (what its file says and its description leaves out) and from the family of the GPU (on what its constants were
-- fitted).
local native = require "rooflua.native"
local chunks = require "rooflua.sandbox.chunks"
local core = require "rooflua.base.core"
local idle = require "rooflua.scenario.idle"
local json = require "rooflua.json"
local policy = require "rooflua.policy"
local specs = require "rooflua.border.specs"
local units = require "rooflua.text.units"
local words = require "rooflua.base.words"

local notes = {}

--- Each of the sentences once, in the order of their first appearance; nil where there are none.
local function distinct(sentences)
  local list, known = json.array {}, {}
  for _, sentence in ipairs(sentences) do
    if sentence ~= "" and not known[sentence] then
      known[sentence] = true
      list[#list + 1] = sentence
    end
  end
  return #list > 0 and list or nil
end

local function of_model(model) return model and core.plain(model.notes) or {} end

--- Adds "deepseek-v3: multi-token prediction layers (1) are not counted".
local function add_of_model(sentences, model)
  for _, note in ipairs(of_model(model)) do sentences[#sentences + 1] = model.name .. ": " .. note.text end
end

--- Says which format a model has by the name by which it was asked for.
local function add_of_name(sentences, prepared)
  local model, deployment = prepared.model, prepared.deployment
  local format = model and model.asked_format or ""
  if format == "" or not deployment or deployment.weights ~= format then return end
  sentences[#sentences + 1] = ("%s: weights %s, as they are published under the name that was asked for"):format(
    model.name, format)
end

--- Says that a step model takes all layers of a model to be alike. One that follows their kinds has the field
--- `follows_kinds`.
local function add_of_steps(sentences, prepared)
  local model, steps = prepared.model, prepared.step_policy
  if not model or not steps or model.uniform or steps.follows_kinds then return end
  local kinds = {}
  for _, each in ipairs(core.plain(model.attention)) do kinds[#kinds + 1] = each.layers .. " " .. each.name end
  sentences[#sentences + 1] = ("%s prices every layer of %s alike, by its first figures; the kinds of layers are %s")
    :format(tostring(steps.name), model.name, table.concat(kinds, ", "))
end

--- Says that a step model prices each data-parallel rank as an engine of its own. One that reads what the other ranks
--- have has the field `follows_groups`.
local function add_of_ranks(sentences, prepared)
  local deployment, steps = prepared.deployment, prepared.step_policy
  if not deployment or not steps or deployment.dp == 1 or steps.follows_groups then return end
  sentences[#sentences + 1] = ("%s prices each of the %d ranks of deployment.dp as if the tokens of the others were "
    .. "not there: its experts see those of one rank"):format(tostring(steps.name), deployment.dp)
end

--- Says that the stages of a pipeline are taken to hold the same mixture of layers.
local function add_of_stages(sentences, prepared)
  local deployment, model = prepared.deployment, prepared.model
  if not deployment or deployment.pp == 1 then return end
  if #core.plain(model.attention) + #core.plain(model.mlp) == 2 then return end
  sentences[#sentences + 1] = ("%s has layers of several kinds; they are taken to be spread evenly over the %d stages "
    .. "of deployment.pp"):format(model.name, deployment.pp)
end

--- Says what the times of adapters rest on.
local function add_of_adapters(sentences, prepared)
  local own = prepared.adapters
  if not own then return end
  sentences[#sentences + 1] = own.gemms
    and "adapters: their GEMMs are modelled from bytes and flop; no measured run tells how far they are off, nor do "
      .. "intervals, which come from runs without adapters"
    or "adapters: the step model prices none of their GEMMs (gemms = false)"
end

--- Says what the load of experts rests on.
local function add_of_experts(sentences, prepared)
  if not prepared.experts or prepared.given.kind == "price" then return end
  sentences[#sentences + 1] = "experts: the load of the fullest rank is an expected value of a modelled popularity; no "
    .. "measured run tells how far it is off, nor do intervals, which come from runs without the key"
end

--- Says that tables are those of a rehearsal.
local function add_of_rehearsal(sentences, prepared)
  if not prepared.mfu or not native.database_is_rehearsal(prepared.mfu) then return end
  sentences[#sentences + 1] = ("%s: its tables are of a rehearsal: their times come from no GPU"):format(
    prepared.hardware.name)
end

--- Says that changed figures of a GPU reach modelled kernels alone.
local function add_of_changes(sentences, prepared, evidence)
  local keys = specs.changes(prepared.hardware)
  if not keys then return end
  local share = evidence and (", which are %.1f %% of the time"):format(100 * (evidence.modelled or 0)) or ""
  sentences[#sentences + 1] = ("%s: %s %s on modelled kernels only%s; rows of tables do not follow"):format(
    prepared.hardware.name, core.join(keys, " and "), #keys > 1 and "act" or "acts", share)
end

--- Notes of one run.
--- @param prepared table[] what scenario.prepare() made, one per replica
--- @param evidence table? share of time per kind of evidence; without it the time may rest on anything
--- @param first string[]? sentences that stand before the others
function notes.of(prepared, evidence, first)
  local sentences = {}
  for _, list in ipairs { first or {}, chunks.nearer() } do
    for _, sentence in ipairs(list) do sentences[#sentences + 1] = sentence end
  end
  for _, each in ipairs(prepared) do
    for _, note in ipairs(each.engine_notes or {}) do sentences[#sentences + 1] = note end
    sentences[#sentences + 1] = each.found and each.found.assumes
    add_of_name(sentences, each)
    add_of_model(sentences, each.model)
    add_of_steps(sentences, each)
    add_of_ranks(sentences, each)
    add_of_stages(sentences, each)
    add_of_adapters(sentences, each)
    add_of_experts(sentences, each)
    add_of_rehearsal(sentences, each)
    add_of_changes(sentences, each, evidence)
  end
  if not evidence or (evidence.modelled or 0) > 0 then
    for _, each in ipairs(prepared) do sentences[#sentences + 1] = each.hardware.fit_note end
  end
  return distinct(sentences)
end

--- "network: nothing reads it: no KV is sent".
function notes.unread_sentence(unread)
  return ("%s: %s: %s"):format(unread[1], unread[3] or "nothing reads it", unread[2])
end

--- These notes after a sentence for each key of the scenario that nothing reads.
---@param unread table[] of serving/unread_keys.lua
---@param list string[]?
function notes.of_unread(unread, list)
  local sentences = {}
  for i, each in ipairs(unread) do sentences[i] = notes.unread_sentence(each) end
  for _, sentence in ipairs(list or {}) do sentences[#sentences + 1] = sentence end
  return distinct(sentences)
end

-- The share of time -------------------------------------------------------------------------------------------

local unsupported = {}
for _, word in ipairs(words.declared "evidence") do unsupported[word.name] = word.unsupported end

--- The share of evidence that counts as unsupported.
---@param evidence table share of time per kind of evidence
function notes.unsupported(evidence)
  local sum = 0
  for name, share in pairs(evidence) do sum = sum + (unsupported[name] and share or 0) end
  return sum
end

--- Whether an operation is of a kind that a note touches.
local touches = {
  nothing = function() return false end,
  attention = function(name) return name:find "^attention" ~= nil or name:find "^mla" ~= nil end,
  linear = function(name, kind)
    return kind == "gemm" or kind == "grouped_gemm" or name == "projections" or name == "ffn"
  end,
  everything = function() return true end,
}

--- Whether a note of a model touches an operation, so that runs need the share of their time.
function notes.touch(prepared)
  for _, each in ipairs(prepared) do
    for _, note in ipairs(of_model(each.model)) do
      if note.touches ~= "nothing" then return true end
    end
  end
  return false
end

local function longest_context(batch)
  local longest = batch.decodes > 0 and batch.decode_context_max or 0
  for i = 1, #batch.prefills do
    local prefill = batch.prefills[i]
    longest = math.max(longest, prefill.context_tokens + prefill.new_tokens)
  end
  return longest
end

local function touched_by(list, row)
  local name, kind = row.of or row.name, row.of and "" or row.kind
  for _, note in ipairs(list) do
    if touches[note.touches](name, kind) then return true end
  end
  return false
end

--- The share of a batch's time that notes of the model touch and that its evidence supports; nil where no note touches
--- an operation of it.
--- @param rows table[] of the explained batch
function notes.share(model, batch, rows, time_s)
  local list, longest = {}, nil
  for _, note in ipairs(of_model(model)) do
    longest = longest or longest_context(batch)
    if note.touches ~= "nothing" and longest > note.beyond_tokens then list[#list + 1] = note end
  end
  if #list == 0 or not (time_s > 0) then return nil end
  local touched_s, supported_s = 0, time_s
  for _, row in ipairs(rows) do
    local row_s = row.time_s * (row.count or 1)
    if unsupported[row.evidence] then
      supported_s = supported_s - row_s
    elseif touched_by(list, row) then
      touched_s = touched_s + row_s
    end
  end
  return touched_s > 0 and math.max(0, math.min(touched_s, supported_s)) / time_s or nil
end

--- The mean share of many parts, each {noted_frac = share or nil} with a weight; nil where no part has a share.
function notes.mean_share(parts, weights)
  local sum, total, known = 0, 0, false
  for i, part in ipairs(parts) do
    local weight = weights and weights[i] or 1
    sum, total, known = sum + (part.noted_frac or 0) * weight, total + weight, known or part.noted_frac ~= nil
  end
  return known and total > 0 and sum / total or nil
end

-- Runs --------------------------------------------------------------------------------------------------------

local function prepared_of(state)
  local prepared = {}
  for i, replica in ipairs(state.replicas) do prepared[i] = replica.prepared end
  return prepared
end

--- Says that the method run of a step model ended in an error, which the engine bears.
local function problems_of(state)
  local sentences = {}
  for _, replica in ipairs(state.replicas) do
    local bound = replica.steps
    if bound and bound.run_problem then
      sentences[#sentences + 1] = ("%s: its method run ended in an error, so its steps were priced one by one: %s")
        :format(tostring(bound.steps.name), bound.run_problem)
    end
  end
  return sentences
end

--- What is doubtful in what the scenario states of its engines: "deployment.kv_blocks: ...".
local function doubts_of(state)
  local sentences = {}
  for _, replica in ipairs(state.replicas) do
    for _, doubt in ipairs(replica.doubts) do sentences[#sentences + 1] = doubt.key .. ": " .. doubt.text end
  end
  return sentences
end

--- The workload's own limit of answers; nil where it has no such parameter.
local function limit_of(workload)
  return policy.is_instance(workload) and policy.parameters(workload).max_output_tokens or nil
end

--- Says what an engine reserves for requests that declare no limit of their answers, where the cache does not hold what
--- all that were there at once would reserve.
local function add_of_limits(sentences, state, summary)
  local first = state.replicas[1]
  local scheduler, config = first.scheduler, first.config
  local name = scheduler and scheduler.reserves_by and scheduler:reserves_by()
  if not name or limit_of(state.given.workload) ~= 0 or summary.requests == 0 then return end
  local of_each = summary.prompt_tokens / summary.requests + policy.parameters(scheduler)[name]
  local needed = summary.peak_concurrency / #state.replicas * of_each
  if needed <= config.kv_blocks * config.block_size then return end
  sentences[#sentences + 1] = ("no request declares a limit of its answer, so scheduler.%s = %d tokens are reserved "
    .. "for each; benchmarks declare the length of the answer: workload.max_output_tokens = \"exact\""):format(name,
    policy.parameters(scheduler)[name])
end

--- Says that p99 may be of the first instant: that the clients of a closed loop come faster than they are answered,
--- and that their first requests are more than a hundredth of all. Who states the start knows of it.
local function add_of_clients(sentences, state, summary)
  local workload = state.given.workload
  local parameters = policy.is_instance(workload) and policy.parameters(workload) or {}
  local clients, thinks = parameters.clients, parameters.think_time_s or 0
  local rate = parameters.start_rate_per_s or 0
  if not clients or clients < 2 or policy.is_given(workload, "start_rate_per_s") then return end
  if rate == 0 then rate = thinks > 0 and clients / thinks or math.huge end
  local ttft, share = summary.ttft_s, clients / summary.requests
  if rate < 2 * summary.requests_per_s or share < 0.01 or not ttft or ttft.p99 < 1.5 * ttft.p50 then return end
  sentences[#sentences + 1] = ("p99 has the start in it: %s, and their first requests are %.3g %% of all; "
    .. "%smore requests outweigh them"):format(rate == math.huge
    and ("all %d clients begin at time 0"):format(clients)
    or ("%d clients begin at %.3g/s, where %.3g/s are answered"):format(clients, rate, summary.requests_per_s),
    100 * math.min(1, share), parameters.start_rate_per_s and "workload.start_rate_per_s spreads them, " or "")
end

--- Entries of `replicas` with an autoscaler, in the order of pools.
local function scaled_entries(given)
  local out = {}
  for _, own in ipairs(type(given.replicas) == "table" and core.plain(given.replicas) or {}) do
    own = core.plain(own)
    if own.autoscaler ~= nil then out[#out + 1] = own end
  end
  return out
end

--- Says which autoscalers never wanted another number of replicas, of those that may have another one.
local function add_of_scalers(sentences, given, summary)
  local entries = summary.pools and scaled_entries(given) or {}
  for i, pool in ipairs(core.plain(summary.pools or {})) do
    local own = entries[i] or {}
    local may_act = (own.min or 1) < (own.max or math.huge)
    if may_act and pool.starts == 0 and pool.stops == 0 and pool.changes_per_hour == 0 then
      sentences[#sentences + 1] = ("the autoscaler of %s never acted: %s all the time"):format(pool.name,
        units.counted(pool.replicas_peak, "replica"))
    end
  end
end

--- Says that a run ended before the popularity of experts drifted.
local function add_of_drift(sentences, state, summary)
  local own, most = state.replicas[1].prepared.experts, 0
  if not own or not own.process.drift then return end
  for _, each in ipairs(summary.replicas) do most = math.max(most, each.steps) end
  if most > own.process.update_steps then return end
  sentences[#sentences + 1] = ("experts: their popularity did not drift: no engine took more than experts.update_steps "
    .. "= %d steps"):format(own.process.update_steps)
end

--- Notes of a simulation: {run, replicas = {{prepared, steps, doubts}}}.
---@param failed string[]? sentences on requests that failed, in front of the others
---@param summary table? of native.serve_summary, where the caller has it
function notes.of_run(state, failed, summary)
  local first = {}
  summary = summary or native.serve_summary(state.run)
  local of_workload = native.serve_workload_notes(state.run)
  for _, list in ipairs { failed or {}, of_workload, doubts_of(state), problems_of(state) } do
    for _, sentence in ipairs(list) do first[#first + 1] = sentence end
  end
  for _, each in ipairs(idle.of(state.given, state.metrics.seen)) do first[#first + 1] = notes.unread_sentence(each) end
  add_of_clients(first, state, summary)
  add_of_scalers(first, state.given, summary)
  add_of_drift(first, state, summary)
  add_of_limits(first, state, summary)
  return notes.of(prepared_of(state), summary.evidence, first)
end

--- Notes that are known before a simulation runs.
function notes.of_opened(state) return notes.of(prepared_of(state), nil, doubts_of(state)) end

--- Notes of many runs together.
function notes.of_runs(runs)
  local sentences = {}
  for _, run in ipairs(runs) do
    for _, sentence in ipairs(core.plain(run.notes or {})) do sentences[#sentences + 1] = sentence end
  end
  return distinct(sentences)
end

return notes
