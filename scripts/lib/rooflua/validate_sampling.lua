-- How a run drew its tokens. vLLM applies the model's own generation_config.json unless told otherwise;
-- where that asks for top-p or top-k, releases before 0.16 sort the logits of every request.
-- Facts of published files, not parameters: what a sort costs is the engine's sorted_logit_s.
local sampling = {}

--- Models whose generation_config.json has top_p < 1 or a top_k.
local filtered = {
  ["llama-2-7b"] = "top_p 0.9", ["llama-2-13b"] = "top_p 0.9", ["llama-2-70b"] = "top_p 0.9",
  ["llama-3.1-8b"] = "top_p 0.9", ["llama-3.1-70b"] = "top_p 0.9",
  ["qwen3-32b"] = "top_p 0.95, top_k 20",
}

--- @return table? parameters of the step model kernels
function sampling.parameters(model, engine)
  local cost_s = engine.parameters.sorted_logit_s[1]
  if cost_s == 0 or not filtered[model.name] then return nil end
  return { sorted_logit_s = cost_s }
end

return sampling
