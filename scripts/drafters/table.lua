--- A drafter whose time was measured: so much for the first pass, for every later pass, for every token and row.
---
---     time = first_s + token_s tokens + (passes - 1) later_s + row_s rows passes
local policy = require "rooflua.policy"
local cost = require "rooflua.cost"

---@class drafters.Table: rooflua.Drafter
---@field first_s number
---@field later_s number
---@field token_s number
---@field row_s number
---@field weight_bytes number
---@field kv_bytes_per_token number
local Table = policy.define {
  name = "table",
  doc = "Times of passes as measured: first, later, per token of the step and per row.",
  params = {
    first_s = { default = 0.5e-3, unit = "s", min = 0, max = 10, doc = "First pass, over all tokens of the step.",
      source = "an example: one layer and LM head of a 70B model on H100" },
    later_s = { default = 0.5e-3, unit = "s", min = 0, max = 10, doc = "Every further pass.", source = "as first_s" },
    token_s = { default = 0, unit = "s", min = 0, max = 1, doc = "Each token of the step, in the first pass.",
      source = "0: small steps are bound by weights" },
    row_s = { default = 0, unit = "s", min = 0, max = 1, doc = "Each row that drafts, per pass.",
      source = "as token_s" },
    weight_bytes = { default = 0, unit = "bytes", min = 0, doc = "Weights on one rank.", source = "of the drafter" },
    kv_bytes_per_token = { default = 0, unit = "bytes", min = 0, doc = "KV of a token on one rank.",
      source = "of the drafter" },
    lookahead = { default = "k", values = { "k", 0 },
      doc = "Tokens for which blocks are held ahead: its drafts, or none.",
      source = "vLLM: k where drafts are written to the cache" },
  },
}

---@param batch rooflua.Batch
---@return number time_s
function Table:time(batch)
  local passes, rows = batch.draft_passes, batch.draft_rows
  local time_s = self.first_s + self.token_s * batch.tokens + self.row_s * rows
  if passes > 1 then time_s = time_s + (passes - 1) * (self.later_s + self.row_s * rows) end
  if time_s > 0 then time_s = cost.record("passes", time_s, "measured") end
  return time_s
end

---@return number weight_bytes
---@return number kv_bytes_per_token
function Table:memory() return self.weight_bytes, self.kv_bytes_per_token end

return Table
