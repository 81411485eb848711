-- The rows of scripts/engines/*/metrics.lua as the emulated server takes them.
local core = require "rooflua.base.core"
local json = require "rooflua.json"

local served_metrics = {}

local keys = { "since", "before", "name", "type", "quantity", "help", "buckets", "source" }

--- 1, 2, 5, 10, 20, ... up to the longest sequence, as vLLM's build_1_2_5_buckets.
local function one_two_five(longest)
  local out, scale = json.array {}, 1
  while true do
    for _, step in ipairs { 1, 2, 5 } do
      if step * scale > longest then return out end
      out[#out + 1] = step * scale
    end
    scale = 10 * scale
  end
end

--- {name, type, quantity, help, buckets} of a row.
---@param longest number of a sequence, in tokens
function served_metrics.family(row, longest)
  core.check_keys(row, keys, "metrics")
  local buckets = row.buckets
  if buckets == "1-2-5" then buckets = one_two_five(longest) end
  return { name = row.name, type = row.type, quantity = row.quantity, help = row.help,
    buckets = buckets and json.array(core.copy(buckets)) or nil }
end

return served_metrics
