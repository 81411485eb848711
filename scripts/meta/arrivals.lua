---@meta rooflua.arrivals
--- Functions that open-loop workloads share. Gaps are drawn from one random stream, lengths from two others.
---@class rooflua.arrivals
local arrivals = {}

--- The parameters that open-loop workloads share, together with those in `more`.
---@param more table<string, rooflua.Parameter>?
---@return table<string, rooflua.Parameter>
function arrivals.parameters(more) end

--- The declaration of the parameter max_output_tokens, which every workload takes.
---@param default integer|string?
---@return rooflua.Parameter
function arrivals.limit_parameter(default) end

--- Checks and returns the limit that a workload declares: tokens, "exact", or 0 for none.
---@param workload table
---@return integer|string
function arrivals.limit(workload) end

--- The length of an answer under a limit, and the fields of the request with the limit added.
---@param limit integer|string
---@param output_tokens integer
---@param fields table?
---@return integer output_tokens
---@return table? fields
function arrivals.declare(limit, output_tokens, fields) end

--- Returns arrival_s. If it lies beyond the end of the simulated clock, raises an error that names `key`.
---@param arrival_s number
---@param sent integer number of the request
---@param count integer of all requests
---@param key string the parameter at fault
---@return number
function arrivals.in_time(arrival_s, sent, count, key) end

--- The iterator of an open-loop workload.
---@param workload table rate_per_s, num_requests, prompt_tokens, output_tokens
---@param rng rooflua.Random
---@param gap fun(state: table): number seconds to the next arrival, drawn from state.gaps
---@return table
function arrivals.open_loop(workload, rng, gap) end

--- The answer length of a request with that limit, and the limit that it declares; nil: none.
---@param limit integer|string from arrivals.limit
---@param output_tokens integer
---@return integer output_tokens
---@return integer? max_output_tokens
function arrivals.limited(limit, output_tokens) end

return arrivals
