---@meta rooflua.arrivals
--- What open-loop workloads share: gaps from one stream, lengths from two others.
---@class rooflua.arrivals
local arrivals = {}

--- The parameters that open-loop workloads share, and some more.
---@param more table<string, rooflua.Parameter>?
---@return table<string, rooflua.Parameter>
function arrivals.parameters(more) end

--- The declaration of the parameter max_output_tokens, which every workload takes.
---@param default integer|string?
---@return rooflua.Parameter
function arrivals.limit_parameter(default) end

--- The workload's declared limit, checked: tokens, "exact", or 0 for none.
---@param workload table
---@return integer|string
function arrivals.limit(workload) end

--- The length of an answer under that limit, and the request's fields with the limit in them.
---@param limit integer|string
---@param output_tokens integer
---@param fields table?
---@return integer output_tokens
---@return table? fields
function arrivals.declare(limit, output_tokens, fields) end

--- arrival_s; an error where the clock has ended by then, which names the key whose value is at fault.
---@param arrival_s number
---@param sent integer which request it is
---@param count integer of how many
---@param key string
---@return number
function arrivals.in_time(arrival_s, sent, count, key) end

--- The iterator of an open-loop workload.
---@param workload table rate_per_s, num_requests, prompt_tokens, output_tokens
---@param rng rooflua.Random
---@param gap fun(state: table): number seconds to the next arrival, drawn from state.gaps
---@return table
function arrivals.open_loop(workload, rng, gap) end

return arrivals
