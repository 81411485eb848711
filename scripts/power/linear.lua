--- Idle power, and what is above it in proportion to the share of time in which the GPU is busy.
---
---     watts = facility_factor * (idle + (tdp - idle) * busy) + host_w,   idle = idle_frac * tdp
---
--- Low is an idle GPU, high one at its limit: nothing was measured.
local facility = require "power.model.facility"
local policy = require "rooflua.policy"

---@class power.Linear
---@field idle_frac number
---@field facility_factor number
---@field host_w number
local Linear = policy.define {
  name = "linear",
  doc = "Idle power plus the rest in proportion to the busy share; assumed.",
  params = {
    idle_frac = { default = 0.15, unit = "1", min = 0, max = 1, doc = "Idle power as a share of the datasheet's.",
      source = "assumed: about 100 W of 700 W on an idle H100" },
    facility_factor = facility.factor,
    host_w = facility.host_w,
  },
}

--- What the watts of a GPU rest on.
function Linear:basis()
  return ("the datasheet's power by busy share from %g %% on, assumed: low is an idle GPU, high one at its limit; %s")
    :format(100 * self.idle_frac, facility.text(self))
end

--- @return number? watts of one GPU; nil where no datasheet was read
--- @return string bound what reports put in front
--- @return number? low
--- @return number? high
function Linear:watts(hardware, busy_frac)
  local tdp_w = hardware.tdp_w
  if tdp_w == 0 then return nil, "about" end
  local idle_w = self.idle_frac * tdp_w
  local most_w = busy_frac == 0 and math.max(idle_w, facility.idle_high * tdp_w) or tdp_w
  local watts, low, high = facility.with(self, idle_w + (tdp_w - idle_w) * math.min(1, busy_frac or 1), idle_w, most_w)
  return watts, "about", low, high
end

return Linear
