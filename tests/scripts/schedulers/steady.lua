--- Settings that the schedules of SGLang share.
local Sglang = require "schedulers.sglang"
local sglang = {}

--- The ratio does not change, because the minimum factor is 1.
function sglang.steady(ratio, parameters)
  local all = { init_new_token_ratio = ratio, min_new_token_ratio_factor = 1 }
  for key, value in pairs(parameters or {}) do all[key] = value end
  return Sglang(all)
end

return sglang
