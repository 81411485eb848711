--- Idle power, and what is above it in proportion to the share of time in which the GPU is busy.
---
---     watts = facility_factor * (idle + (tdp - idle) * busy),   idle = idle_frac * tdp
local facility = require "rooflua.plan.facility"
local policy = require "rooflua.policy"

---@class power.Linear
---@field idle_frac number
---@field facility_factor number
local Linear = policy.define {
  name = "linear",
  doc = "Idle power plus the rest in proportion to the busy share; assumed.",
  params = {
    idle_frac = { default = 0.15, unit = "1", min = 0, max = 1, doc = "Idle power as a share of the datasheet's.",
      source = "assumed: about 100 W of 700 W on an idle H100" },
    facility_factor = facility.factor,
  },
}

--- @return number? watts of one GPU; nil where no datasheet was read
--- @return string bound what reports put in front
function Linear:watts(hardware, busy_frac)
  local tdp_w = hardware.tdp_w
  if tdp_w == 0 then return nil, "about" end
  local idle_w = self.idle_frac * tdp_w
  return self.facility_factor * (idle_w + (tdp_w - idle_w) * math.min(1, busy_frac or 1)), "about"
end

return Linear
