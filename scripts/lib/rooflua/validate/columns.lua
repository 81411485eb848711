-- The columns of sets of measured runs, declared as rows, and the one reader of their cells. A kind of set declares
--
--     what       of which measurements: "measured start-ups"        manual   the document with its columns
--     id         the column of a case's name; `unique`: no two rows have one
--     empty      optional: a text cell without a text
--     case       function (case, cells, there, kind): checks and makes what no row says; `there` = {column = true}
--     default    optional, function (cells, name) -> text that stands for an empty cell
--     needed     optional, {name of a case = true}: read though scored = no
--     broken     optional, function (cells) -> members of a case that could not be read
--
-- and a list of rows, which are read in this order:
--
--     names      of columns with these properties; `begin`: how the names of columns begin
--     type       text | lower | day | answer (yes, no or unknown) | is (whether the cell is this `word`) | format |
--                number | whole | time_ms (read as seconds)
--     remarks    a remark may follow a number: "8192 (default)"
--     least      of a number; `above`: it must be larger
--     required   the file must have the column                      tells    a file with all of them is such a set
--     filled     the cell must not be empty                         scored   not of a row with scored = no
--     setting    the member of the case; else the column's name     measured {column = metric}: of case.measured
--     own        the kind's `case` reads the cell                   error    of what the kind compares it as
local native = require "rooflua.native"
local core = require "rooflua.base.core"

local columns = {}

local function plural(one, many, count) return count == 1 and one or many end

-- Headers ----------------------------------------------------------------------------------------------------------

--- Those of `names` that are no columns.
---@param there string[] columns of a file
---@param names string[]
function columns.missing(there, names)
  local known, out = core.set(there), {}
  for _, name in ipairs(names) do
    if not known[name] then out[#out + 1] = name end
  end
  return out
end

local function words_of(text)
  local out = {}
  for word in text:gmatch "%S+" do out[#out + 1] = word end
  return out
end

--- A kind with its rows: as given, and {required, tells = names, read = function (path) -> cases, columns of the file,
--- reads = function (path, columns of the file where they are known) -> whether it is such a file}.
---@param kind table
---@param rows table[]
function columns.of(kind, rows)
  local out = core.copy(kind)
  out.rows, out.required, out.tells, out.known, out.begins = rows, {}, {}, {}, {}
  for _, about in ipairs(rows) do
    about.list = words_of(about.names or "")
    for _, name in ipairs(about.list) do
      out.known[name] = about
      if about.required then table.insert(out.required, name) end
      if about.tells then table.insert(out.tells, name) end
    end
    for _, begin in ipairs(words_of(about.begin or "")) do table.insert(out.begins, { begin, about }) end
  end
  function out.read(path) return columns.read(path, out) end
  function out.reads(path, there)
    local ok = true
    if not there then ok, there = pcall(native.csv_header, path) end
    return ok and #columns.missing(there, out.tells) == 0
  end
  return out
end

--- The row of a column; nil of one that is not known.
function columns.row_of(kind, name)
  if kind.known[name] then return kind.known[name] end
  for _, each in ipairs(kind.begins) do
    if name:sub(1, #each[1]) == each[1] then return each[2] end
  end
end

--- Columns of a file that its kind does not know.
function columns.unknown(kind, there)
  local out = {}
  for _, name in ipairs(there) do
    if not columns.row_of(kind, name) then out[#out + 1] = name end
  end
  return out
end

local function check_header(path, there, kind)
  local missing = columns.missing(there, kind.required)
  if #missing == 0 then return end
  local is_other = #kind.tells > 0 and #columns.missing(there, kind.tells) == #kind.tells
  core.fail("%s:1: %s%s missing: %s; a file of %s has %s (%s)", path,
    is_other and "this is no file of measured cases that is known here: " or "",
    plural("a column is", "columns are", #missing), core.join(missing, ", "), kind.what,
    core.join(kind.required, ", "), kind.manual)
end

-- Cells ------------------------------------------------------------------------------------------------------------

local answers = core.set { "", "yes", "no", "unknown" }

local function number_of(text, about)
  local value = tonumber(text) or about.remarks and tonumber(text:match "^%-?[%d.]+") or nil
  local is_one = value and value == value and math.abs(value) < math.huge
  if is_one and about.type == "whole" then is_one = value % 1 == 0 and value <= 2 ^ 31 end
  if not is_one or about.above and value <= about.above or about.least and value < about.least then return nil end
  return value
end

local read = {
  text = function(text) return text end,
  lower = function(text) return text:lower() end,
  day = function(text) return (text == "" or text:find "^20%d%d%-[01]%d%-[0-3]%d$") and text or nil end,
  answer = function(text) return answers[text:lower()] and text:lower() or nil end,
  format = function(text) return text:lower():match "^[%w_]+" end,
  number = number_of, whole = number_of,
  time_ms = function(text, about)
    local value = number_of(text, about)
    return value and value * 1e-3
  end,
}

local expected = { day = "a day as in 2026-03-25", answer = "yes, no or unknown", format = "a number format",
  number = "a number", whole = "a whole number", time_ms = "milliseconds" }
local is_text = core.set { "text", "lower", "day", "answer" }

local function expectation(about)
  local bound = about.above and " above " .. about.above or about.type == "whole" and about.least == 1 and " above 0"
    or about.least and (", %g or more"):format(about.least) or ""
  return expected[about.type] .. bound
end

--- What a cell says, by its row; nil of an empty one that may be.
---@param where string "FILE.csv:3"
function columns.cell(about, name, text, where, empty)
  if about.type == "is" then return text == about.word end
  if text == "" and not about.filled then return is_text[about.type] and empty or nil end
  if text == "" and expected[about.type] == nil then core.fail("%s: column '%s' is empty", where, name) end
  local value = read[about.type](text, about)
  if value ~= nil then return value end
  return core.fail("%s: %s: expected %s, found %s", where, name, expectation(about), text == "" and "none"
    or ("'%s'"):format(text))
end

--- Whether the figures of a row are read: of one that the file does not score only if something else needs it.
function columns.is_read(case, kind) return case.scored ~= "no" or (kind.needed or {})[case.id] == true end

local function read_cells(case, cells, kind, there)
  local function put(about, name)
    if about.own or about.scored and not columns.is_read(case, kind) then return end
    local text = cells[name] or ""
    if text == "" and kind.default then text = kind.default(cells, name) or "" end
    local value = columns.cell(about, name, text, case.where, kind.empty)
    local metric = about.measured == true and name or about.measured and about.measured[name]
    if metric then case.measured[metric] = value else case[about.setting or name] = value end
  end
  for _, about in ipairs(kind.rows) do
    for _, name in ipairs(about.list) do put(about, name) end
    if about.begin then
      for _, name in ipairs(there) do
        if columns.row_of(kind, name) == about then put(about, name) end
      end
    end
  end
end

local function read_row(case, cells, kind, there)
  if cells.cells then
    core.fail("%s: the row has %d columns, the header %d; a text with a comma needs quotes", case.where, cells.cells,
      #there)
  end
  read_cells(case, cells, kind, there)
  kind.case(case, cells, core.set(there), kind)
end

local function trimmed(row)
  local out = {}
  for name, value in pairs(row) do out[name] = type(value) == "string" and value:match "^%s*(.-)%s*$" or value end
  return out
end

--- Every row of a file, in its order: {id, where, path, measured, settings}. A mistake in a row affects that row only:
--- its `problem`.
---@return table[] cases
---@return string[] columns of the file
function columns.read(path, kind)
  local there = native.csv_header(path)
  local list = native.csv_read(path, true, there)
  check_header(path, there, kind)
  local out, lines = {}, {}
  for i, row in ipairs(list) do
    local cells, where = trimmed(row), ("%s:%d"):format(path, row.line)
    local id = cells[kind.id] or ""
    local case = { where = where, path = path, measured = {}, id = id ~= "" and id or "line " .. row.line }
    local ok, problem = pcall(read_row, case, cells, kind, there)
    if not ok then
      case.problem = tostring(problem)
      for name, value in pairs(kind.broken and kind.broken(cells) or {}) do case[name] = value end
    end
    local line = kind.unique and lines[case.id]
    if line and not case.problem then
      case.problem = ("%s: %s '%s' is that of line %d"):format(where, kind.id, case.id, line)
    end
    out[i], lines[case.id] = case, line or row.line
  end
  if #out == 0 then core.fail("%s: has a header and no row; expected %s, one per row", path, kind.what) end
  return out, there
end

--- A case from cells that another kind's row has: its `problem` where they cannot be read.
---@param cells table<string, string>
function columns.of_cells(kind, cells, where)
  local case = { where = where, measured = {}, id = cells[kind.id] or where }
  local ok, problem = pcall(read_row, case, cells, kind, core.sorted_keys(cells))
  if not ok then case.problem = tostring(problem) end
  return case
end

--- The rows of all files of a set.
---@param options table of a kind's open(): {path, paths}
function columns.read_all(options, kind)
  local out = {}
  for _, path in ipairs(options.paths or { options.path }) do
    for _, case in ipairs((kind.read(path))) do out[#out + 1] = case end
  end
  return out
end

--- The names of cases.
function columns.ids(cases)
  local out = {}
  for i, case in ipairs(cases) do out[i] = case.id end
  return out
end

return columns
