---@meta rooflua.engines
---What serving engines of a release do: the rules of scripts/engines as values (docs/ENGINES.md).
---@class rooflua.engines
local engines = {}

---@class rooflua.EngineFacts what is known of a deployment
---@field hardware string|rooflua.Hardware|nil
---@field model string|rooflua.Model|nil
---@field tp integer? GPUs; default 1
---@field dp integer? ranks; default 1
---@field pp integer? stages; default 1
---@field ep integer? ranks; default 1
---@field weights string? number format of the weights

---@class rooflua.EngineRelease
---@field name string "vllm"
---@field release string "0.19.0"
---@field note string? where the rules are those of another release than the one that was asked for
---@field values table<string, any> by the names of options and settings; nil where no rule gives one
---@field sources table<string, string> where each value is from

--- Names of the engines that are known, also of those beside the scenario.
---@return string[]
function engines.names() end
--- What an engine of a release does: engines.of("vllm 0.19", { hardware = "h100-sxm", model = "qwen3-32b", tp = 2 }).
--- What is not known of the deployment fits no rule that asks for it. An unknown engine or release is an error.
---@param text string engine and release; without a release the newest that is known
---@param about rooflua.EngineFacts?
---@return rooflua.EngineRelease
function engines.of(text, about) end
--- The newest release of the engine whose kernels a database has: engines.of_tables(database.engine, context).
---@param name string
---@param about table what a step model is bound with: model, hardware, deployment
---@return rooflua.EngineRelease
function engines.of_tables(name, about) end
--- These words and the names of the engines whose kernels were timed: values of a parameter.
---@param words string[]
---@return string[]
function engines.with_names(words) end
--- The engine of a scenario that states none.
---@return string
function engines.default_name() end

return engines
