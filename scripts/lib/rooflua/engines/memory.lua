-- KV blocks of engines that do not divide their memory as vLLM does, {kind, share}:
--
--     total    the share is of the GPU's memory: weights, activations and KV cache lie in it
--     static   of it for weights and KV cache; activations are in the rest (SGLang)
--     free     of what weights and activations leave (TensorRT-LLM)
--
-- They are computed from the blocks that the whole memory leaves beside weights and activations.
local core = require "rooflua.base.core"
local spec = require "rooflua.spec"

local memory = {}

--- @param rule table {kind, share}; kind static or free
--- @param options table of spec.deployment, without kv_blocks
function memory.blocks(rule, options)
  local kind, share, given = rule[1], rule[2], {}
  for key, value in pairs(options) do given[key] = value end
  given.memory_utilization = 1
  local whole = spec.deployment(given)
  local found = math.floor(share * whole.kv_blocks)
  if kind == "static" then
    local rest_bytes = (1 - share) * whole.hardware.usable_memory_bytes - whole.activation_bytes
    found = math.floor(whole.kv_blocks - rest_bytes / whole.kv_bytes_per_block)
  end
  if found < 1 then
    core.fail("deployment: does not fit: %g of the memory holds no KV block beside the weights", share)
  end
  return found
end

return memory
