-- The files of `rooflua attach`, by what each says: how the server was started, or what was measured of it.
local core = require "rooflua.base.core"
local measured_runs = require "rooflua.formats.measured_runs"
local native = require "rooflua.native"
local reading = require "rooflua.startup.reading"
local tools = require "rooflua.formats.tools"

local sources = {}
local fail = core.fail

--- Whether a file says how a server was started.
local function is_start(path)
  return native.file_exists(path) and reading.record(path, reading.text(path)) ~= nil
end

--- {start = paths, runs = measured runs, list = {{file, gives}}}. What is of no known form is an error that names it.
---@param paths string[]
function sources.of(paths)
  local out = { start = {}, runs = {}, list = {} }
  for i, path in ipairs(paths) do
    if path:find "%.lua$" then fail("attach: %s: is a scenario; rooflua calibrate fits it to measured runs", path) end
    if not native.file_exists((tools.split(path))) then fail("attach: %s: there is no such file", path) end
    local entry = { file = path, gives = "start" }
    if is_start(path) then
      out.start[#out.start + 1] = path
    else
      local ok, runs = pcall(measured_runs.read_all, path)
      if not ok then
        local what = reading.other_form(reading.text((tools.split(path))))
        fail("attach: %s: %s", path, what and what .. ", which says neither how a server was started nor how it "
          .. "answered" or "neither says how a server was started, nor is it a result: " .. tostring(runs))
      end
      entry.gives = "measured"
      for _, run in ipairs(runs) do out.runs[#out.runs + 1] = run end
    end
    out.list[i] = entry
  end
  if #out.start == 0 then
    fail "attach: none of the files says how the server was started: give its start-up log, or what it says of itself"
  end
  return out
end

return sources
