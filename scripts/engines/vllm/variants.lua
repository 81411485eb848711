--- Words behind a release of vLLM that people use for a switch of it: longer words first.

--- A row for each spelling of what a variable switches.
local function spelled(rows, variable, value, ...)
  for _, words in ipairs { ... } do
    rows[#rows + 1] = { words = words, options = { [variable] = value }, source = "vllm/envs.py: " .. variable }
  end
end

local rows = { { words = "eager", options = { enforce_eager = true }, source = "vllm/engine/arg_utils.py" } }
local runner, estimate = "VLLM_USE_V2_MODEL_RUNNER", "VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS"
spelled(rows, runner, "1", "model runner v2", "runner v2", "mrv2")
spelled(rows, runner, "0", "model runner v1", "runner v1", "mrv1")
spelled(rows, estimate, "1", "graph estimate on", "estimate on")
spelled(rows, estimate, "0", "graph estimate off", "estimate off")

return rows
