---@meta rooflua.arrivals
--- What open-loop workloads share: gaps from one stream, lengths from two others.
---@class rooflua.arrivals
local arrivals = {}

--- The parameters that open-loop workloads share, and some more.
---@param more table<string, rooflua.Parameter>?
---@return table<string, rooflua.Parameter>
function arrivals.parameters(more) end

--- The iterator of an open-loop workload.
---@param workload table rate_per_s, num_requests, prompt_tokens, output_tokens
---@param rng rooflua.Random
---@param gap fun(state: table): number seconds to the next arrival, drawn from state.gaps
---@return table
function arrivals.open_loop(workload, rng, gap) end

return arrivals
