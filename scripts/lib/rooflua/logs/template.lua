-- Texts of log lines with figures in them: "{kv|gib2} GiB" is bytes as GiB with two decimals.
local core = require "rooflua.base.core"
local python = require "rooflua.logs.python"
local units = require "rooflua.text.units"

local template = {}

local gib = 2 ^ 30

--- How a figure is printed, by name.
local forms = {
  gib2 = function(bytes) return ("%.2f"):format(bytes / gib) end,
  gib4 = function(bytes) return ("%.4f"):format(bytes / gib) end,
  gib = function(bytes) return python.rounded(bytes / gib) end,
  mib0 = function(bytes) return ("%.0f"):format(bytes / 2 ^ 20) end,
  mib2 = function(bytes) return ("%.2f"):format(bytes / 2 ^ 20) end,
  grouped = units.grouped,
  whole = function(value) return ("%.0f"):format(value) end,
  f0 = function(value) return ("%.0f"):format(value) end,
  f2 = function(value) return ("%.2f"):format(value) end,
  f4 = function(value) return ("%.4f"):format(value) end,
  f6 = function(value) return ("%.6f"):format(value) end,
  float = python.float,
  single = python.single,
  repr = python.repr,
}

local function plain(value)
  if type(value) == "number" and value == math.floor(value) then return ("%.0f"):format(value) end
  return type(value) == "string" and value or python.repr(value)
end

--- The text with figures in the place of {name} and {name|form}. A name without a figure is an error.
function template.fill(text, figures)
  return (text:gsub("{([%a_][%w_]*)|?(%w*)}", function(name, form)
    local value = figures[name]
    if value == nil and form ~= "repr" then core.fail("start-up log: no figure '%s' for '%s'", name, text) end
    if form == "" then return plain(value) end
    if not forms[form] then
      core.fail("start-up log: %s", core.unknown_name("form", form, core.sorted_keys(forms)))
    end
    return forms[form](value)
  end))
end

--- Whether figures have what a row asks for: "graphs", "not graphs", several with spaces between them.
function template.holds(asked, figures)
  local is_negated = false
  for word in (asked or ""):gmatch "%S+" do
    if word == "not" then
      is_negated = true
    else
      if (not figures[word]) ~= is_negated then return false end
      is_negated = false
    end
  end
  return true
end

return template
