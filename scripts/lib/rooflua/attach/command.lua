-- `rooflua attach`: all that a person holds of a server at once. What it is, what is believed and seen of it, what
-- a calibration makes of the difference, what limits it, and which changes pay.
local asked_about = require "rooflua.advise.asked"
local calibration = require "rooflua.attach.calibration"
local capacity = require "rooflua.program.capacity"
local core = require "rooflua.base.core"
local figures = require "rooflua.plausible.figures"
local gains = require "rooflua.attach.gains"
local json = require "rooflua.json"
local launch = require "rooflua.applied.launch"
local limits = require "rooflua.attach.limits"
local loads = require "rooflua.plausible.loads"
local opening = require "rooflua.runs.opening"
local over_time = require "rooflua.attach.over_time"
local page = require "rooflua.attach.page"
local scenario = require "rooflua.attach.scenario"
local seen = require "rooflua.startup.seen"
local single = require "rooflua.runs.single"
local sources = require "rooflua.attach.sources"
local text = require "rooflua.attach.text"
local trials = require "rooflua.advise.trials"
local units = require "rooflua.text.units"

local command = {}
local fail = core.fail

local default_limit_s = 60
local off_frac = 0.05 -- a difference that is told

--- The load that is simulated: that of the first measured run, of --bench, or a default, and what is said of it.
local function load_of(given, found)
  local run = found.runs[1]
  if run then
    if given.bench then fail("attach: --bench, and %s is a result: its load is what is simulated", run.path) end
    return run.workload, ("%s: %s"):format(run.path, run.how)
  end
  local told = {}
  local workload = asked_about.load({ bench = given.bench }, told)
  return workload, told[1] or "--bench " .. given.bench
end

--- The figures of a measured run beside those of a simulation: rows of figures.compare, and the seconds that it took.
local function compared(asked, run, given)
  local start_s = os.clock()
  local here = { reader = asked.reader, given = given, jobs = 1, is_late = function() return false end }
  local row = trials.rows(here, { {} })[1]
  if row.problem then error(row.problem, 0) end
  local load, simulated = loads.measured(run), figures.simulated(row)
  if run.range then -- its tokens are those of the range, and a simulation ends with its last request
    local part = row.summary.duration_s / (run.range.stop_s - run.range.start_s)
    simulated.output_tokens_per_s = simulated.output_tokens_per_s * math.min(1, part)
  end
  return figures.compare(figures.measured(run), simulated, row,
    { is_closed = load.is_closed, count = load.count }), os.clock() - start_s
end

--- {rows, fit, why}: each measured figure {metric, title, seen, believed, calibrated, low, high, inside}.
local function measured(asked, found, limit_s)
  local run, rows = found.runs[1], json.array {}
  if not run then return rows end
  local before, run_s = compared(asked, run, asked.given)
  local fit, why = calibration.of(asked, found.runs, run_s, limit_s)
  local after = fit and compared(asked, run, fit.fitted)
  for i, each in ipairs(before) do
    local of = after and after[i] or each
    rows[i] = { metric = each.metric, title = each.title, seen = each.measured, believed = each.simulated,
      calibrated = after and of.simulated or nil, low = of.low, high = of.high, inside = of.inside }
  end
  return rows, fit, why
end

--- Measured figures that are off by more than a share before the calibration, with what it found.
local function differences(rows, fit)
  local out = json.array {}
  for _, each in ipairs(rows) do
    if math.abs(each.seen / each.believed - 1) > off_frac then
      local explained = each.calibrated and math.abs(each.seen / each.calibrated - 1)
        < 0.5 * math.abs(each.seen / each.believed - 1)
      out[#out + 1] = { name = each.title, believed = each.believed, seen = each.seen,
        cause = explained and "what the calibration changed" or fit and "not what the calibration can change" or nil }
    end
  end
  return out
end

local function opened_of(given, found, workload)
  local about = { from = found.start, engine = given.engine, model = given.model }
  local opened = opening.table({ hardware = given.hardware, workload = workload, seed = given.seed or 1 },
    { command = about, seed = given.seed, file = "attach" })
  return opened.reader, trials.plain((opening.variant(opened, 1))), about
end

--- Refuses --write of a load that cannot stand in a file, before anything is simulated.
local function check_written(given, found, workload)
  if given.write and #found.runs == 0 and not scenario.can_write(workload) then
    fail "attach: --write: this load has more than a scenario can say in a line; leave out --write"
  end
end

--- What is to be known of the measured runs: their own notes, failed requests, and that several are replayed.
local function notes_of(found)
  local out = json.array(found.notes)
  for i, run in ipairs(found.runs) do
    for _, note in ipairs(run.notes or {}) do out[#out + 1] = ("%s: %s"):format(run.path, note) end
    if (run.failed or 0) > 0 then
      out[#out + 1] = ("%s: %s of the result failed, and %s left out"):format(run.path,
        units.counted(run.failed, "request"), run.failed == 1 and "is" or "are")
    end
    if i == 2 then
      out[#out + 1] = ("%s: the figures and the load are those of the first, %s; the calibration takes all of them")
        :format(units.counted(#found.runs, "measured run"), found.runs[1].path)
    end
  end
  return out
end

--- The text of --write.
local function written(reader, given, found, about, workload, said, fit)
  local keys, _, deployment = launch.keys(about)
  local start, names = reader.shared.startup, {}
  for i, each in ipairs(found.list) do names[i] = each.file end
  local hardware = launch.hardware(about, given.hardware or "")
  return scenario.text { keys = keys, deployment = deployment, hardware = hardware,
    hardware_from = hardware == given.hardware and "--hardware" or seen.place(start.facts.gpu), run = found.runs[1],
    workload = workload, said = said, sources = names, fit = fit, file = given.write }
end

--- Whether a load waits for answers: it has clients, and no rate of its own.
local function is_closed(found, workload, seed)
  local of = found.runs[1] and loads.measured(found.runs[1]) or loads.scenario(workload, seed)
  return of ~= nil and of.clients ~= nil and (of.rate_per_s or math.huge) == math.huge
end

--- {believed, seen, calibrated} by name: of the memory what the ledger and the files say, and what was measured.
local function values_of(beside, rows, fit)
  local out = { believed = core.copy(beside.believed), seen = core.copy(beside.seen),
    calibrated = calibration.document(fit) }
  for _, each in ipairs(rows) do
    out.believed[each.metric], out.seen[each.metric] = each.believed, each.seen
    if out.calibrated then out.calibrated[each.metric] = each.calibrated end
  end
  return out
end

--- Adds series over time to believed, seen and calibrated, where a file has a range.
local function add_series(values, asked, run, given, fit)
  if not run or not run.range then return end
  values.seen.over_time = over_time.seen(run.range)
  local function simulated(of) return over_time.simulated(asked.reader, of, run.range, values.seen.over_time) end
  values.believed.over_time = simulated(given)
  if fit then values.calibrated.over_time = simulated(fit.fitted) end
end

--- What the program calls: {text, document, written, page}.
---@param given table {files, pages = of a server that runs, hardware, engine, model, bench, seed, jobs, limit_s,
--- write = the file that a text is for, page: whether a page is asked for}
function command.run(given)
  local limit_s = given.limit_s or default_limit_s
  local is_late, found = asked_about.clock(limit_s), sources.of(given.files, given.pages or {})
  local workload, said = load_of(given, found)
  check_written(given, found, workload)
  local reader, table_, about = opened_of(given, found, workload)
  local asked = { reader = reader, given = table_, jobs = given.jobs or 1, is_late = is_late }
  local beside, title = capacity.beside(reader, table_)
  local rows, fit, why = measured(asked, found, limit_s)
  asked.given = fit and fit.fitted or table_
  local run = single.run("serve", reader, asked.given, { document = true, sketch = true })
  local pays, values = gains.of(asked, is_closed(found, workload, table_.seed)), values_of(beside, rows, fit)
  add_series(values, asked, found.runs[1], table_, fit)
  local document = { schema = "rooflua.attach/1", sources = json.array(found.list), load = said,
    scenario = { title = title, gpus = pays.gpus }, believed = values.believed, seen = values.seen,
    calibrated = values.calibrated, not_calibrated = why, memory = beside, figures = rows,
    differences = differences(rows, fit), limits = limits.of(run), goal = pays.goal.metric,
    changes = json.array(pays.list), tried = pays.tried - 1, stopped = pays.stopped,
    intervals = run.intervals, notes = notes_of(found) }
  for _, note in ipairs(run.notes or {}) do table.insert(document.notes, note) end
  local text_ = given.write and written(reader, given, found, about, workload, said, fit)
  document.scenario.text = text_ or nil
  local report = text.of(document, title)
  return { text = report, document = document, written = text_ or nil,
    page = given.page and page.of(document, report) or nil }
end

return command
