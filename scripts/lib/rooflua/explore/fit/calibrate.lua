-- `rooflua calibrate`: fits declared parameters of a scenario to measured runs of the user, and prints the lines to
-- paste into the scenario. The measured requests replace the scenario's workload.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local declared = require "rooflua.scenario.declared"
local fit = require "rooflua.fit"
local gap = require "rooflua.explore.fit.gap"
local json = require "rooflua.json"
local measured = require "rooflua.explore.fit.measured_runs"
local opening = require "rooflua.scenario.opening"
local paths = require "rooflua.scenario.paths"
local serving = require "rooflua.serving.pieces"
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local schema = require "rooflua.scenario.schema"
local numbers = require "rooflua.text.units"
local whole = require "rooflua.serving.whole"
local tables_text = require("rooflua.text.columns").values

local calibrate = {}
local fail = core.fail

-- What to fit -----------------------------------------------------------------------------------------------------

--- What is fitted where the user names nothing: the host's time in the step model, every correction, the frontend.
local function default_params(reader, given)
  local out = {}
  for _, each in ipairs(declared.all(reader, given)) do
    local fits = each.path:find "^steps%.host_" or each.path:find "^corrections%."
    if fits and each.kind == "continuous" and each.value ~= 0 then out[#out + 1] = each.path end
  end
  out[#out + 1] = "frontend.base_s"
  return out
end

--- Largest times of the front-end that are tried unless the user states a range.
local longest_frontend_s = { ["frontend.base_s"] = 0.1, ["frontend.per_prompt_token_s"] = 1e-4,
  ["frontend.per_output_token_s"] = 1e-2 }
local log_from = 10 -- ranges whose end is so many times their begin are searched on a logarithmic scale

--- "steps.host_step_s=0.001..0.05" as the path and its range; a path alone has the default range.
local function stated(text)
  local path, range = text:match "^%s*([^=]-)%s*=%s*(.-)%s*$"
  if not path then return text, nil end
  local low, high = range:match "^(.-)%s*%.%.%s*(.+)$"
  low, high = tonumber(low), tonumber(high)
  if not low or not high then
    fail("--params %s: expected PATH or PATH=MIN..MAX, as in steps.host_step_s=0.001..0.05", text)
  end
  return path, { min = low, max = high, log = low > 0 and high / low >= log_from or nil }
end

--- The paths and the argument `params` of fit, {path = range}, for these names; and the unit of each.
local function params_of(reader, given, names)
  local paths_, out, units = {}, {}, {}
  for i, name in ipairs(names) do
    local path, own = stated(name)
    local most = longest_frontend_s[path]
    local range = declared.range(reader, given, path, own or most and { min = 0, max = most } or true, "params")
    local now = range.now or range.min
    if not own and (now < range.min or now > range.max) then
      fail("params: %s is %g now, outside %g to %g; state a range: --params %s=MIN..MAX", path, now, range.min,
        range.max, path)
    end
    if out[path] then fail("params: %s is named twice", path) end
    local start = math.max(range.min, math.min(range.max, now))
    out[path] = { min = range.min, max = range.max, start = start, now = now, log = range.log and start > 0,
      integer = range.integer }
    paths_[i], units[path] = path, range.unit or path:find "_s$" and "s" or nil
  end
  return paths_, out, units
end

local widening = 10 -- times as far as before: the range that is proposed where a value ends at its bound

--- What to try where a parameter ended at the end of a range that is not a limit of the parameter itself.
local function wider_ranges(reader, given, parameters)
  local lines = {}
  for _, each in ipairs(parameters) do
    local found = each.at_bound and not each.no_effect and declared.find(reader, given, each.path, "params", true)
    if each.at_bound and not each.no_effect then
      local about, up = found and found.about or {}, each.after - each.min > each.max - each.after
      local bound = (up and about.max) or (not up and (about.min or each.min == 0 and 0)) or nil
      local low = up and each.min or math.max(bound or -math.huge, each.min / widening)
      local high = up and math.min(bound or math.huge, each.max * widening) or each.max
      if low < each.min or high > each.max then
        lines[#lines + 1] = ("%s ended at the %s end of its range, so a better value may lie beyond it: --params "
          .. "%s=%s..%s\n"):format(each.path, up and "upper" or "lower", each.path, numbers.significant(low, 6),
          numbers.significant(high, 6))
      end
    end
  end
  return core.join(lines)
end

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
      local own = core.copy(paths.with(reader, given, values))
      own.workload = files[index].workload
      local run = whole.result(own, true, reader.file)
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

-- What to paste ---------------------------------------------------------------------------------------------------

local function value_text(value)
  if type(value) == "string" then return ("%q"):format(value) end
  if type(value) == "number" then return native.number_text(tonumber(("%.6g"):format(value))) end
  return tostring(value)
end

--- 'require "steps.kernels" { host_step_s = 0.0012 }', with the parameters that differ from their defaults.
local function policy_text(folder, instance)
  local params, words = policy.describe(instance).params, {}
  for name, value in core.sorted_pairs(policy.parameters(instance)) do
    local default = params[name].default
    if type(value) ~= "table" and value_text(value) ~= value_text(default) then
      words[#words + 1] = name .. " = " .. value_text(value)
    end
  end
  local inside = #words > 0 and " " .. core.join(words, ", ") .. " " or ""
  return ("require %q {%s}"):format(folder .. "." .. policy.describe(instance).name, inside)
end

local slots = { steps = true, scheduler = true, router = true, bucketing = true }

local function block_of(reader, fitted, names)
  local lines, done = {}, {}
  for _, path in ipairs(names) do
    local first = path:match "^[^.]+"
    if not done[first] then
      done[first] = true
      if slots[first] then
        local instance = policies.of(reader, first, fitted[first])
        lines[#lines + 1] = ("%s = %s,"):format(first, policy_text(schema.folders[first], instance))
      elseif first == "corrections" then
        lines[#lines + 1] = "corrections = {"
        for _, each in ipairs(core.plain(fitted.corrections)) do
          lines[#lines + 1] = "  " .. policy_text("corrections", each) .. ","
        end
        lines[#lines + 1] = "},"
      else
        local words = {}
        for key, value in core.sorted_pairs(fitted[first]) do words[#words + 1] = key .. " = " .. value_text(value) end
        lines[#lines + 1] = ("%s = { %s },"):format(first, core.join(words, ", "))
      end
    end
  end
  return core.join(lines, "\n")
end

-- The command ---------------------------------------------------------------------------------------------------------

local function files_of(list)
  if #list == 0 then fail "no data: name measured runs with --measured FILE" end
  local files = {}
  for _, path in ipairs(list) do
    for _, run in ipairs(measured.read_all(path)) do files[#files + 1] = run end
  end
  return files
end

local hopeless = 0.5 -- relative error of a fit that describes nothing

local function text_of(result, files, block, found, wider)
  local rows = { { "measured run", "requests", "failed", "replayed" } }
  for _, run in ipairs(files) do rows[#rows + 1] = { run.path, #run.requests, run.failed, run.how } end
  local notes = ""
  for _, run in ipairs(files) do
    for _, note in ipairs(run.notes) do notes = notes .. ("%s: %s\n"):format(run.path, note) end
  end
  if notes ~= "" then notes = notes .. "\n" end
  local text = tables_text(rows) .. "\n\n" .. notes .. fit.report(result) .. wider .. "\n" .. gap.text(found)
    .. "\n"
  if not result.error.left_out then
    text = text .. "nothing was left out: there is one file without single requests\n\n"
  end
  if result.error.after > hopeless then
    text = text .. ("the fitted scenario is still %.0f %% off: it does not describe this run, so do not paste it\n\n")
      :format(100 * result.error.after)
  end
  return text .. "paste into the scenario:\n\n" .. block:gsub("([^\n]+)", "  %1") .. "\n"
end

--- options: measured (paths), params (names), set, seed, objective, evaluations, jobs, progress.
--- Returns {text, document, describes = whether the fitted scenario is anywhere near the run}.
function calibrate.run(path, options)
  local opened = opening.file(path, { set = options.set, seed = options.seed })
  if opened.kind ~= "serve" then
    fail("%s: calibrate needs a scenario of kind \"serve\", found %q", path, opened.kind)
  end
  if #opened.variants ~= 1 then
    fail("%s: vary: calibrate needs one variant, found %d; take vary and sweep out of a copy of the file", path,
      #opened.variants)
  end
  local reader, copy = opened.reader, {}
  for key, value in pairs((opening.variant(opened, 1))) do copy[key] = value end
  copy.report, copy.slo = nil, nil
  local files = files_of(options.measured)
  copy.workload = files[1].workload
  serving.check(reader, copy)
  local names = options.params
  if not names or #names == 0 then names = default_params(reader, copy) end
  local params, units
  names, params, units = params_of(reader, copy, names)
  local predict = predictor(reader, copy, files)
  local result = fit.fit { predict, params = params, target = observations_of(files),
    objective = options.objective, evaluations = options.evaluations or 150, jobs = options.jobs or 1,
    progress = options.progress and "calibrate" or nil }
  local fitted = paths.with(reader, copy, result.values)
  for _, each in ipairs(result.parameters) do each.unit = units[each.path] end
  local block = block_of(reader, fitted, names)
  local found = gap.of(predict, wholes_of(files), result.start, result.values)
  local document = { schema = 1, scenario = path, objective = result.objective, parameters = result.parameters,
    error = result.error, groups = result.groups, evaluations = result.evaluations, converged = result.converged,
    hopeless = result.hopeless, paste = block, figures = found.figures, parts = found.parts,
    measured = json.array {} }
  for i, run in ipairs(files) do
    document.measured[i] = { path = run.path, requests = #run.requests, failed = run.failed, replayed = run.how }
  end
  return { text = text_of(result, files, block, found, wider_ranges(reader, copy, result.parameters)),
    document = document,
    describes = result.error.after <= hopeless }
end

return calibrate
