-- Files of a profiler as ranks: the kernels of each GPU in order, and the calls and ranges of its process.
local core = require "rooflua.base.core"
local native = require "rooflua.native"
local ffi = require("rooflua.border.abi").ffi

local capture = {}

--- Kinds of events, as in engine/measure/profile/profile.h.
capture.kinds = { kernel = 0, copy = 1, launch = 2, call = 3, annotation = 4, gpu_annotation = 5, ["function"] = 6 }

local kinds = capture.kinds
local last_on_gpu = kinds.copy
local most_ranks = 1024

--- One file: {file, format, gpu, rank, count, notes, events (from 0), name(number), shape(number)}.
local function open(path)
  local profile = native.profile_open(path)
  local out = native.profile_describe(profile)
  out.profile = profile -- holds the memory of the events
  out.events = ffi.cast("const rooflua_profile_event *", native.profile_events(profile))
  local names, shapes = {}, {}
  function out.name(number)
    local known = names[number]
    if not known then
      known = native.profile_name(profile, number)
      names[number] = known
    end
    return known
  end
  function out.shape(number)
    if number < 0 then return nil end
    shapes[number] = shapes[number] or native.profile_shape(profile, number)
    return shapes[number]
  end
  return out
end

--- The kernels of each GPU of a file, by device: {count, [0] = number of an event, ...}.
local function by_device(file)
  local counts, lists, events = {}, {}, file.events
  for i = 0, file.count - 1 do
    if events[i].kind <= last_on_gpu then counts[events[i].device] = (counts[events[i].device] or 0) + 1 end
  end
  for device, count in pairs(counts) do lists[device] = { numbers = ffi.new("int32_t[?]", count), count = 0 } end
  for i = 0, file.count - 1 do
    if events[i].kind <= last_on_gpu then
      local list = lists[events[i].device]
      list.numbers[list.count], list.count = i, list.count + 1
    end
  end
  return lists
end

--- All ranks of these files: {{file, device, label, kernels = {numbers, count}}, ...}.
---@param paths string[]
function capture.open(paths)
  local ranks, seen = {}, {}
  for _, path in ipairs(paths) do
    for other in pairs(seen) do
      if native.is_same_file(path, other) then core.fail("%s: is given twice", path) end
    end
    seen[path] = true
    local file = open(path)
    local lists = by_device(file)
    if next(lists) == nil then
      core.fail("%s: has no kernel of a GPU; record with ProfilerActivity.CUDA, or export from Nsight Systems", path)
    end
    for device, list in core.sorted_pairs(lists) do
      local label = file.rank >= 0 and ("rank %d"):format(file.rank) or path:match "[^/]*$"
      if next(lists, next(lists)) ~= nil then label = ("%s, device %d"):format(label, device) end
      ranks[#ranks + 1] = { file = file, device = device, kernels = list, label = label }
    end
  end
  if #ranks > most_ranks then core.fail("trace: %d GPUs; at most %d are compared", #ranks, most_ranks) end
  return ranks
end

return capture
