-- The order of releases, as Python packages order them (PEP 440): 0.5.9 < 0.5.10; development builds, then alpha, beta
-- and candidates, then the release, then post releases. "v0.19.0" is "0.19.0", and "0.19" is "0.19.0".
-- Builds without a number ("nightly", "main") stand after every release; one with a date ("nightly-dev-20260216")
-- stands after the releases up to that day.
-- Source: packaging.python.org, "Version specifiers"; the tags and images of vLLM, SGLang and TensorRT-LLM.
local core = require "rooflua.base.core"

local release = {}

local phases = { a = 1, alpha = 1, b = 2, beta = 2, c = 3, rc = 3, pre = 3, preview = 3 }
local final, before_all = 4, 0
local endless = math.huge

--- Numbers of "0.10.1".
local function numbers_of(text)
  local out = {}
  for part in text:gmatch "%d+" do out[#out + 1] = tonumber(part) end
  return out
end

--- "20260216" or "2026-02-16" in a text, as "2026-02-16"; nil where there is none.
local function day_of(text)
  local year, month, day = text:match "(20%d%d)%-?([01]%d)%-?([0-3]%d)"
  return year and ("%s-%s-%s"):format(year, month, day) or nil
end

--- A build that no number names: nightly, main, dev, latest.
local function build_of(text)
  for _, word in ipairs { "nightly", "main", "latest", "dev" } do
    if text:find("^" .. word) then return { text = text, day = day_of(text), is_build = true } end
  end
end

local function taken_apart(text)
  local rest = text:lower():match "^%s*(.-)%s*$"
  local build = build_of(rest)
  if build then return build end
  local numbers, tail = rest:match "^v?(%d[%d.]*%d)(.*)$"
  if not numbers then numbers, tail = rest:match "^v?(%d)(.*)$" end
  if not numbers then return nil end
  local own = { text = text, numbers = numbers_of(numbers), phase = final, phase_number = 0, post = -1, dev = endless }
  own.is_local, tail = tail:find("+", 1, true) ~= nil, tail:gsub("%+.*$", "")
  local word, number, more = tail:match "^[%.%-_]?(%a+)[%.%-_]?(%d*)(.*)$"
  while word do
    local value = tonumber(number) or 0
    if phases[word] then
      own.phase, own.phase_number = phases[word], value
    elseif word == "post" or word == "r" or word == "rev" then
      own.post = value
    elseif word == "dev" then
      own.dev = value
    else
      return nil
    end
    tail = more
    word, number, more = tail:match "^[%.%-_]?(%a+)[%.%-_]?(%d*)(.*)$"
  end
  if tail ~= "" then return nil end
  if own.dev < endless and own.phase == final and own.post < 0 then own.phase = before_all end
  own.rest = { own.phase, own.phase_number, own.post, own.dev, own.is_local and 1 or 0 } -- what orders equal numbers
  return own
end

local known = {} -- text -> what was taken apart, or false

--- A version taken apart; nil where the text is none.
--- {text, numbers, phase, phase_number, post, dev, rest, is_build, day}
--- @param text string "0.5.6.post2", "1.3.0rc10", "v0.19", "nightly-20260216"
function release.parse(text)
  if known[text] == nil then known[text] = taken_apart(text) or false end
  return known[text] or nil
end

--- -1, 0 or 1 of two lists of numbers; what is missing is 0.
local function compared(a, b)
  for i = 1, math.max(#a, #b) do
    local x, y = a[i] or 0, b[i] or 0
    if x ~= y then return x < y and -1 or 1 end
  end
  return 0
end

local function parsed(version)
  if type(version) == "table" then return version end
  return release.parse(version) or core.fail("'%s' is no release; expected one as in 0.19.0, 1.3.0rc10 or nightly",
    tostring(version))
end

--- Whether a comes before b: texts or what parse returned. Builds without a number come last, in order of their days.
function release.earlier(a, b)
  a, b = parsed(a), parsed(b)
  if a.is_build or b.is_build then
    if a.is_build and b.is_build then return (a.day or "9999") < (b.day or "9999") end
    return b.is_build == true
  end
  local order = compared(a.numbers, b.numbers)
  if order == 0 then order = compared(a.rest, b.rest) end
  return order < 0
end

--- Whether two texts name one release: "0.19" and "v0.19.0".
function release.same(a, b) return not release.earlier(a, b) and not release.earlier(b, a) end

--- Whether a row of rules holds for a release: `since` is included, `before` is not.
function release.holds(row, version)
  return not (row.since and release.earlier(version, row.since))
    and not (row.before and not release.earlier(version, row.before))
end

return release
