-- How sure figures are of which a part is passes of an encoder (images, sounds, videos). No measured deployment sent
-- any, so a pass is a step with prompts of a kind that was never measured. Inside of a pass the host works on each item
-- (positions, cutting results). No source states how long, and it is priced as 0. The upper end leaves room for as long
-- as a server takes to prepare the items in front of the engine (pixel_s), which is published.
--
--     low, high = rest exp(ends[1]) + pass exp(pass.ends[1]), rest exp(ends[2]) + pass exp(pass.ends[2]) + host
--
-- A part is {time_s, host_s, ends = {low, high}}: of this value, with the most that the host may add.
local units = require "rooflua.text.units"

local passes = {}

--- {value, low, high} of a value with a part; the ends hold for the rest of it.
---@param ends number[] log(measured / simulated)
function passes.range(value, ends, part)
  local pass_s = math.min(part.time_s, value)
  local rest = value - pass_s
  return { value = value, low = rest * math.exp(ends[1]) + pass_s * math.exp(part.ends[1]),
    high = rest * math.exp(ends[2]) + pass_s * math.exp(part.ends[2]) + part.host_s }
end

--- What passes are of the mean TPOT, TTFT and E2E of a run: {tpot, ttft, e2e}. A request waits for passes over its
--- items. Passes of replicas that do all else as well delay decodes of others: by as much of the time as passes take.
---@param about table {ends, host_s = the most that the host adds to passes of an item, is_pool, replicas}
---@param summary table of a run with the part `encoder`
function passes.of_run(about, summary)
  local encoder = summary.encoder
  local longer = encoder.encode_s > 0 and about.host_s * encoder.encoded / encoder.encode_s or 0
  local function part(time_s) return { time_s = time_s, host_s = time_s * longer, ends = about.ends } end
  local share = (about.is_pool or summary.duration_s == 0) and 0
    or math.min(1, encoder.encode_s / (about.replicas * summary.duration_s))
  local own_s = math.min(encoder.encode_s / math.max(1, summary.completed), summary.ttft_s.mean or 0)
  return { tpot = part(share * (summary.tpot_s.mean or 0)), ttft = part(own_s),
    e2e = part(own_s + share * math.max(0, (summary.e2e_s.mean or 0) - (summary.ttft_s.mean or 0))) }
end

--- Why intervals are wider with passes of an encoder: {low, high = as factors, host_s, text}.
---@param host_s number the most that the host adds
---@param what string whose: "of an item"
function passes.about(ends, host_s, what)
  local low, high = math.exp(ends[1]), math.exp(ends[2])
  local room = host_s > 0 and ("; the host's work on each item is not known, and the upper end leaves room for %s %s, "
    .. "as long as preparing it takes"):format(units.text(host_s, "s"), what) or ""
  return { low = low, high = high, host_s = host_s,
    text = ("wider: passes of the encoder %+.0f to %+.0f %%, as no deployment behind it sent images%s"):format(
      100 * (low - 1), 100 * (high - 1), room) }
end

return passes
