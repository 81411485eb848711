--- Declarations of parameters that several drafters have.
local parameters = {}

function parameters.pass_s()
  return { default = 0.05e-3, unit = "s", min = 0, max = 1,
    doc = "Time of a pass beside its kernels: launches, choice of the token.",
    source = "inferred: 0.05 ms in a CUDA graph, 0.3 ms without" }
end

function parameters.host_row_s()
  return { default = 0, unit = "s", min = 0, max = 0.1,
    doc = "Host time of a request and step where steps are not planned ahead (async_depth 1).",
    source = "0: planned ahead" }
end

function parameters.tp()
  return { default = 0, unit = "GPUs", min = 0, max = 64, integer = true,
    doc = "Ranks that divide the drafter; 0 = the target's.", source = "vLLM draft_tensor_parallel_size" }
end

function parameters.intermediate_size()
  return { default = 0, unit = "1", min = 0, max = 1e6, integer = true,
    doc = "Width of its MLP; 0 = a dense target's own, else six hidden sizes.",
    source = "SpecForge: 17,280 = 6 x 2,880 for gpt-oss; a dense target's own elsewhere" }
end

return parameters
