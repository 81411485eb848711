-- The kernels of steps as operations: time by operation, kernels that no operation takes, and idle times.
local core = require "rooflua.base.core"
local capture = require "rooflua.profile.capture"
local placing = require "rooflua.profile.placing"
local rows_of = require "rooflua.profile.rows"
local times = require "rooflua.profile.times"

local measured = {}

local collectives = core.set { "all_reduce", "all_gather", "exchange" }
local most_causes = 2000 -- gaps whose cause is looked for, the longest first

--- What the name and the operands of a kernel say: {class, row, after, before, shape}; one table per name and shape.
local function kinds_of(rank, known)
  local file, by_name = rank.file, {}
  return function(k)
    local event = file.events[rank.kernels.numbers[k]]
    local of_name = by_name[event.name]
    if not of_name then
      of_name = {}
      by_name[event.name] = of_name
    end
    local kind = of_name[event.shape]
    if not kind then
      local name = file.name(event.name)
      local row = rows_of.kernel(known.kernels, name)
      kind = { name = name, row = row, class = row and row.operation or "unknown", after = row and row.after,
        before = row and row.before, beside = row and row.beside, shape = file.shape(event.shape) }
      if event.kind == capture.kinds.copy then kind.class = "copy" end
      of_name[event.shape] = kind
    end
    return kind
  end
end

--- Gives kernels that stand beside one of an operation, and are then a part of it, the class of that operation.
local function join_beside(kernels)
  for i, each in ipairs(kernels) do
    local class, last, next_one = each.kind.beside, kernels[i - 1], kernels[i + 1]
    if class and next_one and next_one.kind.class == class then
      each.kind = core.copy(each.kind, { class = class, before = true })
    elseif class and last and last.kind.class == class and last.kind.beside ~= class then
      each.kind = core.copy(each.kind, { class = class, after = true })
    end
  end
end

--- The name of the operation of a kernel: of both kinds of attention the one that its name says, or that there is.
local function operation_of(kind, entry, by_name)
  if entry.class ~= "attention" and entry.class ~= "block" then return entry.operation.name end
  if by_name.attention_prefill and by_name.attention_decode then
    return kind.class == "attention" and "attention" or kind.class:find "^attention_" and kind.class or "attention"
  end
  return entry.operation.name
end

local function add(sums, name, kind, exposed_ns, duration_ns)
  local sum = sums[name]
  if not sum then
    sum = { name = name, ns = 0, full_ns = 0, kernels = 0, by_kernel = {} }
    sums[name] = sum
  end
  sum.ns, sum.full_ns, sum.kernels = sum.ns + exposed_ns, sum.full_ns + duration_ns, sum.kernels + 1
  local own = sum.by_kernel[kind.name]
  if not own then
    own = { name = kind.name, row = kind.row, ns = 0, full_ns = 0, count = 0 }
    sum.by_kernel[kind.name] = own
  end
  own.ns, own.full_ns, own.count = own.ns + exposed_ns, own.full_ns + duration_ns, own.count + 1
end

--- Adds one step: {operations, extra (kernels that no operation takes), unknown, gaps, between_ns}.
---@param sequence table of expected.sequence
---@param by_name table of expected.of
local function add_step(out, rank, step, kind_of, sequence, by_name)
  local kernels, names = {}, {}
  for k = step.first, step.last do
    kernels[k - step.first + 1] = { kind = kind_of(k) }
    names[#names + 1] = tostring(kind_of(k))
  end
  local key = core.join(names, " ")
  join_beside(kernels)
  local places = out.places[sequence] and out.places[sequence][key]
  if not places then
    places = placing.align(kernels, sequence)
    out.places[sequence] = out.places[sequence] or {}
    out.places[sequence][key] = places
  end
  local exposed, idle = times.divide(rank, step, function(k) return collectives[kind_of(k).class] == true end)
  step.busy_ns, step.named_ns, step.in_graph, step.kernels = 0, 0, 0, step.last - step.first + 1
  for k = step.first, step.last do
    local kind, place = kind_of(k), places[k - step.first + 1]
    local event = rank.file.events[rank.kernels.numbers[k]]
    local entry = sequence[place]
    step.busy_ns = step.busy_ns + exposed[k]
    step.in_graph = step.in_graph + (event.in_graph ~= 0 and 1 or 0)
    if kind.class ~= "unknown" then step.named_ns = step.named_ns + (entry and exposed[k] or 0) end
    if entry then
      add(out.operations, operation_of(kind, entry, by_name), kind, exposed[k], event.duration_ns)
    elseif kind.class == "inputs" or kind.class == "copy" then
      add(out.operations, kind.class, kind, exposed[k], event.duration_ns)
    else
      add(kind.class == "unknown" and out.unknown or out.extra, kind.name, kind, exposed[k], event.duration_ns)
    end
  end
  for _, each in ipairs(idle) do
    local lasts = each.end_ns - each.start_ns
    step.idle_ns = (step.idle_ns or 0) + lasts
    if times.is_gap(each) then
      each.step = step.number
      out.gaps[#out.gaps + 1] = each
      out.gaps_ns = out.gaps_ns + lasts
    else
      out.between_ns = out.between_ns + lasts
    end
  end
end

--- Sums over steps.
---@param list table[] steps, each with `sequence` and `expected`
function measured.of(rank, list, known)
  local out = { operations = {}, extra = {}, unknown = {}, gaps = {}, gaps_ns = 0, between_ns = 0, places = {} }
  local kind_of = kinds_of(rank, known)
  for _, step in ipairs(list) do add_step(out, rank, step, kind_of, step.sequence, step.expected.by_name) end
  table.sort(out.gaps, function(a, b)
    local la, lb = a.end_ns - a.start_ns, b.end_ns - b.start_ns
    if la ~= lb then return la > lb end
    return a.start_ns < b.start_ns
  end)
  for i, gap in ipairs(out.gaps) do
    gap.cause = i <= most_causes and times.cause(rank, gap) or "not looked for"
  end
  return out
end

return measured
