--- The power that the datasheet allows, at all times: an upper bound.
local facility = require "power.model.facility"
local policy = require "rooflua.policy"

---@class power.Tdp
---@field host_w number
local Tdp = policy.define {
  name = "tdp",
  doc = "The datasheet's power, whatever the GPU does: an upper bound.",
  params = {
    host_w = facility.host_w,
  },
}

--- What the watts of a GPU rest on.
function Tdp:basis()
  return ("the datasheet's power at all times; low is %g %% of it, an idle GPU; %s"):format(100 * facility.idle_low,
    facility.text(self))
end

--- @return number? watts of one GPU; nil where no datasheet was read
--- @return string bound "at most": what reports put in front
--- @return number? low
--- @return number? high
function Tdp:watts(hardware, _)
  local tdp_w = hardware.tdp_w
  if tdp_w == 0 then return nil, "at most" end
  local _, low, high = facility.with(self, tdp_w, facility.idle_low * tdp_w, tdp_w)
  return high, "at most", low, high
end

return Tdp
