--- The OpenAI client for Python.
local backoff = require "rooflua.backoff"
local policy = require "rooflua.policy"

---@class clients.OpenAI: rooflua.Client
---@field timeout_s number
---@field max_retries integer
---@field initial_delay_s number
---@field max_delay_s number
---@field jitter number
---@field stream boolean
local OpenAI = policy.define {
  name = "openai",
  doc = "It waits 10 minutes, and sends a request again, twice, that timed out, lost its connection, or got the status "
    .. "408, 409, 429 or 500 and above. A header Retry-After is not modelled.",
  source = "openai-python 1.0 and later: src/openai/_constants.py, _base_client.py (_should_retry, "
    .. "_calculate_retry_timeout)",
  params = {
    timeout_s = { default = 600, unit = "s", min = 0, exclusive_min = true,
      doc = "How long nothing may come: the whole answer, or with stream its first token." },
    max_retries = { default = 2, unit = "retries", min = 0, max = 90000, integer = true,
      doc = "How often a request is sent again." },
    initial_delay_s = { default = 0.5, unit = "s", min = 0, doc = "Before the first retry; doubled from then on.",
      idle = { max_retries = 0 } },
    max_delay_s = { default = 8, unit = "s", min = 0, doc = "The longest delay.", idle = { max_retries = 0 } },
    jitter = { default = 0.25, unit = "1", min = 0, max = 1, doc = "Part of a delay that is drawn at random.",
      idle = { max_retries = 0 } },
    stream = { default = false,
      doc = "Tokens come one by one: after the first one nothing is sent again, and gaps between them may be long." },
  },
}

function OpenAI:patience()
  if self.stream then return self.timeout_s end
  return nil, self.timeout_s
end

local function is_retried(status)
  return status == nil or status == 408 or status == 409 or status == 429 or status >= 500
end

function OpenAI:again(_, ending, draws)
  if ending.attempt >= self.max_retries or not is_retried(ending.status) then return nil end
  if self.stream and ending.output_tokens > 0 then return nil end
  return backoff.delay_s({ delay_s = self.initial_delay_s, factor = 2, most_s = self.max_delay_s,
    jitter = self.jitter }, ending.attempt, draws)
end

return OpenAI
