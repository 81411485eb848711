-- The files of `rooflua attach`, by what each says: how the server was started, or what was measured of it.
local core = require "rooflua.base.core"
local measured_runs = require "rooflua.formats.measured_runs"
local native = require "rooflua.native"
local range = require "rooflua.ranges.range"
local reading = require "rooflua.startup.reading"
local tools = require "rooflua.formats.tools"

local sources = {}
local fail = core.fail

--- Whether a file says how a server was started, and whether it is a scrape whose load a line of the user's says: what
--- was measured as well.
local function kinds_of(path)
  if not native.file_exists(path) then return false, true end
  local text = reading.text(path)
  return reading.record(path, text) ~= nil, ("\n" .. text):find "\n# rooflua " ~= nil
end

--- Adds a file to the range over time that several of them have together; whether it is one.
local function add_range(out, path)
  local text = native.file_exists(path) and reading.text(path) or ""
  if not range.form(text) then return false end
  out.range[#out.range + 1] = { path = path, text = text }
  out.list[#out.list + 1] = { file = path, gives = "measured" }
  return true
end

--- Reads a file into `out`; what is of no known form is an error that names it, of a page of a server a note.
local function add(out, path, is_page)
  local entry, is_start, is_load = { file = path, gives = "start" }, kinds_of(path)
  if is_start then out.start[#out.start + 1] = path end
  if is_load or not is_start then
    local ok, runs = pcall(measured_runs.read_all, path)
    if not ok and is_page then
      out.notes[#out.notes + 1] = ("%s is left out: %s"):format(path, tostring(runs))
      entry.gives = is_start and "start" or "nothing"
    elseif not ok then
      local what = reading.other_form(reading.text((tools.split(path))))
      fail("attach: %s: %s", path, what and what .. ", which says neither how a server was started nor how it "
        .. "answered" or "neither says how a server was started, nor is it a result: " .. tostring(runs))
    else
      entry.gives = is_start and "start and measured" or "measured"
      for _, run in ipairs(runs) do out.runs[#out.runs + 1] = run end
    end
  end
  out.list[#out.list + 1] = entry
end

--- {start = paths, runs = measured runs, list = {{file, gives}}, notes}.
---@param files string[] that a person gives
---@param pages string[] of a server that runs: those that say nothing are left out, with a note
function sources.of(files, pages)
  local out = { start = {}, runs = {}, range = {}, list = {}, notes = {} }
  reading.refuse_twice(files)
  for _, path in ipairs(files) do
    if path:find "%.lua$" then fail("attach: %s: is a scenario; rooflua calibrate fits it to measured runs", path) end
    if not native.file_exists((tools.split(path))) then fail("attach: %s: there is no such file", path) end
    if not add_range(out, path) then add(out, path, false) end
  end
  if #out.range > 0 then table.insert(out.runs, 1, measured_runs.of_range(out.range)) end
  for _, path in ipairs(pages) do add(out, path, true) end
  if #out.start == 0 then
    fail "attach: none of the files says how the server was started: give its start-up log, or what it says of itself"
  end
  return out
end

return sources
