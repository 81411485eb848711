-- Help on the fitted constants of modelled kernels and collectives.
local native = require "rooflua.native"
local core = require "rooflua.base.core"

local constants = {}

local function with_unit(value, unit)
  return native.number_text(value) .. (unit ~= "1" and " " .. unit or "")
end

local function families()
  local fitted, others = {}, {}
  for _, name in ipairs(native.list_folder(native.home .. "/bench_data/families", ".toml")) do
    local about = native.kernel_constants(name)
    if about.fitted_on ~= "" then
      fitted[#fitted + 1] = { name = name, text = ("%s (%s)"):format(about.family, about.fitted_on) }
    else
      others[#others + 1] = about.family
    end
  end
  return fitted, others
end

--- Every constant with value, unit, range and source, of the families on which they were fitted.
function constants.text()
  local lines = { "mfu.model: constants of modelled kernels and collectives, where no table has an answer",
    "  --set mfu.model.NAME=VALUE, or in a scenario: mfu = { model = { NAME = VALUE } }" }
  local fitted, others = families()
  for _, family in ipairs(fitted) do
    lines[#lines + 1] = "fitted on " .. family.text .. "; bench_data/families/" .. family.name .. ".toml"
    for _, each in ipairs(native.kernel_constants(family.name).list) do
      lines[#lines + 1] = ("  %s = %s  (%s to %s)"):format(each.name, with_unit(each.value, each.unit),
        native.number_text(each.min), native.number_text(each.max))
      lines[#lines + 1] = "      " .. each.doc
      lines[#lines + 1] = "      source: " .. each.source
    end
  end
  if #others > 0 then lines[#lines + 1] = "taken over, none fitted: " .. core.join(others, ", ") end
  return core.join(lines, "\n")
end

return constants
