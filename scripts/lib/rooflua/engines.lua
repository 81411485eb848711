--- What serving engines of a release do: their rules as values, for step models and scripts. scripts/engines has them.
local core = require "rooflua.base.core"
local catalogue = require "rooflua.engines.catalogue"
local choice = require "rooflua.engines.choice"
local spec = require "rooflua.spec"
local values = require "rooflua.engines.values"

local engines = {}

--- Names of the engines that are known, also of those beside the scenario.
function engines.names() return catalogue.names() end

--- These words and the names of the engines whose kernels were timed.
function engines.with_names(words)
  local out = {}
  for i, word in ipairs(words) do out[i] = word end
  local names = catalogue.lending_names()
  table.sort(names)
  for _, name in ipairs(names) do out[#out + 1] = name end
  return out
end

--- The engine of a scenario that states none.
function engines.default_name() return catalogue.default_name() end

local about_keys = { "model", "hardware", "tp", "dp", "pp", "ep", "cp", "dcp", "weights" }

--- What an engine of a release does: engines.of("vllm 0.19", { hardware = "h100-sxm", model = "qwen3-32b", tp = 2 }).
--- @return table {name, release, note, values, sources}
function engines.of(text, about)
  about = core.plain(core.table(about or {}, "engines.of"))
  core.check_keys(about, about_keys, "engines.of")
  local chosen, facts = choice.parse(text), values.facts(about)
  if facts.model ~= nil then facts.model = spec.model(facts.model) end
  if facts.hardware ~= nil then facts.hardware = spec.hardware(facts.hardware) end
  local found = values.of(chosen.engine, chosen.release, facts)
  return { name = chosen.engine.name, release = chosen.release, note = chosen.note, values = found.values,
    sources = core.readonly(found.sources, "sources") }
end

--- Rules that decide other values on another release, or another engine, in a deployment:
--- engines.changes("vllm 0.19", "vllm 0.24", { hardware = "h100-sxm", model = "qwen3-32b", tp = 2 }).
--- @param about table as engines.of takes it
--- @return table[] {name, called, before, after, source, source_before, doc}, by name; `rooflua upgrade` says what each
---   of them does
function engines.changes(from, to, about)
  about = core.plain(core.table(about or {}, "engines.changes"))
  core.check_keys(about, about_keys, "engines.changes")
  local rules = require "rooflua.upgrade.rules"
  return rules.changed(rules.of_facts(choice.parse(from), about), rules.of_facts(choice.parse(to), about))
end

--- How many tokens the KV cache of an engine holds, and whether it would start.
--- engines.capacity { model = "qwen3-32b", hardware = "h100-sxm", engine = { "vllm 0.19", max_num_seqs = 64 },
---   deployment = { tp = 2 } }
--- @param about table {model, hardware, engine?, deployment?, scheduler?, speculation = {drafts}?, tiers?}
--- @return table as `rooflua capacity --json` writes it, with `text`
function engines.capacity(about)
  local text = require "rooflua.serving.capacity_text"
  return text.of(about)
end

--- What an engine logs when it starts a deployment, in the words of its release and with the figures of
--- engines.capacity. One that does not start logs its error at the end.
--- @param about table as engines.capacity takes it, with form = "plain", "compose", "kubectl" or "json", and replica
--- @return string
--- @return string[] sentences on what is not in it
function engines.startup_log(about)
  local logs = require "rooflua.serving.startup_logs"
  return logs.of(about)
end

--- The newest release of the engine whose kernels a database has, by its name there.
--- @param about table what a step model is bound with: model, hardware, deployment
function engines.of_tables(name, about) return values.of_tables(name, about) end

return engines
