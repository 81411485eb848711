-- Lays out rows of cells as text in columns, two spaces apart. All text tables are made here.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local units = require "rooflua.text.units"

local columns = {}

--- @param rows string[][]
--- @param right function column, row number -> whether that cell is aligned to the right
local function lay_out(rows, right, indent)
  local widths, lines = {}, {}
  for _, row in ipairs(rows) do
    for column, cell in ipairs(row) do widths[column] = math.max(widths[column] or 0, units.width(cell)) end
  end
  for i, row in ipairs(rows) do
    local cells = {}
    for column, cell in ipairs(row) do cells[column] = units.padded(cell, widths[column], right(column, i)) end
    lines[i] = (indent or "") .. core.join(cells, "  "):gsub("%s+$", "")
  end
  return core.join(lines, "\n")
end

--- Texts below a header. A column whose cells all begin with a digit or a sign is aligned to the right.
function columns.text(rows, indent)
  local right = {}
  for i = 2, #rows do
    for column, cell in ipairs(rows[i]) do
      if cell ~= "" then
        local number = cell == "-" or cell:find "^[-+<>]?%d" ~= nil
        right[column] = number and right[column] ~= false
      end
    end
  end
  return lay_out(rows, function(column) return right[column] end, indent)
end

--- Texts. The first `left` columns are aligned to the left, the others to the right.
function columns.after(left, rows)
  return lay_out(rows, function(column) return column > left end)
end

local function cell_text(value)
  return type(value) == "number" and units.significant(value, 6) or native.printable(tostring(value))
end

--- A list of rows of any values, or a list of such tables. Numbers are aligned to the right.
function columns.values(rows)
  if type(rows[1]) == "table" and type(rows[1][1]) == "table" then
    local parts = {}
    for i, each in ipairs(rows) do parts[i] = columns.values(each) end
    return core.join(parts, "\n\n")
  end
  local texts = {}
  for i, row in ipairs(rows) do
    if type(row) ~= "table" then return tostring(rows[1]) end
    texts[i] = {}
    for column, value in ipairs(row) do texts[i][column] = cell_text(value) end
  end
  return lay_out(texts, function(column, i) return type(rows[i][column]) == "number" end)
end

--- Rows of texts, of which those that are numbers are aligned to the right.
--- @param numbers boolean[][] whether a cell is a number
function columns.cells(texts, numbers)
  return lay_out(texts, function(column, i) return numbers[i][column] == true end)
end

--- Breaks long lines; the rest goes on in the next line, indented.
function columns.wrapped(text, width)
  local lines = {}
  for line in (text .. "\n"):gmatch "(.-)\n" do
    local indent = line:match "^%s*"
    local now, empty = indent, true
    for gap, word in line:sub(#indent + 1):gmatch "(%s*)(%S+)" do
      if not empty and units.width(now) + #gap + units.width(word) > width then
        lines[#lines + 1], now = now, indent .. "  " .. word
      else
        now = now .. gap .. word
      end
      empty = false
    end
    lines[#lines + 1] = empty and "" or now
  end
  return core.join(lines, "\n")
end

local report_width = 79

--- "label     text" of a report, wrapped.
function columns.labelled(label, said) return columns.wrapped(("%-10s%s"):format(label, said), report_width) end

return columns
