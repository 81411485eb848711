--- Words behind a release of vLLM that people use for a switch of it.
local v2, v1 = { VLLM_USE_V2_MODEL_RUNNER = "1" }, { VLLM_USE_V2_MODEL_RUNNER = "0" }
local counts, ignores = { VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS = "1" },
  { VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS = "0" }

-- vllm/envs.py; longer words first
return {
  { words = "model runner v2", options = v2 }, { words = "runner v2", options = v2 }, { words = "mrv2", options = v2 },
  { words = "model runner v1", options = v1 }, { words = "runner v1", options = v1 }, { words = "mrv1", options = v1 },
  { words = "graph estimate on", options = counts }, { words = "estimate on", options = counts },
  { words = "graph estimate off", options = ignores }, { words = "estimate off", options = ignores },
  { words = "eager", options = { enforce_eager = true } },
}
