-- `rooflua calibrate`: fits declared parameters of a scenario to measured runs of the user, or to the steps of an
-- engine's log, and prints the lines to paste into the scenario. The requests of measured runs replace the scenario's
-- workload.
local core = require "rooflua.base.core"
local fit = require "rooflua.fit"
local gap = require "rooflua.explore.fit.gap"
local json = require "rooflua.json"
local measured = require "rooflua.formats.measured_runs"
local measured_steps = require "rooflua.explore.fit.measured_steps"
local opening = require "rooflua.runs.opening"
local parameters = require "rooflua.explore.fit.parameters"
local paste = require "rooflua.explore.fit.paste"
local changes = require "rooflua.applied.changes"
local serving = require "rooflua.serving.pieces"
local full_run = require "rooflua.serving.full_run"
local tables_text = require("rooflua.text.columns").values

local calibrate = {}
local fail = core.fail

-- Observations ----------------------------------------------------------------------------------------------------

local parts = 4 -- of one file: each quarter of its requests is left out once

local function add(list, file, name, group, first, last, metrics)
  for metric, value in core.sorted_pairs(metrics) do
    if value > 0 then
      local part = first and (", requests %d to %d"):format(first, last) or ""
      list[#list + 1] = { value = value, file = file, first = first, last = last, metric = metric, group = group,
        name = name .. part .. ": " .. metric }
    end
  end
end

local function observations_of(files)
  local list = {}
  for i, run in ipairs(files) do
    local count = #run.requests
    if run.mean_lengths then
      add(list, i, run.path, run.path, nil, nil, run.metrics)
    else
      local pieces = (#files > 1 or count < 4 * parts) and 1 or parts
      for piece = 1, pieces do
        local first, last = math.floor((piece - 1) * count / pieces) + 1, math.floor(piece * count / pieces)
        local group = pieces == 1 and run.path or ("quarter %d"):format(piece)
        add(list, i, run.path, group, first, last, measured.metrics(run.requests, first, last))
      end
    end
  end
  if #list == 0 then fail "no data: the files have no TTFT, TPOT or E2E" end
  return list
end

--- One observation of each metric of each whole run.
local function wholes_of(files)
  local list = {}
  for i, run in ipairs(files) do
    local last = not run.mean_lengths and #run.requests or nil
    local metrics = last and measured.metrics(run.requests, 1, last) or run.metrics
    for metric, value in core.sorted_pairs(metrics) do
      if value > 0 then
        list[#list + 1] = { value = value, file = i, first = last and 1, last = last, metric = metric, name = run.path }
      end
    end
  end
  return list
end

-- Simulating ------------------------------------------------------------------------------------------------------

local wanted = { ttft_s_mean = { "ttft_s", "mean" },
  ttft_s_p50 = { "ttft_s", "p50" }, tpot_s_mean = { "tpot_s", "mean" },
  tpot_s_p50 = { "tpot_s", "p50" }, e2e_s_mean = { "e2e_s", "mean" } }

--- {ttft_s, e2e_s, output_tokens} by request id; false for those that were not completed.
local function requests_of(columns)
  local out = {}
  for i, tokens in ipairs(columns.output_lens) do
    if tokens > 0 then
      out[i] = { ttft_s = columns.ttfts[i], e2e_s = columns.e2els[i], output_tokens = tokens }
    else
      out[i] = false
    end
  end
  return out
end

--- predict(values, observation). Each file is simulated once per set of values.
local function predictor(reader, given, files)
  local runs, of = {}, nil
  return function(values, observation)
    if of ~= values then runs, of = {}, values end
    local index = observation.file
    if not runs[index] then
      local own = core.copy(changes.with(reader, given, values))
      own.workload = files[index].workload
      local run = full_run.result(own, true, reader.file)
      runs[index] = { summary = run.summary, requests = requests_of(run.requests) }
    end
    local run = runs[index]
    local predicted
    if observation.first then
      predicted = measured.metrics(run.requests, observation.first, observation.last)[observation.metric]
    else
      local path = wanted[observation.metric]
      predicted = run.summary[path[1]][path[2]]
    end
    return predicted or fail("%s: the simulated run completed none of these requests", files[index].path)
  end
end

-- Whole runs ------------------------------------------------------------------------------------------------------

--- What is measured: whole runs, or (measured_steps) the steps of a log. Both have these functions.
local measured_runs = { observations = observations_of, predictor = predictor }

function measured_runs.read(list)
  local files = {}
  for _, path in ipairs(list) do
    for _, run in ipairs(measured.read_all(path)) do files[#files + 1] = run end
  end
  return files
end

function measured_runs.default_names(reader, given)
  local names = parameters.default(reader, given)
  names[#names + 1] = "frontend.base_s"
  return names
end

function measured_runs.found(predict, files, before, after) return gap.of(predict, wholes_of(files), before, after) end
measured_runs.found_text = gap.text

function measured_runs.files_text(files)
  local rows = { { "measured run", "requests", "failed", "replayed" } }
  for _, run in ipairs(files) do rows[#rows + 1] = { run.path, #run.requests, run.failed, run.how } end
  return tables_text(rows)
end

function measured_runs.described(run)
  return { path = run.path, requests = #run.requests, failed = run.failed, replayed = run.how }
end

--- Which of the two the files are.
local function kind_of(list)
  if #list == 0 then fail "no data: name measured runs with --measured FILE" end
  local first = measured_steps.tells(list[1])
  for _, path in ipairs(list) do
    if measured_steps.tells(path) ~= first then
      fail("%s is a log of steps, and %s is none: fit them one after the other", first and list[1] or path,
        first and path or list[1])
    end
  end
  return first and measured_steps or measured_runs
end

-- The command ---------------------------------------------------------------------------------------------------------

local hopeless = 0.5 -- relative error of a fit that describes nothing

local function text_of(kind, result, files, block, found, wider)
  local notes = ""
  for _, run in ipairs(files) do
    for _, note in ipairs(run.notes) do notes = notes .. ("%s: %s\n"):format(run.path, note) end
  end
  if notes ~= "" then notes = notes .. "\n" end
  local text = kind.files_text(files) .. "\n\n" .. notes .. fit.report(result) .. wider .. "\n"
    .. kind.found_text(found) .. "\n"
  if not result.error.left_out then
    text = text .. "nothing was left out: there is one file without single requests\n\n"
  end
  if result.error.after > hopeless then
    text = text .. ("the fitted scenario is still %.0f %% off: it does not describe this run, so do not paste it\n\n")
      :format(100 * result.error.after)
  end
  return text .. "paste into the scenario:\n\n" .. block:gsub("([^\n]+)", "  %1") .. "\n"
end

--- The reader, a copy of the one variant of a scenario that serves, and its seed.
local function opened_copy(path, options)
  local opened = opening.file(path, { set = options.set, seed = options.seed })
  if opened.kind ~= "serve" then
    fail("%s: calibrate needs a scenario of kind \"serve\", found %q", path, opened.kind)
  end
  if #opened.variants ~= 1 then
    fail("%s: vary: calibrate needs one variant, found %d; take vary and sweep out of a copy of the file", path,
      #opened.variants)
  end
  local copy = {}
  for key, value in pairs((opening.variant(opened, 1))) do copy[key] = value end
  copy.report, copy.slo = nil, nil
  return opened.reader, copy, opened.seed
end

calibrate.runs = measured_runs

--- Fits a scenario's table to what was measured: {result, fitted = the table, block = its lines, found}.
---@param kind table calibrate.runs, or measured_steps
---@param files table[] what kind.read gave
---@param options table {params, objective, evaluations, jobs, progress, groups}
function calibrate.fitted(kind, reader, given, files, options)
  local names = options.params
  if not names or #names == 0 then names = kind.default_names(reader, given, files) end
  local params, units
  names, params, units = parameters.of(reader, given, names)
  local predict = kind.predictor(reader, given, files)
  local result = fit.fit { predict, params = params, target = kind.observations(files),
    objective = options.objective, evaluations = options.evaluations or 150, jobs = options.jobs or 1,
    progress = options.progress and "calibrate" or nil, groups = options.groups }
  local fitted = changes.with(reader, given, result.values)
  for _, each in ipairs(result.parameters) do each.unit = units[each.path] end
  return { result = result, fitted = fitted, block = paste.block(reader, fitted, names),
    found = kind.found(predict, files, result.start, result.values) }
end

--- options: measured (paths), params (names), set, seed, objective, evaluations, jobs, progress.
--- Returns {text, document, describes = whether the fitted scenario is anywhere near the run}.
function calibrate.run(path, options)
  local reader, copy, seed = opened_copy(path, options)
  local kind = kind_of(options.measured)
  local files = kind.read(options.measured, copy, seed)
  copy.workload = files[1].workload or copy.workload
  serving.check(reader, copy)
  local own = calibrate.fitted(kind, reader, copy, files, options)
  local result, block, found = own.result, own.block, own.found
  local document = { schema = 1, scenario = path, objective = result.objective, parameters = result.parameters,
    error = result.error, groups = result.groups, evaluations = result.evaluations, converged = result.converged,
    hopeless = result.hopeless, paste = block, figures = found.figures, parts = found.parts,
    measured = json.array {} }
  for i, file in ipairs(files) do document.measured[i] = kind.described(file) end
  local wider = parameters.wider(reader, copy, result.parameters)
  return { text = text_of(kind, result, files, block, found, wider), document = document,
    describes = result.error.after <= hopeless }
end

return calibrate
