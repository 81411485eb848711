-- What stands in front of the values of a series: its name with labels, or an expression around it, as far as it says
-- what the values are.
--
--     X{...}, sum(X), sum by (instance) (X), avg(X)           the series
--     rate(X[5m]), irate, increase, sum(rate(X[5m]))           what it grows by, each second or in the window
--     histogram_quantile(0.95, sum by (le) (rate(X_bucket[5m])))   a quantile
local expressions = {}

local seconds = { ms = 1e-3, s = 1, m = 60, h = 3600, d = 86400, w = 604800 }
local name_pattern = "[%a_:][%w_:]*"

--- Labels of `{a="b", c="d"}` without its braces, or nil.
function expressions.labels(text)
  local out, at = {}, 1
  while true do
    at = text:find("[^%s,]", at)
    if not at then return out end
    local name, first = text:match("^([%a_][%w_.]*)%s*=%s*\"()", at)
    if not name then return nil end
    local parts, stop = {}, first
    while true do
      local mark = text:find("[\\\"]", stop)
      if not mark then return nil end
      parts[#parts + 1] = text:sub(stop, mark - 1)
      if text:sub(mark, mark) == "\"" then
        at = mark + 1
        break
      end
      local escaped = text:sub(mark + 1, mark + 1)
      parts[#parts + 1] = escaped == "n" and "\n" or escaped
      stop = mark + 2
    end
    out[name] = table.concat(parts)
  end
end

local function window_of(text)
  local sum, rest = 0, text
  while rest ~= "" do
    local number, unit, behind = rest:match "^(%d+)(%l+)(.*)$"
    if not seconds[unit] then return nil end
    sum, rest = sum + number * seconds[unit], behind
  end
  return sum > 0 and sum or nil
end

--- {name, labels, window} of `X`, `X{...}`, `X{...}[5m]`, `{__name__="X"}`.
local function selector(text)
  local name, rest = text:match("^(" .. name_pattern .. ")%s*(.*)$")
  if not name then name, rest = nil, text end
  local braces, behind = rest:match "^(%b{})%s*(.*)$"
  local labels = {}
  if braces then
    labels, rest = expressions.labels(braces:sub(2, -2)), behind
    if not labels then return nil end -- a matcher such as =~ names no single series
  end
  local window
  if rest ~= "" then
    window = window_of(rest:match "^%[(%w+)%]$" or "x")
    if not window then return nil end
  end
  name = name or labels.__name__
  labels.__name__ = nil
  if not name then return nil end
  return { name = name, labels = labels, window_s = window }
end

local function call(text)
  local name, inside = text:match("^(" .. name_pattern .. ")%s*(%b())$")
  if name then return name, inside:sub(2, -2):match "^%s*(.-)%s*$" end
end

--- An aggregation without what it groups by: its name and what is inside; nil where the text is none.
local function aggregation(text)
  local kind, rest = text:match "^(sum)%s*(.*)$"
  if not kind then kind, rest = text:match "^(avg)%s*(.*)$" end
  if not kind then return nil end
  rest = rest:gsub("^by%s*%b()%s*", ""):gsub("^without%s*%b()%s*", "")
  local inside = rest:match "^(%b())%s*$"
  if not inside then
    inside = rest:match "^(%b())%s*by%s*%b()%s*$" or rest:match "^(%b())%s*without%s*%b()%s*$"
  end
  return inside and kind, inside and inside:sub(2, -2):match "^%s*(.-)%s*$"
end

local rates = { rate = "rate", irate = "rate", increase = "increase" }

local function quantile_of(inside)
  local q, rest = inside:match "^([%d.]+)%s*,%s*(.*)$"
  q = tonumber(q)
  if not q or not (q > 0 and q < 1) then return nil, "the quantile is no number between 0 and 1" end
  local own = expressions.read(rest)
  if not own or own.form ~= "rate" and own.form ~= "increase" or not own.name:find "_bucket$" then
    return nil, "only quantiles of sum by (le) (rate(X_bucket[5m])) are read"
  end
  return { name = own.name:gsub("_bucket$", ""), labels = {}, form = "quantile", q = q, window_s = own.window_s }
end

local unread = "an expression; query the series itself"

--- {name, labels, form = "raw", "rate", "increase" or "quantile", window_s, q}; nil and why where it is not read.
function expressions.read(text)
  text = text:match "^%s*(.-)%s*$"
  local plain = selector(text)
  if plain then
    if plain.window_s then return nil, "a window without rate()" end
    plain.form = "raw"
    return plain
  end
  local _, summed = aggregation(text)
  if summed then return expressions.read(summed) end
  local name, inside = call(text)
  if name == "histogram_quantile" then return quantile_of(inside) end
  if not rates[name or ""] then return nil, unread end
  local own = selector(inside)
  if not own or not own.window_s then return nil, unread end
  own.form = rates[name]
  return own
end

return expressions
