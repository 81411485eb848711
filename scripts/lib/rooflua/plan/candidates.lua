-- The candidates of a plan: what the generator emits, checked and named, and which of them fit (stage 0). A candidate
-- that no GPU can hold is counted by its reason.
local native = require "rooflua.native"
local adapters = require "rooflua.machine.adapters"
local axes = require "rooflua.plan.axes"
local catalogue = require "rooflua.engines.catalogue"
local core = require "rooflua.base.core"
local deploy = require "rooflua.plan.deploy"
local fits = require "rooflua.machine.fits"
local question_view = require("rooflua.plan.question").view
local keep = require "rooflua.plan.keep"
local replicas = require "rooflua.serving.replicas"
local run_text = require "rooflua.scenario.run_text"
local duplicates = require "rooflua.plan.duplicates"
local spec = require "rooflua.spec"
local words = require "rooflua.plan.words"

local candidates = {}

local most_candidates = 5000
local fields = axes.fields { "set", "label" }

local widths_text = words.widths
candidates.widths_text = widths_text

local function name_of(question, candidate)
  local parts = { question.gpus[candidate.gpu].label, widths_text(candidate) }
  if candidate.split then
    local pool = deploy.pool(candidate, "prefill")
    parts[#parts + 1] = ("%d prefill%s + %d decode"):format(candidate.split.prefill,
      pool ~= candidate and " of " .. widths_text(pool) or "", candidate.split.decode)
  end
  if candidate.encoders then parts[#parts + 1] = words.encoders(candidate) end
  parts[#parts + 1] = words.settings(candidate)
  return table.concat(parts, ", ")
end

local function check_split(where, given)
  core.check_keys(core.table(given, where), { "prefill", "decode", core.unpack(axes.names "prefill") }, where)
  local out = { prefill = core.whole(given.prefill, where .. ".prefill", 1, 1000),
    decode = core.whole(given.decode, where .. ".decode", 1, 1000) }
  for _, key in ipairs(axes.names "prefill") do
    if given[key] ~= nil then out[key] = core.whole(given[key], where .. "." .. key, 1) end
  end
  return out
end

--- The essence of a refusal: without the numbers of one candidate.
local function without_place(problem)
  problem = tostring(problem):gsub("^[%w_./-]+%.lua:%d+: ", ""):gsub("^spec%.deployment: ", "")
  return (problem:gsub("^deployment: ", ""))
end

--- Readers of a field by the type of its axis: value(question, candidate, given, where, axis). Tables are read where
--- they are used.
local read = {}

function read.engine(question, _, given, where)
  local name = given or question.engine and question.engine.engine.name or catalogue.default_name()
  if not catalogue.has(name) then
    core.fail("%s: %s", where, core.unknown_name("engine", name, catalogue.names()))
  end
  return name
end

function read.count(_, _, given, where, axis)
  if axis.default then return core.whole(given or axis.default, where, axis.least) end
  if given ~= nil then core.whole(given, where, axis.least) end
  if given ~= axis.none then return given end -- nil for none: such candidates keep their names
end

function read.format(_, _, given, where)
  local ok, problem = pcall(native.dtype_code, given or "bf16")
  if not ok then core.fail("%s: %s", where, without_place(problem)) end
  return given
end

function read.amount(_, _, given, where) return given ~= nil and core.positive(given, where) or nil end

function read.switch(_, _, given, where)
  if given ~= nil and type(given) ~= "boolean" then
    core.fail("%s: expected true or false, found %s", where, core.describe(given))
  end
  return given
end

function read.memory(question, candidate, given, where)
  return deploy.host_memory_gb(question, candidate, given, where)
end

function read.split(_, _, given, where) return given and check_split(where, given) end

--- A candidate as a table of its own, every field checked.
local function checked(question, given, index)
  local where = ("candidate %d"):format(index)
  core.check_keys(core.table(given, where), fields, where)
  local out = { index = index }
  for _, key in ipairs(fields) do out[key] = given[key] end
  out.gpu = core.whole(given.gpu or 1, where .. ": gpu", 1, #question.gpus)
  out.names_engine = given.engine ~= nil
  for _, axis in ipairs(axes.of_candidates()) do
    local name = axis.name
    if read[axis.type] then
      out[name] = read[axis.type](question, out, given[name], where .. ": " .. name, axis)
    end
  end
  if out.set then out.set = core.plain(core.table(out.set, where .. ": set")) end
  if out.label ~= nil and type(out.label) ~= "number" then core.text(out.label, where .. ": label") end
  out.name = name_of(question, out)
  out.family = ("%s, %s%s"):format(question.gpus[out.gpu].label, out.engine, out.split and ", split" or "")
    .. (out.encoders and ", encoders" or "")
  return out
end

--- Everything that the generator emits, in its order, each once. Of several with one name each gets its number after
--- it: what tells them apart is in `set` or `speculation`.
function candidates.all(question)
  local out, seen, named = {}, {}, {}
  question.candidates:each(question_view(question), function(given)
    if #out == most_candidates then
      core.fail("plan.candidates: %s emits more than %d candidates; list fewer values", question.candidates.name,
        most_candidates)
    end
    local one = checked(question, given, #out + 1)
    local content = run_text.of(keep.candidate(one))
    if seen[content] then return end
    seen[content], out[#out + 1] = true, one
    named[one.name] = (named[one.name] or 0) + 1
    if named[one.name] > 1 then one.name = ("%s (%d)"):format(one.name, named[one.name]) end
  end)
  if #out == 0 then core.fail("plan.candidates: %s emits no candidate", question.candidates.name) end
  return out
end

--- Why an engine would not start; nil where it would. The longest request is the plan's to choose, unless the scenario
--- states it.
---@param found table its ledger
local function would_stop(question, candidate, found)
  local may_choose = found.lacks == "length" and not deploy.stated_length(question, candidate)
  return not found.starts and not may_choose and fits.refusal(found) or nil
end

--- Why prefill engines with widths of their own cannot be built; nil if they can, or have none.
local function refusal_of_prefill(question, candidate)
  local pool = deploy.pool(candidate, "prefill")
  if pool == candidate then return nil end
  local per_node = question.gpus[candidate.gpu].per_node
  if pool.tp > per_node then
    return ("tp %d of prefill engines is more than the %d GPUs of a node"):format(pool.tp, per_node),
      "tp is more than a node"
  end
  local scenario = deploy.scenario(question, candidate, 1)
  scenario.deployment = deploy.deployment(question, pool)
  local ok, deployment, found = pcall(replicas.deployment, question.reader, scenario)
  if not ok then return "prefill engines: " .. without_place(deployment) end
  local stops = would_stop(question, candidate, found)
  if stops then return "prefill engines: " .. stops, stops end
  local capacity = fits.most_tokens(deploy.engine(question, candidate), deployment, found)
  if question.drawn.longest_prompt > capacity then
    return ("a prompt of %d tokens, and the KV cache of prefill engines holds %d"):format(
      question.drawn.longest_prompt, capacity), "the longest request does not fit into the KV cache"
  end
end

--- Why a candidate cannot be built; nil if it can. Sets candidate.deployment.
local function refusal(question, candidate)
  local gpu = question.gpus[candidate.gpu]
  if candidate.tp > gpu.per_node then
    return ("tp %d is more than the %d GPUs of a node"):format(candidate.tp, gpu.per_node), "tp is more than a node"
  end
  if candidate.cp and candidate.tp * candidate.cp > gpu.per_node then
    return ("tp %d x cp %d is more than the %d GPUs of a node"):format(candidate.tp, candidate.cp, gpu.per_node),
      "tp x cp is more than a node"
  end
  if deploy.most_replicas(question, candidate) < 1 + question.survive then
    return ("needs %d %s, and there are %d"):format(deploy.gpus(question, candidate, 1 + question.survive), gpu.label,
      gpu.most), "more GPUs than there are"
  end
  if candidate.encoders and not question.drawn.has_items then
    return "encoders, and no request has images or videos", "encoders without images or videos"
  end
  local without_adapters = question.base.adapters ~= nil
    and adapters.refusal(candidate, deploy.scheduler_class(question, candidate))
  if without_adapters then return without_adapters end
  local longest, stated = question.drawn.longest, deploy.stated_length(question, candidate)
  local limit = question.model.max_model_len
  if not stated and limit > 0 and longest > limit then -- runs count the requests that a stated length refuses
    return ("a request of %d tokens, and %s allows %d"):format(longest, question.model.name, limit),
      "requests are longer than the model allows"
  end
  local ok, deployment, found = pcall(replicas.deployment, question.reader, deploy.scenario(question, candidate, 1))
  if not ok then
    candidate.unbuilt = deployment
    return without_place(deployment)
  end
  local stops = would_stop(question, candidate, found)
  if stops then return stops end
  local engine = deploy.engine(question, candidate)
  local capacity = fits.most_tokens(engine, deployment, found)
  candidate.deployment, candidate.most_tokens = deployment, capacity
  if longest > capacity then
    return ("a request of %d tokens, and the KV cache holds %d"):format(longest, capacity),
      "the longest request does not fit into the KV cache"
  end
  -- The scheduler rejects such prompts, so a run with any number of replicas misses.
  if not engine.values.cuts_prompts and candidate.max_num_batched_tokens < question.drawn.longest_prompt
    and not question.drawn.shares and not candidate.set then
    return ("a prompt of %d tokens is longer than the budget of %d, and %s does not cut prompts"):format(
      question.drawn.longest_prompt, candidate.max_num_batched_tokens, candidate.engine),
      ("the longest prompt is longer than %s's budget"):format(candidate.engine)
  end
  if candidate.max_num_batched_tokens < candidate.max_num_seqs and engine.values.budget_holds_seats then
    return ("budget %d is below its %d seats"):format(candidate.max_num_batched_tokens, candidate.max_num_seqs),
      "the budget is below the seats"
  end
  return refusal_of_prefill(question, candidate)
end

local room_bytes = 9e14 -- holds every deployment

--- Whether a candidate can be built on a GPU that has room for it.
local function can_be_built(question, candidate)
  local scenario = deploy.scenario(question, candidate, 1)
  scenario.hardware = spec.hardware { from = scenario.hardware, memory_bytes = room_bytes,
    usable_memory_bytes = room_bytes }
  return (pcall(replicas.deployment, question.reader, scenario))
end

--- Whether keys of the scenario's deployment or options of its engine are why a candidate cannot be built: with room
--- for it as well, and not without them.
local function blames_scenario(question, candidate)
  if can_be_built(question, candidate) then return false end
  local base = {}
  for key, value in pairs(question.base) do base[key] = key ~= "deployment" and value or nil end
  local engine = question.engine and { engine = question.engine.engine, release = question.engine.release,
    options = {} }
  return can_be_built(setmetatable({ base = base, engine = engine }, { __index = question }), candidate)
end

--- Where nothing can be built because of what the scenario says: that is a mistake, and no lack of memory.
local function check_scenario(question, list)
  local first
  for _, candidate in ipairs(list) do
    if candidate.unbuilt then
      if not blames_scenario(question, candidate) then return end
      first = first or candidate.unbuilt
    end
  end
  if first then question.reader:at("deployment", error, first:gsub("^spec%.deployment: ", ""), 0) end
end

--- Digits replaced, so that refusals of one kind are counted together.
local function kind_of(problem)
  return (problem:gsub("%d[%d,.]*", "N"))
end

--- Stage 0: those that fit, of several that are one deployment the first, and {reason, count, example} of those that
--- do not fit, the most frequent reason first.
function candidates.fitting(question, list)
  local fit, reasons, by_kind, first = {}, {}, {}, {}
  for _, candidate in ipairs(list) do
    local problem, kind = refusal(question, candidate)
    if problem then
      candidate.ended, candidate.problem = "does not fit", problem
      kind = kind or kind_of(problem)
      if not by_kind[kind] then
        by_kind[kind] = { reason = kind, count = 0, example = candidate.name .. ": " .. problem }
        reasons[#reasons + 1] = by_kind[kind]
      end
      by_kind[kind].count = by_kind[kind].count + 1
    else
      local text = duplicates.text(question, candidate)
      if first[text] then
        candidate.ended = "the same"
        candidate.problem = ("the same deployment as candidate %d"):format(first[text].index)
      else
        first[text], fit[#fit + 1] = candidate, candidate
      end
    end
  end
  if #fit == 0 then check_scenario(question, list) end
  table.sort(reasons, function(a, b)
    if a.count ~= b.count then return a.count > b.count end
    return a.reason < b.reason
  end)
  return fit, reasons
end

--- Axes of which only one value was tried, and what the engine knows of them: "pp", "split".
function candidates.not_tried(question, list)
  local values, out = {}, {}
  local function see(key, value)
    values[key] = values[key] or {}
    values[key][tostring(value)] = true
  end
  for _, candidate in ipairs(list) do
    for _, axis in ipairs(axes.of_candidates()) do
      local value = candidate[axis.name]
      see(axis.name, type(value) == "table" or value)
    end
  end
  for _, engine in ipairs(question.capabilities.engines) do
    if not values.engine[engine] then out[#out + 1] = engine end
  end
  -- What may be left out is named after what may be added.
  for _, axis in ipairs(axes.sorted(axes.of_candidates(), function(axis) return axis.unstated ~= true end)) do
    local seen = values[axis.name]
    if axis.untried and question.capabilities.axes[axis.name] and not next(seen, next(seen)) then
      out[#out + 1] = axis.untried
    end
  end
  return out
end

return candidates
