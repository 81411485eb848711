--- Faults at given times.
local parameters = require "faults.detection.parameters"
local policy = require "rooflua.policy"

---@class faults.Scripted: rooflua.Faults
---@field list table[]
local Scripted = policy.define {
  name = "scripted",
  doc = "What fails when is a list.",
  params = parameters.of_links(parameters.of_replicas {
    list = { default = {}, type = "any",
      doc = "Faults by time: { time_s, replica, repair_s } loses a replica, for ever without repair_s; "
        .. "{ time_s, replica, factor, for_s } makes its steps take `factor` times as long; "
        .. "{ time_s, link, factor, for_s } lets one of `links` carry this part of its bytes/s, or, with replica, the "
        .. "wires of that replica or of its node." },
  }),
}

local known = { time_s = true, replica = true, repair_s = true, factor = true, for_s = true, link = true }

local function fail(place, message, ...)
  error(("faults.scripted: list[%d]: %s"):format(place, message:format(...)), 0)
end

local function check(place, entry, before)
  if type(entry) ~= "table" then fail(place, "expected a fault, as in { time_s = 60, replica = 1 }") end
  for key in pairs(entry) do
    if not known[key] then
      fail(place, "unknown key '%s' (known: factor, for_s, link, repair_s, replica, time_s)", tostring(key))
    end
  end
  local needed = entry.link == nil and { "time_s", "replica" } or { "time_s", "factor" }
  for _, key in ipairs(needed) do
    if type(entry[key]) ~= "number" then fail(place, "%s is missing", key) end
  end
  if entry.factor and entry.repair_s then
    fail(place, "factor and repair_s: %s",
      entry.link and "a link has for_s" or "a replica is slow, or it fails; say one")
  end
  if entry.for_s and not entry.factor then fail(place, "for_s changes nothing without factor; say repair_s") end
  if entry.time_s < before then fail(place, "time_s: %g lies before the fault in front of it", entry.time_s) end
end

function Scripted:start()
  local before = 0
  for place, entry in ipairs(self.list) do
    check(place, entry, before)
    before = entry.time_s
  end
  self.place = 0
end

function Scripted:next()
  self.place = self.place + 1
  local entry = self.list[self.place]
  if not entry then return nil end
  return { time_s = entry.time_s, replica = entry.replica, link = entry.link,
    kind = entry.link and "link" or entry.factor and "slow" or "fail",
    for_s = entry.for_s or entry.repair_s, factor = entry.factor }
end

return Scripted
