-- The answer of `rooflua attach`: one screen.
local advice = require "rooflua.advise.text"
local believed = require "rooflua.serving.believed"
local columns = require "rooflua.text.columns"
local core = require "rooflua.base.core"
local native = require "rooflua.native"
local units = require "rooflua.text.units"
local words = require "rooflua.plan.words"

local text = {}

local function percent(value, of) return ("%+.0f %%"):format(100 * (value / of - 1)) end

--- What was measured beside what is simulated, before and after the calibration.
local function rows_table(document)
  local has_fit = document.calibrated ~= nil
  local rows = { { "figure", "believed", "", "seen", has_fit and "calibrated" or nil } }
  if has_fit then table.insert(rows[1], "") end
  table.insert(rows[1], "90 % interval")
  for _, each in ipairs(document.figures) do
    local row = { each.title, words.value(each.metric, each.believed), percent(each.believed, each.seen),
      words.value(each.metric, each.seen) }
    if has_fit then
      row[#row + 1], row[#row + 2] = words.value(each.metric, each.calibrated), percent(each.calibrated, each.seen)
    end
    row[#row + 1] = ("%s to %s%s"):format(words.value(each.metric, each.low), words.value(each.metric, each.high),
      each.inside and "" or ", OUTSIDE")
    rows[#rows + 1] = row
  end
  return columns.after(1, rows)
end

local function shares_text(list, most)
  local parts = {}
  for i, each in ipairs(list) do
    if i <= most and each.share >= 0.005 then parts[#parts + 1] = ("%s %.0f %%"):format(each.name, 100 * each.share) end
  end
  return core.join(parts, ", ")
end

local function change_text(each, document)
  local goal = document.goal == "output_tokens_per_s" and "tokens/s %+.0f %%" or "E2E %+.0f %%"
  local gain = document.goal == "output_tokens_per_s" and each.gain or 1 / (1 + each.gain) - 1
  local out = ("%s=%s (is %s): " .. goal):format(each.set, advice.value(each.after), advice.value(each.before),
    100 * gain)
  for metric, loss in core.sorted_pairs(each.loses) do
    out = out .. (", but %s %+.0f %%"):format(words.metric(metric), 100 * loss)
  end
  if each.kv_tokens ~= each.kv_tokens_before then
    out = out .. (", KV tokens %s -> %s"):format(units.grouped(each.kv_tokens_before), units.grouped(each.kv_tokens))
  end
  return out .. "; measured: " .. each.record.text
end

local function calibration_text(calibrated)
  local parts = {}
  for _, each in ipairs(calibrated.parameters) do
    parts[#parts + 1] = ("%s %s -> %s"):format(each.path, units.text(each.before, each.unit or "1"),
      units.text(each.after, each.unit or "1"))
  end
  local out = ("%s; mean error %.1f -> %.1f %%"):format(core.join(parts, ", "), 100 * calibrated.error.before,
    100 * calibrated.error.after)
  if not calibrated.alike or #calibrated.alike == 0 then return out end
  return out .. ("; %s would explain it as well"):format(core.join(calibrated.alike, " or "))
end

--- The report.
---@param document table of attach/command.lua
---@param head string engine, model, GPUs
function text.of(document, head)
  local lines = { head }
  local function add(label, said) lines[#lines + 1] = columns.labelled(label, said) end
  add("load", document.load)
  lines[#lines + 1] = believed.text(document.memory)
  if #document.figures > 0 then
    lines[#lines + 1] = ""
    lines[#lines + 1] = rows_table(document)
  end
  lines[#lines + 1] = ""
  for _, each in ipairs(document.differences) do
    add("differs", ("%s by %s%s"):format(each.name, percent(each.seen, each.believed),
      each.cause and ": " .. each.cause or ""))
  end
  if document.calibrated then add("fitted", calibration_text(document.calibrated)) end
  if document.not_calibrated then add("fitted", "nothing: " .. document.not_calibrated) end
  add("time", "of a request: " .. shares_text(document.limits.parts, 4))
  if #document.limits.steps > 0 then add("", "of steps: " .. shares_text(document.limits.steps, 4)) end
  add("limits", document.limits.text)
  for i, each in ipairs(document.changes) do add(i == 1 and "pays" or "", change_text(each, document)) end
  if #document.changes == 0 then
    add("pays", ("nothing: none of %s gains more than 3 %%"):format(units.counted(document.tried, "setting")))
  end
  if document.stopped then add("stopped", "at --limit: not every setting was tried") end
  if document.intervals and document.intervals.about then add("interval", document.intervals.about) end
  for _, note in ipairs(document.notes) do add("note", note) end
  add("next", "rooflua advise and rooflua upgrade ask further; --write server.lua keeps all of it as a scenario")
  return native.printable(core.join(lines, "\n")) .. "\n"
end

return text
