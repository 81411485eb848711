-- Bound step models for tests: (name, parameters, what) -> instance. Without tables (mfu) all is modelled, so that
-- prices follow from formulas.
local rooflua = require "rooflua"

local bound = {}

function bound.modelled(gpu) return rooflua.mfu.open { gpu = gpu, tables = false } end

--- @param steps table a step model (instance)
--- @param given {model=, hardware=, tp=, mfu=, async_depth=, deployment=, release = "vllm 0.14" or nil}
function bound.bind(steps, given)
  local model = rooflua.spec.model(given.model or "llama-3.1-8b")
  local hardware = rooflua.spec.hardware(given.hardware or "h100-sxm")
  local options = { model = model, hardware = hardware, tp = given.tp or 1, ep = given.ep, kv_blocks = 20000 }
  for key, value in pairs(given.deployment or {}) do options[key] = value end
  local about = { hardware = hardware, model = model, tp = options.tp, ep = options.ep, weights = options.weights }
  steps:bind {
    model = model, hardware = hardware, deployment = rooflua.spec.deployment(options),
    mfu = given.mfu or bound.modelled(given.hardware or "h100-sxm"), async_depth = given.async_depth or 2,
    engine = given.release and rooflua.engines.of(given.release, about) or nil,
  }
  return steps
end

local batch = rooflua.cost.batch

function bound.decodes(n, context)
  return batch { decodes = n, decode_context_tokens = n * context }
end

function bound.prefill(new_tokens, context_tokens)
  return batch { prefills = { { new_tokens = new_tokens, context_tokens = context_tokens or 0 } } }
end

function bound.mixed(new_tokens, context_tokens, n, context)
  return batch {
    prefills = { { new_tokens = new_tokens, context_tokens = context_tokens } },
    decodes = n, decode_context_tokens = n * context,
  }
end

return bound
