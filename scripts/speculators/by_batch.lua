--- A table from the number of decoding requests to the number of drafts. Beyond the table there are none.
local policy = require "rooflua.policy"

---@class speculators.ByBatch: rooflua.Speculator
---@field ranges table[] {low, high, drafts}
local ByBatch = policy.define {
  name = "by_batch",
  doc = "Drafts by the number of decoding requests, as a table says; none beyond it.",
  source = "vLLM num_speculative_tokens_per_batch_size (0.24 on); TensorRT-LLM max_concurrency",
  params = {
    ranges = { default = { { 1, 4, 5 }, { 5, 16, 3 }, { 17, 64, 1 } }, unit = "{requests, requests, tokens}",
      doc = "List of {low, high, drafts}: with low to high decoding requests, so many drafts each.",
      source = "no engine has a default" },
  },
}

local max = math.max

local function is_count(value, least)
  return type(value) == "number" and value >= least and value < 2 ^ 31 and value % 1 == 0
end

--- Raises an error unless ranges are ascending and apart, and returns the most drafts of one.
local function most_drafts(ranges)
  local most, before = 0, 0
  for i, range in ipairs(ranges) do
    local low, high, drafts
    if type(range) == "table" then low, high, drafts = range[1], range[2], range[3] end
    if not (is_count(low, 1) and is_count(high, 1) and is_count(drafts, 0)) or drafts > 64 then
      error(("by_batch.ranges[%d]: expected {low, high, drafts}: numbers of requests, and 0 to 64 drafts"):format(i), 0)
    end
    if low <= before or high < low then
      error(("by_batch.ranges[%d]: expected ranges in ascending order that do not overlap, found %d to %d after %d")
        :format(i, low, high, before), 0)
    end
    most, before = max(most, drafts), high
  end
  return most
end

---@return integer
function ByBatch:depth() return most_drafts(self.ranges) end

---@param batch rooflua.Batch
---@return integer k
function ByBatch:drafts(batch)
  local n, ranges = max(1, batch.decodes), self.ranges
  for i = 1, #ranges do
    local range = ranges[i]
    if n >= range[1] and n <= range[2] then return range[3] end
  end
  return 0
end

return ByBatch
