-- The lines of a fitted scenario, to paste into it.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local schema = require "rooflua.scenario.schema"

local paste = {}

local function value_text(value)
  if type(value) == "string" then return ("%q"):format(value) end
  if type(value) == "number" then return native.number_text(tonumber(("%.6g"):format(value))) end
  return tostring(value)
end

--- 'require "steps.kernels" { host_step_s = 0.0012 }', with the parameters that differ from their defaults.
local function policy_text(folder, instance)
  local params, words = policy.definition(instance).params, {}
  for name, value in core.sorted_pairs(policy.parameters(instance)) do
    local default = params[name].default
    if type(value) ~= "table" and value_text(value) ~= value_text(default) then
      words[#words + 1] = name .. " = " .. value_text(value)
    end
  end
  local inside = #words > 0 and " " .. core.join(words, ", ") .. " " or ""
  return ("require %q {%s}"):format(folder .. "." .. policy.definition(instance).name, inside)
end

local slots = { steps = true, scheduler = true, router = true, bucketing = true }

--- The lines of the slots and tables that these paths are in.
function paste.block(reader, fitted, names)
  local lines, done = {}, {}
  for _, path in ipairs(names) do
    local first = path:match "^[^.]+"
    if not done[first] then
      done[first] = true
      if slots[first] then
        local instance = policies.of(reader, first, fitted[first])
        lines[#lines + 1] = ("%s = %s,"):format(first, policy_text(schema.folders[first], instance))
      elseif first == "corrections" then
        lines[#lines + 1] = "corrections = {"
        for _, each in ipairs(core.plain(fitted.corrections)) do
          lines[#lines + 1] = "  " .. policy_text("corrections", each) .. ","
        end
        lines[#lines + 1] = "},"
      else
        local words = {}
        for key, value in core.sorted_pairs(fitted[first]) do words[#words + 1] = key .. " = " .. value_text(value) end
        lines[#lines + 1] = ("%s = { %s },"):format(first, core.join(words, ", "))
      end
    end
  end
  return core.join(lines, "\n")
end

return paste
