--- Values as text for the prompt: units by name, tables and engine objects laid out within a width.
local columns = require "rooflua.text.columns"
local core = require "rooflua.base.core"
local help = require "rooflua.help.topics"
local policy = require "rooflua.policy"
local serve = require "rooflua.serving.live"
local units = require "rooflua.text.units"

local pretty = {}
local most_items, most_rows, deepest = 40, 20, 4

local show

local function number_text(value, unit)
  if unit and unit ~= "" then return units.text(value, unit) end
  if value % 1 == 0 and math.abs(value) < 1e15 then return ("%d"):format(value) end
  return ("%.7g"):format(value)
end

local function text_of(value, room)
  local quoted = ("%q"):format(value):gsub("\\\n", "\\n")
  if units.width(quoted) <= room then return quoted end
  return quoted:sub(1, math.max(room - 4, 8)):gsub("[\192-\255]?[\128-\191]*$", "") .. '..."'
end

--- One line that describes an engine object, a policy or a simulation; nil for other values.
local function title_of(value)
  if serve.is_live(value) then
    local state = serve.state(value)
    local parts, ended = {}, state.journal and #value:ended()
    for i = 1, #state.replicas do
      local replica = value:replica(i)
      local used = replica.total_blocks > 0 and 1 - replica.free_blocks / replica.total_blocks or 0
      local name = #state.replicas > 1 and serve.name_of(value, i) .. ": " or ""
      parts[i] = ("%s%d running, %d waiting, KV %s"):format(name, #replica.running, #replica.waiting,
        units.text(used, "share"))
    end
    return ("at %s: %s%s; %s, %s"):format(units.text(value.now_s, "s"),
      core.join(parts, "; "), ended and ", " .. ended .. " ended" or "", state.replicas[1].scheduler.name,
      state.replicas[1].steps.steps.name)
  end
  if policy.is_class(value) then return "policy " .. value.name .. " (a class; call it with parameters)" end
  if policy.is_instance(value) then return value.name end
  if type(value) == "userdata" then return core.class_name(value) or tostring(value) end
end

local function is_name(key) return type(key) == "string" and key:find "^[%a_][%w_]*$" end

local function key_text(key)
  if is_name(key) then return key end
  return "[" .. (type(key) == "string" and ("%q"):format(key) or tostring(key)) .. "]"
end

--- The fields to show of a value; nil if it has none to show.
local function fields_of(value)
  if serve.is_live(value) then return nil end
  if policy.is_instance(value) then return policy.parameters(value) end
  if policy.is_class(value) then return nil end
  if type(value) == "userdata" then return core.fields_of(value) end
  if type(value) == "table" then return core.plain(value) end
end

local function is_list(t)
  local count = #t
  if count == 0 then return false end
  for key in pairs(t) do
    if type(key) ~= "number" or key < 1 or key > count or key % 1 ~= 0 then return false end
  end
  return true
end

local function scalar(value) return type(value) ~= "table" and type(value) ~= "userdata" end

--- A cell of a column. Tokens have no unit here, because the name of the column says it.
local function cell_text(value, unit)
  if unit == "tokens" then return units.grouped(value) end
  return number_text(value, unit)
end

--- Removes the columns of a wide table that are equal in every row, and returns a text with their values.
local function set_apart(list, names)
  if #names <= 5 then return nil end
  local same, i = {}, 1
  while i <= #names do
    local name, first, equal = names[i], core.plain(list[1])[names[i]], true
    for _, each in ipairs(list) do equal = equal and core.plain(each)[name] == first end
    if equal and scalar(first) then
      same[#same + 1] = name .. " " .. tostring(first)
      table.remove(names, i)
    else
      i = i + 1
    end
  end
  return #same > 0 and core.join(same, ", ") or nil
end

--- Rows of a list of records, with a header, or of a list of lists, without one; nil for other lists.
local function record_rows(list, unit)
  if #list < 2 then return nil end
  local names, known = {}, {}
  for i = 1, math.min(#list, most_rows) do
    local each = list[i]
    if type(each) ~= "table" or title_of(each) then return nil end
    for _, key in ipairs(core.sorted_keys(core.plain(each))) do
      if not known[key] and scalar(core.plain(each)[key]) then
        known[key] = true
        names[#names + 1] = key
      end
    end
  end
  if #names < 2 then return nil end
  local constant = type(names[1]) == "string" and set_apart(list, names) or nil
  local numbered = type(names[1]) == "number"
  local header, rows = {}, {}
  for i, name in ipairs(names) do
    if name == "id" then table.insert(names, 1, table.remove(names, i)) end
  end
  for i, name in ipairs(names) do header[i] = tostring(name) end
  if not numbered then rows[1] = header end
  for i = 1, math.min(#list, most_rows) do
    local row, each = {}, core.plain(list[i])
    for column, name in ipairs(names) do
      local value = each[name]
      row[column] = value == nil and "" or not scalar(value) and "{...}"
        or type(value) == "number" and cell_text(value, units.of(name) or unit) or tostring(value)
    end
    rows[#rows + 1] = row
  end
  return rows, #list - most_rows, constant
end

local function clipped(text, width)
  local out = {}
  for line in (text .. "\n"):gmatch "(.-)\n" do
    if units.width(line) > width then
      local bytes, seen = 0, 0
      for char in line:gmatch "[%z\1-\127\192-\255][\128-\191]*" do
        if seen == width - 1 then break end
        seen, bytes = seen + 1, bytes + #char
      end
      line = line:sub(1, bytes) .. "…"
    end
    out[#out + 1] = line
  end
  return core.join(out, "\n")
end
pretty.clipped = clipped

--- "mean 2.354 s, p50 2.305 s, p99 3.028 s, max 3.078 s (270)"
local function statistics_text(fields, unit)
  if type(fields.p50) ~= "number" or type(fields.p99) ~= "number" or type(fields.mean) ~= "number" then return nil end
  local parts = {}
  for _, key in ipairs { "mean", "p50", "p99", "max" } do
    if fields[key] then parts[#parts + 1] = key .. " " .. number_text(fields[key], unit) end
  end
  return core.join(parts, ", ") .. (fields.count and (" (%d)"):format(fields.count) or "")
end

local function one_line(fields, list, depth, unit, seen, width)
  local parts, length = {}, 0
  for _, key in ipairs(core.sorted_keys(fields)) do
    local value = fields[key]
    if not scalar(value) and depth >= 1 and not list then return nil end
    local own = type(key) == "string" and units.of(key) or key ~= "count" and unit or nil
    local text = show(value, width, depth + 1, own, seen)
    if text:find "\n" then return nil end
    parts[#parts + 1] = list and text or key_text(key) .. " = " .. text
    length = length + units.width(parts[#parts]) + 2
    if length > width then return nil end
  end
  return "{ " .. core.join(parts, ", ") .. " }"
end

local function many_lines(fields, depth, unit, seen, width)
  local keys, longest, lines = core.sorted_keys(fields), 0, {}
  local function label(key) return type(key) == "string" and key:find "^[%w_ ]+$" and key or key_text(key) end
  for i = 1, math.min(#keys, most_items) do longest = math.max(longest, units.width(label(keys[i]))) end
  longest = math.min(longest, 28)
  local indent = ("  "):rep(depth + 1)
  local most = type(keys[1]) == "number" and not scalar(fields[keys[1]]) and 5 or most_items
  for i = 1, math.min(#keys, most) do
    local key = keys[i]
    local own = type(key) == "string" and units.of(key)
    if key == "count" then own = "" end
    if key == "evidence" then own = "share" end
    local text = show(fields[key], width - longest - 3 - #indent, depth + 1, own or unit, seen)
    lines[#lines + 1] = indent .. units.padded(label(key), longest) .. "  " .. text
  end
  if #keys > most then lines[#lines + 1] = indent .. ("... %d more"):format(#keys - most) end
  return core.join(lines, "\n")
end

local function table_text(value, width, depth, unit, seen)
  local title, fields = title_of(value), fields_of(value)
  if not fields then return title or tostring(value) end
  if next(fields) == nil then return title or "{}" end
  if seen[fields] then return title or "{ ... the table around it }" end
  if depth >= deepest then return title or "{ ... }" end
  seen[fields] = true
  local list = not title and is_list(fields)
  local text
  local room = width - (title and units.width(title) + 1 or 0)
  local line = depth > 0 and statistics_text(fields, unit) or one_line(fields, list, depth, unit, seen, room)
  if line then
    text = title and title .. " " .. line or line
  else
    local rows, more, constant
    if list then rows, more, constant = record_rows(fields, unit) end
    if rows then
      text = (depth > 0 and "\n" or "") .. columns.text(rows, ("  "):rep(depth))
      if more > 0 then text = text .. "\n" .. ("  "):rep(depth) .. ("... %d more"):format(more) end
      if constant then text = text .. "\n" .. ("  "):rep(depth) .. "all: " .. constant end
    else
      text = many_lines(fields, depth, unit, seen, width)
      text = (title and title .. "\n" or depth > 0 and "\n" or "") .. text
    end
  end
  seen[fields] = nil
  return text
end

function show(value, width, depth, unit, seen)
  local kind = type(value)
  if kind == "number" then return number_text(value, unit) end
  if kind == "string" then return text_of(value, math.max(width, 20)) end
  if kind == "table" or kind == "userdata" then return table_text(value, width, depth, unit, seen) end
  if kind == "function" then
    local name = help.signature(value)
    return name and "function " .. name or tostring(value)
  end
  return tostring(value)
end

--- A value as text. `name` is the expression that gave it ("hw.memory_bytes"); it tells the unit.
---@param value any
---@param width integer columns
---@param name string?
function pretty.text(value, width, name)
  if type(value) == "string" and value:find "\n" then return (value:gsub("\n+$", "")) end
  return clipped(show(value, width, 0, name and units.of(name), {}), width)
end

return pretty
