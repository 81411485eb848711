-- The answer of `rooflua advise` as a report.
local columns = require "rooflua.text.columns"
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local levers = require "rooflua.intervals.levers"
local native = require "rooflua.native"
local units = require "rooflua.text.units"
local words = require "rooflua.plan.words"

local text = {}

--- The value of a setting, for people.
local function value_text(value)
  if value == nil or value == json.null then return "not stated" end
  if type(value) == "number" then return native.number_text(value) end
  return native.printable(tostring(value))
end
text.value = value_text

local function change_text(change)
  return ("%s  %s -> %s"):format(change.set, value_text(change.before), value_text(change.after))
end

--- "--max-num-seqs=256 and --enforce-eager=false".
local function settings_text(changes)
  local parts = {}
  for i, each in ipairs(changes) do parts[i] = each.set .. "=" .. value_text(each.after) end
  return core.join(parts, " and ")
end

--- The metrics of the columns: those of the SLO, then what every answer shows.
local function shown_of(document)
  local out, seen = {}, {}
  local function add(name)
    if not seen[name] then seen[name], out[#out + 1] = true, name end
  end
  for _, bound in ipairs(document.slo) do add(bound.metric) end
  for _, name in ipairs { "ttft_s_mean", "tpot_s_mean", "output_tokens_per_s" } do add(name) end
  return out
end

local function title_of(metric)
  return metric == "output_tokens_per_s" and "tokens/s" or words.metric(metric)
end

local function row_of(name, of, shown)
  local row = { name }
  for _, metric in ipairs(shown) do row[#row + 1] = words.value(metric, of.metrics[metric]) end
  row[#row + 1] = units.grouped(of.memory.kv_tokens)
  return row
end

local function percent(frac) return frac and ("%+.0f %%"):format(100 * frac) or "-" end

local function brings_row(of, shown)
  local row = { "" }
  for _, metric in ipairs(shown) do row[#row + 1] = percent(of.brings[metric]) end
  local before = of.memory.kv_tokens_before
  row[#row + 1] = before > 0 and percent(of.memory.kv_tokens / before - 1) or "-"
  return row
end

--- The deployment as it is, each change alone, and all of them together.
local function table_of(document)
  local shown = shown_of(document)
  local rows = { { "setting" }, row_of("as it is", document.before, shown) }
  for _, metric in ipairs(shown) do table.insert(rows[1], title_of(metric)) end
  table.insert(rows[1], "KV tokens")
  local function add(name, of)
    rows[#rows + 1] = row_of(name, of, shown)
    rows[#rows + 1] = brings_row(of, shown)
  end
  if #document.changes > 1 then
    for _, change in ipairs(document.changes) do
      if not change.alone then add(settings_text { change }, change) end
    end
    add("all of them", document.after)
  elseif document.after then
    add(settings_text(document.changes), document.after)
  elseif document.closest then
    local closest = document.closest
    add(#closest.changes > 1 and "the closest" or settings_text(closest.changes), closest)
  end
  return columns.after(1, rows)
end

local line = columns.labelled

local function tried_text(tried)
  local parts = { ("%s of %s and their combinations, %s"):format(units.counted(tried.settings, "setting"),
    units.counted(tried.options, "option"), units.counted(tried.runs, "run")) }
  local others = { { tried.same, "make the same deployment" }, { tried.refused, "are refused" },
    { tried.too_large, "need more GPUs" }, { tried.excluded, "cannot meet it by the time of a request alone" } }
  for _, each in ipairs(others) do
    if each[1] > 0 then parts[#parts + 1] = ("%d %s"):format(each[1], each[2]) end
  end
  return core.join(parts, "; ")
end

local function head_of(document)
  local slo = words.slo(document.slo)
  if #document.changes > 0 then
    local lines = { ("%s: %s"):format(slo, units.counted(#document.changes, "change")) }
    for _, change in ipairs(document.changes) do lines[#lines + 1] = "   " .. change_text(change) end
    return core.join(lines, "\n")
  end
  if document.met then return slo .. ": met as it is, nothing to change" end
  return slo .. (document.stopped and ": nothing found that helps" or ": nothing helps")
end

local function binds_text(binds, is_closer)
  if not binds.best then return ("%s: requests are not completed"):format(words.metric(binds.metric)) end
  local best = ("%s is %s%s, the limit is %s"):format(words.metric(binds.metric),
    words.value(binds.metric, binds.best), is_closer and " at best" or ", and no setting changes it for the better",
    words.value(binds.metric, binds.limit))
  if binds.lost then return best .. "; " .. binds.lost end
  if not binds.bound then return best end
  local bound = words.value(binds.metric, binds.bound)
  if binds.is_bound then
    return ("%s: one request alone takes %s with every setting, the limit is %s"):format(words.metric(binds.metric),
      bound, words.value(binds.metric, binds.limit))
  end
  return ("%s; a request alone would take %s: the load binds"):format(best, bound)
end

local function interval_lines(of)
  local out = {}
  for _, each in ipairs(of and of.text or {}) do
    out[#out + 1] = line(#out == 0 and "interval" or "", each)
  end
  return out
end

--- Changes that are smaller than what such changes were off by, or than repeats of one command differ by.
local function unsure_of(document)
  local out = {}
  for _, change in ipairs(document.changes) do
    local size, most = math.max(change.record.size_frac or 0, levers.flat_frac), 0
    for _, bound in ipairs(document.slo) do
      most = math.max(most, math.abs(change.brings[bound.metric] or 0))
    end
    if most < size and not change.alone then
      out[#out + 1] = line("not sure", ("%s changes it by %s; such changes were off by %s"):format(change.set,
        units.percent(most), units.percent(size)))
    end
  end
  return out
end

--- The report.
---@param document table of answer.document
function text.of(document)
  local lines = { head_of(document), "", table_of(document), "" }
  local function add(list)
    for _, each in ipairs(list) do lines[#lines + 1] = each end
  end
  if document.closest and #document.closest.changes > 1 then
    add { line("closest", settings_text(document.closest.changes)) }
  end
  if document.binds then add { line("binds", binds_text(document.binds, document.closest ~= nil)) } end
  add(interval_lines((document.after or document.before).intervals))
  local records = {}
  for i, change in ipairs(document.changes) do records[i] = change.record.text end
  if #records > 0 then
    add { line("record", "how often the direction of such a change was right, of measured pairs: "
      .. core.join(records, "; ")) }
  end
  add(unsure_of(document))
  for i, each in ipairs(document.alternatives) do
    local bound = document.slo[1].metric
    add { line(i == 1 and "or" or "", ("%s: %s %s"):format(settings_text(each.changes), words.metric(bound),
      words.value(bound, each.metrics[bound]))) }
  end
  add { line("tried", tried_text(document.tried)) }
  if document.tried.requests then
    add { line("", ("each run has the first %s alone, because all take too long"):format(
      units.counted(document.tried.requests, "request"))) }
  end
  if #document.not_tried > 0 then
    add { line("not tried", core.join(document.not_tried, ", ") .. ": other formats change the answers") }
  end
  if document.stopped then
    add { line("stopped", ("after %g s; this is what was found so far (--limit SECONDS)"):format(
      document.stopped.limit_s)) }
  end
  for _, note in ipairs(document.notes) do add { line("note", note) } end
  return core.join(lines, "\n") .. "\n"
end

return text
