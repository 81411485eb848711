--- Rows of ours that are made from several published rows.
local ffi = require "ffi"
local fates = require "rooflua.tables.fates"

local sums = {}

local int32s, doubles = ffi.typeof "int32_t[?]", ffi.typeof "double[?]"

--- Numbers below 2^53 that rows share if they agree so far, as numbers from 0. Returns how many there are.
local function dense(ids, count)
  local known, many = {}, 0
  for i = 0, count - 1 do
    local id = known[ids[i]]
    if not id then
      id, many = many, many + 1
      known[ids[i]] = id
    end
    ids[i] = id
  end
  return many
end

--- A number from 0 for each row, which rows with the same values in all columns share, and how many they are.
local function groups_of(count, columns)
  local ids, many = doubles(math.max(1, count)), 1
  local codes = doubles(math.max(1, count))
  for _, column in ipairs(columns) do
    for i = 0, count - 1 do codes[i] = column[i] end
    local distinct = dense(codes, count)
    if distinct > 1 then
      if many * distinct > 2 ^ 50 then many = dense(ids, count) end
      for i = 0, count - 1 do ids[i] = ids[i] * distinct + codes[i] end
      many = many * distinct
    end
  end
  return ids, dense(ids, count)
end

--- The columns of a shape.
local function shape_of(batch)
  local columns = { batch.kv_dtype }
  for _, axis in pairs(batch.axes) do columns[#columns + 1] = axis end
  return columns
end

--- The rows at places of a batch, with their latencies.
local function picked(batch, places, latency_s, count)
  local out = { count = count, line = int32s(math.max(1, count)), kv_dtype = int32s(math.max(1, count)), axes = {},
    latency_s = latency_s, fate = batch.fate }
  local pairs_of = { { batch.line, out.line }, { batch.kv_dtype, out.kv_dtype } }
  for place, axis in pairs(batch.axes) do
    out.axes[place] = doubles(math.max(1, count))
    pairs_of[#pairs_of + 1] = { axis, out.axes[place] }
  end
  for _, each in ipairs(pairs_of) do
    local from, to = each[1], each[2]
    for i = 0, count - 1 do to[i] = from[places[i]] end
  end
  return out
end

--- The mean of rows of one shape and kernel, which were measured repeatedly. A row that cannot be stays as it is: it is
--- an error when the table is written.
local function averaged(batch)
  local count, latency_s = batch.count, batch.latency_s
  local columns = shape_of(batch)
  columns[#columns + 1] = batch.tag
  local ids, groups = groups_of(count, columns)
  local first, rows_of, sum_s = int32s(groups + 1, -1), int32s(groups + 1), doubles(groups + 1)
  local places, after = int32s(math.max(1, count)), 0
  for i = 0, count - 1 do
    local id, is_first = ids[i], true
    if latency_s[i] > 0 then
      is_first = first[id] < 0
      if is_first then first[id] = i end
      rows_of[id], sum_s[id] = rows_of[id] + 1, sum_s[id] + latency_s[i]
    end
    if is_first then places[after], after = i, after + 1 end
  end
  batch.fate.averaged = batch.fate.averaged + count - after
  local means_s = doubles(math.max(1, after))
  for i = 0, after - 1 do
    local row = places[i]
    local id = ids[row]
    means_s[i] = first[id] == row and rows_of[id] > 1 and sum_s[id] / rows_of[id] or latency_s[row]
  end
  return picked(batch, places, means_s, after)
end

--- The upper one of the two middle values of an even number.
local function median(values)
  table.sort(values)
  return values[math.floor(#values / 2) + 1]
end

--- Both batches, one after the other.
local function joined(batch, plus)
  local count = batch.count + plus.count
  local out = { count = count, axes = {}, fate = batch.fate, behind = batch.count, fate_behind = plus.fate }
  local function put(from, more, make)
    local list = make(math.max(1, count))
    for i = 0, batch.count - 1 do list[i] = from[i] end
    for i = 0, plus.count - 1 do list[batch.count + i] = more[i] end
    return list
  end
  for _, name in ipairs { "line", "kv_dtype", "tag" } do out[name] = put(batch[name], plus[name], int32s) end
  out.latency_s = put(batch.latency_s, plus.latency_s, doubles)
  for place, axis in pairs(batch.axes) do out.axes[place] = put(axis, plus.axes[place], doubles) end
  return out
end

--- The sum of the medians of the parts of each shape. Shapes that lack a part are left out.
local function summed(batch, parts)
  local ids, groups = groups_of(batch.count, shape_of(batch))
  local members, order = {}, {}
  for i = 0, batch.count - 1 do
    local id = ids[i]
    if not members[id] then
      members[id] = {}
      order[#order + 1] = id
    end
    table.insert(members[id], i)
  end
  local places, latency_s, after = int32s(groups + 1), doubles(groups + 1), 0
  for _, id in ipairs(order) do
    local values, sum_s, complete = {}, 0, true
    for part = 1, parts do values[part] = {} end
    for _, i in ipairs(members[id]) do table.insert(values[batch.tag[i] + 1], batch.latency_s[i]) end
    for part = 1, parts do
      complete = complete and #values[part] > 0
      if #values[part] > 0 then sum_s = sum_s + median(values[part]) end
    end
    if complete then
      places[after], latency_s[after], after = members[id][1], sum_s, after + 1
    else
      for _, i in ipairs(members[id]) do
        local fate = batch.fate_behind and i >= batch.behind and batch.fate_behind or batch.fate
        fate:leave_out(batch.line[i], fates.taken_back, fate:code "the other part of the shape has no row")
      end
    end
  end
  return picked(batch, places, latency_s, after)
end

--- Rows of one shape made into one, in the order of the first row of each shape. With one part the latencies of one
--- shape and kernel are averaged. Else rows consist of parts: kernels of a layer, or the rows of two files.
---@param batch table
---@param plus table? of the second file
---@param kind table
function sums.finish(batch, plus, kind)
  if plus then return summed(joined(batch, plus), 2) end
  if kind.kernels then return summed(batch, #kind.kernels) end
  return averaged(batch)
end

--- Leaves out rows of less than kind.floors times the floor of eager launches: the median latency of the rows with at
--- most 64 new tokens in all and no context, of the same widths, heads and format of the KV cache. Shorter rows say how
--- fast the host launches.
---@param batch table
---@param kind table
---@param columns table of the op
function sums.drop_launch_floor(batch, kind, columns)
  local most_tokens = 64
  local axis, same = {}, { batch.kv_dtype }
  for _, own in ipairs(columns) do
    axis[own.name] = batch.axes[own.place]
    if own.name == "hidden_size" or own.name == "heads" then same[#same + 1] = batch.axes[own.place] end
  end
  local ids = groups_of(batch.count, same)
  local short = {}
  for i = 0, batch.count - 1 do
    local is_short = axis.new_tokens[i] * math.max(1, axis.batch[i]) <= most_tokens
    if is_short and axis.context_tokens[i] == 0 then
      short[ids[i]] = short[ids[i]] or {}
      table.insert(short[ids[i]], batch.latency_s[i])
    end
  end
  local floor_s = {}
  for id, values in pairs(short) do floor_s[id] = median(values) end
  local reason = batch.fate:code(("timed eagerly: below %g times the floor of the launches"):format(kind.floors))
  local places, latency_s, after = int32s(math.max(1, batch.count)), doubles(math.max(1, batch.count)), 0
  for i = 0, batch.count - 1 do
    local floor = floor_s[ids[i]]
    if floor and batch.latency_s[i] < kind.floors * floor then
      batch.fate:leave_out(batch.line[i], fates.taken_back, reason)
    else
      places[after], latency_s[after], after = i, batch.latency_s[i], after + 1
    end
  end
  local kept = picked(batch, places, latency_s, after)
  for key, value in pairs(kept) do batch[key] = value end
end

return sums
