-- The start-up log of an engine: the rows of its release, in their order, with the figures of a deployment.
--
-- An engine's `log` (scripts/engines/<name>/log.lua) has
--
--     stamp     how a time is printed (os.date)
--     forms     a line by its form: text with {message}, {time}, {level}, {at}, {process}, {rank_word}
--     values    rows as those of `rules`: figures by release, GPU and deployment; a text may have figures in it
--     figures   fun(figures, facts, stated): more figures, in the same table
--     named     {order, defaults}: options in the order in which they are listed, and values that are not listed
--     config    {between, bare, adds, rows}: the whole configuration (logs/options.lua)
--     host      where its server listens if no option says it
--     ranks     fun(figures): figures of each process, {{by = "worker", ...}, ...}
--     rows      {since, before, by, form, level, at, text, when, after, repeats, fails, ends, source}: a line of each
--               process that is called `by`. when: names of figures; after: the figure of seconds before it;
--               repeats: the form stands around each line of the text (of all rows: words.repeats); fails: a line of
--               the engine's error, behind which only such lines follow; ends: neither it nor what follows is printed
local choice = require "rooflua.engines.choice"
local conditions = require "rooflua.engines.conditions"
local catalogue = require "rooflua.engines.catalogue"
local core = require "rooflua.base.core"
local figures = require "rooflua.logs.figures"
local options = require "rooflua.logs.options"
local release = require "rooflua.engines.release"
local template = require "rooflua.logs.template"

local log = {}

local row_keys = { "since", "before", "by", "form", "level", "at", "text", "when", "after", "repeats", "fails", "ends",
  "source" }
local first_second = 1767225600 -- 2026-01-01 00:00:00 UTC: every log begins then

--- The figures of an engine's value rows, and of lists of rows: later rows stand before earlier ones.
local function add_values(out, rows, facts)
  for _, row in ipairs(rows) do
    if row[1] then
      add_values(out, row, facts)
    elseif conditions.hold(row, facts.release, facts.resolved.facts) then
      for name, value in pairs(row) do
        if not conditions.has(name) then out[name] = value end
      end
    end
  end
end

--- Lines of a row: one of each process of its name.
local function add_row(lines, words, row, all, processes, second)
  for _, process in ipairs(processes) do
    if process.by == row.by then
      local own = setmetatable({ level = row.level or "INFO", time = os.date("!" .. words.stamp,
        first_second + math.floor(second)) }, { __index = function(_, name)
          if process[name] ~= nil then return process[name] end
          return all[name]
        end })
      local form, messages = words.forms[row.form or "log"], template.fill(row.text, own) .. "\n"
      own.at = row.at and template.fill(row.at, own)
      local is_first = true
      for message in messages:gmatch "(.-)\n" do
        own.message = message
        local is_framed = is_first or words.repeats or row.repeats
        lines[#lines + 1] = { text = is_framed and template.fill(form, own) or message, second = second }
        is_first = false
      end
    end
  end
end

local function is_of(row, version, all)
  core.check_keys(row, row_keys, "log")
  return release.holds(row, version) and template.holds(row.when, all)
end

--- The lines of a start-up: {text, second}; then sentences on what is not in it.
--- @param found table the ledger (applied/ledger.lua)
--- @param given table the scenario, whose options are those that the deployment names
function log.lines(found, given)
  local facts = found.facts
  local engine, words = facts.engine, catalogue.said(facts.engine, "log")
  if not words then core.fail("what %s logs when it starts is not known", engine.title) end
  local chosen = choice.of(given.engine or { engine.name .. " " .. facts.release })
  local stated = figures.stated(found, given, chosen)
  local all = figures.of(found, given, stated)
  add_values(all, words.values, facts)
  words.figures(all, facts, stated)
  options.add(all, found, given, stated)
  local lines, second, has_failed = {}, 0, false
  local processes = words.ranks(all)
  for _, row in ipairs(words.rows) do
    if is_of(row, facts.release, all) and (not has_failed or row.fails) then
      if row.ends then break end
      second = second + (row.after and all[row.after] or 0)
      add_row(lines, words, row, all, processes, second)
      has_failed = has_failed or row.fails == true
    end
  end
  local told = {}
  if all.error_unspoken then
    told[1] = ("the log ends before the error of %s %s, whose words are not known: %s"):format(engine.title,
      facts.release, found.reason)
  end
  if all.assumed then
    told[#told + 1] = ("start-up log of %s %s: %s"):format(engine.title, facts.release, all.assumed)
  end
  return lines, told
end

return log
