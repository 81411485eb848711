-- How a run drew its tokens. With top-p or top-k, releases of vLLM before 0.16 sort the logits of every request;
-- a logit takes the engine's sorted_logit_s.
--
-- The column `sampling` of cases.csv says it: greedy | plain (neither sorts) | filtered (top-p or top-k). If it is
-- empty, the client is taken to ask for nothing (inference-perf sends no temperature, top-p or top-k). Then an engine
-- with own_sampling draws as the model's generation_config.json asks ([sampling] of the model's file), other engines,
-- and models whose generation_config.json is not known, filter nothing.
local core = require "rooflua.base.core"

local sampling = {}

local words = { filtered = true, greedy = true, plain = true }

--- The word of a case; nil where it has none.
function sampling.read(value, where)
  if value == nil or value == "" then return nil end
  if words[value] then return value end
  return core.fail("%s: sampling: %s", where, core.unknown_name("word", value, core.sorted_keys(words)))
end

--- @param stated string? the word of the case
--- @param plain boolean? if nothing is stated, take nothing to be filtered
--- @return table? parameters of the step model kernels
function sampling.parameters(stated, model, engine, plain)
  local cost_s = engine.parameters.sorted_logit_s[1]
  local sorts = stated == "filtered"
  if stated == nil and not plain and engine.parameters.own_sampling[1] and model.sampling then
    sorts = model.sampling.sorts
  end
  return sorts and cost_s > 0 and { sorted_logit_s = cost_s } or nil
end

return sampling
