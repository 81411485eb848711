--- Links that carry less for a while.
local parameters = require "faults.detection.parameters"
local policy = require "rooflua.policy"

---@class faults.Links: rooflua.Faults
---@field link string
---@field factor number
---@field every_s number
---@field for_s number
---@field replica integer
local Links = policy.define {
  name = "links",
  doc = "One of `links` carries less, or nothing: always, or for a time now and then.",
  source = "a factor on bytes_per_s; which links fail, and how often, is the user's to state",
  params = parameters.of_links {
    link = { default = "nic", type = "string", doc = "Its name among `links`." },
    factor = { default = 0, unit = "1", min = 0, max = 1,
      doc = "The part of its bytes/s that it carries; 0: whatever is on it stands still." },
    every_s = { default = 3600, unit = "s", min = 0,
      doc = "Mean time from the end of such a time to the next, exponential; 0: it is always so." },
    for_s = { default = 10, unit = "s", min = 0, exclusive_min = true, doc = "How long it lasts.",
      idle = { every_s = 0 } },
    replica = { default = 0, integer = true, min = 0,
      doc = "Only the wires of this replica, or of its node; 0: all wires of the link." },
  },
}

function Links:start(rng)
  self.draws, self.time_s = rng:stream "links", 0
  if self.every_s > 0 then self.time_s = self.draws:exponential(1 / self.every_s) end
end

function Links:next()
  local time_s = self.time_s
  if not time_s then return nil end
  local always = self.every_s == 0
  self.time_s = not always and time_s + self.for_s + self.draws:exponential(1 / self.every_s) or nil
  return { time_s = time_s, kind = "link", link = self.link, factor = self.factor,
    for_s = not always and self.for_s or nil, replica = self.replica > 0 and self.replica or nil }
end

return Links
