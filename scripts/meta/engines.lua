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
---@field cp integer? ranks; default 1
---@field dcp integer? ranks; default 1
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
---@class rooflua.CapacityQuestion as in a scenario
---@field model string|rooflua.Model
---@field hardware string|rooflua.Hardware
---@field engine string|table|nil "vllm 0.19" or { "vllm 0.19", max_num_seqs = 64 }; default: the newest vLLM
---@field deployment table? tp, pp, dp, ep, weights, kv, max_model_len, ...
---@field scheduler string|table|nil
---@field speculation { drafts: integer }? multi-token prediction with so many drafts
---@field tiers rooflua.ScenarioTiers? stores outside of the GPU

---@class rooflua.CapacityPart bytes of one GPU
---@field name string "weights", "activations", "graphs", "non-torch", ...
---@field bytes number

---@class rooflua.Capacity of the GPU with the least room
---@field model string
---@field hardware string
---@field engine string
---@field release string
---@field deployment table<string, number> tp, pp, dp, ep, share, max_num_seqs, max_model_len, ...
---@field total_bytes number memory of the GPU
---@field budget_bytes number what `parts` and `kv_bytes` sum to
---@field parts rooflua.CapacityPart[]
---@field kv_bytes number
---@field kv_blocks number
---@field kv_tokens number as the engine prints them
---@field groups integer groups of layers with blocks of their own
---@field max_concurrency number requests of max_model_len at once
---@field longest_tokens number the longest request that fits
---@field max_running_requests number? where the engine derives them from the cache
---@field tiers { name: string, per: string, capacity_bytes: number, tokens: number }[]? how much fits beside the GPU
---@field starts boolean
---@field reason string? why it would not start
---@field fits { max_model_len: number?, share: number?, tp: integer? }? what would make it start
---@field text string as `rooflua capacity` prints it

--- How many tokens the KV cache of an engine holds, and whether it would start: the memory of a GPU as the engine's own
--- rule divides it (docs/ENGINES.md, "Memory"). An unknown model, GPU, engine or option is an error.
---@param about rooflua.CapacityQuestion
---@return rooflua.Capacity
function engines.capacity(about) end

--- What an engine logs when it starts a deployment, in the words of its release, with the figures of engines.capacity.
--- One that does not start logs its error at the end.
---@param about table as engines.capacity takes it, with form = "plain", "compose", "kubectl" or "json", and replica,
---  from 0
---@return string
---@return string[] sentences on what is not in it
function engines.startup_log(about) end

---@class rooflua.ChangedRule
---@field name string as rules write it
---@field called string its flag, where it has one
---@field before any
---@field after any
---@field source string
---@field source_before string?
---@field doc string?
---@field unit string?

--- Rules that decide other values on another release, or another engine, in a deployment. `rooflua upgrade` says what
--- each of them does (docs/UPGRADES.md).
---@param from string "vllm 0.19"
---@param to string
---@param about table as engines.of takes it
---@return rooflua.ChangedRule[]
function engines.changes(from, to, about) end
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
