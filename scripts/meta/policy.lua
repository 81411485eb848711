---@meta rooflua.policy
--- Policies: one heuristic per file, with parameters declared as data. Calling a class with a table of
--- parameters makes an instance. The engine makes a new instance for each replica, variant and fork.
---@class rooflua.policy
local policy = {}

---@class rooflua.Parameter
---@field default any
---@field doc string
---@field unit string? "tokens", "s", "1"
---@field source string? paper, file or measurement that the default comes from
---@field values any[]? the allowed values
---@field min number?
---@field max number?
---@field exclusive_min boolean? min itself is not allowed
---@field exclusive_max boolean?
---@field integer boolean?
---@field infinite boolean? math.huge is allowed
---@field policy string? a policy of that folder of scripts/ is allowed too
---@field type string? if the default does not tell it; "any" allows every type
---@field optional boolean? no default

--- A class: calling it with a table of parameters makes an instance.
---@class rooflua.PolicyClass
---@operator call(table?): table
---@field name string
---@field doc string
---@field params table<string, rooflua.Parameter>
---@field presets table<string, table> named parameter sets

--- The keys of policy.define.
---@class rooflua.PolicyDefinition
---@field name string
---@field doc string
---@field source string?
---@field params table<string, rooflua.Parameter>?
---@field presets table<string, table>?
---@field returns "mfu"|"latency_s"? of a lookup
---@field every_step boolean? for a scheduler: ask it at every step, even if nothing changed
---@field signals string[]? for a router: the fields of replicas that it reads
---@field refuses boolean? for a router: whether route may return false
---@field staleness_s number? for a router: greatest age of these fields
---@field monotone boolean? of a step model: more work never makes a step cheaper, so plans may bound it
---@field ceiling boolean? of a step model: no step is faster than the bytes that it reads
---@field seeks string? of an objective of plans: "load", where all GPUs are taken and the largest load is looked for
---@field figure string? of an objective of plans: the figure of a deployment that it compares, which reports show:
--- "cost_per_hour", "gpus", "joules_per_token", "output_tokens_per_s_per_gpu" or "rate_per_s"
---@field extends rooflua.PolicyClass? a class whose parameters and methods are inherited

--- Declares a policy; its methods are written after it. `Class:preset("name") {overrides}` starts from a preset.
---@param given rooflua.PolicyDefinition
---@return rooflua.PolicyClass
function policy.define(given) end

--- True if `value` was made by calling a policy class.
---@param value any
---@return boolean
function policy.is_instance(value) end
--- True if `value` is a policy class.
---@param value any
---@return boolean
function policy.is_class(value) end

---Whether the class of an instance defines a method itself, and does not inherit it.
---@param instance table
---@param method string
---@return boolean
function policy.has_own(instance, method) end
--- A new instance with the same parameters.
---@param instance table
---@return table
function policy.fresh(instance) end
--- The same for one of very many replicas: parameters and methods stay in one table, which all of them read.
---@param instance table
---@return table
function policy.fresh_of_many(instance) end
--- The same policy with some parameters changed.
---@param instance table
---@param overrides table
---@return table
function policy.with(instance, overrides) end

--- Whether a parameter of an instance was given, and is not the default of its class; and whether its preset alone
--- gives it.
---@param instance table
---@param parameter string
---@return boolean given, boolean by_preset
function policy.is_given(instance, parameter) end
--- The parameters of an instance: given values and defaults.
---@param instance table
---@return table<string, any>
function policy.parameters(instance) end
--- {name, doc, source, params, presets} of a class or an instance.
---@param value table
---@return table
function policy.describe(value) end
--- File and line where an instance was made: "scenario.lua:12".
---@param instance table
---@return string
function policy.where(instance) end

return policy
