-- `rooflua files`: what each file is, what of it is read and by which command, and what is not.
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local launches = require "rooflua.manifests.launches"
local measured_runs = require "rooflua.formats.measured_runs"
local native = require "rooflua.native"
local range = require "rooflua.ranges.range"
local reading = require "rooflua.startup.reading"
local secrets = require "rooflua.text.secrets"
local seen = require "rooflua.startup.seen"
local facts = require "rooflua.startup.facts"
local units = require "rooflua.text.units"

local files = {}

--- The first sentence of a problem, without the file's name in front of it.
local function problem_of(path, problem)
  local text = tostring(problem):gsub("^[^%s:]+%.lua:%d+: ", "")
  if text:sub(1, #path + 2) == path .. ": " then text = text:sub(#path + 3) end
  return native.printable(secrets.masked((text:gsub("; last read.*", "")), 400))
end

--- A file of a start: its facts, options and lines.
local function of_start(path, record)
  local out = { file = path, form = record.form, what = record.means, counted = record.counted,
    taken_by = "--from", engine = record.engine and record.engine.name, lines = record.count,
    understood = record.understood,
    not_understood = record.not_understood, after_start = record.later, facts = {}, options = json.array {},
    notes = json.array {}, read = json.array {}, unread = json.array {} }
  for name in pairs(record.facts) do
    local value = seen.fact_of(record, name).value
    out.facts[name] = type(value) == "string" and native.printable(value) or value
  end
  for i, each in ipairs(record.named) do out.options[i] = native.printable(each[1] .. "=" .. each[2]) end
  for _, part in ipairs(record.parts or {}) do out.notes[#out.notes + 1] = launches.text(part) end
  for _, each in ipairs(record.told) do out.notes[#out.notes + 1] = native.printable(each) end
  for text, line in core.sorted_pairs(record.warnings) do
    out.notes[#out.notes + 1] = ("line %d: %s"):format(line, text)
  end
  if record.error then
    out.notes[#out.notes + 1] = ("line %d: it ended in an error: %s"):format(record.error.line,
      native.printable(record.error.text or ""))
  end
  for i, each in ipairs(record.read) do
    out.read[i] = { line = each.line, means = each.means, text = native.printable(each.text),
      wording_of_another_release = each.foreign }
  end
  for i, each in ipairs(record.unread) do out.unread[i] = { line = each.line, text = native.printable(each.text) } end
  return out
end

--- A file of which no line is read here.
local function plain(path, form, what, taken_by)
  return { file = path, form = form, what = what, taken_by = taken_by, read = json.array {}, unread = json.array {},
    notes = json.array {} }
end

--- A file of measurements, or why it is none.
local function of_result(path)
  local is_read, runs = pcall(measured_runs.read_all, path)
  if not is_read then return nil, problem_of(path, runs) end
  local count = 0
  for _, run in ipairs(runs) do count = count + #(run.requests or {}) end
  local what = runs[1] and runs[1].tool or "a CSV with a row for each request"
  return plain(path, "result", ("result: %s, %s, %s"):format(what, units.counted(#runs, "run"),
    units.counted(count, "request")), "--measured, --workload")
end

--- A range over time: the quantities that are read, and why series are not.
local function of_range(path, text, form)
  local is_read, of = pcall(range.of, { { path = path, text = text } })
  if not is_read then return plain(path, "none", problem_of(path, of)) end
  local entry = plain(path, "range", ("a range over time: %s, %s"):format(form.what,
    units.counted(#of.intervals, "interval")), "attach")
  entry.counted, entry.lines, entry.not_understood, entry.after_start = "series", #of.read, #of.unread, 0
  entry.understood = entry.lines - entry.not_understood
  for quantity, source in core.sorted_pairs(of.sources) do
    entry.read[#entry.read + 1] = { line = #entry.read + 1, means = quantity, text = native.printable(source) }
  end
  for i, each in ipairs(of.unread) do
    local said = ("%s: %s: %s"):format(each.where, each.name or "", each.why)
    entry.unread[i] = { line = i, text = native.printable(said) }
  end
  for i, note in ipairs(of.notes) do entry.notes[i] = native.printable(note) end
  return entry
end

local function of_file(path)
  local ok, text = pcall(reading.text, path)
  if not ok then return plain(path, "none", problem_of(path, text)) end
  local is_read, record = pcall(reading.record, path, text)
  if not is_read then return plain(path, "none", problem_of(path, record)) end
  if record then return of_start(path, record) end
  if path:find "%.lua$" then return plain(path, "scenario", "a scenario, or a policy", "run, check") end
  local form = range.form(text)
  if form then return of_range(path, text, form) end
  local result, problem = of_result(path)
  if result then return result end
  return plain(path, "none", "of no form that is known: " .. problem)
end

local function value_text(value) return type(value) == "number" and native.number_text(value) or value end

local function lines_of(lines, entry, shows_read, shows_unread)
  local taken_by = entry.taken_by and (" (%s)"):format(entry.taken_by) or ""
  lines[#lines + 1] = ("%s: %s%s"):format(entry.file, entry.what, taken_by)
  if entry.lines then
    lines[#lines + 1] = ("  %s understood, %s not understood, %s %s, of %s"):format(
      units.grouped(entry.understood), units.grouped(entry.not_understood), units.grouped(entry.after_start),
      entry.counted and "without effect" or "after the start", entry.counted == "series"
        and units.grouped(entry.lines) .. " series" or units.counted(entry.lines, entry.counted or "line"))
  end
  for _, each in ipairs(facts.list) do
    local value = entry.facts and entry.facts[each.name]
    if value ~= nil then
      lines[#lines + 1] = ("  %-32s %s%s"):format(each.what, value_text(value), each.name:find "_gib$" and " GiB" or "")
    end
  end
  if entry.options and #entry.options > 0 then
    lines[#lines + 1] = ("  %s: %s%s"):format(units.counted(#entry.options, "option"),
      table.concat(entry.options, ", ", 1, math.min(#entry.options, shows_read and 10000 or 12)),
      #entry.options > 12 and not shows_read and ", ..." or "")
  end
  for _, note in ipairs(entry.notes) do lines[#lines + 1] = "  " .. note end
  for _, each in ipairs(shows_read and entry.read or {}) do
    lines[#lines + 1] = ("  %6d  %s: %s"):format(each.line, each.means, each.text)
  end
  for _, each in ipairs(shows_unread and entry.unread or {}) do
    lines[#lines + 1] = ("  %6d  not understood: %s"):format(each.line, each.text)
  end
end

--- What the program calls: {text, document, known}.
---@param paths string[]
---@param shows_read boolean every line that is understood, with its meaning
---@param shows_unread boolean every line that is not
function files.run(paths, shows_read, shows_unread)
  local document, lines, known = json.array {}, {}, true
  for i, path in ipairs(paths) do
    local entry = of_file(path)
    document[i] = entry
    known = known and entry.form ~= "none"
    lines_of(lines, entry, shows_read, shows_unread)
  end
  return { text = core.join(lines, "\n"), document = { schema = 1, files = document }, known = known }
end

return files
