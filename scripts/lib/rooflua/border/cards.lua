-- What a person does to cards, as figures of one GPU: a limit on their watts, cards of several kinds in one group.
--
--     hardware = { from = "rtx-3090", power_cap_w = 250 }
--     hardware = { mixed = { "rtx-3090", "rtx-4090" } }
--
-- Under a limit clocks fall: watts grow with the cube of the clock where the voltage follows it, so that the clock is
-- (cap / tdp)^(1/3) of the largest. It is an assumption that gives the direction; memory keeps its rate. Ranks of a
-- mixed group wait for each other, so each figure is that of the card that has less.
local core = require "rooflua.base.core"

local cards = {}
local fail = core.fail

--- Figures of a base under a limit of watts, in place of `power_cap_w`.
---@param own table keys of a hardware table; changed
---@param base rooflua.Hardware?
function cards.capped(own, base)
  local cap_w = own.power_cap_w
  if cap_w == nil then return end
  own.power_cap_w = nil
  core.positive(cap_w, "hardware.power_cap_w")
  if not base then fail "hardware.power_cap_w: needs `from`, whose watts it limits" end
  for _, key in ipairs { "clock_hz", "clock_mhz", "peak_flop_per_s", "peak_tflop_per_s", "tdp_w" } do
    if own[key] ~= nil then fail("hardware.%s: follows from power_cap_w; state one of them", key) end
  end
  local tdp_w = base.tdp_w
  if tdp_w == 0 then fail("hardware.power_cap_w: %s states no tdp_w", base.name) end
  if cap_w > tdp_w then
    fail("hardware.power_cap_w: has no effect: %s is allowed %g W, less than %g", base.name, tdp_w, cap_w)
  end
  local share = (cap_w / tdp_w) ^ (1 / 3)
  own.tdp_w, own.clock_hz, own.peak_flop_per_s = cap_w, base.clock_hz * share, {}
  for format, peak in core.pairs(base.peak_flop_per_s) do own.peak_flop_per_s[format] = peak * share end
end

local figures = { "memory_bytes_per_s", "link_bytes_per_s", "host_bytes_per_s", "network_bytes_per_s", "memory_bytes",
  "usable_memory_bytes", "clock_hz", "sms", "domain_gpus", "node_gpus" }

--- The card of a group that has the least bandwidth, and the figures in which others have less than it.
---@param open function name -> rooflua.Hardware
---@return rooflua.Hardware base
---@return table own keys of a hardware table
function cards.mixed(names, open)
  if type(names) ~= "table" or #names < 2 then
    fail("hardware.mixed: expected a list of two or more GPUs, found %s", core.describe(names))
  end
  local list, base = {}, nil
  for i, name in ipairs(names) do
    list[i] = open(name)
    if not base or list[i].memory_bytes_per_s < base.memory_bytes_per_s then base = list[i] end
  end
  local own = { peak_flop_per_s = {}, peer_copies = base.peer_copies }
  for _, key in ipairs(figures) do
    for _, each in ipairs(list) do
      if each[key] > 0 and each[key] < (own[key] or base[key]) then own[key] = each[key] end
    end
  end
  for format, peak in core.pairs(base.peak_flop_per_s) do
    for _, each in ipairs(list) do peak = math.min(peak, each.peak_flop_per_s[format] or peak) end
    own.peak_flop_per_s[format] = peak
  end
  for _, each in ipairs(list) do own.peer_copies = own.peer_copies and each.peer_copies end
  return base, own
end

return cards
