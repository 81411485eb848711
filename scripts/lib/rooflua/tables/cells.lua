--- The cells of one published file by column, with the values that constants.csv has for all its rows.
local native = require "rooflua.native"
local ffi = require "ffi"
local core = require "rooflua.base.core"

local cells = {}

local methods = {}
local class = { __index = methods }

local nan = 0 / 0

--- The cells of a file. Arrays count rows from 0.
---@param path string may end in .gz
---@param constants table<string, string> column -> value
function cells.open(path, constants)
  local handle, read = native.table_cells(path)
  local place = {}
  for i, name in ipairs(read.header) do place[name] = i end
  return setmetatable({
    path = path, handle = handle, header = read.header, header_line = read.header_line, rows = read.rows,
    line_text = read.lines, line = ffi.cast("const int32_t*", read.lines), short_line = read.short_line,
    short_cells = read.short_cells, place = place, constants = constants, known = {}, none = nil,
  }, class)
end

--- "file:line", of a row.
function methods:where(row) return self.path .. ":" .. self.line[row] end

--- Whether the file has a column, or one value for it.
function methods:has(name) return self.place[name] ~= nil or self.constants[name] ~= nil end

--- What a cell says.
function methods:text(row, name)
  local place = self.place[name]
  return place and native.cell_text(self.handle, row, place) or self.constants[name]
end

--- A column as words: codes (an array: the row's place, from 0, among the words), and the words, from 1. A column that
--- is not there has the word `otherwise` in all rows.
function methods:words(name, otherwise)
  local key = "words " .. name
  local found = self.known[key]
  if found then return found.codes, found.texts end
  local place = self.place[name]
  if not place then
    self.none = self.none or ffi.new("int32_t[?]", math.max(1, self.rows))
    return self.none, { self.constants[name] or otherwise }
  end
  local bytes, texts = native.cell_words(self.handle, place)
  self.known[key] = { codes = ffi.cast("const int32_t*", bytes), texts = texts, bytes = bytes }
  return self.known[key].codes, texts
end

--- A column as an array of numbers, NaN where a cell is no number.
function methods:numbers(name)
  local key = "numbers " .. name
  local found = self.known[key]
  if found then return found.numbers end
  local place = self.place[name]
  local numbers, bytes
  if place then
    bytes = native.cell_numbers(self.handle, place)
    numbers = ffi.cast("const double*", bytes)
  else
    numbers = ffi.new("double[?]", math.max(1, self.rows))
    local value = native.table_number(self.constants[name]) or nan
    for row = 0, self.rows - 1 do numbers[row] = value end
  end
  self.known[key] = { numbers = numbers, bytes = bytes }
  return numbers
end

--- @error naming the file and its columns if one is missing
function methods:require(name)
  if self:has(name) then return end
  core.fail("%s:%d: no column '%s' (found: %s), and constants.csv does not have it", self.path, self.header_line, name,
    table.concat(self.header, ", "):sub(1, 200))
end

return cells
