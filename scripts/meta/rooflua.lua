---@meta rooflua
--- The library. `local rooflua = require "rooflua"`; each module also by itself, `require "rooflua.cost"`.
--- Seconds, bytes, flop and tokens everywhere.
---@class rooflua
---@field spec rooflua.spec what is simulated: models, hardware, deployments
---@field mfu rooflua.mfu measured kernel tables and lookups over them
---@field cost rooflua.cost what work costs
---@field json rooflua.json documents
---@field policy rooflua.policy declaring policies
---@field serve rooflua.serve what happens over time
---@field measure rooflua.measure what was seen
---@field sweep rooflua.sweep many runs of one scenario
---@field fit rooflua.fit parameters against measurements
---@field random rooflua.random named random streams
---@field arrivals rooflua.arrivals what open-loop workloads share
---@field lengths rooflua.lengths length distributions
---@field trace rooflua.trace recorded requests
local rooflua = {}

--- The policies of one folder of scripts/: name, doc, parameters.
---@param kind "steps"|"schedulers"|"routers"|"workloads"|"bucketing"|"corrections"|"lookup"|"metrics"
---@return {name: string, doc: string, source: string?, params: table, presets: table, module: string}[]
function rooflua.list(kind) end

--- What a name means: a module, a function of the library, or a policy with its parameters.
---@param topic any "cost.gemm", "steps.kernels", a function or a policy
---@return string text
function rooflua.help(topic) end

return rooflua
