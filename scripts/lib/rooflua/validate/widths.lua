-- The widths of a measured deployment: attention over tp ranks in each of dp copies, experts over moe_tp x ep ranks.
local widths = {}

--- Why a deployment of these widths cannot be simulated; nil if it can.
--- @param of table {tp, dp, moe_tp, ep}
function widths.refusal(of, model)
  if of.ep > 1 and not model.moe then return "widths: ep of a model without experts" end
end

--- The keys of a deployment with these widths. Those that are 1 are left out.
function widths.keys(of)
  local out = { tp = of.tp }
  if of.dp > 1 then out.dp = of.dp end
  if of.ep > 1 then out.ep = of.ep end
  if out.dp or out.ep then out.moe_tp = of.moe_tp end
  return out
end

return widths
