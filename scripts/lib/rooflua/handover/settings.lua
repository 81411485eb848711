-- Settings of a policy on the way to another program: each is taken into the file, named in a comment of it, or refused
-- by its name. What the writer did not look at is an error of the writer, so that no setting is lost.
local core = require "rooflua.base.core"

local settings = {}

local Settings = {}
Settings.__index = Settings

--- @param format string of --write
--- @param what string where the policy stands: "admission"
--- @param given table {name, parameters}
function settings.of(format, what, given)
  return setmetatable({ format = format, what = what, name = given.name, values = given.parameters, seen = {} },
    Settings)
end

function Settings:fail(message, ...)
  return core.fail("--write %s: %s %s: %s", self.format, self.what, self.name, message:format(...))
end

function Settings:take(name)
  self.seen[name] = true
  return self.values[name]
end

--- A whole number, for fields of the target that have no fractions.
function Settings:whole(name, least)
  local value = self:take(name)
  if value % 1 ~= 0 or value < (least or 0) then
    self:fail("%s: expected a whole number from %d on, found %g", name, least or 0, value)
  end
  return value
end

--- A setting that the target cannot express: only the value that changes nothing there passes.
function Settings:refuse(name, neutral, why)
  local value = self:take(name)
  if value ~= neutral then
    self:fail("%s = %s has no place in the file: %s", name, tostring(value), why)
  end
end

--- Settings that say what the world is like, and not what the target shall do.
function Settings:pass(...)
  for _, name in ipairs { ... } do self.seen[name] = true end
end

--- Raises an error for a setting that nothing has looked at.
function Settings:finish()
  for name in core.sorted_pairs(self.values) do
    if not self.seen[name] then self:fail("the writer does not know the setting '%s'", name) end
  end
end

return settings
