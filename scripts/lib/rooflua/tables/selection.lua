--- Which rows of a published file are of a table: by the columns that choose rows, by the rules, by their kernels. The
--- functions leave places of rows in the array `kept`, and return how many they are.
local native = require "rooflua.native"
local ffi = require "ffi"
local fates = require "rooflua.tables.fates"
local kinds = require "rooflua.tables.kinds"
local names = require "rooflua.tables.names"
local rules = require "rooflua.tables.rules"

local selection = {}

local int32s, bytes = ffi.typeof "int32_t[?]", ffi.typeof "uint8_t[?]"

--- For each word of a column, whether it passes: 1 or 0.
local function passing(texts, passes)
  local pass = bytes(#texts)
  for i, text in ipairs(texts) do pass[i - 1] = passes(text) and 1 or 0 end
  return pass
end

--- Whether a word of a column says that the row is of the table, for the uses that choose rows.
local choosing = {
  format = function(text, _, format) return text == format[1] end,
  select = function(text, column) return names.agrees(column.word, text) end,
  some = function(text) return (native.table_number(text) or 0) > 0 end,
  none = function(text) return (native.table_number(text) or 0) == 0 end,
}

--- Leaves in `kept` the rows that belong to the table. Returns how many they are.
local function choose(source, kind, format, kept, fate)
  local count, strength, line = source.rows, 0, source.line
  for row = 0, count - 1 do kept[row] = row end
  for _, column in ipairs(kind.columns) do
    local chooses = choosing[column.use]
    if chooses then
      strength = strength + 1
      -- Without its column all rows have the first format.
      local codes, texts = source:words(column.name, column.use == "format" and kind.formats[1][1] or "")
      local pass = passing(texts, function(text) return chooses(text, column, format) end)
      local reasons = int32s(#texts)
      for i, text in ipairs(texts) do
        reasons[i - 1] = fate:code(("%s is %s: no table of ours has such rows"):format(column.name, text))
      end
      local after = 0
      for i = 0, count - 1 do
        local row = kept[i]
        local code = codes[row]
        if pass[code] == 1 then
          kept[after], after = row, after + 1
        else
          fate:leave_out(line[row], strength, reasons[code])
        end
      end
      count = after
    end
  end
  return count
end

local function unpadded(text)
  local value = native.table_number(text)
  return value ~= nil and value > 16 and math.floor(value) % 16 ~= 0
end

local tests = {
  ["is"] = function(text, pattern) return names.agrees(pattern, text) end,
  ["is not"] = function(text, pattern) return not names.agrees(pattern, text) end,
  unpadded = unpadded,
}

--- The rules about rows of this file: {rule, conditions = {{codes, pass}, ...}}.
local function rules_of(source, file)
  local bound = {}
  for _, rule in ipairs(rules.rules) do
    local asked = file.all_rows and rule.verdict == "wrong"
    local applies = rule.when and names.is_about(rule, file.published) and not asked
    for _, each in ipairs(applies and rule.when or {}) do applies = applies and source:has(each[1]) end
    if applies then
      local conditions = {}
      for i, each in ipairs(rule.when) do
        local codes, texts = source:words(each[1])
        local pass = passing(texts, function(text) return tests[each[2]](text, each[3]) end)
        conditions[i] = { codes = codes, pass = pass }
      end
      bound[#bound + 1] = { rule = rule, conditions = conditions }
    end
  end
  return bound
end

local function holds(conditions, row)
  for i = 1, #conditions do
    local each = conditions[i]
    if each.pass[each.codes[row]] == 0 then return false end
  end
  return true
end

--- Leaves in `kept` the rows that no rule keeps out. Notes rules that mark the table in `marks`.
local function obey(source, file, kept, count, fate, marks)
  local bound = rules_of(source, file)
  if #bound == 0 then return count end
  for _, each in ipairs(bound) do
    each.code, each.marks = fate:code(each.rule.reason), each.rule.verdict == "marked"
  end
  local after, line = 0, source.line
  for i = 0, count - 1 do
    local row, taken = kept[i], true
    for b = 1, #bound do
      local each = bound[b]
      if taken and holds(each.conditions, row) then
        if each.marks then
          marks[each.rule.reason] = true
        else
          fate:leave_out(line[row], fates.of_a_rule, each.code)
          taken = false
        end
      end
    end
    if taken then kept[after], after = row, after + 1 end
  end
  return after
end

--- The part of a row of ours that each row is, by its kernel; leaves in `kept` the rows that are one.
local function parts_of(source, kind, kept, count, fate)
  local part_of = int32s(math.max(1, count))
  local codes, texts = source:words("kernel_source", "")
  local part, reasons = int32s(#texts), int32s(#texts)
  for i, text in ipairs(texts) do
    part[i - 1] = -1
    for p = #kind.kernels, 1, -1 do
      if names.agrees(kind.kernels[p], text) then part[i - 1] = p - 1 end
    end
    reasons[i - 1] = fate:code(("kernel %s: not part of the engine's choice"):format(text))
  end
  local after, line = 0, source.line
  for i = 0, count - 1 do
    local row = kept[i]
    local code = codes[row]
    if part[code] >= 0 then
      kept[after], part_of[after], after = row, part[code], after + 1
    else
      fate:leave_out(line[row], fates.of_a_rule, reasons[code])
    end
  end
  return after, part_of
end

--- The rows of a file that are of a table: their places, how many, and the part of a row of ours that each is (nil if
--- a row has one part). Notes in `marks` the reasons of rules that mark the table.
function selection.of(source, file, fate, marks)
  local kind = kinds[file.kind]
  local kept, part_of = int32s(math.max(1, source.rows)), nil
  local count = choose(source, kind, kind.formats[file.format], kept, fate)
  count = obey(source, file, kept, count, fate, marks)
  if kind.kernels then count, part_of = parts_of(source, kind, kept, count, fate) end
  return kept, count, part_of
end

return selection
