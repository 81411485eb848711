---@meta rooflua.lengths
--- Length distributions of prompts and answers: a number, or {distribution = "fixed" | "uniform" |
--- "normal" | "lognormal" | "zipf" | "pareto" | "empirical" | "listed", ...}. Whole tokens, at least 1.
---@class rooflua.lengths
local lengths = {}

--- Checks a declaration and fills in defaults.
---@param spec number|table
---@param where string its key path, for errors
---@return table
function lengths.check(spec, where) end
--- A function of a random stream that draws whole token counts. Where lengths are listed it needs the number of the
--- request, from 1.
---@param spec number|table
---@param where string
---@return fun(stream: rooflua.RandomStream, number: integer?): integer
function lengths.sampler(spec, where) end
--- Mean of the declared distribution before clamping.
---@param spec number|table
---@return number
function lengths.mean(spec) end
--- The most tokens that a declared distribution can give; nil where it has no bound.
---@param spec number|table
---@return number?
function lengths.most(spec) end

return lengths
