-- Differences: how often the simulation says which of two runs is better, and by how much.
--
--     gain        treatment / baseline - 1 of tokens per second; of latencies 1 - treatment / baseline
--     direction   up, down, or flat where the gain is at most 3 %
--     size        |ln((1 + simulated gain) / (1 + measured gain))|
--
-- A pair with a side that does not run is wrong. Pairs that were measured flat stand apart: an answer "flat" to every
-- question is right there, and in no other pair.
local errors = require "rooflua.validate.errors"
local levers = require "rooflua.intervals.levers"
local statistics = require "rooflua.base.statistics"

local score = {}

score.flat_frac, score.clear_frac = levers.flat_frac, 0.1

--- Figures of a run by which two runs are compared: {name of the figure, whether more of it is better}.
score.judges = { throughput = { "total_tokens_per_s", true }, e2e = { "e2e_mean", false } }

function score.direction(gain)
  if gain > score.flat_frac then return "up" end
  return gain < -score.flat_frac and "down" or "flat"
end

--- The gain of a treatment; nil where a figure is missing.
function score.gain(judge, baseline, treatment)
  local about = score.judges[judge]
  local before, after = (baseline or {})[about[1]], (treatment or {})[about[1]]
  if not before or not after or not (before > 0) then return nil end
  return about[2] and after / before - 1 or 1 - after / before
end

--- A pair with what was simulated: {id, kind, lever, engine, clear, direction, gain, simulated (nil: did not run),
--- answer = its direction, size}.
---@param pair table of pairs/rows.lua; one without a direction has that of its gain
---@param simulated number? gain
function score.pair(pair, simulated)
  local gain = pair.gain
  local out = { id = pair.id, kind = pair.kind, lever = pair.lever, engine = pair.engine, gain = gain,
    direction = pair.direction or score.direction(gain), clear = pair.clear, simulated = simulated,
    answer = simulated and score.direction(simulated) or nil }
  if not out.clear then out.clear = math.abs(gain) >= score.clear_frac and "yes" or "no" end
  if simulated and gain and simulated > -1 and gain > -1 then
    out.size = math.abs(math.log((1 + simulated) / (1 + gain)))
  end
  return out
end

-- Groups -----------------------------------------------------------------------------------------------------------

local function share(list, ok)
  if #list == 0 then return nil end
  return #errors.filtered(list, ok) / #list
end

local function is_right(pair) return pair.answer == pair.direction end
local function is_opposite(pair)
  return pair.answer == "up" and pair.direction == "down" or pair.answer == "down" and pair.direction == "up"
end
local function is_missed(pair) return pair.answer == "flat" and pair.direction ~= "flat" end

--- Right answers of the pairs of some directions.
local function part_of(list, ...)
  local wanted = {}
  for _, direction in ipairs { ... } do wanted[direction] = true end
  local own = errors.filtered(list, function(pair) return wanted[pair.direction] end)
  return { direction = share(own, is_right), rows = #own }
end

--- {direction = share that is right, opposite, flat = share that moved and is answered with flat, size, rows, and the
--- right ones of those that moved, hurt, helped and stayed: {direction, rows}}.
function score.of(list)
  local sizes = {}
  for _, pair in ipairs(list) do sizes[#sizes + 1] = pair.size end
  return { direction = share(list, is_right), opposite = share(list, is_opposite), flat = share(list, is_missed),
    size = statistics.median(sizes), rows = #list, moved = part_of(list, "up", "down"), hurt = part_of(list, "down"),
    help = part_of(list, "up"), stayed = part_of(list, "flat") }
end

local kinds = {}
for i, name in ipairs { "clear", "kind", "lever", "engine" } do
  kinds[i] = { name, function(pair) return pair[name] ~= "" and pair[name] or nil end, name .. " " }
end

--- The document's member `pairs`: {all, clear, kind, lever, engine}.
function score.document(list) return errors.document(list, kinds, score.of) end

-- Tables -----------------------------------------------------------------------------------------------------------

local function right_of(part)
  return part.rows > 0 and ("%d of %d"):format(part.direction * part.rows + 0.5, part.rows) or "-"
end

local shown = { { "pairs", "rows", "count" }, { "right", "right", "text" }, { "opposite", "opposite", "count" },
  { "said flat", "flat", "count" }, { "that moved: right", "moved", "text" }, { "that hurt", "hurt", "text" },
  { "that help", "help", "text" }, { "flat ones", "stayed", "text" }, { "size, %", "size" } }

local function line_of(name, of)
  return { name, { rows = of.rows, right = right_of(of), opposite = (of.opposite or 0) * of.rows + 0.5,
    flat = (of.flat or 0) * of.rows + 0.5, moved = right_of(of.moved), hurt = right_of(of.hurt),
    help = right_of(of.help), stayed = right_of(of.stayed), size = of.size and math.exp(of.size) - 1 } }
end

--- Wrong pairs: opposite ones first, then by size; those that did not run last.
local function badness(pair)
  if is_right(pair) then return nil end
  return (is_opposite(pair) and 100 or 0) + (pair.size or -1)
end

local function worst_rows(list)
  local rows = { { "pair", "lever", "kind", "engine", "was", "answer", "size, %" } }
  for _, pair in ipairs(errors.worst(list, badness, function(pair) return pair.id end, 10)) do
    rows[#rows + 1] = { pair.id, pair.lever, pair.kind, pair.engine or "", pair.direction,
      pair.answer or "does not run", pair.size and ("%.1f"):format((math.exp(pair.size) - 1) * 100) or "-" }
  end
  return rows
end

--- Parts of a report.
function score.parts(list)
  local document, by = score.document(list), {}
  for i, kind in ipairs(kinds) do by[i] = { kind[1], kind[3] } end
  local lines = errors.lines(document, by)
  for i, line in ipairs(lines) do lines[i] = line_of(line[1], line[2]) end
  return {
    ("Differences: %d pairs of runs that differ in one thing. A direction is up, down or flat (at most %g %%); a side "
      .. "that does not run is wrong."):format(#list, score.flat_frac * 100),
    { rows = errors.rows({ "pairs" }, shown, lines), left = 1,
      record = "Directions of differences, by lever and kind" },
    { title = "The ten worst differences", rows = worst_rows(list), left = 6, record = "The ten worst differences" },
  }
end

return score
