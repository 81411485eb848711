-- What a scenario's own report may return besides text, as a table for the terminal and as a document: a list of rows,
-- a list of such tables, a list of records with names, or one record.
local native = require "rooflua.native"
local columns = require "rooflua.text.columns"
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local units = require "rooflua.text.units"

local answer = {}
local fail = core.fail

local most_columns, most_nested = 60, 20

local function exact(number) return units.significant(number, 6) end
local number_text = exact

local function text_of(value)
  if type(value) == "number" then return number_text(value) end
  if type(value) == "function" or type(value) == "thread" then
    fail("expected values, found %s", core.describe(value))
  end
  return native.printable(tostring(value))
end

--- Whether a table is a list, and whether it has names.
local function shape(value, where)
  local plain, named = core.plain(value), false
  for key in pairs(plain) do
    if type(key) == "string" then
      named = true
    elseif type(key) ~= "number" or key < 1 or key > #plain or key % 1 ~= 0 then
      fail("%s: expected a list of cells or cells with names, found the key %s", where, core.describe(key))
    end
  end
  if named and #plain > 0 then fail("%s: has both cells with names and cells without", where) end
  return plain, named
end

--- A record's cells by name: a record inside of it gives "outer.inner", a list its values with commas.
local function flatten(record, where, out, prefix, depth)
  if depth > most_nested then fail("%s: is nested too deeply", where) end
  for name, value in core.sorted_pairs(record) do
    local path = prefix .. name
    if type(value) == "table" and value ~= json.null then
      local plain, named = shape(value, where .. "." .. path)
      if named then
        flatten(plain, where, out, path .. ".", depth + 1)
      else
        local parts = {}
        for i, each in ipairs(plain) do parts[i] = type(each) == "table" and "..." or text_of(each) end
        out[path] = core.join(parts, ", ")
      end
    else
      out[path] = value
    end
  end
  return out
end

--- The names of the cells of all records: those that hold text first.
local function header_of(records)
  local is_text, is_there = {}, {}
  for _, record in ipairs(records) do
    for name, value in pairs(record) do
      is_there[name] = true
      if type(value) ~= "number" and type(value) ~= "boolean" then is_text[name] = true end
    end
  end
  local out = {}
  for _, name in ipairs(core.sorted_keys(is_there)) do out[#out + 1] = is_text[name] and name or nil end
  for _, name in ipairs(core.sorted_keys(is_there)) do out[#out + 1] = not is_text[name] and name or nil end
  return out
end

--- A table of records: a line of their names above.
local function text_of_records(list)
  local records = {}
  for i, each in ipairs(list) do records[i] = flatten(each, ("row %d"):format(i), {}, "", 1) end
  local header = header_of(records)
  if #header > most_columns then
    fail("its rows have %d fields, and a table at most %d; return those that you want to see", #header, most_columns)
  end
  local texts, numbers = { {} }, { {} }
  for column, name in ipairs(header) do texts[1][column] = native.printable(name) end
  for i, record in ipairs(records) do
    texts[i + 1], numbers[i + 1] = {}, {}
    for column, name in ipairs(header) do
      local value = record[name]
      texts[i + 1][column], numbers[i + 1][column] = value == nil and "-" or text_of(value), type(value) == "number"
      numbers[1][column] = numbers[1][column] or type(value) == "number"
    end
  end
  for i, record in ipairs(records) do
    for column, name in ipairs(header) do
      if record[name] == nil then numbers[i + 1][column] = numbers[1][column] end
    end
  end
  return columns.cells(texts, numbers)
end

local function text_of_rows(list)
  local texts, numbers = {}, {}
  for i, row in ipairs(list) do
    if type(row) ~= "table" then fail("row %d: expected a row as the first is, found %s", i, core.describe(row)) end
    texts[i], numbers[i] = {}, {}
    for column, value in ipairs((shape(row, ("row %d"):format(i)))) do
      if type(value) == "table" and value ~= json.null then
        fail("row %d: column %d: expected a value, found a table", i, column)
      end
      texts[i][column], numbers[i][column] = text_of(value), type(value) == "number"
    end
  end
  return columns.cells(texts, numbers)
end

--- The text of what a report returned.
---@param returned table
---@param depth integer? tables around it
---@return string
function answer.text(returned, depth)
  if (depth or 0) > most_nested then fail "a report's table is nested too deeply" end
  local plain, named = shape(returned, "a report's table")
  if named then return text_of_records { plain } end
  local first = plain[1]
  if first == nil then return "no rows" end
  if type(first) ~= "table" then
    local lines = {}
    for i, each in ipairs(plain) do
      if type(each) == "table" then fail("row %d: expected a value as the first is, found a table", i) end
      lines[i] = text_of(each)
    end
    return core.join(lines, "\n")
  end
  local first_plain, first_named = shape(first, "row 1")
  if first_named then
    for i, each in ipairs(plain) do
      local is_record = type(each) == "table" and select(2, shape(each, ("row %d"):format(i)))
      if not is_record then fail("row %d: expected cells with names, as the first row has", i) end
    end
    return text_of_records(plain)
  end
  if type(first_plain[1]) ~= "table" then return text_of_rows(plain) end
  local parts = {}
  for i, each in ipairs(plain) do
    if type(each) ~= "table" then fail("table %d: expected rows, found %s", i, core.describe(each)) end
    parts[i] = answer.text(each, (depth or 0) + 1)
  end
  return core.join(parts, "\n\n")
end

--- The same with numbers as reports have them: 0.9992, 230,789.
function answer.figures(returned)
  number_text = units.text
  local ok, text = pcall(answer.text, returned)
  number_text = exact
  return ok and text or error(text, 0)
end

--- The same as a document has it: lists stay lists, and records objects.
function answer.document(value, depth)
  if type(value) ~= "table" or value == json.null then return value end
  if (depth or 0) > most_nested then fail "a report's table is nested too deeply" end
  local plain, named = shape(value, "a report's table")
  local out = named and {} or json.array {}
  for key, each in pairs(plain) do out[key] = answer.document(each, (depth or 0) + 1) end
  return out
end

return answer
