-- Tables of errors of measured sets: groups of answers, a statistic of each group, and the columns that show it. What a
-- set reports is one list of parts, from which the text and the Markdown of the record are written:
--
--     a text      a paragraph of the text
--     a table     {rows = the head and a row per line, left = columns of text, title = before it in the text, record =
--                 its title in Markdown (nil: not there), hidden = true: there alone}
local columns = require "rooflua.text.columns"
local core = require "rooflua.base.core"
local markdown = require "rooflua.text.markdown"
local units = require "rooflua.text.units"

local errors = {}

-- Groups -----------------------------------------------------------------------------------------------------------

--- {name = answers} by what `name_of` says of an answer; those without a name are in none.
function errors.by(answers, name_of)
  local out = {}
  for _, answer in ipairs(answers) do
    local name = name_of(answer)
    if name then
      out[name] = out[name] or {}
      table.insert(out[name], answer)
    end
  end
  return out
end

--- {all = of(answers), KIND = {name = of(its answers)}}.
---@param kinds table list of {KIND, name_of}
function errors.document(answers, kinds, of)
  local out = { all = of(answers) }
  for _, kind in ipairs(kinds) do
    out[kind[1]] = {}
    for name, list in pairs(errors.by(answers, kind[2])) do out[kind[1]][name] = of(list) end
  end
  return out
end

--- How often each text is in the lists that `of` gives for answers, once per answer: {text = for how many}.
function errors.counts(answers, of)
  local out = {}
  for _, answer in ipairs(answers) do
    local own = {}
    for _, text in ipairs(of(answer) or {}) do
      out[text], own[text] = (out[text] or 0) + (own[text] and 0 or 1), true
    end
  end
  return out
end

--- {texts sorted}, {text = count}, {text = the first answer} by what `reason_of` says of an answer, if it does.
function errors.reasons(answers, reason_of)
  local first, counts = {}, {}
  for _, answer in ipairs(answers) do
    local reason = reason_of(answer)
    if reason then counts[reason], first[reason] = (counts[reason] or 0) + 1, first[reason] or answer end
  end
  return core.sorted_keys(counts), counts, first
end

--- The largest by `size_of` (nil: not listed) first; equal ones in the order of `name_of`, else as they stand.
---@param most integer? so many
function errors.worst(answers, size_of, name_of, most)
  local list, out = {}, {}
  for i, answer in ipairs(answers) do
    local size = size_of(answer)
    if size then list[#list + 1] = { size = size, name = name_of and name_of(answer) or i, answer = answer } end
  end
  table.sort(list, function(a, b) return a.size > b.size or a.size == b.size and a.name < b.name end)
  for i = 1, math.min(most or #list, #list) do out[i] = list[i].answer end
  return out
end

--- Those of a list for which `ok` holds.
function errors.filtered(list, ok)
  local out = {}
  for _, each in ipairs(list) do
    if ok(each) then out[#out + 1] = each end
  end
  return out
end

-- Columns ----------------------------------------------------------------------------------------------------------

local forms = { percent = units.in_percent, count = function(value) return ("%d"):format(value or 0) end,
  signed = function(value) return units.in_percent(value, true) end,
  text = function(value) return value == nil and "" or tostring(value) end }

local function at(of, path)
  for name in path:gmatch "[^.]+" do of = type(of) == "table" and of[name] or nil end
  return of
end

--- A cell: a statistic "tpot.mean" in percent or in another form ("%.2f": empty where there is none).
local function cell(of, about)
  local value, form = at(of, about[2]), about[3] or "percent"
  if form:find "^%%" then return value and form:format(value) or "" end
  return forms[form](value)
end

--- The head and a row for each of `list`: {texts of the first columns, figures}.
---@param first string[] heads of the first columns
---@param shown table list of {head, statistic as "tpot.mean", form: percent (default), signed, count, text or "%.2f"}
---@param list table list of {text, ..., figures}
function errors.rows(first, shown, list)
  local rows = { core.copy(first) }
  for _, about in ipairs(shown) do table.insert(rows[1], about[1]) end
  for i, each in ipairs(list) do
    local row = {}
    for n = 1, #first do row[n] = each[n] end
    for _, about in ipairs(shown) do row[#row + 1] = cell(each[#first + 1], about) end
    rows[i + 1] = row
  end
  return rows
end

--- Lines of a document's groups for rows(): `all`, then each kind's groups by name.
---@param kinds table list of {KIND, prefix of names = optional, names in their order = optional}
---@param ok (fun(of: table): boolean)? groups that are shown
function errors.lines(document, kinds, ok)
  local out = { { "all", document.all } }
  for _, kind in ipairs(kinds) do
    local of = document[kind[1]] or {}
    for _, name in ipairs(kind[3] or core.sorted_keys(of)) do
      if of[name] and (not ok or ok(of[name])) then out[#out + 1] = { (kind[2] or "") .. name, of[name] } end
    end
  end
  return out
end

-- Texts ------------------------------------------------------------------------------------------------------------

local function text_of(part)
  if type(part) == "string" then return part ~= "" and part or nil end
  if part.hidden or #part.rows < 2 then return nil end
  return (part.title and part.title .. "\n" or "")
    .. (part.left and columns.after(part.left, part.rows) or columns.text(part.rows))
end

--- Parts as text.
function errors.text(parts)
  local out = {}
  for _, part in ipairs(parts) do out[#out + 1] = text_of(part) end
  return table.concat(out, "\n\n")
end

--- Adds the Markdown of the parts that belong into the record.
function errors.add_record(out, parts)
  for _, part in ipairs(parts) do
    if type(part) == "table" and part.record and #part.rows > 1 then
      out[#out + 1] = "### " .. part.record
      out[#out + 1] = markdown.table(part.rows, part.left or 1)
    end
  end
end

--- A title with lines below it; "" where there are none.
function errors.titled(title, body) return body ~= "" and title .. "\n" .. body or "" end

--- "3 x a sentence" by line.
function errors.counted_lines(counts)
  local lines = {}
  for _, text in ipairs(core.sorted_keys(counts)) do lines[#lines + 1] = ("%d x %s"):format(counts[text], text) end
  return table.concat(lines, "\n")
end

--- "measured 61 %, interpolated 38 %": the two largest shares.
function errors.evidence(shares)
  local list = {}
  for name, share in pairs(shares or {}) do list[#list + 1] = { name, share } end
  table.sort(list, function(a, b) return a[2] > b[2] or a[2] == b[2] and a[1] < b[1] end)
  local parts = {}
  for i = 1, math.min(2, #list) do parts[i] = ("%s %.0f %%"):format(list[i][1], list[i][2] * 100) end
  return table.concat(parts, ", ")
end

return errors
