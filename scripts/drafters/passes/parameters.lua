--- Declarations of parameters that several drafters have.
local parameters = {}

local source_of_host = "fitted to Llama-3.1-8B on H100, 4 drafts, vLLM 0.11, 1 and 104 requests/s, leaving out 18, 87"

function parameters.pass_s()
  return { default = 0.2e-3, unit = "s", min = 0, max = 1,
    doc = "Time of a pass without its kernels: launches, choice of the token.",
    source = "fitted to gpt-oss-120b on H200 with 1 and 3 drafts, leaving out 7" }
end

function parameters.host_pass_s()
  return { default = 0.6e-3, unit = "s", min = 0, max = 1,
    doc = "Host time of a pass where steps are not planned ahead (async_depth 1): nothing hides its launches.",
    source = source_of_host }
end

function parameters.host_row_s()
  return { default = 0.07e-3, unit = "s", min = 0, max = 0.1,
    doc = "Host time of a request and step where steps are not planned ahead (async_depth 1).",
    source = source_of_host }
end

function parameters.steps()
  return { default = 0, unit = "passes", min = 0, max = 64, integer = true,
    doc = "Passes for the drafts of a request; 0 = one for each draft.", source = "SGLang speculative_num_steps" }
end

function parameters.topk()
  return { default = 1, unit = "tokens", min = 1, max = 64, integer = true,
    doc = "Branches of a tree: tokens of a request in every pass but the first.",
    source = "SGLang speculative_eagle_topk; each branch reads the whole cache (generate_draft_decode_kv_indices)" }
end

function parameters.tp()
  return { default = 0, unit = "GPUs", min = 0, max = 64, integer = true,
    doc = "Ranks that divide the drafter; 0 = the target's.", source = "vLLM draft_tensor_parallel_size" }
end

function parameters.shares_cache()
  return { default = false, doc = "Whether its layers read the target's KV cache: no keys and values of their own.",
    source = "Gemma 4's assistant (vLLM vllm/model_executor/models/gemma4_mtp.py), DFly2" }
end

function parameters.intermediate_size()
  return { default = 0, unit = "1", min = 0, max = 1e6, integer = true,
    doc = "Width of its MLP; 0 = a dense target's own, else six hidden sizes.",
    source = "SpecForge: 17,280 = 6 x 2,880 for gpt-oss; a dense target's own elsewhere" }
end

return parameters
