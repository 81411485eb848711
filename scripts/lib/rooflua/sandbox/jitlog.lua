-- Lines of scripts that LuaJIT could not compile, and why. Such a line can take 300 ns instead of 3 ns.
local jutil = require "jit.util"
local found_vmdef, vmdef = pcall(require, "jit.vmdef")

local jitlog = {}
local counts, order = {}, {}

-- Reasons after which LuaJIT starts recording again from another place: nothing is lost.
local harmless = { ["leaving loop in root trace"] = true, ["inner loop in root trace"] = true,
  ["retry recording"] = true,
  ["down-recursion, restarting"] = true, ["loop unroll limit reached"] = true }

local function reason(code, argument)
  local text = found_vmdef and vmdef.traceerr[code] or "error " .. tostring(code)
  if type(argument) == "function" then argument = jutil.funcinfo(argument).loc or "?" end
  if text:find "bytecode" and type(argument) == "number" and found_vmdef then
    return "NYI: bytecode " .. vmdef.bcnames:sub(argument * 6 + 1, argument * 6 + 6):gsub("%s+$",
      "")
  end
  return (text:gsub("%%[sd]", tostring(argument)))
end

jit.attach(function(what, _, func, pc, code, argument)
  if what ~= "abort" then return end
  local place = jutil.funcinfo(func, pc).loc or "?"
  local why = reason(code, argument)
  if harmless[why] then return end
  local line = place .. ": not compiled: " .. why
  if not counts[line] then order[#order + 1] = line end
  counts[line] = (counts[line] or 0) + 1
end, "trace")

--- One line per place and reason, in the order in which they were first seen.
function jitlog.lines()
  local out = {}
  for i, line in ipairs(order) do out[i] = line .. " (" .. counts[line] .. " times)" end
  return require("rooflua.json").array(out)
end

return jitlog
