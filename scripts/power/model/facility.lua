-- What stands around a GPU: the parameters that policies of power have in common, and what they add to its watts.
local facility = {}

--- Declaration of `facility_factor`.
facility.factor = { default = 1.0, unit = "1", min = 1, max = 5,
  doc = "Host, network, cooling and losses, as a multiple of the GPU.",
  source = "InferenceX counts 1.73 kW per H100 with everything: 2.5 of its 700 W" }

--- Declaration of `host_w`.
facility.host_w = { default = 0, unit = "W", min = 0, max = 5000,
  doc = "What the rest of a node draws for each of its GPUs: CPUs, fans, NICs, switches, losses; 0: GPUs alone. "
    .. "Nodes of eight H100: 340 cooled by air, 175 by water. Low and high are 0.5 and 1.7 of it.",
  source = "kW of nodes under full load less eight times the limit of 700 W: 8.48 (air; Latif et al., arXiv "
    .. "2412.08602), 8.16 (air) and 6.99 (water; Latif et al., arXiv 2507.16781, as quoted by others). 1.7: the rating "
    .. "of 10.2 kW less the GPUs', over 340; 0.5: water over air" }

local host_low, host_high = 0.5, 1.7 -- of host_w

--- What an idle GPU draws of its limit: 17 to 25 % was measured
--- (power.csv, power_by_load.csv).
facility.idle_low, facility.idle_high = 0.15, 0.25

--- Watts with what stands around the GPU.
---@param own table the policy: facility_factor (nothing: 1), host_w
---@return number watts
---@return number low
---@return number high
function facility.with(own, watts, low, high)
  local factor = own.facility_factor or 1
  return factor * watts + own.host_w, factor * low + host_low * own.host_w, factor * high + host_high * own.host_w
end

--- "GPUs alone", or what else the figures of a policy count.
function facility.text(own)
  local parts = { "GPUs" }
  if (own.facility_factor or 1) ~= 1 then parts[1] = ("GPUs x %g"):format(own.facility_factor) end
  if own.host_w > 0 then parts[2] = ("%g W (%g to %g) for the host of each"):format(own.host_w, host_low * own.host_w,
    host_high * own.host_w) end
  return #parts == 1 and parts[1] == "GPUs" and "GPUs alone" or table.concat(parts, " + ")
end

return facility
