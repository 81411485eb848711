-- When the rules of each engine were last read: `rooflua list engines --age`, and the list of code that a reader of a
-- new release opens (docs/ENGINES.md, "A new release in an hour").
local ages = require "rooflua.engines.ages"
local catalogue = require "rooflua.engines.catalogue"
local columns = require "rooflua.text.columns"
local conditions = require "rooflua.engines.conditions"
local core = require "rooflua.base.core"
local implications = require "rooflua.engines.implications"
local release = require "rooflua.engines.release"

local listed = {}

--- Names of the values of rows, each once, in their order.
local function names_of(rows)
  local out, seen = {}, {}
  for _, row in ipairs(rows) do
    for _, name in ipairs(core.sorted_keys(row)) do
      if implications.is_value(name) and not conditions.has(name) and not seen[name] then
        seen[name], out[#out + 1] = true, name
      end
    end
  end
  return out
end

--- The first release of the rows of a code; "" where a row holds from the beginning.
local function first_of(rows)
  local first
  for _, row in ipairs(rows) do
    if not row.since then return "" end
    if not first or release.earlier(row.since, first) then first = row.since end
  end
  return first
end

--- The open rows of an engine by the code that decides them: {code, fitted, seen, since, rows = their number, values}.
--- Rows that no file decides (fits, pull requests) have an empty code.
function listed.rows(engine)
  local out = {}
  for i, each in ipairs(ages.watch(engine)) do
    out[i] = { code = each.code, fitted = each.fitted, seen = each.seen or catalogue.last(engine),
      since = first_of(each.rows), rows = #each.rows, values = names_of(each.rows) }
  end
  return out
end

--- One engine: a line about its releases, then its code with the oldest reading first.
local function text_of(engine)
  local rows, whole = listed.rows(engine), ages.whole(engine)
  table.sort(rows, function(a, b)
    if not release.same(a.seen, b.seen) then return release.earlier(a.seen, b.seen) end
    if (a.code == "") ~= (b.code == "") then return b.code == "" end
    if a.code == b.code then return not a.fitted and b.fitted end
    return a.code < b.code
  end)
  local lines = { { "last read", "since", "rows", "decided by", "values" } }
  for _, each in ipairs(rows) do
    lines[#lines + 1] = { each.seen, each.since, tostring(each.rows),
      each.code ~= "" and each.code or each.fitted and "no file: fitted or assumed" or "no file: pull requests, issues",
      core.join(each.values, " ") }
  end
  return ("%s (%s): releases to %s are known; the newest that was read in whole is %s%s\n\n%s"):format(engine.title,
    engine.name, catalogue.last(engine), whole.name, whole.day and " of " .. whole.day or "", columns.text(lines))
end

--- The text of `rooflua list engines --age`.
function listed.text()
  local out = {}
  for i, name in ipairs(catalogue.names()) do out[i] = text_of(catalogue.of(name)) end
  return core.join(out, "\n\n")
end

return listed
