-- When the rules of an engine were last read. A row says in `seen` the newest release whose code was read and has it
-- so, and in `code` the file and the symbol that decide it; a list of rows says both for its rows, and the file of an
-- engine says `seen` for rows that say nothing. A row with `before` has ended, and needs neither. A row that says
-- `fitted` has values that were fitted to measurements or assumed: no code decides them, so that it is counted apart.
local release = require "rooflua.engines.release"

local ages = {}

--- The newest release at which a row was read; nil where neither the row nor the file says it: at all that are known.
---@param engine table of catalogue.of
---@param row table of its rules or its implications
function ages.seen(engine, row)
  local said = engine.said[row] or {}
  if said.is_of_parent then return nil end
  local seen = said.seen or engine.seen
  if seen and row.since and release.earlier(seen, row.since) then return row.since end
  return seen
end

--- Whether the values of a row were fitted to measurements or assumed.
function ages.is_fitted(engine, row) return engine.said[row] ~= nil and engine.said[row].fitted == true end

--- The file and the symbol that decide a row; without them the first file that its source names, else nil.
function ages.code(engine, row)
  local said = engine.said[row] and engine.said[row].code
  if said or ages.is_fitted(engine, row) then return said end
  return (row.source or ""):match "[%w_./]+%.py" or nil
end

--- Whether a row goes on, so that a reader of the next release looks at it.
function ages.is_open(row) return row.before == nil end

--- Whether nobody read a row at a release for which it holds.
function ages.is_unread(engine, row, version)
  local seen = ages.is_open(row) and ages.seen(engine, row)
  return seen and release.earlier(seen, version) or false
end

--- Every row of an engine: rules, then options that follow from others.
local function all_rows(engine)
  local out = {}
  for _, list in ipairs { engine.rules, engine.implies } do
    for _, row in ipairs(list) do out[#out + 1] = row end
  end
  return out
end

--- Rows that hold for a release, and those of them that nobody read at it; and how many of these are fitted.
--- @return integer, table, integer
function ages.unread(engine, version)
  local count, out, fitted = 0, {}, 0
  for _, row in ipairs(all_rows(engine)) do
    if release.holds(row, version) then
      count = count + 1
      if ages.is_unread(engine, row, version) then
        out[#out + 1] = row
        fitted = fitted + (ages.is_fitted(engine, row) and 1 or 0)
      end
    end
  end
  return count, out, fitted
end

--- Whether every row that holds for a release was read at it or later.
local function is_whole(engine, version)
  for _, list in ipairs { engine.rules, engine.implies } do
    for _, row in ipairs(list) do
      if ages.is_unread(engine, row, version) and release.holds(row, version) then return false end
    end
  end
  return true
end

--- The newest known release all of whose rows were read at it or later.
function ages.whole(engine)
  if not engine.whole then
    local at = #engine.releases
    while at > 1 and not is_whole(engine, engine.releases[at].name) do at = at - 1 end
    engine.whole = engine.releases[at]
  end
  return engine.whole
end

--- A sentence about a release that is newer than what was read in whole; nil of others.
function ages.note(engine, version)
  local whole = ages.whole(engine)
  if not release.earlier(whole.name, version) then return nil end
  local count, unread, fitted = ages.unread(engine, version)
  if #unread == 0 then return nil end -- newer than all that are known, and nothing says how far rows were read
  local day = whole.day and " of " .. whole.day or ""
  local fits = fitted > 0 and (", %d more are fits, which no code decides"):format(fitted) or ""
  return ("%s %s: %d of %d rules were not read at it and are as last read%s; the newest release read in whole is %s%s "
    .. "(`rooflua list engines --age`)"):format(engine.name, version, #unread - fitted, count, fits, whole.name, day)
end

--- The open rows by the code that decides them, as a reader of a new release opens it: {code, fitted, rows, seen =
--- the oldest release at which one of them was last read}, in the order of code; rows without a file come last, as "",
--- and of these the fitted ones.
function ages.watch(engine)
  local by_code, out = {}, {}
  for _, row in ipairs(all_rows(engine)) do
    if ages.is_open(row) then
      local code, seen = ages.code(engine, row) or "", ages.seen(engine, row)
      local fitted = code == "" and ages.is_fitted(engine, row)
      local key = fitted and "fitted" or code
      local own = by_code[key]
      if not own then
        own = { code = code, fitted = fitted, rows = {}, seen = seen }
        by_code[key], out[#out + 1] = own, own
      end
      own.rows[#own.rows + 1] = row
      if seen and own.seen and release.earlier(seen, own.seen) then own.seen = seen end
    end
  end
  table.sort(out, function(a, b)
    if (a.code == "") ~= (b.code == "") then return b.code == "" end
    if a.code == b.code then return not a.fitted and b.fitted end
    return a.code < b.code
  end)
  return out
end

return ages
