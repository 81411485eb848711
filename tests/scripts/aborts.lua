--- Counts the traces that the compiler gave up while a function ran, for tests and benchmarks. A line of a
--- script that is not compiled can be a hundred times slower, without any message.
local jutil = require "jit.util"
local vmdef = require "jit.vmdef"

local aborts = {}

-- The recorder meets a loop or a recursion and starts again from there. That is its normal work, not a loss.
local restarts = {
  ["leaving loop in root trace"] = true, ["inner loop in root trace"] = true,
  ["down-recursion, restarting"] = true, ["retry recording"] = true, ["loop unroll limit reached"] = true,
}

local function reason(code, argument)
  local text = vmdef.traceerr[code] or "error " .. tostring(code)
  if text:find "bytecode" and type(argument) == "number" then
    argument = vmdef.bcnames:sub(argument * 6 + 1, argument * 6 + 6):gsub("%s+$", "")
  elseif type(argument) == "function" then
    local info = jutil.funcinfo(argument)
    argument = info.loc or vmdef.ffnames[info.ffid] or "?"
  end
  return (text:gsub("%%[sd]", tostring(argument)))
end

--- Runs `call` with the other arguments, without pcall, because a trace cannot return through pcall.
--- @return {aborts: integer, restarts: integer, lines: string[]} numbers, and the places of aborted traces
function aborts.of(call, ...)
  local found, counts = { aborts = 0, restarts = 0, lines = {} }, {}
  local function note(what, _, func, pc, code, argument)
    if what ~= "abort" then return end
    local why = reason(code, argument)
    if restarts[why] then
      found.restarts = found.restarts + 1
      return
    end
    found.aborts = found.aborts + 1
    local line = (jutil.funcinfo(func, pc).loc or "?") .. ": " .. why
    counts[line] = (counts[line] or 0) + 1
  end
  jit.attach(note, "trace")
  call(...)
  jit.attach(note)
  for line, count in pairs(counts) do found.lines[#found.lines + 1] = ("%s (%d times)"):format(line, count) end
  table.sort(found.lines)
  return found
end

return aborts
