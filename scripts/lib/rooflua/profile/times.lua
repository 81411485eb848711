-- Where the time of a step goes: each instant of it belongs to one kernel, or to no kernel. The sum is the step.
local capture = require "rooflua.profile.capture"

local times = {}

local kinds = capture.kinds
local least_gap_ns = 10000 -- shorter ones are launches between kernels
local most_looked_at = 4000 -- calls that began before a gap
local overlaps_frac = 0.5 -- of a gap that a call has to last

--- Seconds of each kernel of a step that no earlier one covers, in `exposed` by its place; what runs beside computation
--- counts for collectives only where nothing computes, and what runs on after the step's end does not count.
--- Returns the idle times: {{start_ns, end_ns, next = place}, ...}.
---@param step table of steps.of
---@param is_collective fun(place: integer): boolean
function times.divide(rank, step, is_collective)
  local events, numbers = rank.file.events, rank.kernels.numbers
  local exposed, idle, covered = {}, {}, step.start_ns
  local busy = {} -- of computation: {start_ns, end_ns}, in order, apart from each other
  for k = step.first, step.last do
    local event = events[numbers[k]]
    local start_ns, end_ns = event.start_ns, math.min(step.end_ns, event.start_ns + event.duration_ns)
    if not is_collective(k) then
      local last = busy[#busy]
      if last and start_ns <= last[2] then
        exposed[k] = math.max(0, end_ns - math.max(start_ns, last[2]))
        last[2] = math.max(last[2], end_ns)
      else
        exposed[k] = end_ns - start_ns
        busy[#busy + 1] = { start_ns, end_ns }
      end
    end
    if start_ns > covered then idle[#idle + 1] = { start_ns = covered, end_ns = start_ns, next = k } end
    covered = math.max(covered, end_ns)
  end
  if step.end_ns > covered then
    idle[#idle + 1] = { start_ns = covered, end_ns = step.end_ns, next = step.last + 1 }
  end
  local at, seen_until = 1, step.start_ns
  for k = step.first, step.last do
    if is_collective(k) then
      local event = events[numbers[k]]
      local from = math.max(event.start_ns, seen_until)
      local till = math.min(step.end_ns, event.start_ns + event.duration_ns)
      local left = math.max(0, till - from)
      while busy[at] and busy[at][2] <= from do at = at + 1 end
      local i = at
      while busy[i] and busy[i][1] < till do
        left = left - math.max(0, math.min(till, busy[i][2]) - math.max(from, busy[i][1]))
        i = i + 1
      end
      exposed[k], seen_until = math.max(0, left), math.max(seen_until, till)
    end
  end
  return exposed, idle
end

function times.is_gap(idle) return idle.end_ns - idle.start_ns >= least_gap_ns end

--- The last event that begins before a time.
local function last_before(file, time_ns)
  local low, high = 0, file.count
  while low < high do
    local middle = math.floor((low + high) / 2)
    if file.events[middle].start_ns < time_ns then low = middle + 1 else high = middle end
  end
  return low - 1
end

--- The shortest call or range that lasts for most of a gap, on the thread that launches what comes next.
local function call_in(file, gap, lane)
  local best, best_ns
  local least_ns = overlaps_frac * (gap.end_ns - gap.start_ns)
  local last = last_before(file, gap.end_ns)
  for i = last, math.max(0, last - most_looked_at), -1 do
    local event = file.events[i]
    if event.kind > kinds.copy and event.kind ~= kinds.gpu_annotation and (lane == nil or event.lane == lane) then
      local inside = math.min(gap.end_ns, event.start_ns + event.duration_ns) - math.max(gap.start_ns, event.start_ns)
      if inside >= least_ns and (not best or event.duration_ns < best_ns) then
        best, best_ns = i, event.duration_ns
      end
    end
  end
  return best
end

--- Why the GPU had nothing to do: the name of a call of the CPU, or a sentence.
function times.cause(rank, gap)
  local file, events = rank.file, rank.file.events
  local event = gap.next < rank.kernels.count and events[rank.kernels.numbers[gap.next]] or nil
  local launch = event and event.link >= 0 and events[event.link] or nil
  if launch and launch.start_ns < gap.start_ns and launch.start_ns + launch.duration_ns <= gap.start_ns then
    return event.in_graph ~= 0 and "inside of a graph" or "launched in time: waits on the GPU, for a stream or an event"
  end
  local call = launch and call_in(file, gap, launch.lane) or call_in(file, gap)
  if call then return file.name(events[call].name) end
  return "no call of the CPU is recorded"
end

return times
