-- Where the time of a request went: of the slowest, or of one that is named.
local json = require "rooflua.json"

local request = { title = "A request", kinds = { serve = true }, parts = "^%d+$" }

function request.plan(opened, which)
  return #opened.all == 1 and { runs = true, why = which or "slowest" } or nil
end

--- "ttft_parts_s": the parts of a latency as a bar; nil of another key.
local function bar_of(key, value)
  local name = key:match "^(%w+)_parts_s$"
  if not name or type(value) ~= "table" then return nil end
  return name:upper(), value
end

local function names_of(bars)
  local names, seen = {}, {}
  for _, bar in ipairs(bars) do
    for name in pairs(bar.parts) do
      if not seen[name] then names[#names + 1] = name end
      seen[name] = true
    end
  end
  table.sort(names)
  return names
end

function request.described(_, documents, texts, which)
  local why, bars = documents[1].why, {}
  if type(why) ~= "table" then return {} end
  for key, value in pairs(why) do
    local name, parts = bar_of(key, value)
    if name then bars[#bars + 1] = { name = name, parts = parts } end
  end
  table.sort(bars, function(a, b) return a.name > b.name end)
  local names, drawn = names_of(bars), json.array {}
  for i, bar in ipairs(bars) do
    local values = json.array {}
    for k, name in ipairs(names) do values[k] = 1e3 * (bar.parts[name] or 0) end
    drawn[i] = { name = bar.name, values = values }
  end
  return { { heading = which and "Request " .. which or "The slowest request", charts = #drawn > 0 and json.array { {
    kind = "bar", title = "Where its time went", x = { label = "time", unit = "ms" }, segments = json.array(names),
    bars = drawn } } or nil, text = texts[1] } }
end

return request
