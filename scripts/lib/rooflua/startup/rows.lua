-- The rows of scripts/engines/*/startup.lua: what an engine prints when it starts, one row for each wording.
--
--     [1]        a pattern of Lua for the message, from its beginning on
--     fact       the fact of its capture, or of each (startup/facts.lua); false: the capture is read otherwise
--     take       "first": of several lines of a rank the first counts (a drafter follows); "sum"; else the last
--     adds       the fact whose captures in one line are added
--     reads      what its last capture is: "options" {name: value}, "all" name=value of all options, "resolved"
--                name=value of which `resolved` names options; reads_next: the same of the next line
--     names      the row is of this engine alone; starts: with it a start begins; ready: the engine serves
--     warns      a sentence about a fallback; fails: "memory", "length", "graphs", "others"
--     word       plain text that its lines have, where `starts` or `fails` and its pattern does not begin with such
--     means      the line's meaning, for people
--     since, before, source, as in rules
local catalogue = require "rooflua.engines.catalogue"
local core = require "rooflua.base.core"
local facts = require "rooflua.startup.facts"
local release = require "rooflua.engines.release"

local rows = {}

local keys = { 1, "fact", "take", "adds", "reads", "reads_next", "resolved", "names", "starts", "ready", "warns",
  "fails", "word", "means", "since", "before", "source" }

--- The plain text that a pattern begins with, which is compared first.
local function beginning(pattern)
  local out, at = {}, 2
  while at <= #pattern do
    local letter, width = pattern:sub(at, at), 1
    if letter == "%" then letter, width = pattern:match("^%%(%p)", at), 2 end
    local is_plain = letter and (width == 2 or not letter:find "[%^$()%%.%[%]*+%-?]")
    if not is_plain or pattern:find("^[*+?-]", at + width) then break end
    out[#out + 1], at = letter, at + width
  end
  return core.join(out, "")
end

local function checked(engine, i, row)
  local where = ("engines.%s.startup[%d]"):format(engine.name, i)
  core.check_keys(row, keys, where)
  if (row.starts or row.fails) and not row.word and beginning(row[1]) == "" then
    core.fail("%s: word is missing: its pattern begins with no plain text", where)
  end
  for _, key in ipairs { "means", "source" } do
    if type(row[key]) ~= "string" then core.fail("%s: %s is missing", where, key) end
  end
  local named = type(row.fact) == "table" and row.fact or { row.fact }
  for _, name in pairs(named) do
    if name and not facts.by_name[name] then core.fail("%s: fact: '%s' is none", where, tostring(name)) end
  end
  return core.copy(row, { pattern = row[1], facts = named, beginning = beginning(row[1]) })
end

local by_engine = setmetatable({}, { __mode = "k" })

--- The rows of an engine, in its order.
function rows.of(engine)
  if not by_engine[engine] then
    local out = {}
    for i, row in ipairs(catalogue.said(engine, "startup") or {}) do out[i] = checked(engine, i, row) end
    by_engine[engine] = out
  end
  return by_engine[engine]
end

--- Whether a line may begin another start or tell of an error: it has a word of such a row. It costs little, as what
--- follows a start is long.
function rows.may_end(engine, raw)
  for _, row in ipairs(rows.of(engine)) do
    local word = (row.starts or row.fails) and (row.word or row.beginning)
    if word and raw:find(word, 1, true) then return true end
  end
  return false
end

--- The engines that have rows, each once.
function rows.engines() return catalogue.saying "startup" end

local most_matched = 2000 -- bytes of a message that hold figures

local function captures_of(row, message)
  if message:sub(1, #row.beginning) ~= row.beginning then return nil end
  if not row.reads then message = message:sub(1, most_matched) end
  local found = { message:find(row.pattern) }
  if not found[1] then return nil end
  return { core.unpack(found, 3) }
end

--- The row of a message, its captures, and whether its wording is that of another release; nil where no row knows it.
--- Without a release all wordings are alike.
function rows.find(engine, message, version)
  local other, other_captures
  for _, row in ipairs(rows.of(engine)) do
    local captures = captures_of(row, message)
    if captures then
      if not version or release.holds(row, version) then return row, captures, false end
      other, other_captures = other or row, other_captures or captures
    end
  end
  return other, other_captures, other ~= nil
end

return rows
