-- Steps of a rank: from the ranges that an engine names, else from kernels that come again and again.
local core = require "rooflua.base.core"
local capture = require "rooflua.profile.capture"
local rows_of = require "rooflua.profile.rows"

local steps = {}

local kinds = capture.kinds
local least_repeats = 3 -- of a kernel that marks steps
local alike_frac = 0.8 -- of the distances between marks that have to be the same number of kernels

--- Ranges that are steps: {{row, found, start_ns, end_ns, on_gpu}, ...} in order of time. Ranges of one start are one
--- inside of the other: the one that says most counts.
local function ranges(rank, known)
  local out, file, by_name = {}, rank.file, {}
  for i = 0, file.count - 1 do
    local event = file.events[i]
    if event.kind == kinds.annotation or event.kind == kinds.gpu_annotation then
      local name = by_name[event.name]
      if name == nil then
        local row, found = rows_of.step(known.steps, file.name(event.name))
        name = row and { row = row, found = found, label = file.name(event.name) } or false
        by_name[event.name] = name
      end
      if name then
        out[#out + 1] = { row = name.row, found = name.found, label = name.label, start_ns = event.start_ns,
          end_ns = event.start_ns + event.duration_ns, on_gpu = event.kind == kinds.gpu_annotation, lane = event.lane }
      end
    end
  end
  return out
end

local function says(range)
  local count = 0
  for _ in pairs(range.found) do count = count + 1 end
  return count
end

--- The ranges of one kind: on the CPU where there are, because kernels know their launch; those whose names say most of
--- the batch; and no range inside of another.
local function chosen(list)
  local on_cpu = {}
  for _, each in ipairs(list) do if not each.on_gpu then on_cpu[#on_cpu + 1] = each end end
  if #on_cpu > 0 then list = on_cpu end
  local best = 0
  for _, each in ipairs(list) do best = math.max(best, says(each)) end
  local first_row = {}
  for _, each in ipairs(list) do
    if says(each) > 0 or best == 0 then first_row[each.row] = (first_row[each.row] or 0) + 1 end
  end
  local out, last = {}, nil
  for _, each in ipairs(list) do
    if first_row[each.row] then
      if last and each.start_ns < last.end_ns then
        if says(each) > says(last) then
          out[#out], last = each, each
        end
      else
        out[#out + 1], last = each, each
      end
    end
  end
  return out
end

--- The place in the list of the first kernel from a time on.
local function first_from(rank, time_ns)
  local low, high, events, numbers = 0, rank.kernels.count, rank.file.events, rank.kernels.numbers
  while low < high do
    local middle = math.floor((low + high) / 2)
    if events[numbers[middle]].start_ns < time_ns then low = middle + 1 else high = middle end
  end
  return low
end

--- The first kernel of each range: of those that a call inside of it launched, else by the clock of the GPU.
local function of_ranges(rank, list)
  local events, numbers, out = rank.file.events, rank.kernels.numbers, {}
  local starts, at = {}, 1
  local by_launch = {}
  for k = 0, rank.kernels.count - 1 do
    local link = events[numbers[k]].link
    if link >= 0 then by_launch[#by_launch + 1] = { events[link].start_ns, k } end
  end
  table.sort(by_launch, function(a, b) return a[1] < b[1] or a[1] == b[1] and a[2] < b[2] end)
  for i, range in ipairs(list) do
    if range.on_gpu or #by_launch == 0 then
      starts[i] = first_from(rank, range.start_ns)
    else
      while by_launch[at] and by_launch[at][1] < range.start_ns do at = at + 1 end
      while by_launch[at] and by_launch[at][1] < range.end_ns do
        starts[i] = math.min(starts[i] or math.huge, by_launch[at][2])
        at = at + 1
      end
    end
  end
  for i, range in ipairs(list) do
    local first = starts[i]
    if first and first < rank.kernels.count and (#out == 0 or first > out[#out].first) then
      out[#out + 1] = { first = first, found = range.found, label = range.label, start_ns = range.start_ns,
        range_end_ns = range.end_ns }
    end
  end
  return out
end

--- Kernels that come at equal distances, the fewest of them: the first is where a step begins.
local function of_repeats(rank)
  local events, numbers, places, order = rank.file.events, rank.kernels.numbers, {}, {}
  for k = 0, rank.kernels.count - 1 do
    local name = events[numbers[k]].name
    if not places[name] then
      places[name] = {}
      order[#order + 1] = name
    end
    table.insert(places[name], k)
  end
  local best
  for _, name in ipairs(order) do
    local list = places[name]
    if #list >= least_repeats then
      local distances = {}
      for i = 2, #list do
        local distance = list[i] - list[i - 1]
        distances[distance] = (distances[distance] or 0) + 1
      end
      local most, of = 0, 0
      for distance, count in pairs(distances) do
        if count > most or count == most and distance > of then most, of = count, distance end
      end
      if most >= alike_frac * (#list - 1) and of > 1 and (not best or of > best.distance) then
        best = { distance = of, list = list }
      end
    end
  end
  if not best then return nil end
  local out = {}
  for i, k in ipairs(best.list) do out[i] = { first = k, found = {} } end
  return out
end

--- Closes steps: each lasts until the first kernel of the next one; the last to the end of its kernels.
local function closed(rank, list, is_annotated)
  local events, numbers, count = rank.file.events, rank.kernels.numbers, rank.kernels.count
  local longest = 0
  for i = 2, #list do longest = math.max(longest, list[i].first - list[i - 1].first) end
  for i, step in ipairs(list) do
    step.number = i
    step.last = (list[i + 1] and list[i + 1].first or count) - 1
    if not list[i + 1] and #list > 1 and not is_annotated then
      step.last = math.min(step.last, step.first + longest - 1)
    end
    step.start_ns = events[numbers[step.first]].start_ns
    local end_ns = step.start_ns
    for k = step.first, step.last do
      end_ns = math.max(end_ns, events[numbers[k]].start_ns + events[numbers[k]].duration_ns)
    end
    step.busy_end_ns = end_ns
    step.end_ns = list[i + 1] and events[numbers[list[i + 1].first]].start_ns or end_ns
  end
  return list
end

--- The steps of a rank, and how they were found: "annotations", "repeats" or "whole" (all of the trace is one).
---@param known table of rows.of
function steps.of(rank, known)
  local list = of_ranges(rank, chosen(ranges(rank, known)))
  if #list > 0 then return closed(rank, list, true), "annotations" end
  list = of_repeats(rank)
  if list then return closed(rank, list, false), "repeats" end
  return closed(rank, { { first = 0, found = {} } }, true), "whole"
end

--- The steps N..M of --steps; all where it is not given.
---@param asked string? "3..8" or "3"
function steps.asked(list, asked)
  if not asked then return list end
  local first, last = asked:match "^(%d+)%.%.(%d+)$"
  if not first then first = asked:match "^(%d+)$" end
  first, last = tonumber(first), tonumber(last or first)
  if not first or first < 1 or last < first then
    core.fail("--steps: expected N..M from 1 on, as in 3..8, found '%s'", asked)
  end
  if last > #list then core.fail("--steps: %s: the trace has %d steps", asked, #list) end
  local out = {}
  for i = first, last do out[#out + 1] = list[i] end
  return out
end

return steps
