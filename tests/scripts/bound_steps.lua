-- Bound step models for tests: (name, parameters, what) -> instance. Without tables (mfu) all is modelled, so that
-- prices follow from formulas.
local choice = require "rooflua.engines.choice"
local engine_values = require "rooflua.engines.values"
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

--- Values of an engine, "vllm 0.9" or { "vllm 0.9", option = value }, where it runs.
--- @param about {model =, hardware =, tp =, dp =, weights =...}: names, and what is not 1 or the format of the model
function bound.values(engine, about)
  local facts, options = { tp = 1, dp = 1, pp = 1, ep = 1 }, {}
  for name, value in pairs(about) do facts[name] = value end
  facts.model, facts.hardware = rooflua.spec.model(about.model), rooflua.spec.hardware(about.hardware)
  if type(engine) ~= "table" then engine = { engine } end
  for name, value in pairs(engine) do
    if name ~= 1 then options[name] = value end
  end
  local chosen = choice.parse(engine[1])
  return engine_values.of(chosen.engine, chosen.release, facts, options).values
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

--- A small model; `attention` and `mlp` are lists of kinds.
function bound.layered(attention, mlp, more)
  local layers = 0
  for _, kind in ipairs(attention) do layers = layers + kind.layers end
  local given = {
    layers = layers, hidden_size = 1024, heads = 8, kv_heads = 2, head_dim = 128, vocab_size = 32768,
    max_model_len = 262144, intermediate_size = 3072, attention = attention,
    mlp = mlp or { { kind = "dense", layers = layers } },
  }
  for key, value in pairs(more or {}) do given[key] = value end
  return rooflua.spec.model(given)
end

--- steps.kernels with a model of that. options: those of bind, and `parameters` of the step model.
function bound.kernels(given, options)
  options = options or {}
  options.model = given
  return bound.bind(require "steps.kernels" (options.parameters or {}), options)
end

--- Rows of a step by name; times of rows with one name are added.
function bound.rows_of(steps, load)
  local out = {}
  for _, row in ipairs(rooflua.cost.explain(function() return steps:time(load) end).rows) do
    local same = out[row.name]
    out[row.name] = { count = row.count, time_s = row.time_s + (same and same.time_s or 0), flop = row.flop,
                      bytes = row.bytes, evidence = row.evidence }
  end
  return out
end

return bound
