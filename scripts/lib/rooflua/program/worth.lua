--- What each table of kernels is worth to a scenario: the share of its time that rests on no row of the GPU, by table,
--- largest first; and which rows to measure. A served scenario is forecast from a handful of batches, as
--- `rooflua check` does it.
local batch_prices = require "rooflua.machine.prices"
local chunks = require "rooflua.sandbox.chunks"
local core = require "rooflua.base.core"
local forecast = require "rooflua.runs.forecast"
local json = require "rooflua.json"
local mfu = require "rooflua.mfu"
local opening = require "rooflua.runs.opening"
local Prepared = require "rooflua.machine.prepared"
local serving = require "rooflua.serving.pieces"
local shapes = require "rooflua.tables.shapes"
local units = require "rooflua.text.units"

local worth = {}

local most_variants = 24 -- whose batches are priced
local most_ranges = 3 -- of a table's shape that a line of text has
local is_measured = core.set { "measured", "interpolated" }

--- Whether a table of this op exists: only then rows can answer.
local has_table = {}
for _, op in ipairs(mfu.ops()) do has_table[op.name] = true end

-- Sums over operations ------------------------------------------------------------------------------------

--- Adds the operations of a priced batch. A lower bound belongs to the operation in front of it.
---@param sums {total_s: number, evidence: table, tables: table, other_s: number}
---@param weight number how often the batch runs
local function add(sums, priced, prepared, weight)
  local place
  sums.total_s = sums.total_s + weight * priced.time_s
  for name, share in pairs(priced.evidence) do
    sums.evidence[name] = (sums.evidence[name] or 0) + weight * share * priced.time_s
  end
  for _, row in ipairs(priced.rows) do
    if row.kind ~= "floor" then place = has_table[row.kind] and shapes.of(row, prepared) or nil end
    local time_s = weight * row.time_s * (row.count or 1)
    if place and not is_measured[row.evidence] and time_s > 0 then
      local sum = sums.tables[place.table]
      if not sum then
        sum = { table = place.table, time_s = 0, evidence = {}, fields = {}, rows = {} }
        sums.tables[place.table] = sum
      end
      sum.time_s = sum.time_s + time_s
      sum.evidence[row.evidence] = (sum.evidence[row.evidence] or 0) + time_s
      for name, value in pairs(place.fields) do
        local range = sum.fields[name] or { value, value }
        sum.fields[name] = { math.min(range[1], value), math.max(range[2], value) }
      end
      for _, cells in ipairs(place.rows) do sum.rows[table.concat(cells, ",")] = cells end
    elseif not place and not is_measured[row.evidence] then
      sums.other_s = sums.other_s + time_s
    end
  end
end

local function add_prices(sums, reader, given)
  local prepared = Prepared.of(reader, given)
  for _, priced in ipairs(batch_prices.price(prepared, { operations = true }).batches) do
    add(sums, priced, prepared, 1)
  end
  return prepared
end

local function add_served(sums, reader, given)
  local prepared = serving.check(reader, given)
  local requests = reader:at("workload", forecast.requests, prepared.workload, prepared.streams,
    prepared.replicas[1].prepared.model)
  local figures = forecast.figures(requests)
  if figures.count == 0 then reader:fail("workload", "draws no request, so that nothing is priced") end
  for _, replica in ipairs(prepared.replicas) do
    local share = figures.rate_per_s and figures.rate_per_s / #prepared.replicas
    local one = reader:at("steps", forecast.of_replica, replica, figures, share)
    for _, part in ipairs(one.parts) do add(sums, part[1], replica.prepared, part[2]) end
  end
  return prepared.replicas[1].prepared
end

-- The answer --------------------------------------------------------------------------------------------

--- What the GPU has, by the name of a table: {rows, answers}.
local function tables_of(database)
  local out = {}
  for _, each in ipairs(database:tables "all") do
    local name = shapes.table_name(each.op, each.dtype)
    local known = out[name] or { rows = 0, answers = false }
    out[name] = { rows = known.rows + each.rows, answers = known.answers or each.answers ~= false }
  end
  return out
end

local function ranges_text(fields)
  local parts = {}
  for name, range in core.sorted_pairs(fields) do
    local low, high = units.significant(range[1], 6), units.significant(range[2], 6)
    parts[#parts + 1] = name .. " " .. (low == high and low or low .. ".." .. high)
  end
  if #parts > most_ranges + 2 then parts[most_ranges + 2] = "..." end
  return table.concat(parts, ", ", 1, math.min(#parts, most_ranges + 2))
end

local function has_text(has)
  if not has then return "no table" end
  return units.counted(has.rows, "row") .. (has.answers and ", not near" or ", which do not answer")
end

local function text_of(document, variants)
  local found = document.scenario
  local out = { ("\n%s on this GPU rests on: %s"):format(found.file, units.evidence(found.evidence)) }
  if variants > most_variants then
    out[#out + 1] = ("the first %d of %d variants"):format(most_variants, variants)
  end
  if #found.tables == 0 then
    out[#out + 1] = "every kernel that has a table is measured"
    return table.concat(out, "\n") .. "\n"
  end
  out[#out + 1] = "to measure, what is worth most first:\n"
  local name_width, has_width = 0, 0
  for _, each in ipairs(found.tables) do
    name_width, has_width = math.max(name_width, #each.table), math.max(has_width, #each.has)
  end
  for _, each in ipairs(found.tables) do
    out[#out + 1] = ("  %-" .. name_width .. "s  %7s  %-" .. has_width .. "s  %s"):format(each.table,
      units.percent(each.share), each.has, ranges_text(each.ranges))
  end
  if found.other > 0 then out[#out + 1] = ("no table has the other %s"):format(units.percent(found.other)) end
  if #document.measure > 0 then
    out[#out + 1] = ("\n--json FILE, and scripts/collect/measure --first FILE measures %s of these tables first")
      :format(units.counted(#document.measure, "row"))
  end
  return table.concat(out, "\n") .. "\n"
end

local function shares_of(seconds, total_s)
  local out = {}
  for name, time_s in pairs(seconds) do
    if time_s > 0 then out[name] = time_s / total_s end
  end
  return out
end

local function document_of(sums, path, database)
  local found, has = json.array {}, tables_of(database)
  local document = { scenario = { file = path, evidence = shares_of(sums.evidence, sums.total_s), tables = found,
    other = sums.other_s / sums.total_s }, measure = json.array {} }
  for name, sum in core.sorted_pairs(sums.tables) do
    local ranges = {}
    for field, range in pairs(sum.fields) do ranges[field] = json.array { range[1], range[2] } end
    found[#found + 1] = { table = name, share = sum.time_s / sums.total_s, has = has_text(has[name]),
      evidence = shares_of(sum.evidence, sums.total_s), ranges = ranges }
  end
  table.sort(found, function(a, b)
    if a.share ~= b.share then return a.share > b.share end
    return a.table < b.table
  end)
  for _, each in ipairs(found) do
    for _, cells in core.sorted_pairs(sums.tables[each.table].rows) do
      document.measure[#document.measure + 1] = { table = each.table, row = json.array(cells) }
    end
  end
  return document
end

--- @param given {scenario: string, folder: string, set: string[]} the GPU's folder stands for the scenario's hardware
--- @return table {scenario, measure, text} of docs/schema/data_add.json
--- @error naming the scenario's line, of kinds other than serve and price
function worth.of(given)
  local path = given.scenario
  local sets = { "hardware=" .. json.encode(given.folder) }
  for _, set in ipairs(given.set) do sets[#sets + 1] = set end
  local sums, prepared = { total_s = 0, evidence = {}, tables = {}, other_s = 0 }, nil
  local opened = opening.file(path, { set = sets })
  if opened.kind ~= "serve" and opened.kind ~= "price" then
    opened.reader:fail("kind", "expected \"serve\" or \"price\", whose steps can be priced, found \"%s\"", opened.kind)
  end
  chunks.bounded(path, function()
    for index = 1, math.min(#opened.variants, most_variants) do
      local own = opening.variant(opened, index)
      prepared = (opened.kind == "price" and add_prices or add_served)(sums, opened.reader, own)
    end
  end)
  local document = document_of(sums, path, prepared.mfu)
  document.text = text_of(document, #opened.variants)
  return document
end

return worth
