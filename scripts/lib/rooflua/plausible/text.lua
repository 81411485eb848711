-- The answer of `rooflua check-run` as a report, whose first line is the verdict.
local columns = require "rooflua.text.columns"
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local native = require "rooflua.native"
local units = require "rooflua.text.units"
local words = require "rooflua.plan.words"

local text = {}

local function value_text(value)
  if value == json.null then return "not stated" end
  if type(value) == "number" then return units.significant(value, 6) end
  return native.printable(tostring(value))
end

local function off(value, of) return ("%+.0f %%"):format(100 * (value / of - 1)) end

--- "workload.rate_per_s = 8, not 4"; "the hardware is 12 % slower than the table".
local function input_text(input)
  if input.kind == "hardware" then
    local slower = input.slower
    return ("the hardware is %.0f %% %s than the table"):format(100 * math.abs(slower - 1),
      slower > 1 and "slower" or "faster")
  end
  return ("%s = %s, not %s"):format(input.set, value_text(input.after), value_text(input.before))
end

--- The figure that is farthest from its interval.
local function worst_of(list)
  local worst, most = nil, 0
  for _, each in ipairs(list) do
    local beyond = math.max(each.measured / each.high, each.low / each.measured)
    if not each.inside and beyond > most then worst, most = each, beyond end
  end
  return worst
end

--- One line: plausible or not, and which input is likeliest wrong.
local function verdict(document)
  if document.plausible then
    return ("plausible: %s inside of %s"):format(units.counted(#document.figures, "figure"),
      #document.figures == 1 and "its interval" or "their intervals")
  end
  local worst = worst_of(document.figures)
  local beyond = worst.measured / worst.simulated - 1
  local said = ("not plausible: %s %s is %.0f %% %s what is simulated"):format(worst.title,
    words.value(worst.metric, worst.measured), 100 * math.abs(beyond), beyond > 0 and "above" or "below")
  local likeliest = document.likeliest
  return said .. "; likeliest wrong: " .. (likeliest and input_text(likeliest) or "no single input")
end

local names = { rate_per_s = "requests/s", clients = "clients", prompt = "tokens of a prompt",
  output = "tokens of an answer", count = "requests", kind = "arrivals by" }

local line = columns.labelled

local function figures_table(list)
  local rows = { { "figure", "measured", "simulated", "from", "to", "" } }
  for _, each in ipairs(list) do
    rows[#rows + 1] = { each.title, words.value(each.metric, each.measured), words.value(each.metric, each.simulated),
      words.value(each.metric, each.low), words.value(each.metric, each.high), each.inside and "inside" or "OUTSIDE" }
  end
  return columns.after(1, rows)
end

--- The figures with the likeliest input.
local function with_input(document)
  local input, parts = document.likeliest or document.nearest, {}
  if not input then return nil end
  for _, each in ipairs(document.figures) do
    local value = input.metrics[each.metric]
    if value then
      parts[#parts + 1] = ("%s %s (measured %s)"):format(each.title, words.value(each.metric, value),
        off(each.measured, value))
    end
  end
  return input_text(input) .. ": " .. core.join(parts, ", ")
end

--- The report.
---@param document table of plausible/command.lua
function text.of(document)
  local lines = { verdict(document), "", figures_table(document.figures), "" }
  local function add(label, said) lines[#lines + 1] = line(label, said) end
  for i, each in ipairs(document.workload) do
    add(i == 1 and "workload" or "", ("the result has %s %s, the scenario %s (%s)"):format(value_text(each.measured),
      names[each.name], value_text(each.scenario), each.set))
  end
  local input = with_input(document)
  if input then add(document.likeliest and "with" or "nearest", input) end
  if document.tried then add("tried", units.counted(document.tried, "run")) end
  if document.stopped then
    add("stopped", ("after %g s; this is what was found so far"):format(document.stopped.limit_s))
  end
  for _, each in ipairs(document.figures) do
    if each.is_assumed then
      add("interval", ("%s: none is known, a half to twice is taken"):format(each.title))
    end
  end
  if document.intervals and document.intervals.about then add("interval", document.intervals.about) end
  if document.failed > 0 then add("note", ("%d requests of the result failed"):format(document.failed)) end
  for _, note in ipairs(document.notes) do add("note", note) end
  return core.join(lines, "\n") .. "\n"
end

return text
