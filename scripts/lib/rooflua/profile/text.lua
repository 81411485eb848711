-- The answer of `rooflua trace` as a report.
local columns = require "rooflua.text.columns"
local json = require "rooflua.json"
local units = require "rooflua.text.units"

local text = {}

local widest, most_causes, most_gaps, most_unknown = 79, 3, 5, 8

local function us(seconds)
  if seconds == nil or seconds == json.null then return "-" end
  return units.significant(1e6 * seconds, 4)
end

local function ratio(each)
  if each.table_s == json.null or each.table_s <= 0 then return "-" end
  return ("%.2f"):format(each.measured_s / each.table_s)
end

local function short(name, most) return #name > most and name:sub(1, most - 3) .. "..." or name end
text.short = short

--- The head: which steps of which files.
function text.head(answer)
  local first, last = answer.steps[1], answer.steps[#answer.steps]
  local out = { columns.wrapped(("%s on %s: %s"):format(answer.model, answer.hardware, first.batch), widest) }
  local range = #answer.steps == 1 and ("step %d"):format(first.number)
    or ("steps %d to %d, means of %d"):format(first.number, last.number, #answer.steps)
  out[#out + 1] = columns.wrapped(("%s, found by %s%s"):format(range, answer.found_by,
    answer.gpu ~= "" and "; recorded on " .. answer.gpu or ""), widest)
  out[#out + 1] = ("step %s, tables %s, roofline %s; %s of the kernels' time is named"):format(
    units.text(answer.step_s, "s"), units.text(answer.table_s, "s"), units.text(answer.roofline_s, "s"),
    units.percent(answer.named))
  return out
end

--- A line for each of the causes that explain most.
function text.causes(answer)
  local out = {}
  if #answer.causes == 0 then return { "nothing is slower than its tables by more than 5 %" } end
  for i = 1, math.min(most_causes, #answer.causes) do
    local each = answer.causes[i]
    out[#out + 1] = columns.wrapped(("%d. %s; saves %s a step (%s), %s per token"):format(i, each.text,
      units.text(each.saves_s, "s"), units.percent(each.saves_s / answer.step_s),
      units.text(each.saves_per_token_s, "s")), widest)
  end
  return out
end

--- Rows of the table of operations, which add up to the step.
function text.operation_rows(answer)
  local rows = { { "operation", "kernels", "measured us", "tables us", "roofline us", "ratio", "share", "rests on",
    "shape" } }
  for _, each in ipairs(answer.operations) do
    rows[#rows + 1] = { each.name, units.significant(each.runs, 4), us(each.measured_s), us(each.table_s),
      us(each.roofline_s), ratio(each), units.percent(each.share), each.evidence,
      each.shape }
  end
  local function add(name, seconds, table_s)
    rows[#rows + 1] = { name, "", us(seconds), table_s and us(table_s) or "-", "-", "-",
      units.percent(seconds / answer.step_s), "", "" }
  end
  if answer.unknown_s > 0 then add("no operation", answer.unknown_s) end
  add("idle, gaps", answer.gaps_s, answer.host_table_s)
  add("idle, between kernels", answer.between_s)
  rows[#rows + 1] = { "step", "", us(answer.step_s), us(answer.table_s), us(answer.roofline_s),
    ("%.2f"):format(answer.step_s / answer.table_s), "100.0 %", "", "" }
  return rows
end

function text.gap_rows(answer, most)
  local rows = { { "step", "gap us", "in" } }
  for i = 1, math.min(most or most_gaps, #answer.gaps) do
    local gap = answer.gaps[i]
    rows[#rows + 1] = { tostring(gap.step), us(gap.duration_s), short(gap.cause, 60) }
  end
  return rows
end

function text.unknown_rows(answer, most)
  local rows = { { "us", "share", "kernel that no operation takes" } }
  for i = 1, math.min(most or most_unknown, #answer.unknown) do
    local each = answer.unknown[i]
    rows[#rows + 1] = { us(each.measured_s), units.percent(each.measured_s / answer.step_s),
      short(each.name, 56) .. (each.operation and " (" .. each.operation .. ")" or "") }
  end
  return rows
end

--- Kernels that an engine falls back to.
function text.fallbacks(answer)
  local out = {}
  for _, each in ipairs(answer.operations) do
    if each.fallback then
      out[#out + 1] = columns.wrapped(("fallback: %s runs %s, %s"):format(each.name, short(each.fallback.kernel, 60),
        each.fallback.why), widest)
    end
  end
  return out
end

function text.of(answer)
  local out = text.head(answer)
  out[#out + 1] = ""
  for _, line in ipairs(text.causes(answer)) do out[#out + 1] = line end
  out[#out + 1] = "\n" .. columns.text(text.operation_rows(answer))
  if #answer.gaps > 0 then
    out[#out + 1] = ("\n%s of 10 us and more; the longest:"):format(units.counted(#answer.gaps + answer.gaps_left_out,
      "gap"))
    out[#out + 1] = columns.text(text.gap_rows(answer))
  end
  if #answer.unknown > 0 then out[#out + 1] = "\n" .. columns.text(text.unknown_rows(answer)) end
  local fallbacks = text.fallbacks(answer)
  if #fallbacks > 0 then out[#out + 1] = "" end
  for _, line in ipairs(fallbacks) do out[#out + 1] = line end
  if #answer.absent > 0 then
    local names = {}
    for i, each in ipairs(answer.absent) do names[i] = ("%s (%s us)"):format(each.name, us(each.table_s)) end
    out[#out + 1] = columns.wrapped("\nno kernel of its own: " .. table.concat(names, ", "), widest)
  end
  if #answer.ranks > 1 then
    out[#out + 1] = ""
    for _, rank in ipairs(answer.ranks) do
      out[#out + 1] = ("%s: %d steps, mean %s%s"):format(rank.label, rank.steps, units.text(rank.step_s, "s"),
        rank.is_shown and ", shown above" or "")
    end
  end
  for _, note in ipairs(answer.notes) do out[#out + 1] = columns.wrapped("note: " .. note, widest) end
  return table.concat(out, "\n") .. "\n"
end

return text
