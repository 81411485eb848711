---@meta rooflua.plan
---Which GPUs, how many, at what cost: the answer to a scenario of kind "plan" (docs/PLANNER.md).
---@class rooflua.plan
local plan = {}

-- generated: keys of a plan
---@class rooflua.ScenarioPlan
---@field load table|string|nil { rate_per_s = N }, { clients = N }, with `peak` as a factor; or "recorded"
---@field slo table? bounds of metrics, as in a search
---@field gpus table? GPUs that may be bought: name, most, per_node, price_per_hour of each, label
---@field confidence number? default 0.8; least probability that the SLO is met; 0 = the verdict of one run
---@field horizon_s number? s; load that a run sees; default six mean answers at the SLO, and at least 1,000 requests
---@field requests integer? requests; of a full run, instead of horizon_s
---@field survive integer? replicas; default 0; replicas that may be lost while the SLO holds
---@field buy "gpu"|"node"|nil default "gpu"; what is paid: GPUs, or whole nodes
--- runs; default 40; runs per deployment with other seeds and errors of the model; 0 = no probability
---@field replicates integer?
---@field ranks integer? default 3; deployments in the answer
---@field engines table? versions of engines, which choose the flags of artefacts
---@field candidates table|string|nil default ladder; what is tried
---@field objective table|string|nil default cost; what is best
---@field strategy table|string|nil default halving; in which order, and how much of it
---@field power table|string|nil default tdp; watts of a GPU
---@field day rooflua.ScenarioPlanDay? a day of this load, with the fleet for the peak and with autoscalers
-- end of keys of a plan

---What a generator of candidates gets; read-only.
---@class rooflua.PlanQuestion
---@field model rooflua.Model
---@field gpus rooflua.PlanGpu[]
---@field capabilities { axes: table<string, boolean>, engines: string[], experts: integer }
---@field load { kind: "rate"|"clients"|"recorded", value: number?, peak: number }
---@field slo { metric: string, min: number?, max: number? }[]
---@field requests rooflua.PlanRequests

---@class rooflua.PlanGpu
---@field index integer
---@field name string
---@field label string
---@field most integer
---@field per_node integer
---@field hardware rooflua.Hardware

---@class rooflua.PlanRequests lengths of the requests of a full run
---@field count integer
---@field mean_prompt number
---@field mean_output number
---@field longest integer
---@field longest_prompt integer
---@field shares_content boolean

---What a generator emits. gpu counts the plan's GPUs; engine: that of the scenario where there is none; split: engines
---of one replica.
-- generated: fields of a candidate
---@class rooflua.PlanCandidate
---@field gpu integer
---@field engine string?
---@field tp integer? GPUs
---@field pp integer? stages
---@field dp integer? ranks
---@field ep integer? ranks
---@field cp integer? ranks
---@field dcp integer? ranks
---@field expert_gpus integer? GPUs
---@field micro_batches integer? batches
---@field weights string?
---@field kv string?
---@field max_num_seqs integer? requests
---@field max_num_batched_tokens integer? tokens
---@field memory_utilization number?
---@field prefix_caching boolean?
---@field host_memory_gb number? GB
---@field split { prefill: integer, decode: integer }? and prefill_tp, prefill_pp, prefill_dp, prefill_ep
---@field encoders integer? GPUs
---@field speculation table?
---@field set table<string, any>? further key paths of the scenario
---@field label string?
-- end of fields of a candidate

---Answers a scenario of kind "plan". The result is the document of `rooflua plan --json` with its `text`.
---strict: a deployment of whose time more than so many percent are unsupported does not count (as `--strict`).
---@param given { [1]: table, jobs: integer?, progress: string?, strict: number? }
---@return table document
function plan.run(given) end

---@class rooflua.PlanAxis what candidates differ in; read-only
---@field name string of the field of a candidate
---@field type "count"|"amount"|"format"|"switch"|"table"|"engine"|"memory"|"split"
---@field of "deployment"|"scheduler"|"prefill"|nil what gets the value
---@field least integer? of a count
---@field none any the value that is the same as none
---@field values any what the ladder tries by itself; nil: it has no such parameter
---@field unit string?
---@field doc string? of this parameter

---The axes of candidates in order. A generator of candidates takes its parameters from them, as
---`candidates.ladder` does.
---@return rooflua.PlanAxis[]
function plan.axes() end

return plan
