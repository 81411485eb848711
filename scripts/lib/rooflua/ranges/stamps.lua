-- Times as exports write them, in seconds since 1970: numbers of seconds, milliseconds or nanoseconds, ISO 8601, and
-- "YYYY-MM-DD HH:MM:SS" of a clock whose zone the file does not say.
local stamps = {}

--- From these numbers on a stamp counts milliseconds, microseconds, nanoseconds: seconds of the years 2001 to 5138.
local scales = { { 1e17, 1e9 }, { 1e14, 1e6 }, { 1e11, 1e3 }, { 1e9, 1 } }

--- Days from 1970 to a day of the Gregorian calendar (March is the first month, so that February ends a year).
local function days_of(year, month, day)
  local shifted = (month + 9) % 12
  year = year - (month <= 2 and 1 or 0)
  return 365 * year + math.floor(year / 4) - math.floor(year / 100) + math.floor(year / 400)
    + math.floor((153 * shifted + 2) / 5) + day - 1 - 719468
end

local function is_leap(year) return year % 4 == 0 and (year % 100 ~= 0 or year % 400 == 0) end

local month_days = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 }

local function of_number(value)
  for _, scale in ipairs(scales) do
    if value >= scale[1] then return value < 1e20 and value / scale[2] or nil end
  end
end

--- The offset of a zone: "Z", "+01:00", "-0530"; nil where it is none.
local function offset_of(zone)
  if zone == "Z" or zone == "z" or zone == " UTC" then return 0 end
  local sign, hours, minutes = zone:match "^ ?([+-])(%d%d):?(%d%d)$"
  if not sign or tonumber(hours) > 14 or tonumber(minutes) > 59 then return nil end
  return (sign == "-" and -1 or 1) * (3600 * hours + 60 * minutes)
end

local function of_text(text)
  local year, month, day, hour, minute, second, rest =
    text:match "^(%d%d%d%d)[-/](%d%d)[-/](%d%d)[T ](%d%d):(%d%d):(%d%d)(.*)$"
  if not year then return nil end
  year, month, day, hour = tonumber(year), tonumber(month), tonumber(day), tonumber(hour)
  local most = month_days[month]
  if month == 2 and is_leap(year) then most = 29 end
  if not most or day < 1 or day > most then return nil end
  if hour > 23 or tonumber(minute) > 59 or tonumber(second) > 60 then return nil end
  local part, zone = rest:match "^([.,]%d+)(.*)$"
  zone = zone or rest
  local offset = zone ~= "" and offset_of(zone) or zone == "" and 0
  if not offset or year < 1970 then return nil end
  local whole = 86400 * days_of(year, month, day) + 3600 * hour + 60 * minute + second
  return whole + (part and tonumber("0." .. part:sub(2)) or 0) - offset, zone == ""
end

--- Seconds since 1970, and whether the zone is not said; nil where it is no time.
---@param value string|number|nil
function stamps.read(value)
  if type(value) == "number" then return of_number(value) end
  if type(value) ~= "string" then return nil end
  local number = value:find "^%d+%.?%d*$" and tonumber(value)
  if number then return of_number(number) end
  return of_text(value)
end

--- A time for people, in UTC.
function stamps.text(second) return os.date("!%Y-%m-%d %H:%M:%S", math.floor(second + 0.5)) end

return stamps
