-- Intervals as words: "22.1 ms (19.8 to 25.0)", and what stands after them.
local units = require "rooflua.text.units"

local words = {}

--- "no deployment like this one was measured" or "14 deployments like this one".
function words.evidence(deployments)
  if deployments == 0 then return "no deployment like this one was measured: as wide as that of most kinds" end
  return units.counted(deployments, "deployment") .. " like this one"
end

local scales = { { 1, "s" }, { 1e-3, "ms" }, { 1e-6, "us" } }

--- Three digits in front of the point or after it: 19.8, 0.198, 198, 19800.
local function figure(value)
  local size = math.abs(value)
  local digits = size >= 100 and 0 or size >= 10 and 1 or size >= 1 and 2 or 3
  return ("%." .. digits .. "f"):format(value)
end

--- "22.1 ms (19.8 to 25.0)" of seconds; with a sentence "22.1 ms (19.8 to 25.0; 14 deployments like this one)".
function words.range(of, sentence)
  local scale = scales[#scales]
  for i = #scales, 1, -1 do
    if of.value >= scales[i][1] then scale = scales[i] end
  end
  local function text(value) return figure(value / scale[1]) end
  return ("%s %s (%s to %s%s)"):format(text(of.value), scale[2], text(of.low), text(of.high),
    sentence and "; " .. sentence or "")
end

--- "TPOT -8 to +21 %".
function words.relative(name, low, high)
  return ("%s %+.0f to %+.0f %%"):format(name, 100 * (low - 1), 100 * (high - 1))
end

--- "vllm, moe-tp, blackwell".
function words.kind(kind)
  return ("%s, %s, %s"):format(kind.engine, kind.class, kind.architecture)
end

--- "nearest: 14 points on h100-sxm, 27 points on h200-sxm" of the kind itself; else with the kinds that they are of;
--- nil of none.
--- @param asked string the kind and the load that is asked about, as words.kind and the load say it
function words.nearest(list, asked)
  local text, before = "", nil
  for _, each in ipairs(list) do
    local group = words.kind(each) .. ", " .. each.load
    if before == asked and group ~= asked then break end
    local points = units.counted(each.points, "point") .. " on " .. each.gpu
    local head = group == asked and "" or group .. ": "
    text = text .. (group == before and ", " .. points or (before and "; " or "") .. head .. points)
    before = group
  end
  return before and "nearest: " .. text or nil
end

return words
