-- A launch command as an engine with its options, and back: `vllm serve Qwen/Qwen3-32B --max-num-seqs 64`. The flags
-- are those of the tables of scripts/engines, which plans write by as well. Nothing of a command is executed.
--
-- A deployment here is {engine, release, model, options, note, told, others}: `options` by the engine's own words,
-- `model` is nil where the command names none, `told` are sentences about what the words do not say in options,
-- `others` names of variables that mean nothing here.
local choice = require "rooflua.engines.choice"
local core = require "rooflua.base.core"
local drafting = require "rooflua.applied.drafting"
local quoting = require "rooflua.text.quoting"
local reading = require "rooflua.engines.launch.reading"
local schema = require "rooflua.scenario.schema"
local shell_words = require "rooflua.text.shell_words"
local spec = require "rooflua.spec"
local spelling = require "rooflua.engines.launch.spelling"
local start = require "rooflua.engines.launch.start"
local units = require "rooflua.text.units"
local writing = require "rooflua.engines.launch.writing"

local command = {}

local options_file = "options.yaml"

--- The deployment that a command starts.
--- @param text string
--- @param about table? {engine = "vllm 0.19", files = {path = text}}; without a release the newest that is known
function command.read(text, about)
  start.check_form(core.text(text, "command"))
  return reading.words(shell_words.command(text, start.is_one), about or {})
end

--- The deployment of options that were written down by name, without their command.
--- @param chosen table {engine, release, note} of engines/choice.lua
--- @param named string[][] {name, text} of flags without dashes and keys of the YAML file
--- @param environment string[][]? {name, text} of variables
function command.named(chosen, named, environment) return reading.named(chosen, named, environment or {}) end

--- The command of a deployment as text, and its YAML file or nil.
--- @param deployment table {engine, release, model, options}
function command.write(deployment)
  local engine, words = deployment.engine, {}
  for _, word in ipairs(writing.variables(engine, deployment.options)) do
    local name, value = word:match "^([^=]*)=(.*)$"
    words[#words + 1] = name .. "=" .. quoting.shell(value)
  end
  for word in engine.command:gmatch "%S+" do words[#words + 1] = word end
  if deployment.model and engine.model ~= "" then words[#words + 1] = engine.model end
  if deployment.model then words[#words + 1] = quoting.shell(deployment.model) end
  for _, word in ipairs(writing.words(engine, deployment.release, deployment.options, options_file)) do
    words[#words + 1] = quoting.shell(word)
  end
  return core.join(words, " "), writing.file(engine, deployment.options)
end

--- Options of a deployment that a scenario's key `engine` takes, and sentences about the others.
--- @return table options, string[] sentences
local function of_scenario(deployment)
  local engine, options, others = deployment.engine, {}, {}
  for name, value in pairs(deployment.options) do
    local option = engine.option[name]
    local is_other = choice.elsewhere(option, value) ~= nil
    if not is_other then options[name] = value end
    if is_other and not option.drafts and not option.adapters then others[name] = value end
  end
  return options, choice.notes(engine, others)
end

--- The drafts that a command asks for as the key `speculation`, and sentences about them; nil without drafts.
--- @param given table? that of the scenario, whose acceptance holds
local function speculation_of(deployment, given)
  local is_known, target = pcall(spec.model, deployment.model)
  local found = deployment.engine.drafts
    and deployment.engine.drafts(deployment.options, is_known and target or nil)
  if not found then return nil, {} end
  local told, group = { found.note }, given and core.plain(given) or {}
  if not found.drafter or not found.draft_tokens then
    told[#told + 1] = ("drafts by %s%s are not modelled: the engine is taken without them"):format(found.method,
      found.draft_tokens and "" or " without their number")
    return nil, told
  end
  if group.acceptance == nil then
    told[#told + 1] = ("a command does not say how many drafts are accepted: as many as acceptance.constant says by "
      .. "default%s%s; say speculation.acceptance"):format(found.topk and " of a chain" or "",
      found.model and (", whatever the drafter (%s)"):format(found.model) or "")
  end
  if found.model and found.drafter == "draft_model" then
    told[#told + 1] = ("the drafter %s is taken for the model of drafters.draft_model; say speculation.drafter")
      :format(found.model)
  end
  return drafting.keys(found, group), told
end

--- The name of a key of `adapters` as the flag of its engine.
local function flag_of(engine, name) return engine.option[name].flag end

--- Sentences about a command that asks for no adapters.
local function without_adapters(deployment, known, given)
  local told, names = {}, {}
  for _, option in ipairs(known and deployment.engine.options or {}) do
    local value = deployment.options[option.name]
    if option.adapters and value ~= nil and value ~= false then names[#names + 1] = option.flag end
  end
  if #names > 0 then told[1] = ("%s: no effect without %s"):format(core.join(names, ", "), known.ask) end
  if known and given ~= nil then
    told[#told + 1] = ("adapters are those of the scenario: the command does not ask for any (%s)"):format(known.ask)
  end
  return told
end

--- The key `adapters` of a command, and sentences about it; nil where none is simulated.
--- @param given table? that of the scenario: what the command does not say
local function adapters_of(deployment, given)
  local engine = deployment.engine
  local known = engine.adapters
  local found, told = known and known.of(deployment.options), {}
  if not found then return nil, without_adapters(deployment, known, given) end
  if given == nil and not found.count then
    return nil, { ("%s: which adapters there are is not said: none is simulated, and slots take no memory; say "
      .. "`adapters`, whose slots and rank are the command's"):format(known.ask) }
  end
  local out = core.copy(given)
  for _, name in ipairs { "max_loras", "max_lora_rank", "max_cpu_loras" } do
    if found[name] ~= nil and out[name] ~= nil then
      core.fail("%s: the scenario states adapters.%s as well; give one of them", flag_of(engine, name), name)
    end
    if name ~= "max_cpu_loras" or out.store_bytes_per_s ~= nil then
      out[name] = found[name] or out[name]
    elseif found[name] ~= nil then
      told[#told + 1] = ("%s: no effect without adapters.store_bytes_per_s: all adapters are in the memory of the host")
        :format(flag_of(engine, name))
    end
  end
  out.max_lora_rank = out.max_lora_rank or known.max_lora_rank
  if out.rank == nil then out.rank = math.min(out.max_lora_rank, schema.entry("adapters.rank").default) end
  if out.count == nil then out.count = found.count end
  if given == nil then
    told[#told + 1] = ("%s of %s: all requests have one, all are alike popular, and their rank is %d; say `adapters`")
      :format(units.counted(found.count, "adapter"), flag_of(engine, "lora_modules"), out.rank)
  end
  return out, told
end

--- What a deployment says of a scenario: {model, engine, speculation, adapters, replicas} and sentences.
--- @param given table? the scenario: its acceptance of drafts, its adapters and the number of its replicas hold
function command.keys(deployment, given)
  given = given or {}
  local options, told = of_scenario(deployment)
  local out = { model = deployment.model, engine = { deployment.engine.name .. " " .. deployment.release } }
  local replicas, without = nil, {}
  if deployment.engine.replicas then replicas, without = deployment.engine.replicas(deployment.options) end
  if replicas and replicas > 1 then
    out.replicas = replicas
    told[#told + 1] = ("%d engines of their own behind one router"):format(replicas)
    for _, name in ipairs(without) do options[name] = nil end
  end
  for name, value in pairs(options) do out.engine[name] = value end
  local speculation, drafted = speculation_of(deployment, given.speculation)
  out.speculation = speculation
  local adapters, about_adapters = adapters_of(deployment, given.adapters)
  out.adapters = adapters
  for _, list in ipairs { drafted, about_adapters, deployment.told } do
    for _, sentence in ipairs(list) do told[#told + 1] = sentence end
  end
  if deployment.note and not deployment.is_stated then table.insert(told, 1, deployment.note) end
  if #deployment.others > 0 then
    told[#told + 1] = "variables without effect here: " .. core.join(deployment.others, ", ")
  end
  return out, told
end

--- How an option is called in a command: "--max-num-seqs".
command.name = spelling.name

return command
