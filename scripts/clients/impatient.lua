--- A client that waits for a time of its own, and may send its request again.
local backoff = require "rooflua.backoff"
local policy = require "rooflua.policy"

---@class clients.Impatient: rooflua.Client
---@field first_token_s number
---@field total_s number
---@field distribution string
---@field retries integer
---@field delay_s number
---@field factor number
---@field most_s number
---@field jitter number
local Impatient = policy.define {
  name = "impatient",
  doc = "It ends a request whose first token, or whose last one, is late, and may send it again: at once and without "
    .. "end by default, as callers do whose timeout is wrapped in a loop.",
  params = {
    first_token_s = { default = 10, unit = "s", min = 0, doc = "How long it waits for the first token; 0: for ever." },
    total_s = { default = 0, unit = "s", min = 0, doc = "How long it waits for the last token; 0: for ever." },
    distribution = { default = "constant", values = { "constant", "exponential" },
      doc = "Of both times over requests; exponential: the times above are means.",
      idle = { first_token_s = 0, total_s = 0 } },
    retries = { default = 0, unit = "retries", min = 0, max = 90000, integer = true,
      doc = "How often it sends a request again that got no answer." },
    delay_s = { default = 0, unit = "s", min = 0, doc = "From the end of an attempt to the first retry.",
      idle = { retries = 0 } },
    factor = { default = 1, unit = "1", min = 1, doc = "By which the delay grows from one retry to the next.",
      idle = { { retries = 0 }, { delay_s = 0 } } },
    most_s = { default = 60, unit = "s", min = 0, doc = "The longest delay.",
      idle = { { retries = 0 }, { delay_s = 0 } } },
    jitter = { default = 0, unit = "1", min = 0, max = 1,
      doc = "Part of a delay that is drawn at random: 0.25 makes it 0.75 to 1 of what it was.",
      idle = { { retries = 0 }, { delay_s = 0 } } },
  },
}

function Impatient:patience(_, draws)
  local times = {}
  for i, mean_s in ipairs { self.first_token_s, self.total_s } do
    times[i] = mean_s == 0 and math.huge or self.distribution == "constant" and mean_s or draws:exponential(1 / mean_s)
  end
  return times[1], times[2]
end

function Impatient:again(_, ending, draws)
  if ending.attempt >= self.retries then return nil end
  return backoff.delay_s(self, ending.attempt, draws)
end

return Impatient
