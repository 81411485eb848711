--- The power that the datasheet allows, at all times: an upper bound.
local policy = require "rooflua.policy"

---@class power.Tdp
local Tdp = policy.define {
  name = "tdp",
  doc = "The datasheet's power, whatever the GPU does: an upper bound.",
  params = {},
}

--- @return number? watts of one GPU; nil where no datasheet was read
--- @return string bound "at most": what reports put in front
function Tdp:watts(hardware, _) -- luacheck: ignore 212
  return hardware.tdp_w > 0 and hardware.tdp_w or nil, "at most"
end

return Tdp
