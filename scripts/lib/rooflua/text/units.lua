--- Numbers as text with a unit. The unit comes from the end of a name: time_s, kv_bytes, busy_frac.
local evidence_names = require("rooflua.base.words").names "evidence"

local units = {}
local format, abs = string.format, math.abs

local statistics = { mean = true, std = true, min = true, max = true, p50 = true, p90 = true, p95 = true,
  p99 = true }
local shares = { mfu = true, share = true, kept = true }

--- The unit of a name: "s" of "ttft_s" and "ttft_s_p50", "B/s" of "memory_bytes_per_s"; nil if the name has none.
function units.of(name)
  if type(name) ~= "string" then return nil end
  local stem, statistic = name:match "^(.*)_([%w]+)$"
  if statistic and statistics[statistic] then name = stem end
  local per = name:match "^(.*)_per_s$"
  if per then
    local what = per:match "[^_]+$"
    return (what == "bytes" and "B" or what) .. "/s"
  end
  if shares[name] then return "share" end
  local last = name:match "[^_]+$"
  if last == "s" and name ~= "s" then return "s" end
  if last == "frac" then return "share" end
  if last == "bytes" then return "B" end
  if last == "flop" then return "flop" end
  if last == "tokens" and name ~= "tokens" then return "tokens" end
end

local most_decimals = 12

--- Four significant digits, never an exponent.
local function figure(value)
  if value == 0 then return "0" end
  local digits = 3 - tonumber(format("%.3e", abs(value)):match "e(.*)$") -- of the rounded number
  return format("%." .. math.min(math.max(digits, 0), most_decimals) .. "f", value)
end

--- At most so many significant digits, without zeros at the end of a fraction and without an exponent: 20180.
---@param value number
---@param digits integer
---@return string
function units.significant(value, digits)
  local text = format("%." .. digits .. "g", value)
  local exponent = tonumber(text:match "e(.*)$")
  if not exponent then return text end
  local decimals = math.min(math.max(digits - 1 - exponent, 0), most_decimals)
  text = format("%." .. decimals .. "f", tonumber(text))
  if decimals > 0 then text = text:gsub("0+$", ""):gsub("%.$", "") end
  return text == "-0" and "0" or text
end

--- 1234567 -> "1,234,567"
function units.grouped(value)
  local sign, digits = format("%.0f", value):match "^(%-?)(%d+)$"
  if not digits then return tostring(value) end -- not finite
  return sign .. digits:reverse():gsub("(%d%d%d)", "%1,"):reverse():gsub("^,", "")
end

--- "1 replica", "3 replicas".
function units.counted(count, noun) return format("%d %s%s", count, noun, count == 1 and "" or "s") end

local function time_text(value)
  local size = abs(value)
  if size == 0 then return "0 s" end
  if size >= 1 then return figure(value) .. " s" end
  if size >= 1e-3 then return figure(value * 1e3) .. " ms" end
  if size >= 1e-6 then return figure(value * 1e6) .. " us" end
  if size < 1e-12 then return (value < 0 and ">-" or "<") .. "0.001 ns" end
  return figure(value * 1e9) .. " ns"
end

local function scaled(value, unit)
  local size, prefixes, i = abs(value), { "", "k", "M", "G", "T", "P", "E" }, 1
  while size >= 1000 and i < #prefixes do
    value, size, i = value / 1000, size / 1000, i + 1
  end
  local text = i == 1 and value % 1 == 0 and format("%d", value) or figure(value)
  return text .. " " .. prefixes[i] .. unit
end

--- A share in percent: "43.1 %", "<0.1 %", ">99.9 %"; "-" of none.
---@param value number?
---@param digits integer? decimals, default 1
function units.percent(value, digits)
  if not value then return "-" end
  local text = format("%." .. (digits or 1) .. "f %%", value * 100)
  if text == "0.0 %" and value > 0 then return "<0.1 %" end
  if text == "100.0 %" and value < 1 then return ">99.9 %" end
  return text
end

--- The same in a column whose head has the unit: "4.2", of an error "+4.2"; from 1,000 % on a multiple, "12x".
---@param has_sign boolean?
function units.in_percent(value, has_sign)
  if not value then return "-" end
  local sign = has_sign and "+" or ""
  return abs(value) >= 9.995 and format("%" .. sign .. ".0fx", value) or format("%" .. sign .. ".1f", value * 100)
end

--- "measured 8.9 %, interpolated 91.1 %; touched by notes 3.0 %": shares above 0, as reports of runs have them.
---@param evidence table<string, number> shares by its name
---@param noted_frac number?
function units.evidence(evidence, noted_frac)
  local parts = {}
  for _, name in ipairs(evidence_names) do
    if (evidence[name] or 0) > 0 then parts[#parts + 1] = name .. " " .. units.percent(evidence[name]) end
  end
  local text = table.concat(parts, ", ")
  return (noted_frac or 0) > 0 and text .. "; touched by notes " .. units.percent(noted_frac) or text
end

--- A number with its unit: 12.35 ms, 3.350 TB/s, 43.1 %, 4,096 tokens.
function units.text(value, unit)
  if value ~= value or value == math.huge or value == -math.huge then return tostring(value) end
  if unit == "s" then return time_text(value) end
  if unit == "share" then return units.percent(value) end
  if unit == "B" or unit == "flop" or unit == "B/s" or unit == "flop/s" then return scaled(value, unit) end
  local text
  if value % 1 == 0 then text = units.grouped(value) else text = figure(value) end
  if unit == "tokens" and value == 1 then unit = "token" end
  return unit and text .. " " .. unit or text
end

--- Number of characters that a terminal shows for UTF-8 text.
function units.width(text)
  local _, continuations = text:gsub("[\128-\191]", "")
  return #text - continuations
end

function units.padded(text, columns, right)
  local space = (" "):rep(columns - units.width(text))
  return right and space .. text or text .. space
end

return units
