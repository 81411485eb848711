-- How a run sampled its tokens. With top-p or top-k, releases of vLLM before 0.16 sort the logits of every request;
-- a logit takes the engine's sorted_logit_s.
--
-- The column `sampling` of cases.csv says it: greedy | plain (neither sorts) | filtered (top-p or top-k). If it is
-- empty, nothing is sorted, because vLLM's own defaults have neither top-p nor top-k. The belief "own sampling"
-- assumes instead that vLLM applied each model's generation_config.json, as it does by default.
local core = require "rooflua.base.core"

local sampling = {}

local words = { filtered = true, greedy = true, plain = true }

--- Models whose generation_config.json sets top_p < 1 or a top_k. From general knowledge of these files, not read
--- from them; only the belief "own sampling" uses this list.
local filtered = {
  ["llama-2-7b"] = "top_p 0.9", ["llama-2-13b"] = "top_p 0.9", ["llama-2-70b"] = "top_p 0.9",
  ["llama-3.1-8b"] = "top_p 0.9", ["llama-3.1-70b"] = "top_p 0.9",
  ["qwen3-32b"] = "top_p 0.95, top_k 20",
}

--- The word of a case; nil where it has none.
function sampling.read(value, where)
  if value == nil or value == "" then return nil end
  if words[value] then return value end
  return core.fail("%s: sampling: %s", where, core.unknown_name("word", tostring(value), core.sorted_keys(words)))
end

--- @param stated string? the word of the case
--- @param own boolean? if nothing is stated, assume the model's generation_config.json
--- @return table? parameters of the step model kernels
function sampling.parameters(stated, model, engine, own)
  local cost_s = engine.parameters.sorted_logit_s[1]
  local sorts = stated == "filtered" or (stated == nil and own and filtered[model.name] ~= nil)
  return sorts and cost_s > 0 and { sorted_logit_s = cost_s } or nil
end

return sampling
