-- Which declared parameters `rooflua calibrate` fits, and how far.
local core = require "rooflua.base.core"
local declared = require "rooflua.applied.declared"
local numbers = require "rooflua.text.units"

local parameters = {}
local fail = core.fail

--- What is fitted where the user names nothing: the host's time in the step model and every correction.
function parameters.default(reader, given)
  local out = {}
  for _, each in ipairs(declared.all(reader, given)) do
    local fits = each.path:find "^steps%.host_" or each.path:find "^corrections%."
    if fits and each.kind == "continuous" and each.value ~= 0 then out[#out + 1] = each.path end
  end
  return out
end

--- Largest times of the front-end that are tried unless the user states a range.
local longest_frontend_s = { ["frontend.base_s"] = 0.1, ["frontend.per_prompt_token_s"] = 1e-4,
  ["frontend.per_output_token_s"] = 1e-2 }
local log_from = 10 -- ranges whose end is so many times their begin are searched on a logarithmic scale

--- "steps.host_step_s=0.001..0.05" as the path and its range; a path alone has the default range.
local function stated(text)
  local path, range = text:match "^%s*([^=]-)%s*=%s*(.-)%s*$"
  if not path then return text, nil end
  local low, high = range:match "^(.-)%s*%.%.%s*(.+)$"
  low, high = tonumber(low), tonumber(high)
  if not low or not high then
    fail("--params %s: expected PATH or PATH=MIN..MAX, as in steps.host_step_s=0.001..0.05", text)
  end
  return path, { min = low, max = high, log = low > 0 and high / low >= log_from or nil }
end

--- The paths and the argument `params` of fit, {path = range}, for these names; and the unit of each.
function parameters.of(reader, given, names)
  local paths_, out, units = {}, {}, {}
  for i, name in ipairs(names) do
    local path, own = stated(name)
    local most = longest_frontend_s[path]
    local range = declared.range(reader, given, path, own or most and { min = 0, max = most } or true, "params")
    local now = range.now or range.min
    if not own and (now < range.min or now > range.max) then
      fail("params: %s is %g now, outside %g to %g; state a range: --params %s=MIN..MAX", path, now, range.min,
        range.max, path)
    end
    if out[path] then fail("params: %s is named twice", path) end
    local start = math.max(range.min, math.min(range.max, now))
    out[path] = { min = range.min, max = range.max, start = start, now = now, log = range.log and start > 0,
      integer = range.integer }
    paths_[i], units[path] = path, range.unit or path:find "_s$" and "s" or nil
  end
  return paths_, out, units
end

local widening = 10 -- times as far as before: the range that is proposed where a value ends at its bound

--- What to try where a parameter ended at the end of a range that is not a limit of the parameter itself.
function parameters.wider(reader, given, fitted)
  local lines = {}
  for _, each in ipairs(fitted) do
    local found = each.at_bound and not each.no_effect and declared.find(reader, given, each.path, "params", true)
    if each.at_bound and not each.no_effect then
      local about, up = found and found.about or {}, each.after - each.min > each.max - each.after
      local bound = (up and about.max) or (not up and (about.min or each.min == 0 and 0)) or nil
      local low = up and each.min or math.max(bound or -math.huge, each.min / widening)
      local high = up and math.min(bound or math.huge, each.max * widening) or each.max
      if low < each.min or high > each.max then
        lines[#lines + 1] = ("%s ended at the %s end of its range, so a better value may lie beyond it: --params "
          .. "%s=%s..%s\n"):format(each.path, up and "upper" or "lower", each.path, numbers.significant(low, 6),
          numbers.significant(high, 6))
      end
    end
  end
  return core.join(lines)
end

return parameters
