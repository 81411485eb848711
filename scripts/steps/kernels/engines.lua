--- What differs between serving engines beside their kernels.
---
---     eager_operation_s    host time of an operation outside of CUDA graphs: Python code of the layers, and launches.
---                          Such a step takes at least the sum over its operations: the GPU waits for the host. Longer
---                          on Hopper's machines (fitted); `other` holds for every other architecture.
---     prompt_overhead      what prompts take beside their kernels, by the GPU's architecture (prompts.lua)
---     graphs_with_prefill  whether steps with prefill chunks run in CUDA graphs, too, up to the largest one
---     fuses_static_fp8     whether the kernels in front of a GEMM write its input in FP8 where the scale is static
---     fuses_norm           whether the norm is part of the all-reduce in front of it, and has no launch of its own
---     apart                patterns of the names of models whose layers are not fused so; a model file has no family,
---                          so that a copy under another name counts as fused
---     shared_beside        tokens of a CUDA graph up to which shared experts run beside routed ones (beside.lua)
---     exchange             how tokens reach experts of other data-parallel ranks (exchange.lua)
---     expert_block         rows of a block of experts in block-scaled FP8, by the GPU's architecture (experts.lua)
---     expert_block_below   tensor-parallel ranks of the experts from which on their kernel has no such blocks: from 8
---                          on vLLM takes Triton's instead of DeepGEMM's (since 0.12, pull request 29346)
---
--- vLLM compiles its layers (torch.compile), so that no Python is left between their kernels.
--- Source: docs/VALIDATION.md, "Prefill outside of graphs" (eager_operation_s, fitted); TensorRT-LLM's
--- AllReduceFusionOp.RESIDUAL_RMS_NORM and its variants with quantisation (pull request 9197, and FlashInfer), which
--- its models/modeling_qwen.py and modeling_qwen3.py do not use at 010bb95f.
--- That all four inputs of a layer's GEMMs are written in FP8 by the kernel before is inferred from measured closed
--- loops of Llama-3.1-70B (docs/DECISIONS.md); of the norms it is documented.
local engines = {
  vllm = { eager_operation_s = { other = 0 }, prompt_overhead = { blackwell = 0.3 }, graphs_with_prefill = true,
    fuses_static_fp8 = false, fuses_norm = false, shared_beside = 256, exchange = "gathered",
    expert_block = { hopper = 128 }, expert_block_below = 8 },
  sglang = { eager_operation_s = { hopper = 65e-6, other = 40e-6 }, prompt_overhead = { blackwell = 0.5 },
    graphs_with_prefill = false, fuses_static_fp8 = false, fuses_norm = false, shared_beside = 1024,
    exchange = "gathered", expert_block = {} },
  trtllm = { eager_operation_s = { hopper = 65e-6, other = 40e-6 }, prompt_overhead = {}, graphs_with_prefill = false,
    fuses_static_fp8 = true, fuses_norm = true, apart = { "^qwen2[%d.]*%-[%d.]+b$", "^qwen3%-[%d.]+b$" },
    shared_beside = math.huge, exchange = "nvlink_two_sided", expert_block = {} },
}

--- Whether the norms of a model's layers are part of the all-reduces in front of them.
function engines.fuses_norm(engine, model)
  for _, pattern in ipairs(engine.apart or {}) do
    if model.name:find(pattern) then return false end
  end
  return engine.fuses_norm
end

--- Rows of a block of experts in block-scaled FP8; 0 without blocks.
--- @param architecture string
--- @param ranks integer tensor-parallel ranks of the experts
function engines.expert_block(engine, architecture, ranks)
  if engine.expert_block_below and ranks >= engine.expert_block_below then return 0 end
  return engine.expert_block[architecture] or 0
end

--- A parameter of the step model where -1 stands for the engine's own value.
local function chosen(steps, name, own)
  local value = steps[name]
  if value >= 0 then return value end
  if value ~= -1 then
    error(("steps.kernels: %s: expected 0 or more, or -1 for the engine's own, found %g"):format(name, value), 0)
  end
  return own
end

--- Host time of an operation outside of CUDA graphs.
function engines.host_operation_s(steps, engine)
  local of = engine.eager_operation_s
  return chosen(steps, "eager_operation_s", of[steps.hardware.architecture] or of.other)
end

--- What prompts take beside their kernels, as a part of these.
function engines.prompt_overhead(steps, engine)
  return chosen(steps, "prompt_overhead", engine.prompt_overhead[steps.hardware.architecture] or 0)
end

--- How many operations an engine runs for one of cost.layers, where it is more than one. Routed experts: routing,
--- permutation, quantisation, two GEMMs, activation, sum. Latent and recurrent attention: splits, reshapes, norms,
--- expansion, convolution, gates.
local within = { grouped_gemm = 8, mla_prefill = 24, linear_attention = 24 }

--- The operations of a step on the host. The quantisation in front of a GEMM is part of its call.
--- @param layers table of cost.layers
function engines.operations(layers)
  local count = 0
  for _, op in ipairs(layers) do
    if not op.name:find "^quantize_" and op.op ~= "mla_decode" and op.op ~= "attention_decode" then
      count = count + op.count * (within[op.op] or 1)
    end
  end
  return count
end

return engines
