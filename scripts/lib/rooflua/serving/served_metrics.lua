-- The rows of scripts/engines/*/metrics.lua as the emulated server takes them.
local core = require "rooflua.base.core"
local json = require "rooflua.json"

local served_metrics = {}

local keys = { "since", "before", "name", "type", "quantity", "help", "buckets", "labels", "source" }

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

--- Labels as Python prints them. "%fact.NAME" is what the ledger has of the engine, "%stated.NAME|WORD" an option that
--- the scenario states, else the word; the program fills in the others.
local function labels_of(labels, options)
  local out = {}
  for name, text in pairs(labels) do
    local key, otherwise = text:match "^%%stated%.([%w_]+)|(.*)$"
    local value = text
    if key then value = options.stated[key] end
    if key and value == nil then value = otherwise end
    key = text:match "^%%fact%.([%w_]+)$"
    if key then value = options.facts[key] end
    if type(value) == "boolean" then value = value and "True" or "False" end
    out[name] = value == nil and "None" or tostring(value)
  end
  return out
end

--- {name, type, quantity, help, buckets, labels} of a row.
---@param longest number of a sequence, in tokens
---@param options fun(): table {stated, facts} of the engine, which only some rows ask for
function served_metrics.family(row, longest, options)
  core.check_keys(row, keys, "metrics")
  local buckets = row.buckets
  if buckets == "1-2-5" then buckets = one_two_five(longest) end
  return { name = row.name, type = row.type, quantity = row.quantity, help = row.help,
    labels = row.labels and labels_of(row.labels, options()) or nil,
    buckets = buckets and json.array(core.copy(buckets)) or nil }
end

return served_metrics
