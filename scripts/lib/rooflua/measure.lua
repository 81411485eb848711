--- What was seen: summaries, comparisons, and why one request took as long as it did.
local native = require "rooflua.native"
local chosen_play = require "rooflua.measure.chosen_play"
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local differences = require "rooflua.measure.differences"
local lookback = require "rooflua.serving.lookback"
local metrics = require "rooflua.measure.metrics"
local paired = require "rooflua.explore.paired"
local plot = require "rooflua.text.plot"
local serve = require "rooflua.serving.live"

local measure = {}
local fail = core.fail

--- The summary of a run: a table with the names of `rooflua run --json`.
---@param run table a live simulation, or what serve.run gave
function measure.summary(run)
  core.table(run, "measure.summary")
  if serve.is_live(run) then return run:result().summary end
  if type(run.summary) ~= "table" then fail "measure.summary: expected a run, found a table without summary" end
  return run.summary
end

--- The account of a request or play in a simulation that remembers: of one that is not over, in a fork.
---@param method string "why" or "why_play"
---@param what string for errors: "request" or "play"
local function why_in(live, method, what, id)
  local text, document = live[method](live, id)
  if text then return text, document end
  local fork, now_s = live:fork(), live.now_s
  repeat
    local more = fork:step()
    text, document = fork[method](fork, id)
  until text or not more
  if not text then fail("measure.%s: %s %d does not come to an end in this run", method, what, id) end
  document.ended = false
  return ("not over at %.6g s; if nothing changes:\n"):format(now_s) .. text, document
end

--- The scenario, or the live simulation, that a run is of.
local function followed_of(scenario, where)
  local origin = lookback.origin(core.table(scenario, where))
  if origin and origin.live then return origin.live end
  if not origin and rawget(scenario, "summary") ~= nil then
    fail("%s: this run does not say which scenario it is of (it was read, or copied); give the scenario", where)
  end
  return scenario
end

--- Where one request's time went, every picosecond under one heading: a report, and the same as a table.
--- A scenario is run again from its start with that request followed; same seed, same run. A live
--- simulation remembers; for a request that has not ended, a fork of it goes on until it has.
---@param scenario table a scenario, a live simulation made from one, or a run (what serve.run or a sweep gave)
---@param id integer the request, counted from 0 in order of arrival
function measure.why(scenario, id)
  core.whole(id, "measure.why: request")
  scenario = followed_of(scenario, "measure.why")
  if serve.is_live(scenario) and serve.remembers(scenario) then return why_in(scenario, "why", "request", id) end
  local run = serve.follow(scenario, "measure.why", { why = id })
  local text, document = native.serve_why(run)
  if not text then fail("measure.why: request %d did not come to an end in this run", id) end
  return text, document
end

--- Where the time of one play went: its critical path request by request, every picosecond under one heading; a
--- report, and the same as a table.
---@param scenario table as of measure.why
---@param which integer|string from 1 in the order in which plays begin; "slowest"; "p99"; or a name
function measure.why_play(scenario, which)
  local where = "measure.why_play"
  if type(which) ~= "number" then core.text(which, where .. ": play") end
  scenario = followed_of(scenario, where)
  local number = chosen_play.number(which)
  if serve.is_live(scenario) and serve.remembers(scenario) then
    return why_in(scenario, "why_play", "play", number or chosen_play.of(scenario:plays(), which))
  end
  if not number then
    number = chosen_play.of(native.serve_listed_plays(serve.follow(scenario, where, { plays = true })), which)
  end
  local text, document = native.serve_why_play(serve.follow(scenario, where, { why_play = number - 1 }))
  if not text then
    fail("%s: play %d did not come to an end in this run; %d plays began", where, number, document or 0)
  end
  return text, document
end

local compared = { "requests_per_s", "output_tokens_per_s", "goodput_per_s", "ttft_s_p50", "ttft_s_p99", "tpot_s_p50",
  "tpot_s_p99", "itl_s_p99", "e2e_s_mean", "queue_s_mean", "kv_used_frac_max", "preemptions" }

--- One value per run, and the ratio of the last to the first.
local function side_by_side(runs, names)
  local header, summaries = { "metric" }, {}
  for i, run in ipairs(runs) do
    summaries[i] = { summary = measure.summary(run), gpus = run.gpus }
    header[i + 1] = type(run.name) == "string" and run.name ~= "" and run.name or "run " .. i
  end
  header[#header + 1] = "ratio"
  local rows = { header }
  for _, metric in ipairs(names) do
    local row, first, last = { metric }, nil, nil
    for i, each in ipairs(summaries) do
      last = metrics.value(each, metric)
      if i == 1 then first = last end
      row[i + 1] = last or "-"
    end
    row[#row + 1] = first and last and first ~= 0 and last / first or "-"
    if first or last then rows[#rows + 1] = row end
  end
  return rows
end

local function has_seeds(runs)
  local seen = {}
  for _, run in ipairs(runs) do
    if type(run.parameters) ~= "table" or run.parameters.seed == nil then return false end
    seen[run.parameters.seed] = true
  end
  return next(seen, next(seen)) ~= nil
end

--- Runs side by side. Where variants were run with several seeds (parameters.seed): mean differences from the
--- first variant, seed by seed, with confidence intervals.
---@param runs table list of runs, as sweeps give them
---@param options table? metrics, level (0.95), method "t" or "bootstrap"
function measure.compare(runs, options)
  core.table(runs, "measure.compare")
  options = core.table(options or {}, "measure.compare: options")
  core.check_keys(options, { "metrics", "level", "method" }, "measure.compare")
  if #runs < 2 then fail "measure.compare: expected a list of at least two runs" end
  local summaries = {}
  for i, run in ipairs(runs) do
    if not serve.is_live(run) and (type(run) ~= "table" or type(run.summary) ~= "table") then
      fail("measure.compare: runs[%d]: expected a run or a simulation, found %s", i, core.describe(run))
    end
    summaries[i] = { summary = measure.summary(run) }
  end
  local names = metrics.list(options.metrics, "measure.compare: metrics", compared, metrics.own_of(summaries))
  local level, method = options.level or 0.95, options.method or "t"
  if type(level) ~= "number" or not (level > 0 and level < 1) then
    fail("measure.compare: level: expected a share between 0 and 1, found %s", core.describe(level))
  end
  if method ~= "t" and method ~= "bootstrap" then
    fail("measure.compare: method: %s", core.unknown_name("method", method, { "bootstrap", "t" }))
  end
  if not has_seeds(runs) then return side_by_side(runs, names) end
  local plain = {}
  for i, run in ipairs(runs) do
    plain[i] = { summary = measure.summary(run), gpus = run.gpus, parameters = run.parameters, name = run.name }
  end
  return paired.compare(plain, { metrics = names, level = level, method = method })
end

-- Looking -------------------------------------------------------------------------------------------

local per_request = metrics.of_requests

local function metric_of(what, default, where)
  if what == nil then return default end
  for _, each in ipairs(per_request) do
    if each == what or each == tostring(what) .. "_s" then return each end
  end
  if type(what) ~= "string" then fail("%s: expected the name of a metric, found %s", where, core.describe(what)) end
  return fail("%s: %s", where, native.unknown_name("metric", what, per_request))
end

--- Whether that names a metric of single requests.
function measure.is_metric(name)
  core.text(name, "measure.is_metric")
  for _, each in ipairs(per_request) do
    if each == name or each == name .. "_s" then return true end
  end
  return false
end

local diff_options = { "metric", "names", "top" }

--- Two simulations of the same requests (forks of one, or one scenario under two policies), request by
--- request: a report, and a row per request that ended in both, the largest gain first.
---@param a rooflua.Live
---@param b rooflua.Live
---@param options table? {metric = "e2e_s" | "ttft_s" | "tpot_s" | "queue_s", top = 5, names = {"a", "b"}}
function measure.diff(a, b, options)
  options = options or {}
  core.check_keys(core.table(options, "measure.diff: options"), diff_options, "measure.diff", "option")
  if not (serve.is_live(a) and serve.is_live(b)) then
    fail("measure.diff: expected two simulations from serve.open, found %s and %s", core.describe(a), core.describe(b))
  end
  local metric = metric_of(options.metric, "e2e_s", "measure.diff")
  local names = core.table(options.names or { "a", "b" }, "measure.diff: names")
  for i = 1, 2 do core.text(names[i], "measure.diff: names") end
  local rows, same, only_a, only_b = differences.rows(a:ended(), b:ended(), metric)
  return differences.text(names[1], names[2], metric, rows, same, only_a, only_b,
    core.whole(options.top or 5, "measure.diff: top", 1)), rows
end

local function values_of(live, metric)
  local out = {}
  for _, each in ipairs(live:ended()) do out[#out + 1] = each[metric] end
  return out
end

local function lives_of(given)
  if serve.is_live(given) then return { { name = "", live = given } } end
  local out = {}
  for _, key in ipairs(core.sorted_keys(core.plain(core.table(given, "measure.plot")))) do
    local live = core.plain(given)[key]
    if not serve.is_live(live) then
      fail("measure.plot: expected a simulation, or a table of simulations by name; found %s", core.describe(live))
    end
    out[#out + 1] = { name = tostring(key), live = live }
  end
  return out
end

local function overview(each, options)
  local steps = {}
  for _, step in ipairs(each.live:steps()) do
    if step.replica == (options.replica or 1) then
      step.requests = step.decodes + step.prefills
      steps[#steps + 1] = step
    end
  end
  return plot.overview(each.name, steps, options)
end

local plot_options = { "height", "replica", "width" }

--- The largest chart, in characters: wider than any terminal.
local largest = { width = 1000, height = 200 }

--- The options of a chart, checked.
local function chart_options(given)
  core.check_keys(core.table(given, "measure.plot: options"), plot_options, "measure.plot", "option")
  for name, most in pairs(largest) do
    local value = given[name]
    if value ~= nil and core.whole(value, "measure.plot: " .. name, 1) > most then
      fail("measure.plot: %s: expected a whole number up to %d, found %.14g", name, most, value)
    end
  end
  return given
end

--- A chart for the terminal, as text. Of a simulation (or a table of them by name): "load" is its queue,
--- batch and KV cache over time (the default), a metric its quantile curve, "roofline" its last step under the roof.
---@param what rooflua.Live|table
---@param view string? "load", "ttft_s", "tpot_s", "e2e_s", "queue_s" or "roofline"
---@param options table? {width = 80, height =, replica = 1}
function measure.plot(what, view, options)
  options = chart_options(options or {})
  local list, parts = lives_of(what), {}
  if view ~= nil and view ~= "load" and view ~= "roofline" then
    local metric = metric_of(view, nil, "measure.plot")
    for i, each in ipairs(list) do parts[i] = { name = each.name, values = values_of(each.live, metric) } end
    return plot.quantiles(metric, parts, options)
  end
  for i, each in ipairs(list) do
    if view == "roofline" then
      local priced = each.live:explain(options.replica)
      parts[i] = plot.roofline(priced.rows, priced.peak_flop_per_s, priced.bytes_per_s, options)
    else
      parts[i] = overview(each, options)
    end
  end
  return core.join(parts, "\n\n")
end

--- The file of --requests: of a simulation that remembers what ended so far, of a run its scenario's once more.
local function requests_csv(run)
  local origin = lookback.origin(run)
  if origin and origin.live then run, origin = origin.live, nil end
  if not serve.is_live(run) then
    if not origin then
      fail "measure.write: a run that was read or copied has no requests any more; write its summary (.json)"
    end
    run = serve.open(origin.given, { file = origin.file })
    run:run()
  end
  return native.serve_ended_csv(serve.state(run).run)
end

--- Writes a run by the file's ending: .json is its summary, .csv a row per request. Trusted scripts only.
function measure.write(run, path)
  if not native.trusted then fail "measure.write: scenarios write nothing; use --json, or run trusted" end
  local ending, text = core.text(path, "measure.write: path"):match "%.(%w+)$", nil
  if ending == "json" then
    text = json.encode(measure.summary(run)) .. "\n"
  elseif ending == "csv" then
    text = requests_csv(core.table(run, "measure.write"))
  else
    fail("measure.write: expected a file that ends in .json (the summary) or .csv (a row per request), found %s",
      core.describe(path))
  end
  local file, problem = io.open(path, "w")
  if not file then fail("measure.write: %s", problem) end
  file:write(text)
  file:close()
end

local keys_of_worth = { "folder", "scenario", "set" }

--- What the tables of a GPU's folder are worth to a scenario, as `rooflua data add --for`.
function measure.worth(given)
  if not native.trusted then fail "measure.worth: scenarios cannot read files; run with --trusted" end
  local own = core.plain(core.table(given, "measure.worth"))
  core.check_keys(own, keys_of_worth, "measure.worth")
  for _, key in ipairs { "folder", "scenario" } do core.text(own[key], "measure.worth: " .. key) end
  local sets = core.plain(core.table(own.set or {}, "measure.worth: set"))
  for i, each in ipairs(sets) do core.text(each, ("measure.worth: set[%d]"):format(i)) end
  return require("rooflua.program.worth").of { folder = own.folder, scenario = own.scenario, set = sets }
end

return measure
