-- Finds the line of a key in a scenario file. The table that a scenario returns does not know its lines, so the
-- text is searched. If the search finds nothing, messages name no line.
local native = require "rooflua.native"

local locate = {}

--- The lines of a file without comments; nil if it cannot be read.
local function code_of(file)
  local text = native.file_exists(file) and native.read_file(file)
  if not text then return nil end
  local lines = {}
  for line in (text .. "\n"):gmatch "(.-)\r?\n" do lines[#lines + 1] = line:gsub("%-%-.*$", "") end
  return lines
end

local function column_of(line, name)
  local plain = name:gsub("%p", "%%%0")
  return line:find("%f[%w_]" .. plain .. "%s*=[^=]") or line:find("%f[%w_]" .. plain .. "%s*=$")
    or line:find("%[%s*[\"']" .. plain .. "[\"']%s*%]%s*=")
end

--- The line with `name =`, at or after line `first`: the least indented one for the first part of a path
--- (`outermost`), else the nearest.
local function find(lines, name, first, outermost)
  local best, least
  for number = first, #lines do
    if column_of(lines[number], name) then
      if not outermost then return number end
      local indent = #lines[number]:match "^%s*"
      if not best or indent < least then best, least = number, indent end
    end
  end
  return best
end

--- The line of a key path ("deployment.tp", "price[2]", "scheduler.max_num_seqs"). If only its first parts are
--- found, the line of the last of them; nil if none is.
---@param file string
---@param path string
---@return integer?
function locate.line(file, path)
  local lines = code_of(file)
  if not lines or path == "" then return nil end
  local written = path -- a whole path can be one key: vary = { ["scheduler.max_num_seqs"] = ... }
  while written and written:find(".", 1, true) do
    local whole = find(lines, written, 1, true)
    if whole then return whole end
    written = written:match "^(.*)%.[^.]*$"
  end
  local line
  for part in path:gmatch "[%a_][%w_]*" do
    local found = find(lines, part, line or 1, line == nil)
    if not found then break end
    line = found
  end
  return line
end

--- The key path that a message is about: `key`, extended by the keys that the message begins with and by the name
--- that it calls unknown.
function locate.path(key, message)
  local path, rest = key, message
  while true do
    local part, after = rest:match "^([%a_][%w_%.%[%]]*): (.*)$"
    if not part then break end
    path, rest = path == "" and part or path .. "." .. part, after
  end
  local unknown = rest:match "^unknown [%a ]+ '([^']+)'"
  if unknown then path = path == "" and unknown or path .. "." .. unknown end
  return path
end

return locate
