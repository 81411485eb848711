--- The typical decode batch: the number of decodes of the step in which the median decode second lies.
---
--- Steps are weighted by their time, because a long step is where most requests wait for their next
--- token. Steps without a decode do not count.
local policy = require "rooflua.policy"

---@class metrics.DecodeBatchP50
---@field share number
---@field time_s table seconds of steps, by their number of decodes
---@field largest number the largest number of decodes so far
local DecodeBatch = policy.define {
  name = "decode_batch_p50",
  doc = "Decodes of a step, the median over the time of steps that decode.",
  unit = "requests",
  better = "neither",
  params = {
    share = { default = 0.5, unit = "1", min = 0, max = 1,
      doc = "Part of the time with at most this many decodes: 0.5 is the median, 0.99 the nearly largest." },
  },
}

---@param step rooflua.EndedStep
function DecodeBatch:on_step(step)
  local decodes = step.decodes
  if decodes == 0 then return end
  local time_s = self.time_s
  if not time_s then
    time_s = {}
    self.time_s, self.largest = time_s, 0
  end
  for n = self.largest + 1, decodes do time_s[n] = 0 end
  if decodes > self.largest then self.largest = decodes end
  time_s[decodes] = time_s[decodes] + step.time_s
end

---@return number? decodes
function DecodeBatch:value()
  local time_s = self.time_s
  if not time_s then return nil end
  local sum_s, seen_s = 0, 0
  for n = 1, self.largest do sum_s = sum_s + time_s[n] end
  for n = 1, self.largest do
    seen_s = seen_s + time_s[n]
    if seen_s >= self.share * sum_s and time_s[n] > 0 then return n end
  end
  return self.largest
end

return DecodeBatch
