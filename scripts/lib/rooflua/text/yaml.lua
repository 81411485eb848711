-- Documents of YAML as text. Keys stand in the order in which they are given, so that a file reads as its project
-- writes it; texts are quoted (text/quoting.lua).
local native = require "rooflua.native"
local quoting = require "rooflua.text.quoting"

local yaml = {}

local List = {}

--- A list; a map is a list of pairs {key, value} without this mark. A pair whose value is nil is left out.
function yaml.list(values) return setmetatable(values, List) end

--- A line of comment between the pairs of a map.
function yaml.comment(text) return { comment = text } end

local function is_list(value) return getmetatable(value) == List end

local function scalar(value)
  if type(value) == "number" then return native.number_text(value) end
  if type(value) == "boolean" then return tostring(value) end
  return quoting.yaml(value)
end

local add_map

--- Items whose first line begins after "- ".
local function add_list(lines, values, pad)
  for _, each in ipairs(values) do
    if type(each) ~= "table" then
      lines[#lines + 1] = pad .. "- " .. scalar(each)
    else
      local first = #lines + 1
      add_map(lines, each, pad .. "  ")
      lines[first] = pad .. "- " .. lines[first]:sub(#pad + 3)
    end
  end
end

function add_map(lines, pairs_of_map, pad)
  for _, pair in ipairs(pairs_of_map) do
    local key, value = pair[1], pair[2]
    if pair.comment then
      lines[#lines + 1] = pad .. quoting.comment(pair.comment)
    elseif type(value) == "table" then
      if #value == 0 then
        lines[#lines + 1] = pad .. key .. (is_list(value) and ": []" or ": {}")
      else
        lines[#lines + 1] = pad .. key .. ":"
        if is_list(value) then add_list(lines, value, pad) else add_map(lines, value, pad .. "  ") end
      end
    elseif value ~= nil then
      lines[#lines + 1] = pad .. key .. ": " .. scalar(value)
    end
  end
end

--- Maps as documents of one file, each after its comments.
--- @param documents table[] {comments = string[], map}
function yaml.text(documents)
  local parts = {}
  for i, each in ipairs(documents) do
    local lines = {}
    for _, comment in ipairs(each.comments or {}) do lines[#lines + 1] = quoting.comment(comment) end
    add_map(lines, each.map, "")
    parts[i] = table.concat(lines, "\n") .. "\n"
  end
  return table.concat(parts, "---\n")
end

return yaml
