--- A drafter without weights: it looks drafts up in the text so far. Only its search on the host takes time.
local policy = require "rooflua.policy"
local cost = require "rooflua.cost"

---@class drafters.Free: rooflua.Drafter
---@field step_s number
---@field row_s number
local Free = policy.define {
  name = "free",
  doc = "Drafts from a look-up in the text so far: n-grams, suffix trees. No weights, no KV.",
  source = "vLLM v1/spec_decode/ngram_proposer.py, suffix_decoding.py",
  params = {
    step_s = { default = 0, unit = "s", min = 0, max = 10, doc = "Host time of a step that drafts.",
      source = "0: the search runs while the GPU works" },
    row_s = { default = 0, unit = "s", min = 0, max = 1, doc = "Host time of a request that drafts, per step.",
      source = "0: the search runs while the GPU works; a match in 10,000 tokens takes about 10 us" },
  },
}

Free.lookahead = 0

---@param batch rooflua.Batch
---@return number time_s
function Free:time(batch)
  local rows = batch.draft_rows
  if rows == 0 then return 0 end
  local time_s = self.step_s + self.row_s * rows
  if time_s > 0 then time_s = cost.record("host", time_s, "assumed") end
  return time_s
end

---@return number weight_bytes
---@return number kv_bytes_per_token
function Free:memory() return 0, 0 end

return Free
