--- Does it matter which measured row answers for a shape that was not measured?
---
--- Setup     Llama-3.1-8B, bf16, on one H200.
--- Method    The same two batches priced with the default lookup, and with the one below.
--- Measures  The time of each step; --explain shows the rows that answered.
--- Expect    What you believe before you look.
--- Limits    How well a lookup predicts rows that are taken away: db:leave_one_out, docs/LUA_API.md.
---
---   rooflua check @FILE@        mistakes, with their line
---   rooflua run @FILE@ --explain
local policy = require "rooflua.policy"

---@class mine.NearestRow
---@field near integer
local NearestRow = policy.define {
  name = "nearest_row",
  doc = "The mean latency of the nearest measured rows.",
  returns = "latency_s", -- or "mfu"
  params = { near = { default = 1, unit = "rows", min = 1, max = 16, integer = true, doc = "Rows of the mean." } },
}

--- Called once for each shape; the answer is remembered. `table_of` has the rows, `query` the shape.
---@param table_of rooflua.Table
---@param query table
---@return number latency_s, string evidence
function NearestRow:lookup(table_of, query)
  local found = table_of:near(query, self.near) -- nearest first; `distance` is in doublings
  if #found == 0 then error(("%s has no row for this shape"):format(table_of.name), 0) end
  if found[1].distance == 0 then return found[1].latency_s, "measured" end
  local sum_s = 0
  for _, row in ipairs(found) do sum_s = sum_s + row.latency_s end
  return sum_s / #found, "stand_in"
end

---@type rooflua.Scenario
local scenario = {
  rooflua = 1, -- version of this format
  kind = "price",
  title = "Two lookups for shapes that were not measured",
  model = "llama-3.1-8b",
  hardware = "h200-sxm",
  engine = "vllm 0.24",
  steps = require "steps.kernels" {},
  price = {
    { name = "a prompt of 1,500 tokens", prefills = { { context_tokens = 0, new_tokens = 1500 } } },
    { name = "50 requests decode at 1,900 tokens", decodes = 50, decode_context_tokens = 50 * 1900 },
  },
  vary = { mfu = { { label = "default", value = {} }, { label = "nearest row", value = { lookup = NearestRow {} } } } },
}
return scenario
