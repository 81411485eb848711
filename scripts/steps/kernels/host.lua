--- Host time of operations outside of CUDA graphs: Python code of the layers, and launches. Such a step takes at least
--- the sum over its operations: the GPU waits for the host. How long an operation takes is the engine's
--- (scripts/engines); longer on Hopper's machines (fitted).
--- Source: docs/records/fitted.md, "Prefill outside of graphs".
local host = {}

--- A parameter of the step model where -1 stands for the engine's own value.
function host.chosen(steps, name, own)
  local value = steps[name]
  if value >= 0 then return value end
  if value ~= -1 then
    error(("steps.kernels: %s: expected 0 or more, or -1 for the engine's own, found %g"):format(name, value), 0)
  end
  return own
end

--- Host time of an operation outside of CUDA graphs. An engine that captures none compiles no layers either: every
--- operation is a call of Python.
--- @param engine table values of an engine
function host.operation_s(steps, engine)
  local has_graphs = steps.graph_tokens > 0
  return host.chosen(steps, "eager_operation_s", has_graphs and engine.compiled_operation_s or engine.eager_operation_s)
end

--- Operations that are several on the host: splits, reshapes, norms, expansion, convolution, gates of latent and
--- recurrent attention, where their layers run in Python. Compilation leaves fewer (`attention_operations` of
--- scripts/engines).
local several, in_python = { mla_prefill = true, linear_attention = true }, 24

--- The operations of a step on the host. Routed experts (`expert_operations` of scripts/engines) are routing,
--- permutation, quantisation, two GEMMs, activation, sum. The quantisation in front of a GEMM is part of its call.
--- @param layers table of cost.layers
--- @param engine table values of an engine
--- @param is_compiled boolean? whether the layers are compiled, where the engine compiles them
function host.operations(layers, engine, is_compiled)
  local count, attention = 0, is_compiled and engine.attention_operations or in_python
  for _, op in ipairs(layers) do
    if op.kernel ~= "quantize" and op.op ~= "mla_decode" and op.op ~= "attention_decode" then
      count = count + op.count * (op.op == "grouped_gemm" and engine.expert_operations or several[op.op] and attention
        or 1)
    end
  end
  return count
end

--- Host time of the layers of a step outside of CUDA graphs.
function host.layers_s(steps, layers, engine)
  return host.operations(layers, engine, steps.graph_tokens > 0) * host.operation_s(steps, engine)
end

--- Whether an engine verifies drafts in a CUDA graph: `verifies_in_graphs` of scripts/engines.
function host.verifies_in_graphs(engine, kv)
  local which = engine.verifies_in_graphs
  return which == true or which == kv
end

--- Host time of a step that verifies drafts where only what is between attention and recurrent layers is in graphs.
local function between_graphs_s(steps, layers, engine)
  local count = 0
  for _, op in ipairs(layers) do
    local is_attention = op.op == "attention_decode" or op.op == "mla_decode"
    count = count + (is_attention and op.count * engine.attention_operations
      or op.op == "linear_attention" and op.count * engine.recurrent_operations or 0)
  end
  return count * host.operation_s(steps, engine)
end

--- The least time of a step outside of CUDA graphs, and of one that verifies drafts within them.
function host.least_times(steps, layers, engine)
  local eager_s = math.max(steps.kernel_count * steps.elementwise.eager_s, host.layers_s(steps, layers, engine))
  if steps.graph_tokens == 0 or host.verifies_in_graphs(engine, steps.kv_dtype) then return eager_s, 0 end
  return eager_s, between_graphs_s(steps, layers, engine)
end

return host
