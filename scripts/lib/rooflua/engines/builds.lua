-- What people write behind the name of an engine: a release, a build of a day, and what was switched in it:
-- "0.26.0 runner V2", "nightly of 7 September", "0.29.1 nightly d9105ea8 (2026-09-07)", "0.22 (VLLM_X=0)".
--
--     build words   nightly, main, latest, dev: with a day the release of that day, with "before 0.21" the one before
--     switches      NAME=VALUE of an option, and words that the engine's file lists in `variants`
--     others        are named in a sentence; a commit is one of them
local core = require "rooflua.base.core"
local release = require "rooflua.engines.release"

local builds = {}

local build_words = core.set { "nightly", "main", "latest", "dev" }
local fillers = core.set { "of", "at", "on", "from", "with", "the", "build" }
local months = {}
for i, name in ipairs { "january", "february", "march", "april", "may", "june", "july", "august", "september",
  "october", "november", "december" } do
  months[name], months[name:sub(1, 3)] = i, i
end

--- The year of the newest release that has a day, for days without one.
local function year_of(engine)
  for i = #engine.releases, 1, -1 do
    if engine.releases[i].day then return engine.releases[i].day:sub(1, 4) end
  end
end

--- Words of a text, in small letters and as they stand; brackets and commas part them.
local function words_of(text)
  local out = {}
  for word in text:gsub("[(),;]", " "):gmatch "%S+" do
    if word ~= "+" then out[#out + 1] = { is = word:lower(), said = word } end
  end
  return out
end

-- Readers: (found, words, at, engine) -> how many words they take, or nil ---------------------------------------------

local function day(found, words, at, engine)
  local first, second, third = words[at].is, (words[at + 1] or {}).is or "", (words[at + 2] or {}).is or ""
  local whole = first:match "^(20%d%d%-?[01]%d%-?[0-3]%d)$"
  if whole then
    found.day = whole:gsub("%-", "")
    return 1
  end
  local month = months[first:gsub("%.$", "")] or months[second:gsub("%.$", "")]
  local number = tonumber((months[first:gsub("%.$", "")] and second or first):match "^(%d%d?)%a*$")
  local year = third:match "^20%d%d$" or year_of(engine)
  if not month or not number or number > 31 or not year then return nil end
  found.day = ("%s%02d%02d"):format(year, month, number)
  return third:find "^20%d%d$" and 3 or 2
end

local function before(found, words, at)
  local later = words[at].is == "before" and words[at + 1] and words[at + 1].is
  if not later or not release.parse(later) then return nil end
  found.before = later
  return 2
end

local function build(found, words, at)
  if not build_words[words[at].is] then return nil end
  found.is_build = true
  return 1
end

--- NAME=VALUE of an option of the engine, of what its command takes.
local function assignment(found, words, at, engine)
  local name, value = words[at].said:match "^([%a][%w_.]*)=(%S+)$"
  local option = name and (engine.option[name] or engine.option[name:lower()])
  if not name then return nil end
  if not option then core.fail("%s: '%s' is no option that is known", engine.name, name) end
  found.options[option.name] = option.variable and value or tonumber(value) or value
  return 1
end

local function variant(found, words, at, engine)
  for _, each in ipairs(engine.variants or {}) do
    local count, matches = 0, true
    for word in each.words:gmatch "%S+" do
      matches = matches and words[at + count] ~= nil and words[at + count].is == word
      count = count + 1
    end
    if matches then
      for name, value in pairs(each.options) do found.options[name] = value end
      return count
    end
  end
end

local readers = { day, before, build, assignment, variant }

--- The newest known release before another one, or before the day of a build.
local function last_before(engine, later)
  local build_of, last = release.parse(later), nil
  for _, each in ipairs(engine.releases) do
    local is_before = release.earlier(each.name, later)
    if build_of.is_build then is_before = build_of.day == nil or (each.day or "9999") <= build_of.day end
    if is_before then last = each.name end
  end
  return last or core.fail("%s: no release before %s is known", engine.name, later)
end

--- The release that a number, a day and words say: what release.parse reads.
local function version_of(found, engine, number)
  if found.before then return last_before(engine, found.before) end
  if not number then return "nightly" .. (found.day and "-" .. found.day or "") end
  for _, each in ipairs(engine.releases) do
    if release.same(each.name, number) then return number end
  end
  return found.is_build and number .. ".dev0" or number -- builds have the number of the release that follows
end

--- A release and what else is said of it.
--- @param text string behind the name of the engine
--- @return table? {version, options, others = words that say nothing known}; nil where the first word is no release
function builds.read(engine, text)
  local words = words_of(text)
  local first = words[1] and release.parse(words[1].said)
  if not first then return nil end
  if #words == 1 then return { version = words[1].said, options = {}, others = {} } end
  local found, others, at = { options = {}, day = first.day and first.day:gsub("%-", "") }, {}, 2
  while words[at] do
    local taken = fillers[words[at].is] and 1
    for _, reader in ipairs(readers) do taken = taken or reader(found, words, at, engine) end
    if not taken then others[#others + 1] = words[at].said end
    at = at + (taken or 1)
  end
  return { version = version_of(found, engine, not first.is_build and words[1].said or nil), options = found.options,
    others = others }
end

return builds
