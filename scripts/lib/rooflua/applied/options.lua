-- Which option of its engine states a key of a scenario: a key and an option may say the same.
local choice = require "rooflua.engines.choice"
local core = require "rooflua.base.core"

local options = {}

--- Keys of a deployment that stand for a parameter of the scheduler.
options.twins = { ["scheduler.max_num_seqs"] = "deployment.max_num_seqs",
  ["scheduler.max_num_batched_tokens"] = "deployment.max_num_batched_tokens",
  ["scheduler.chunked_prefill_size"] = "deployment.max_num_batched_tokens" }

--- The keys that an option with this key says something of: its own, and those that stand for the same.
---@param key string?
function options.keys_for(key)
  local out = { key }
  for path, twin in core.sorted_pairs(options.twins) do
    if path == key then out[#out + 1] = twin end
    if twin == key then out[#out + 1] = path end
  end
  return out
end

--- The option by which a scenario says what stands at a key path; nil where it states none.
function options.stated_at(reader, given, path)
  if type(given.engine) ~= "table" then return nil end
  local ok, chosen = pcall(reader.at, reader, "engine", choice.of, given.engine)
  if not ok then return nil end
  for _, name in ipairs(core.sorted_keys(chosen.options)) do
    for _, key in ipairs(options.keys_for(chosen.engine.option[name].key)) do
      if key == path then return name end
    end
  end
end

return options
