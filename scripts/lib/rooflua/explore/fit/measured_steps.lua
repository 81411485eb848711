-- Logs of an engine's steps as what `rooflua calibrate` fits: each step of the log is priced, and nothing is simulated.
local batch = require "rooflua.border.batch"
local columns = require "rooflua.text.columns"
local core = require "rooflua.base.core"
local fresh = require "rooflua.machine.fresh"
local json = require "rooflua.json"
local load = require "rooflua.machine.load"
local parameters = require "rooflua.explore.fit.parameters"
local changes = require "rooflua.applied.changes"
local prices = require "rooflua.machine.prices"
local reading = require "rooflua.schedules.reading"
local replicas = require "rooflua.serving.replicas"
local spec = require "rooflua.spec"
local statistics = require "rooflua.base.statistics"
local units = require "rooflua.text.units"

local measured_steps = {}
local fail = core.fail

local parts = 4 -- of one log: each quarter of its steps is left out once

--- Whether a file is a log of steps.
measured_steps.tells = reading.tells

-- Reading -----------------------------------------------------------------------------------------------------------

--- The prompts of a step. A log that only counts them has equal ones.
local function prompts_of(step)
  local out = {}
  if step.chunks then
    for i, text in ipairs(step.chunks) do
      local context, new = text:match "^(%d+)%+(%d+)$"
      out[i] = { new_tokens = tonumber(new), context_tokens = tonumber(context) }
    end
    return out
  end
  local before = step.prefill_context_tokens or 0
  local function up_to(i, tokens) return math.floor(tokens * i / step.prefills) end
  for i = 1, step.prefills do
    local new = up_to(i, step.prefill_tokens) - up_to(i - 1, step.prefill_tokens)
    out[i] = { new_tokens = math.max(1, new), context_tokens = up_to(i, before) - up_to(i - 1, before) }
  end
  return out
end

--- What a step of a log is priced as.
local function batch_of(step, mean_context)
  local context = step.context_tokens or math.floor(step.decodes * mean_context + 0.5)
  return batch.new { prefills = prompts_of(step), decodes = step.decodes, decode_context_tokens = context }
end

local function notes_of(schedule, mean_context)
  local out, says = {}, schedule.says
  if says.kernels then
    out[1] = "times of kernels are the trace's own, so the host's parameters alone are fitted: to the times in which "
      .. "no kernel ran. A profiler makes them longer"
  end
  if not says.contexts then
    out[#out + 1] = ("contexts of decodes are not in it: %s tokens each, as the scenario's workload has them; assumed")
      :format(units.significant(mean_context, 4))
  end
  if not says.chunks then
    local contexts = says.prompt_contexts and "" or " and no tokens before them"
    out[#out + 1] = "single prompts are not in it: those of a step have equal lengths" .. contexts .. "; assumed"
  end
  if schedule.unread and #schedule.unread > 0 then
    out[#out + 1] = "columns that are not read: " .. core.join(schedule.unread, ", ")
  end
  return out
end

--- Logs: {path, name, steps = {{line, batch, time_s, has_prompts}}, left_out, notes} each.
---@param list string[] paths
---@param scenario table whose workload says what a log leaves out
---@param seed integer
function measured_steps.read(list, scenario, seed)
  local out, mean_context = {}, nil
  for i, path in ipairs(list) do
    local schedule = reading.of(path)
    if not schedule.says.time then fail("%s: %s does not say how long its steps took", path, schedule.name) end
    if not schedule.says.contexts then
      mean_context = mean_context or load.mean_context(scenario.workload, seed, spec.model(scenario.model))
    end
    local steps, left_out = {}, 0
    for _, step in ipairs(schedule.steps) do
      if step.time_s and step.time_s > 0 then
        steps[#steps + 1] = { line = step.line, batch = batch_of(step, mean_context), time_s = step.time_s,
          kernels_s = step.kernels_s, has_prompts = step.prefills > 0 }
      else
        left_out = left_out + 1
      end
    end
    if #steps == 0 then fail("%s: no data: no step has a time", path) end
    local notes = notes_of(schedule, mean_context)
    if left_out > 0 then notes[#notes + 1] = units.counted(left_out, "step") .. " without a time left out" end
    out[i] = { path = path, name = schedule.name, steps = steps, notes = notes, says_kernels = schedule.says.kernels }
  end
  return out
end

-- Fitting -------------------------------------------------------------------------------------------------------------

--- What is fitted where the user names nothing. Front-end and network are no part of a step; where times of kernels
--- are measured apart, the host's parameters are.
function measured_steps.default_names(reader, given, files)
  local out = parameters.default(reader, given)
  for _, file in ipairs(files) do
    if not file.says_kernels then return out end
  end
  local host = {}
  for _, path in ipairs(out) do
    if path:find "^steps%.host_" then host[#host + 1] = path end
  end
  return host
end

--- A step is an observation. A log alone is divided into quarters, each of which is left out once.
function measured_steps.observations(files)
  local list = {}
  for _, file in ipairs(files) do
    local pieces = (#files > 1 or #file.steps < 4 * parts) and 1 or parts
    for i, step in ipairs(file.steps) do
      local quarter = math.floor((i - 1) * pieces / #file.steps) + 1
      list[#list + 1] = { value = step.time_s, step = step, name = step.line,
        group = pieces == 1 and file.path or ("quarter %d"):format(quarter) }
    end
  end
  return list
end

--- predict(values, observation): what the engine of the scenario would take for the step; where it is known for how
--- long kernels ran, that time and the host's.
function measured_steps.predictor(reader, given)
  local of, prepared, bound
  return function(values, observation)
    if of ~= values then
      local list, spans = replicas.of(reader, fresh.of(reader, core.copy(changes.with(reader, given, values))))
      if spans and #spans > 1 then
        reader:fail("replicas", "has %d entries, and a log is of one engine: take the others out of a copy of the file",
          #spans)
      end
      of, prepared, bound = values, list[1].prepared, list[1].steps
    end
    local step = observation.step
    if step.kernels_s then return prices.time_around(prepared, bound, step.batch, step.kernels_s) end
    return prices.time(prepared, bound, step.batch)
  end
end

-- What was found --------------------------------------------------------------------------------------------------

local kinds = { { "decodes alone", false }, { "with prompts", true } }

local function predicted(predict, values, steps)
  local out = {}
  for i, step in ipairs(steps) do out[i] = predict(values, { step = step }) end
  return out
end

--- Mean, and median of the errors, of those predictions whose steps are of a kind.
local function summed_up(steps, times, has_prompts)
  local measured, own, off = {}, {}, {}
  for i, step in ipairs(steps) do
    if step.has_prompts == has_prompts then
      local n = #own + 1
      measured[n], own[n], off[n] = step.time_s, times[i], math.abs(times[i] / step.time_s - 1)
    end
  end
  if #own == 0 then return nil end
  return { count = #own, measured = statistics.mean(measured), mean = statistics.mean(own),
    error = statistics.median(off) }
end

--- {figures = {{run, metric, steps, measured, before, after, error_before, error_after}}}: means by kind of step, and
--- the medians of the errors of single steps.
function measured_steps.found(predict, files, before, after)
  local figures = json.array {}
  for _, file in ipairs(files) do
    local first, last = predicted(predict, before, file.steps), predicted(predict, after, file.steps)
    for _, kind in ipairs(kinds) do
      local old, new = summed_up(file.steps, first, kind[2]), summed_up(file.steps, last, kind[2])
      if old then
        figures[#figures + 1] = { run = file.path, metric = "step_s, " .. kind[1], steps = old.count,
          measured = old.measured, before = old.mean, after = new.mean, error_before = old.error,
          error_after = new.error }
      end
    end
  end
  return { figures = figures, parts = json.array {} }
end

local percent = units.percent

--- The figures as a table.
function measured_steps.found_text(found)
  local rows = { { "steps", "number", "measured", "before", "", "after", "" } }
  for _, each in ipairs(found.figures) do
    rows[#rows + 1] = { each.metric:match ", (.*)$", each.steps, units.text(each.measured, "s"),
      units.text(each.before, "s"), percent(each.error_before), units.text(each.after, "s"), percent(each.error_after) }
  end
  return "means, and the median of the errors of single steps\n" .. columns.values(rows) .. "\n"
end

function measured_steps.files_text(files)
  local rows = { { "measured steps", "steps", "format" } }
  for _, file in ipairs(files) do rows[#rows + 1] = { file.path, #file.steps, file.name } end
  return columns.values(rows)
end

--- One file in the document.
function measured_steps.described(file) return { path = file.path, steps = #file.steps, format = file.name } end

return measured_steps
