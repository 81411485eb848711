--- The batch sizes that vLLM captures CUDA graphs for: 1, 2, 4, multiples of 8 up to 248, multiples of 16 from 256.
--- The GEMMs of a step run at the next captured size. Above the largest there is no graph and no padding.
--- Source: vLLM config, cudagraph_capture_sizes, releases 0.11 to 0.28.
local min = math.min

local graphs = {}

--- @return integer rows of the GEMMs in a step of `tokens`
function graphs.padded(tokens, largest)
  if tokens > largest or tokens <= 2 then return tokens end
  local step = tokens > 248 and 16 or tokens > 4 and 8 or 4
  return min(tokens + -tokens % step, largest)
end

--- The largest size that the engine captures, within its seats and token budget.
--- @param draft_depth integer? the most drafts that a decode brings; nil without speculation
function graphs.largest(limit, max_num_seqs, max_num_batched_tokens, draft_depth)
  return min(limit, 2 * max_num_seqs * (1 + (draft_depth or 0)), max_num_batched_tokens)
end

--- Tokens of the largest graph that a step with prefill chunks runs in. Without graphs of decodes there are none.
--- @param engine table values of an engine: true, false or tokens of its own
function graphs.with_prefill(engine, largest)
  local own = engine.graphs_with_prefill
  if not own or largest == 0 then return 0 end
  return own == true and largest or own
end

--- What prices depend on of the seats and the budget: deployments that are equal in the rest and in this have the same
--- prices.
--- @param steps steps.Kernels
--- @param deployment rooflua.Deployment
--- @return string
function graphs.signature(steps, deployment)
  local seats, budget = deployment.max_num_seqs, deployment.max_num_batched_tokens
  return ("%d %d"):format(budget, graphs.largest(steps.largest_graph, seats, budget))
end

return graphs
