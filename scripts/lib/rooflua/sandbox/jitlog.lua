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

local function is_of_library(line) return line:find "^rooflua%." ~= nil or line:find "^%?" ~= nil end

--- One line per place and reason, in the order in which they were first seen: those of the scenario and of policies,
--- then those of the library.
function jitlog.lines()
  local out, own = {}, 0
  for _, of_library in ipairs { false, true } do
    for _, line in ipairs(order) do
      if is_of_library(line) == of_library then out[#out + 1] = line .. " (" .. counts[line] .. " times)" end
    end
    if not of_library then own = #out end
  end
  if own == 0 then
    table.insert(out, 1, "every line of the scenario and its policies that ran often was compiled")
    if #out > 1 then out[1] = out[1] .. "; the others are the library's" end
  end
  return require("rooflua.json").array(out)
end

return jitlog
