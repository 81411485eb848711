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
---| "steps" step models: what a step costs
---| "schedulers" which requests run in a step
---| "routers" which replica gets a request
---| "workloads" when requests come, and how long they are
---| "lookup" which row of a table answers for an unmeasured shape
---| "bucketing" how prompts of a step are grouped
---| "corrections" factors and additions to what a step costs
---| "metrics" metrics that a scenario adds to its reports
---| "speculators" how many drafts a request gets
---| "acceptance" which drafts are accepted
---| "drafters" what drafts cost
---| "tiers" which KV is loaded from CPU memory and disks, and what is stored there
---| "eviction" what leaves such a store when it is full
---| "deciders" whether a prefill replica computes a prompt, or the decode replica does
---| "admission" which requests pass to the router, wait in front of it or are refused
---| "clients" how long clients wait, and what they send again
---| "autoscalers" how many replicas a pool has
---| "faults" when replicas and links fail or are slow
---| "balancers" when experts move between ranks, and where to
---| "candidates" of a plan: which deployments are tried
---| "objectives" of a plan: what the best deployment is
---| "strategies" of a plan: in which order candidates are simulated
---| "power" of a plan: what GPUs draw
---| "campaigns" where the shards of a sweep run
---| "engines" with name and doc alone
-- end of kinds of policies

--- The policies of one folder of scripts/: name, doc, parameters.
---@param kind rooflua.PolicyKind
---@return {name: string, doc: string, source: string?, params: table, presets: table, module: string}[]
function rooflua.list(kind) end

--- Help on a module, a function of the library, or a policy with its parameters.
---@param topic any "cost.gemm", "steps.kernels", a function or a policy
---@return string text
function rooflua.help(topic) end

return rooflua
