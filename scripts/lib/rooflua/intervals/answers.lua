-- How sure an answer is: the 90 % interval of TPOT, TTFT and E2E of a run and of the time of a step, the measured
-- deployments that stand after it, and the words for both. It is computed once, when a run is over.
--
--     {level, load, deployments, points, kinds = {{engine, class, architecture, gpu, deployments, points}},
--      nearest = {{engine, class, architecture, gpu, load, deployments, points}},
--      modelled = {share, fitted, deployments, points} of an answer that rests on models,
--      unlike = {why what was measured of the kind says little of this deployment},
--      borrowed = {share, gpu, from} of one that rests on tables of another GPU,
--      distance = {rows, gpus} of one that was priced without tables: from how many rows of the GPU, and how many
--      others say how far that is off,
--      transient = {deployments, points} of a run that is over before it is steady,
--      tpot_s, ttft_s, e2e_s or step_s = {value, low, high, text}, text = {line}, about = line}
--
-- Figures are means over requests. `deployments` is 0 where no deployment of the kind was measured under such a load.
-- An answer without a known interval is {level, unknown = why, text, about}.
local catalogue = require "rooflua.engines.catalogue"
local chunks = require "rooflua.sandbox.chunks"
local core = require "rooflua.base.core"
local files = require "rooflua.sandbox.files"
local json = require "rooflua.json"
local kinds = require "rooflua.intervals.kinds"
local native = require "rooflua.native"
local own_family = require "rooflua.border.own_family"
local passes = require "rooflua.intervals.passes"
local policy = require "rooflua.policy"
local specs = require "rooflua.border.specs"
local units = require "rooflua.text.units"
local widths = require "rooflua.intervals.widths"
local words = require "rooflua.intervals.words"

local answers = {}
local info = debug.getinfo

--- Whether a scenario wants intervals: its key `intervals`.
function answers.wanted(given) return given.intervals ~= "off" end

local function unknown(why)
  return { level = widths.level, unknown = why, text = json.array { why }, about = why }
end

-- Whether an interval is known -----------------------------------------------------------------------------------

local compared = "kernels" -- the step model whose answers were compared with measured runs

--- Whether a step model has that name, and no method that is not in the program's own files.
local function is_compared(steps)
  if steps.name ~= compared then return false end
  for _, value in pairs(policy.class_of(steps)) do
    local source = type(value) == "function" and info(value, "S").source
    local path = source and source:sub(1, 1) == "@" and chunks.path_of_chunk(source:sub(2))
    if source and not (path and files.is_shipped(path)) then return false end
  end
  return true
end

local harmless = { network = true } -- corrections that closed loops have as well

--- A parameter of the step model that the scenario states, in place of what follows from the engine; nil without one.
local function stated_parameter(steps)
  local first
  for name in pairs(policy.definition(steps).params) do
    if policy.is_given(steps, name) and (not first or name < first) then first = name end
  end
  return first
end

--- Why no interval is known of what a scenario prepared; nil where one is.
local function refusal(prepared)
  local steps = prepared.step_policy
  if not is_compared(steps) then
    return ("no interval is known for the step model %s; only the shipped model %s was compared with measured runs")
      :format(tostring(steps.name), compared)
  end
  local name = stated_parameter(steps)
  if name then
    return ("no interval is known for the step model %s with steps.%s of the scenario"):format(compared, name)
  end
  for i = 1, #prepared.corrections - prepared.applied.corrections do -- those of the engine were compared with it
    local each = prepared.corrections[i]
    if not harmless[each.name] then
      return ("no interval is known for step times with the correction %s"):format(tostring(each.name))
    end
  end
  if specs.changes(prepared.hardware) then
    return ("no interval is known for %s with other figures than its own"):format(prepared.hardware.name)
  end
  local own = prepared.given.mfu
  if type(own) == "table" and core.plain(own).model ~= nil then
    return "no interval is known for constants of modelled kernels that the scenario states"
  end
end

-- Kinds ------------------------------------------------------------------------------------------------------------

--- How many own rows the constants of a GPU were fitted to, as if each kind of kernels that a step has had as many as
--- the one with the fewest; nil of one without constants of its own.
local function own_rows(hardware, model)
  local rows = own_family.rows(hardware)
  if not rows then return nil end
  local experts = model.moe and (rows.moe or 0) or math.huge
  return 3 * math.min(rows.gemm or 0, rows.attention or 0, experts)
end

--- Whether rows of kernels lie beside a GPU's datasheet, or another GPU lends some.
local function has_tables(hardware)
  local folder = hardware.source:match "^(.*)/[^/]*%.toml$"
  return hardware.tables_from ~= "" or folder ~= nil and #native.list_folder(folder, ".csv") > 0
end

local function kind_of(prepared, engine, is_split)
  local deployment, hardware = prepared.deployment, prepared.hardware
  return { engine = engine, class = kinds.class_of(prepared.model, deployment, is_split),
    architecture = hardware.architecture ~= "" and hardware.architecture or "unknown", gpu = hardware.name,
    is_fitted = hardware.fit_note == "", lender = hardware.tables_from ~= "" and hardware.tables_from or nil,
    is_apart = deployment.tp * deployment.dp > hardware.domain_gpus, rows = own_rows(hardware, prepared.model),
    has_tables = has_tables(hardware), own_layers = kinds.own_layers(prepared.model) }
end

local function stated_engine(prepared) return prepared.engine and prepared.engine.engine.name end

--- Each kind of the replicas once.
local function kinds_of(replicas)
  local is_split, list, seen = false, {}, {}
  for _, each in ipairs(replicas) do
    is_split = is_split or each.config.role == "prefill" or each.config.role == "decode"
  end
  for _, each in ipairs(replicas) do
    local scheduler = tostring(each.scheduler.name)
    local engine = stated_engine(each.prepared) or kinds.engine_of(scheduler) or scheduler
    local kind = kind_of(each.prepared, engine, is_split)
    local key = kinds.key(kind) .. " " .. kind.gpu
    if not seen[key] then list[#list + 1], seen[key] = kind, true end
  end
  return list
end

--- The ends that hold for all of these kinds, and what stands after them.
--- @param evidence table share of the time by evidence
local function ends_of(list, load, evidence)
  local ends, basis, is_fitted = nil, kinds.basis_of(evidence), true
  local out = { kinds = json.array {}, unlike = json.array {} }
  for i, kind in ipairs(list) do
    local share, distance = kinds.borrowed_share(kind, evidence), widths.distance(kind, load, basis)
    local own, is_wider
    if distance then
      own, out.distance = widths.at_distance(kind, load, distance)
    else
      own, is_wider = (share and widths.of_borrowed or widths.of)(kind, load, basis)
    end
    if is_wider then out.borrowed = { share = share, gpu = kind.gpu, from = kind.lender } end
    local why = own.deployments > 0 and widths.unlike(kind, load, basis, distance ~= nil) or {}
    if #why > 0 then widths.as_unseen(own, load, basis) end
    for _, reason in ipairs(why) do out.unlike[#out.unlike + 1] = reason end
    out.kinds[i] = { engine = kind.engine, class = kind.class, architecture = kind.architecture, gpu = kind.gpu,
      deployments = own.deployments, points = own.points }
    is_fitted, ends = is_fitted and kind.is_fitted, ends and widths.join(ends, own) or own
  end
  out.level, out.load, out.deployments, out.points = widths.level, load, ends.deployments, ends.points
  out.nearest = json.array(widths.nearest(list[1], load, basis))
  if basis == "models" and not out.distance then
    out.modelled = widths.on_models(load)
    out.modelled.share, out.modelled.fitted = kinds.modelled_share(evidence), is_fitted
  end
  return ends, out
end

--- The ends of a pass of the encoder (intervals/passes.lua). An encoder has no experts. Rows that stand in say as
--- little of it as rows of another GPU do: tables have no heads of 72 elements.
--- @param evidence table share of the pass by evidence
local function ends_of_pass(prepared, evidence)
  local kind, load = kind_of(prepared, stated_engine(prepared) or catalogue.default_name()), "unsaturated"
  kind.class = "dense"
  local basis = kinds.basis_of { modelled = evidence.modelled,
    assumed = (evidence.assumed or 0) + (evidence.stand_in or 0) }
  local distance = widths.distance(kind, load, basis)
  local own = distance and widths.at_distance(kind, load, distance) or widths.of(kind, load, basis)
  return widths.as_unseen(own, load, basis).ttft
end

-- Words ------------------------------------------------------------------------------------------------------------

--- Says that an interval is wider because much of the time rests on no table; nil where it is not.
local function modelled_text(of)
  if not of then return nil end
  local whose = of.fitted and "" or ", with constants of another family of GPUs"
  return ("wider: %.0f %% of the time is modelled or assumed%s; %s without tables say how far that is off"):format(
    100 * of.share, whose, units.counted(of.deployments, "deployment"))
end

--- Says that an interval is wider because much of the time rests on tables of another GPU; nil where it is not.
local function borrowed_text(of)
  return of and ("wider: %.0f %% of the time rests on tables of %s, read for %s; of %s no deployment of this kind was "
    .. "measured, so the ends are those of simulations without tables"):format(100 * of.share, of.from, of.gpu, of.gpu)
end

--- Says that an interval is wider because the kernels of a GPU were priced without tables; nil where it is not.
local function distance_text(of)
  if not of then return nil end
  local from = of.rows == 0 and "the datasheet of the GPU and the nearest family"
    or ("the datasheet of the GPU and %d or more of its rows"):format(of.rows)
  return ("wider: kernels are priced from %s; %d GPUs that were left out say how far that is off (docs/GPUS.md)")
    :format(from, of.gpus)
end

--- Says that an interval is wider because the run is over before it is steady; nil where it is not.
local function transient_text(of)
  return of and ("wider: the run is over in less than %d times its mean E2E; %s of such runs say how far that is off")
    :format(kinds.least_steady, units.counted(of.deployments, "deployment"))
end

--- What several answers of one kind have in common: relative ends and what stands after them.
local function about_text(out, parts)
  local with = not out.passes and "" or out.passes.host_s == 0 and "; wider: with images"
    or "; wider: with images, whose work on the host is not known"
  return ("90 %% intervals: %s (%s, %s; %s%s)"):format(table.concat(parts, ", "), words.kind(out.kinds[1]),
    out.load or "any load", words.evidence(out.deployments), with)
end

--- A value with its interval, {value, low, high, text}, and its ends.
--- @param part table? what of it is passes of an encoder (intervals/passes.lua)
local function with_ends(value, ends, part)
  local of = { value = value, low = value * math.exp(ends[1]), high = value * math.exp(ends[2]) }
  if part and part.time_s > 0 then
    of = passes.range(value, ends, part)
    ends = { math.log(of.low / value), math.log(of.high / value) }
  end
  of.text = words.range(of)
  return of, ends
end

--- Adds the lines of a report.
--- @param lines string[] on the figures
--- @param relative table list of {title, ends}
local function completed(out, lines, relative)
  local parts = {}
  for i, each in ipairs(relative) do
    parts[i] = words.relative(each.title, math.exp(each.ends[1]), math.exp(each.ends[2]))
  end
  out.about, out.text = about_text(out, parts), json.array {}
  for _, line in ipairs(lines) do table.insert(out.text, line) end
  local asked = words.kind(out.kinds[1]) .. ", " .. out.load
  for _, line in ipairs { words.nearest(out.nearest, asked) or false, modelled_text(out.modelled) or false,
    distance_text(out.distance) or false, borrowed_text(out.borrowed) or false,
    transient_text(out.transient) or false, out.passes and out.passes.text or false } do
    if line then table.insert(out.text, line) end
  end
  for _, reason in ipairs(out.unlike) do
    table.insert(out.text, ("wider: %s; as wide as that of most kinds"):format(reason))
  end
  return out
end

local served = { { "tpot", "TPOT" }, { "ttft", "TTFT" }, { "e2e", "E2E" } }

-- Answers ------------------------------------------------------------------------------------------------------------

--- What passes are of the mean figures of a run: {host_s, ends, tpot, ttft, e2e = {share, host = what the host may add,
--- over the mean}}; nil without passes.
---@param state table of a simulation (serving/live.lua)
function answers.passes_of(state, summary)
  local about = summary.encoder and state.encoding and state.encoding()
  if not about then return nil end
  about.ends = ends_of_pass(about.prepared, about.evidence)
  local out, parts = { host_s = about.host_s, ends = about.ends }, passes.of_run(about, summary)
  for _, each in ipairs(served) do
    local mean, part = summary[each[1] .. "_s"].mean or 0, parts[each[1]]
    out[each[1]] = mean > 0 and { share = math.min(1, part.time_s / mean), host = part.host_s / mean }
      or { share = 0, host = 0 }
  end
  return out
end

--- What is known of a deployment before it runs, under any load: {deployments, points, tpot, ttft, e2e = {low, high} as
--- factors of a simulated mean, about}; {unknown, about} where no interval is known.
---@param prepared table of machine/prepared.lua
---@param engine string
---@param is_split boolean whether prefill and decode run on engines of their own
---@param evidence table share of time per kind of evidence
---@param with table? of answers.passes_of: what its run spent in passes of an encoder
function answers.of_deployment(prepared, engine, is_split, evidence, with)
  local why = refusal(prepared)
  if why then return { unknown = why, about = why } end
  local ends, known = ends_of({ kind_of(prepared, engine, is_split) }, nil, evidence)
  local out, parts = { deployments = known.deployments, points = known.points }, {}
  known.passes = with
  for i, each in ipairs(served) do
    local low, high = math.exp(ends[each[1]][1]), math.exp(ends[each[1]][2])
    if with then
      local own = with[each[1]]
      local of = passes.range(1, ends[each[1]], { time_s = own.share, host_s = own.host, ends = with.ends })
      low, high = of.low, of.high
    end
    out[each[1]], parts[i] = { low = low, high = high }, words.relative(each[2], low, high)
  end
  out.about = about_text(known, parts)
  for _, reason in ipairs(known.unlike) do out.about = ("%s; wider: %s"):format(out.about, reason) end
  return out
end

--- The intervals of a run that is over; nil where the scenario wants none.
---@param state table of a simulation (serving/live.lua)
---@param summary table of native.serve_summary
function answers.of_run(state, summary)
  if not answers.wanted(state.given) then return nil end
  for _, each in ipairs(state.replicas) do
    local why = refusal(each.prepared)
    if why then return unknown(why) end
  end
  local load = kinds.load_of(summary.queue_s.mean, summary.ttft_s.mean)
  local ends, out = ends_of(kinds_of(state.replicas), load, summary.evidence)
  local e2e_s, duration_s = summary.e2e_s.mean or 0, summary.duration_s
  if kinds.is_transient(e2e_s, duration_s, summary.completed * e2e_s / duration_s) then
    ends, out.transient = widths.of_transient(ends)
  end
  local lines, relative, parts = {}, {}, {}
  local about = summary.encoder and state.encoding and state.encoding()
  if about then
    about.ends = ends_of_pass(about.prepared, about.evidence)
    parts = passes.of_run(about, summary)
    out.passes = passes.about(about.ends, about.host_s, "of an item")
  end
  for _, each in ipairs(served) do
    local key, title = each[1] .. "_s", each[2]
    local value = summary[key].mean
    if value and value > 0 then
      local own
      out[key], own = with_ends(value, ends[each[1]], parts[each[1]])
      local text = title .. " " .. words.range(out[key], #relative == 0 and words.evidence(out.deployments) or nil)
      if #relative < 2 then lines[#lines + 1] = text else lines[2] = lines[2] .. ", " .. text end
      relative[#relative + 1] = { title = title, ends = own }
    end
  end
  if #lines == 0 then return unknown "no interval is known: no request was completed" end
  return completed(out, lines, relative)
end

--- The interval of a pass of the encoder by itself: {value, low, high, text}; nil where no interval is known.
---@param prepared table of machine/prepared.lua
---@param part table {time_s, host_s, evidence = share of the pass by evidence}
function answers.of_pass(prepared, part)
  if refusal(prepared) then return nil end
  local ends = ends_of_pass(prepared, part.evidence)
  return (with_ends(part.time_s, ends, { time_s = part.time_s, host_s = part.host_s, ends = ends }))
end

--- What is said beside the own report of a step model; nil where the scenario wants no intervals.
function answers.of_static(prepared)
  if not answers.wanted(prepared.given) then return nil end
  return unknown(("no interval is known for the static report of the step model %s"):format(
    tostring(prepared.step_policy.name)))
end

--- The intervals of priced batches; nil where the scenario wants none. A batch of decodes has the interval of TPOT; one
--- with prompts that of TTFT on an engine that is not saturated. Each batch gets `interval` = {low_s, high_s, text}.
---@param prepared table of machine/prepared.lua
---@param batches table[] {time_s, has_prompts}
---@param evidence table share of time per kind of evidence
---@param with table? by batch, of those with a pass of the encoder: {time_s, host_s, evidence}
function answers.of_prices(prepared, batches, evidence, with)
  if not answers.wanted(prepared.given) then return nil end
  local why = refusal(prepared)
  if why then return unknown(why) end
  local deployment = prepared.given.deployment
  local stated = type(deployment) == "table" and core.plain(deployment).engine or nil
  local kind = kind_of(prepared, stated_engine(prepared) or stated or catalogue.default_name())
  local ends, out = ends_of({ kind }, "unsaturated", evidence)
  local sentence, relative, seen = #batches == 1 and words.evidence(out.deployments) or nil, {}, {}
  for i, each in ipairs(batches) do
    local metric, part = each.has_prompts and "ttft" or "tpot", with and with[i]
    if part then
      part.ends = ends_of_pass(prepared, part.evidence)
      out.passes = out.passes or passes.about(part.ends, part.host_s, #batches == 1 and "of all" or "of the first pass")
    end
    local of, own = with_ends(each.time_s, ends[metric], part)
    each.interval = { low_s = of.low, high_s = of.high, text = words.range(of, sentence):match "%(.*$" }
    if not seen[metric] then
      relative[#relative + 1] = { title = each.has_prompts and "steps with prompts" or "steps of decodes",
        ends = own }
      seen[metric] = true
    end
    if #batches == 1 then out.step_s = of end
  end
  completed(out, {}, relative)
  if #relative > 0 then table.insert(out.text, 1, out.about) end
  return out
end

return answers
