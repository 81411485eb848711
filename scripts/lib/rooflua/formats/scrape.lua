-- The text format of Prometheus, as far as it holds metrics of vLLM or of rooflua.
-- Source: prometheus.io, exposition formats, text format 0.0.4
--
-- Lines "# rooflua rate_per_s 8", "# rooflua clients 16" and "# rooflua duration_s 600" are the user's, and comments
-- for every other program.
local core = require "rooflua.base.core"
local fields = require "rooflua.formats.fields"

local scrape = {}
local fail = core.fail

--- What each line of the user's may say, and its largest value.
local loads = { rate_per_s = fields.most_rate, clients = fields.most_requests, duration_s = 9.2e6 }

--- Whether a text is in this format.
function scrape.tells(text)
  text = "\n" .. text:sub(1, 65536)
  return text:find "\n# TYPE " ~= nil or text:find "\n# HELP " ~= nil or text:find "\n[%w_]*vllm:[%w_]+[{ ]" ~= nil
end

local function labels_of(where, text)
  local out, rest = {}, text
  while rest ~= "" do
    local name, value, behind = rest:match '^%s*([%a_][%w_]*)%s*=%s*"([^"\\]*)"%s*,?(.*)$'
    if not name then
      local escaped
      name, escaped = rest:match '^%s*([%a_][%w_]*)%s*=%s*"()'
      if not name then fail("%s: expected labels as name=\"value\", found '%s'", where, rest) end
      local stop = escaped
      while rest:sub(stop, stop) ~= '"' do
        if stop > #rest then fail("%s: the value of the label '%s' has no end", where, name) end
        stop = stop + (rest:sub(stop, stop) == "\\" and 2 or 1)
      end
      value, behind = rest:sub(escaped, stop - 1), rest:sub(stop + 1):gsub("^%s*,", "")
    end
    out[name], rest = value, behind:match "^%s*(.*)$"
  end
  return out
end

--- A line as {name, labels, value}; nil for those of other programs.
local function sample_of(where, line)
  local name, rest = line:match "^[%w_]-(vllm:[%w_]+)%s*(.*)$"
  if not name then name, rest = line:match "^(rooflua_[%w_]+)%s*(.*)$" end
  if not name then return nil end
  local labels, behind = "", rest
  if rest:sub(1, 1) == "{" then
    labels, behind = rest:match "^{(.*)}%s*([^}]*)$"
    if not labels then fail("%s: the labels of %s have no end", where, name) end
  end
  local word = behind:match "^(%S+)"
  local value = word and (tonumber(word) or ({ ["+Inf"] = math.huge, ["-Inf"] = -math.huge, NaN = 0 / 0 })[word])
  if not value then fail("%s: %s: expected a number, found '%s'", where, name, behind) end
  return { name = name, labels = labels_of(where, labels), value = value, key = name .. "{" .. labels .. "}" }
end

--- Reads a line of the user's into `load`.
local function read_load(where, line, load)
  local key, value = line:match "^#%s*rooflua%s+([%w_]+)%s*[=:]?%s*(%S+)%s*$"
  if not key then
    if line:find "^#%s*rooflua%s" then fail("%s: expected '# rooflua rate_per_s 8', found '%s'", where, line) end
    return
  end
  if not loads[key] then fail("%s: %s", where, core.unknown_name("word", key, core.sorted_keys(loads))) end
  local number = tonumber(value)
  if not number or not (number > 0 and number <= loads[key]) then
    fail("%s: %s: expected a number above 0, at most %g, found '%s'", where, key, loads[key], value)
  end
  load[key] = number
end

--- The scrapes of a file, each a list of {name, labels, value}: where a series comes again, the next one begins. And
--- what the user says of the load, {rate_per_s, clients, duration_s}.
function scrape.read(path, text)
  local scrapes, load, seen, number = { {} }, {}, {}, 0
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    number = number + 1
    local where = ("%s:%d"):format(path, number)
    line = line:gsub("%s+$", "")
    if line:sub(1, 1) == "#" then
      read_load(where, line, load)
    elseif line ~= "" then
      local sample = sample_of(where, line)
      if sample then
        if seen[sample.key] then seen, scrapes[#scrapes + 1] = {}, {} end
        seen[sample.key] = true
        table.insert(scrapes[#scrapes], sample)
      end
    end
  end
  if #scrapes > 2 then
    fail("%s: holds %d scrapes; expected one, or two: before the run and after it", path, #scrapes)
  end
  return scrapes, load
end

return scrape
