---@meta rooflua
--- The library: `local rooflua = require "rooflua"`, or one module: `require "rooflua.cost"`.
--- Seconds, bytes, flop and tokens everywhere.
---@class rooflua
---@field spec rooflua.spec what is simulated: models, hardware, deployments
---@field mfu rooflua.mfu measured kernel tables and lookups over them
---@field cost rooflua.cost what work costs
---@field csv rooflua.csv reading CSV
---@field json rooflua.json reading and writing JSON
---@field policy rooflua.policy declaring policies
---@field serve rooflua.serve simulations of requests over time
---@field measure rooflua.measure results of simulations
---@field sweep rooflua.sweep many runs of one scenario
---@field fit rooflua.fit parameters fitted to measurements
---@field random rooflua.random named random streams
---@field arrivals rooflua.arrivals functions that open-loop workloads share
---@field lengths rooflua.lengths length distributions
---@field trace rooflua.trace recorded requests
local rooflua = {}

-- generated: kinds of policies
---@alias rooflua.PolicyKind
---| "steps"|"schedulers"|"routers"|"workloads"|"lookup"|"bucketing"|"corrections"|"metrics"|"speculators"
---| "acceptance"|"drafters"|"tiers"|"eviction"|"deciders"|"admission"|"clients"|"autoscalers"|"faults"|"balancers"
---| "candidates"|"objectives"|"strategies"|"power"|"processors"|"campaigns"|"engines"
-- end of kinds of policies

--- The policies of one folder of scripts/: name, doc, parameters.
---@param kind rooflua.PolicyKind
---@return {name: string, doc: string, source: string?, params: table, presets: table, module: string}[]
function rooflua.list(kind) end

--- Help on a module, a function of the library, or a policy with its parameters.
---@param topic any "cost.gemm", "steps.kernels", a function or a policy
---@return string text
function rooflua.help(topic) end

--- A scenario with keys set as `--set` sets them; the given one stays what it is.
---@param scenario table
---@param sets string[] "key=value": {"deployment.tp=2", "workload.rate_per_s=12"}
---@return table scenario
function rooflua.changed(scenario, sets) end

return rooflua
