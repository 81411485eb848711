--- What vLLM's host runs outside of CUDA graphs, and which steps with drafts are outside of them.
---
--- FlashInfer's own kernels are captured for one token of a request only, so that with drafts the engine keeps
--- piecewise graphs alone ("setting cudagraph_mode=PIECEWISE"). FlashAttention 2 has no KV in FP8: there FlashInfer is
--- chosen where nothing is stated.

--- The format of KV in which verification is captured, by the stated back end: true is any.
local function by_backend(_, own)
  local backend = own.attention_backend
  if backend == nil then return "bf16" end
  return backend ~= "FLASHINFER"
end

--- From 0.28 on FlashInfer has kernels for several tokens of a request on SM 12.x, which do not divide a request.
local function on_sm12(facts, own) return facts.dcp == 1 or by_backend(facts, own) end

--- Whether decodes are a graph a layer: what is stated, else what the release does. V0 had one graph.
local function piecewise(by_default)
  local layer_s = 18e-6
  return function(_, own)
    local mode = own["compilation_config.cudagraph_mode"]
    if mode == nil and own["compilation_config.full_cuda_graph"] then mode = "FULL" end
    if own.generation == "V0" or own.enforce_eager or own.max_cudagraph_capture_size == 0 then return 0 end
    if mode == nil then return by_default and layer_s or 0 end
    return mode == "PIECEWISE" and layer_s or 0
  end
end

return {
  { before = "0.8", piecewise_layer_s = 0,
    source = "docs/design/cuda_graphs.md: V0 had one graph for a step of decodes" },
  { since = "0.8", before = "0.11", piecewise_layer_s = piecewise(true), fitted = true,
    source = "pull request 25444, merged for 0.11, changes the default from PIECEWISE to FULL_AND_PIECEWISE; the time: "
      .. "pull requests 20059 and 51167" },
  { since = "0.11", piecewise_layer_s = piecewise(false), fitted = true, seen = "0.28",
    code = "vllm/config/vllm.py: OPTIMIZATION_LEVEL_02", source = "pull request 25444; docs/design/cuda_graphs.md" },
  { expert_operations = 8, attention_operations = 4, routing_kernels = 0, layer_kernels = 0, latent_kernels = 0,
    head_norm_kernels = 0, fitted = true, source = "docs/records/fitted.md, \"Prefill outside of graphs\"" },
  { verifies_in_graphs = true, recurrent_operations = 8, seen = "0.28",
    code = "vllm/config/vllm.py: OPTIMIZATION_LEVEL_02",
    source = "docs/design/cuda_graphs.md: FULL_AND_PIECEWISE; operations: issue 51008, 16 ms a step for the 48 "
      .. "recurrent layers of a 27B, of 40 us each" },
  { since = "0.11", architecture = { "ampere", "ada" }, verifies_in_graphs = by_backend,
    seen = "0.28", code = "vllm/v1/attention/backends/flashinfer.py: get_cudagraph_support",
    source = "docs/design/cuda_graphs.md; issues 54992 (2 x RTX 3090: the drafter is eager as well), 49547, 35387" },
  { since = "0.11", before = "0.28", architecture = "blackwell", gpu = { memory_gib_below = 160 },
    verifies_in_graphs = by_backend, source = "the same; issue 49547: GB10, no kernels of TensorRT-LLM on SM 12.x" },
  { since = "0.28", architecture = "blackwell", gpu = { memory_gib_below = 160 }, verifies_in_graphs = on_sm12,
    seen = "0.28", code = "vllm/v1/attention/backends/flashinfer.py: get_cudagraph_support",
    source = "pull request 49718 of 2026-08-11: XQA on SM 12.x" },
}
