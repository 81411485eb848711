--- Rows of published files, as the kinds say (kinds.lua). A batch is what one file gives: {count, line, kv_dtype, axes
--- = {[place] = numbers}, latency_s, tag, fate}, arrays that count from 0. `tag` is the part of a row of ours, or the
--- kernel where a row has one part.
local native = require "rooflua.native"
local ffi = require "ffi"
local core = require "rooflua.base.core"
local cells = require "rooflua.tables.cells"
local fates = require "rooflua.tables.fates"
local folder = require "rooflua.tables.folder"
local kinds = require "rooflua.tables.kinds"
local names = require "rooflua.tables.names"
local selection = require "rooflua.tables.selection"
local sums = require "rooflua.tables.sums"

local rows = {}

local int32s, doubles, bytes = ffi.typeof "int32_t[?]", ffi.typeof "double[?]", ffi.typeof "uint8_t[?]"

--- A mistake in a row. Of all mistakes in a file the error names the first.
local function complain(read, row, message, ...)
  if not read.mistake or row < read.mistake.row then
    read.mistake = { row = row, text = read.source:where(row) .. ": " .. message:format(...) }
  end
end

local function add_numbers(read, column, into, scale)
  local values, kept, dead = read.source:numbers(column.name), read.kept, read.dead
  local is_latency = column.use == "latency"
  for i = 0, read.count - 1 do
    local value = values[kept[i]]
    if dead[i] == 0 then
      if value ~= value then
        return complain(read, kept[i], "column '%s': expected a number, found '%s'", column.name,
          read.source:text(kept[i], column.name))
      elseif value < 0 and not is_latency then
        return complain(read, kept[i], "column '%s': is negative: '%s'", column.name,
          read.source:text(kept[i], column.name))
      end
      into[i] = into[i] + value * scale
    end
  end
end

local function fill(read, into, value)
  for i = 0, read.count - 1 do into[i] = value end
end

local function label(read, word)
  local labels = read.labels
  if not labels.code[word] then
    labels[#labels + 1] = word
    labels.code[word] = #labels - 1
  end
  return labels.code[word]
end

--- The first of our words or numbers that fits a published word; nil if none does.
local function meaning(column, text)
  for _, word in ipairs(column.words) do
    if names.agrees(word[1], text) then return word[2] end
  end
  return nil
end

--- Our word or number for the published words of a column; rows with other words are left out.
local function translate(read, column, into)
  local source, kept, dead, fate, line = read.source, read.kept, read.dead, read.fate, read.source.line
  local codes, texts = source:words(column.name, "*")
  local unread, unknown = -1, -2
  local values, reasons = doubles(math.max(1, #texts), unread), int32s(#texts)
  local function value_of(code)
    local found = meaning(column, texts[code + 1])
    if found == nil then
      reasons[code] = fate:code(("%s %s: no word of ours for it"):format(column.name, texts[code + 1]))
      return unknown
    end
    return column.use == "code" and found or label(read, found)
  end
  for i = 0, read.count - 1 do
    local code = codes[kept[i]]
    if dead[i] == 0 then
      if values[code] == unread then values[code] = value_of(code) end
      into[i] = values[code]
      if into[i] == unknown then
        dead[i] = 1
        fate:leave_out(line[kept[i]], fates.of_a_rule, reasons[code])
      end
    end
  end
end

local function cache_formats(read, column)
  local source, kept = read.source, read.kept
  if not source:has(column.name) then return end
  local codes, texts = source:words(column.name)
  local formats, wrong = int32s(#texts), {}
  for i, text in ipairs(texts) do
    local ok, code = pcall(native.dtype_code, text)
    formats[i - 1] = ok and code or -1
    wrong[i] = not ok and code:gsub("^dtype: ", "") or nil
  end
  for i = 0, read.count - 1 do
    local format = formats[codes[kept[i]]]
    if read.dead[i] == 0 and format < 0 then return complain(read, kept[i], "%s", wrong[codes[kept[i]] + 1]) end
    read.kv_dtype[i] = format
  end
end

local function gpus_of_node(gpu) return gpu:find "^gb" and 4 or 8 end

--- Adds what one column of a kind says of each row.
local function take_column(read, column)
  local use, into = column.use, read.axes[read.place[column.field]]
  if use == "constant" then
    fill(read, into, type(column.value) == "string" and label(read, column.value) or column.value)
  elseif use == "kv" then
    cache_formats(read, column)
  elseif use == "word" or use == "code" then
    translate(read, column, into)
  elseif use == "number" or use == "nodes" or use == "latency" then
    if use == "latency" then into = read.latency_s end
    if read.source:has(column.name) then
      add_numbers(read, column, into, use == "nodes" and gpus_of_node(read.gpu) or column.scale)
    elseif column.otherwise then
      fill(read, into, column.otherwise)
    end
  end
end

--- Leaves out the rows that a word kept out.
local function close_ranks(read)
  local after, lists = 0, { read.kept, read.latency_s, read.kv_dtype, read.tag }
  for _, axis in pairs(read.axes) do lists[#lists + 1] = axis end
  local alive = int32s(math.max(1, read.count))
  for i = 0, read.count - 1 do
    if read.dead[i] == 0 then alive[after], after = i, after + 1 end
  end
  if after < read.count then
    for _, list in ipairs(lists) do
      for i = 0, after - 1 do list[i] = list[alive[i]] end
    end
  end
  read.count = after
end

--- The place of each row's kernel among the kernels of the table, which are listed as they come.
local function kernels_of(read, format, kernels)
  local source, place = read.source, int32s(math.max(1, read.count))
  local column = source:has "kernel_source" and "kernel_source" or ("kernel_source[%s]"):format(format[1])
  if not source:has(column) then return place end
  local codes, texts = source:words(column)
  local known = int32s(#texts)
  for i = 0, read.count - 1 do
    local code = codes[read.kept[i]]
    if known[code] == 0 then
      local name = texts[code + 1]:gsub(" %(.*$", "")
      if not kernels.place[name] then
        kernels[#kernels + 1] = name
        kernels.place[name] = #kernels
      end
      known[code] = kernels.place[name]
    end
    place[i] = known[code] - 1
  end
  return place
end

--- @error the first mistake of a file
local function refuse_mistakes(read, is_part)
  for i = 0, is_part and read.count - 1 or -1 do
    if read.latency_s[i] < 0 then
      complain(read, read.kept[i], "a latency below 0: expected the time of a kernel")
    end
  end
  local source = read.source
  if read.mistake then core.fail("%s", read.mistake.text) end
  if source.short_line then
    core.fail("%s:%d: has %d cells, and the header names %d columns", source.path, source.short_line,
      source.short_cells, #source.header)
  end
end

--- The rows of one file for a table.
local function batch_of(source, file, part, table_of, fate)
  local kind = kinds[file.kind]
  for _, column in ipairs(kind.columns) do
    if column.name and not column.optional then source:require(column.name) end
  end
  local kept, count, part_of = selection.of(source, file, fate, table_of.marks)
  local size, is_part = math.max(1, count), kind.kernels or file.plus
  local read = { source = source, fate = fate, kept = kept, count = count, dead = bytes(size), labels = table_of.labels,
    kv_dtype = int32s(size, (native.dtype_code "bf16")), latency_s = doubles(size), axes = {}, place = {},
    line = int32s(size), tag = part_of or int32s(size, part), gpu = file.published.gpu }
  for _, own in ipairs(folder.op_tables(kind.op).columns) do
    if not own.kv then read.place[own.name], read.axes[own.place] = own.place, doubles(size) end
  end
  for _, column in ipairs(kind.columns) do take_column(read, column) end
  close_ranks(read)
  refuse_mistakes(read, is_part)
  local kernels = kernels_of(read, kind.formats[file.format], table_of.kernels)
  for i = 0, read.count - 1 do
    read.line[i] = source.line[kept[i]]
    fate:take(read.line[i])
  end
  if not is_part then read.tag = kernels end
  return read
end

--- What reading several tables keeps: the cells and the fates of each file.
function rows.memory() return { cells = {}, fates = {} } end

local function opened(memory, path, constants)
  local source = memory.cells[path]
  if not source then
    source = cells.open(path, constants)
    memory.cells[path] = source
    local last = source.short_line or source.rows > 0 and source.line[source.rows - 1] or source.header_line
    memory.fates[path] = memory.fates[path] or fates.new(last)
  end
  return source, memory.fates[path]
end

--- A table of folder.list(): {table = for the engine, kernels, marks, device}.
---@param file table
---@param memory table rows.memory()
function rows.read(file, memory)
  local kind = kinds[file.kind]
  local made = { labels = { code = {} }, kernels = { place = {} }, marks = {} }
  local source, fate = opened(memory, file.path, file.constants)
  made.device = not source.place.device and source.constants.device or ""
  local batch = batch_of(source, file, 0, made, fate)
  local plus
  if file.plus then
    local other, fate_of_other = opened(memory, file.plus.path, file.plus.constants)
    made.device = not other.place.device and other.constants.device or made.device
    plus = batch_of(other, file, 1, made, fate_of_other)
  end
  batch = sums.finish(batch, plus, kind)
  if kind.floors and not file.all_rows then sums.drop_launch_floor(batch, kind, folder.op_tables(kind.op).columns) end
  local arrays = { count = batch.count, labels = made.labels, line = ffi.string(batch.line, 4 * batch.count),
    kv_dtype = ffi.string(batch.kv_dtype, 4 * batch.count), latency_s = ffi.string(batch.latency_s, 8 * batch.count) }
  for place, axis in pairs(batch.axes) do arrays["axis" .. place] = ffi.string(axis, 8 * batch.count) end
  made.count, made.table = batch.count, native.kernel_table(file, arrays)
  return made
end

return rows
