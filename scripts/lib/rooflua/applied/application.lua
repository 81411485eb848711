-- The keys of a scenario that follow from its engine. A key that the scenario states itself wins; an option of the
-- engine that stands for a key which the scenario states as well is an error.
local core = require "rooflua.base.core"
local afd = require "rooflua.applied.afd"
local choice = require "rooflua.engines.choice"
local context_parallel = require "rooflua.applied.context_parallel"
local implications = require "rooflua.engines.implications"
local links = require "rooflua.applied.links"
local native = require "rooflua.native"
local policies = require "rooflua.scenario.policies"
local policy = require "rooflua.policy"
local Reader = require "rooflua.scenario.reader"
local schema = require "rooflua.scenario.schema"
local settings = require "rooflua.engines.settings"
local spec = require "rooflua.spec"
local specs = require "rooflua.border.specs"
local values = require "rooflua.engines.values"

local application = {}
local twins = require("rooflua.applied.options").twins

--- "scheduler", "max_num_seqs" of "scheduler.max_num_seqs"; "async_depth", nil.
local function parts_of(key) return key:match "^([^.]+)%.?(.*)$" end

--- What a scenario itself says at a key; nil where it leaves it to the engine.
local function said(given, key)
  local group, name = parts_of(key)
  local value = given[group]
  if name == "" or value == nil then return value end
  if specs.is(value, "Deployment") then return core.object_fields[value][name] end
  if policy.is_instance(value) then
    local is_given = policy.definition(value).params[name] and policy.is_given(value, name)
    if is_given then return policy.parameters(value)[name] end
    return nil
  end
  if type(value) ~= "table" then return nil end
  return core.plain(value)[name]
end

--- The path that a scenario states for an option or a setting; nil where it states none.
local function said_at(given, key)
  if said(given, key) ~= nil then return key end
  local twin = twins[key]
  return twin and said(given, twin) ~= nil and twin or nil
end

--- The same for other modules.
application.stated_at = said_at

local widths = { "dp", "cp", "tp", "pp", "ep", "dcp" } -- in the order in which options depend on each other

--- The most drafts that requests bring to a step, and the name of what makes them; nil without speculation. What is
--- wrong with it is said where it is read.
local function drafts_of(given)
  local group = type(given.speculation) == "table" and core.plain(given.speculation) or {}
  if given.role == "prefill" then return nil end
  if group.speculator == nil then return tonumber(group.drafts), group.drafts and "mtp" end
  local is_policy = policy.is_instance(group.drafter) or policy.is_class(group.drafter)
  local drafter = is_policy and policy.definition(group.drafter).name or group.drafter
  local ok, depth = pcall(function()
    local speculator = policies.of(Reader.new "engine", "speculation.speculator", group.speculator)
    return type(speculator.depth) == "function" and speculator:depth() or speculator.depth
  end)
  return ok and type(depth) == "number" and depth or nil, drafter
end

local formats = setmetatable({}, { __mode = "k" }) -- by model, then by what is stated

--- The formats of a model's weights by class, {experts = "mxfp4", ...}.
local function formats_of(model, weights)
  local key = weights or ""
  formats[model] = formats[model] or {}
  formats[model][key] = formats[model][key] or native.rank_counts(model, { weights = weights }).formats
  return formats[model][key]
end

--- The format that a scenario states at a key of the deployment, or its engine's option: that of the weights into which
--- they are quantised at start, that of the KV cache.
local function format_at(key, given, chosen, facts)
  local stated = said(given, key)
  if stated ~= nil then return stated end
  for _, option in ipairs(chosen.engine.options) do
    local value = option.key == key and chosen.options[option.name] or nil
    if value ~= nil and option.read then return option.read(value, facts) end
  end
end

local function is_width(value) return type(value) == "number" and value >= 1 and value <= 4096 and value % 1 == 0 end

--- What is known of the deployment before rules are asked: {hardware, model, tp, dp, pp, ep, cp, dcp, weights,
--- experts_format, own_formats (of the checkpoint), formats, kv (where it is stated), role, drafts, drafter}.
local function facts_of(reader, given, chosen)
  local facts = { tp = 1, dp = 1, pp = 1, ep = 1, cp = 1, dcp = 1, role = given.role or "both" }
  facts.drafts, facts.drafter = drafts_of(given)
  if given.model ~= nil then facts.model = reader:by_name("model", spec.model, given.model) end
  if given.hardware ~= nil then facts.hardware = reader:by_name("hardware", spec.hardware, given.hardware) end
  local options = chosen.options
  for _, width in ipairs(widths) do
    local own = said(given, "deployment." .. width)
    if is_width(own) then facts[width] = own end -- others are refused where the deployment is made
    for _, option in ipairs(chosen.engine.options) do
      if option.key == "deployment." .. width and options[option.name] ~= nil then
        local value = options[option.name]
        if option.read then value = reader:at("engine", option.read, value, facts, options) end
        if value % 1 ~= 0 then
          reader:fail("engine", "engine.%s: %s ranks are not divided by %d %s ones", option.name,
            tostring(options[option.name]), facts.dp * facts.cp, facts.cp > 1 and "context-parallel" or "data-parallel")
        end
        facts[width] = value
      end
    end
  end
  local asked = facts.model and facts.model.asked_format or ""
  facts.own_formats = facts.model and formats_of(facts.model, asked ~= "" and asked or nil)
  local model, stated = facts.model, format_at("deployment.weights", given, chosen, facts)
  facts.kv = format_at("deployment.kv", given, chosen, facts)
  local is_known = model and (stated == nil or pcall(native.dtype_code, stated)) -- else it is refused where it is read
  facts.formats = is_known and formats_of(model, stated) or nil
  if is_known and model.moe then facts.experts_format = stated or facts.formats.experts end
  facts.weights = stated or model and (model.asked_format ~= "" and model.asked_format or model.weight_dtype)
  return facts
end

--- Refuses an option whose key the scenario states as well.
local function check_once(reader, given, chosen)
  for _, name in ipairs(core.sorted_keys(chosen.options)) do
    local key = chosen.engine.option[name].key
    local path = key and said_at(given, key)
    if path then reader:fail("engine", "%s: the scenario states %s as well; give one of them", name, path) end
  end
end

-- Keys of the scenario --------------------------------------------------------------------------------------

--- The values that options and settings give to keys, {key = value}, the rule of the memory, and by key the option
--- or setting that gives its value: of several the first that is stated.
local function keys_of(resolved, stated)
  local out, memory, from, read = {}, nil, {}, resolved.values
  local function put(entry, name)
    local value = read[name]
    if value == nil or not entry.key then return end
    if entry.memory then
      if memory == nil or stated[name] ~= nil then memory, from[entry.key] = { entry.memory, value }, name end
      return
    end
    if entry.read then value = entry.read(value, resolved.facts, read) end
    if entry.of_dcp_rank and type(value) == "number" then value = value * resolved.facts.dcp end
    local before = from[entry.key]
    if value ~= nil and (before == nil or stated[name] ~= nil and stated[before] == nil) then
      out[entry.key], from[entry.key] = value, name
    end
  end
  for _, option in ipairs(resolved.engine.options) do put(option, option.name) end
  for _, setting in ipairs(settings) do
    if not setting.holds or setting.holds(resolved) then put(setting, setting.name) end
  end
  return out, memory, from
end

--- The keys of a scenario that an engine's values are defaults of: {key = value}, {kind, share} of the memory where it
--- is not vLLM's, {key = name of the option or setting}.
function application.keys(resolved) return keys_of(resolved, {}) end

--- A policy that a scenario gives or the engine names, with the parameters that it leaves open from the engine.
---@param key string "scheduler" or "steps"
---@param own string? the policy of the engine; another one, that does not extend it, keeps its own defaults
local function policy_with(reader, key, given, keys, own)
  local instance = policies.of(reader, key, given)
  if own and not policy.is_a(instance, own) then return instance end
  local params, open = policy.definition(instance).params, {}
  for path, value in pairs(keys) do
    local group, name = parts_of(path)
    if group == key and name ~= "" and params[name] and not policy.is_given(instance, name) then open[name] = value end
  end
  if next(open) == nil then return instance end
  return reader:at("engine", policy.with_defaults, instance, open)
end

--- A step model whose open parameters follow from the engine of a scenario.
---@param applied table of application.of
function application.steps(reader, steps, applied)
  local instance = policies.of(reader, "steps", steps)
  return instance.follows_engine and policy_with(reader, "steps", instance, applied.keys) or instance
end

--- A scheduler in the same way: that of the engine, or one that extends it.
function application.scheduler(reader, scheduler, applied)
  return policy_with(reader, "scheduler", scheduler, applied.keys, applied.engine.values.scheduler)
end

local most_kept = 32 -- of a scenario

--- The text of what rules are asked with, without GPU and model.
local function text_of(chosen, facts, stated)
  local parts = { chosen.engine.name, chosen.release }
  for _, name in ipairs { "tp", "dp", "pp", "ep", "cp", "dcp", "weights", "role", "drafts", "drafter" } do
    parts[#parts + 1] = tostring(facts[name])
  end
  for name, value in core.sorted_pairs(stated) do parts[#parts + 1] = name .. "=" .. tostring(value) end
  return table.concat(parts, "\n")
end

--- What an engine does in a deployment: {resolved, keys, memory}. Variants and replicas that are alike share it.
local function resolved_once(reader, chosen, facts, stated)
  local list = reader.shared.engines or {}
  reader.shared.engines = list
  local text = text_of(chosen, facts, stated)
  for _, each in ipairs(list) do
    local is_same = each.text == text and each.engine == chosen.engine
    if is_same and rawequal(each.hardware, facts.hardware) and rawequal(each.model, facts.model) then return each end
  end
  local out = { text = text, engine = chosen.engine, hardware = facts.hardware, model = facts.model,
    steps = setmetatable({}, { __mode = "k" }),
    resolved = values.of(chosen.engine, chosen.release, facts, stated) }
  out.keys, out.memory = keys_of(out.resolved, stated)
  table.insert(list, 1, out)
  list[most_kept + 1] = nil
  return out
end

--- The step model of a scenario, whose open parameters follow from what resolved_once returned.
local function steps_once(reader, given, known)
  local key = given == nil and "default" or given
  if known.steps[key] == nil then
    local steps = policies.of(reader, "steps", given)
    known.steps[key] = steps.follows_engine and policy_with(reader, "steps", steps, known.keys) or steps
  end
  return known.steps[key]
end

local function with_deployment(given, keys, memory, serves)
  local before = given.deployment
  if specs.is(before, "Deployment") then return before, nil end
  local out = core.copy(before)
  for path, value in pairs(keys) do
    local group, name = parts_of(path)
    if group == "deployment" and out[name] == nil then out[name] = value end
  end
  if not serves then
    for path, twin in pairs(twins) do
      local _, name = parts_of(twin)
      if out[name] == nil and keys[path] ~= nil then out[name] = keys[path] end
    end
  end
  if out.kv_blocks ~= nil or before and core.plain(before).memory_utilization ~= nil then memory = nil end
  out.engine = nil
  return out, memory
end

--- The corrections of a scenario and, after them, those that its links and the engine's values stand for; how many
--- those are.
local function corrections_of(reader, given, resolved)
  local own = links.of(reader, resolved.facts, given.corrections)
  for _, setting in ipairs(settings) do
    local value = setting.correction and resolved.values[setting.name]
    if value and value ~= 0 then
      own[#own + 1] = policy.with(policies.of(reader, "corrections", setting.correction),
        { [setting.parameter] = value })
    end
  end
  if #own == 0 or given.corrections ~= nil and type(given.corrections) ~= "table" then
    return given.corrections, 0
  end
  local list = {}
  for i, each in ipairs(core.plain(given.corrections or {})) do list[i] = each end
  for _, each in ipairs(own) do list[#list + 1] = each end
  return list, #own
end

--- What a scenario says of its engine by the neutral word deployment.engine, which has no release; nil if nothing.
local function neutral_of(given)
  local deployment = given.deployment
  if type(deployment) ~= "table" or specs.is(deployment, "Deployment") then return nil end
  return core.plain(deployment).engine
end

--- The engine of a choice; another one where the reader has it in its place (upgrade/rules.lua).
local function in_place(reader, chosen)
  local other = reader.shared.engine_in_place
  return other and core.copy(chosen, { engine = other }) or chosen
end

--- The engine that a scenario chooses, with its options. One that states none has the newest of the default engine.
function application.chosen(reader, given)
  local neutral = neutral_of(given)
  if given.engine == nil then return in_place(reader, reader:at("deployment.engine", choice.newest, neutral)) end
  if neutral ~= nil then
    reader:fail("engine", "deployment.engine = \"%s\" is stated as well; give one of them", tostring(neutral))
  end
  return in_place(reader, reader:at("engine", choice.of, given.engine))
end

--- Values of options: those of the engine, and those that a scenario states at keys of its own.
local function stated_of(given, engine, options, facts)
  local stated = {}
  for _, option in ipairs(engine.options) do
    if option.key and not option.read and option.key:find "^[%a_]+%." then
      local value = said(given, option.key)
      if option.of_dcp_rank and type(value) == "number" then value = value / facts.dcp end
      stated[option.name] = value
    end
  end
  for name, value in pairs(options) do stated[name] = value end
  return stated
end

--- The engine that a scenario chooses, with the options that follow from those that are stated, and what is known of
--- the deployment: {engine, release, options, notes, ...}, facts, values by option.
function application.implied(reader, given)
  local chosen = application.chosen(reader, given)
  check_once(reader, given, chosen)
  local function facts_with(options) return facts_of(reader, given, core.copy(chosen, { options = options })) end
  local function stated_with(options, facts) return stated_of(given, chosen.engine, options, facts) end
  local options, told = implications.of(chosen.engine, chosen.release, chosen.options, {
    facts = facts_with,
    values = function(all, facts)
      return values.of(chosen.engine, chosen.release, facts, stated_with(all, facts)).values
    end,
    is_said = function(option) return option.key ~= nil and said_at(given, option.key) ~= nil end,
  })
  if options ~= chosen.options then
    local notes = choice.notes(chosen.engine, options)
    for _, sentence in ipairs(told) do notes[#notes + 1] = sentence end
    chosen = core.copy(chosen, { options = options, notes = notes })
  end
  local facts = facts_with(options)
  return chosen, facts, stated_with(options, facts)
end

--- The name of the policy that the engine gives to a key, "scheduler"; nil where it gives none.
function application.policy(reader, given, key)
  local chosen, facts, stated = application.implied(reader, given)
  return values.of(chosen.engine, chosen.release, facts, stated).values[key]
end

--- Sentences about options whose values change nothing in this deployment: `unread` of each.
local function unread_of(chosen, resolved)
  local order, names = {}, {}
  for _, name in ipairs(core.sorted_keys(chosen.options)) do
    local option, value = chosen.engine.option[name], chosen.options[name]
    local note = not choice.is_idle(option, value) and option.unread or nil
    if note and option.read(value, resolved.facts, resolved.values) == nil then
      if not names[note] then order[#order + 1], names[note] = note, {} end
      table.insert(names[note], option.flag or name)
    end
  end
  for i, note in ipairs(order) do order[i] = core.join(names[note], ", ") .. ": " .. note end
  return order
end

--- Sentences about the engine: which release holds, options that are not modelled, and what a launch command says
--- besides.
local function notes_of(reader, chosen, follows, resolved, given)
  local out = { follows and chosen.note or nil }
  if follows then
    out[#out + 1] = afd.note(resolved, said(given, "deployment.expert_gpus"))
    out[#out + 1] = select(2, links.of(reader, resolved.facts, given.corrections))
  end
  for _, list in ipairs { chosen.notes or {}, unread_of(chosen, resolved), reader.shared.told or {} } do
    for _, sentence in ipairs(list) do out[#out + 1] = sentence end
  end
  return out
end

--- A scenario with the keys that follow from its engine.
---@param reader table
---@param given table the scenario, or what one replica of it sees
---@param serves boolean whether a scheduler runs it; else seats and budget become the deployment's
---@return table {given, engine = values.of(...), is_stated = whether the scenario names it, memory, note, notes, keys,
--- options, router, states_block_size = whether the scenario says it, corrections = how many of the last ones of given
--- are the engine's}
function application.of(reader, given, serves)
  if not specs.is(given.deployment, "Deployment") then schema.check(reader, "deployment", given.deployment) end
  local chosen, facts, stated = application.implied(reader, given)
  local known = resolved_once(reader, chosen, facts, stated)
  local resolved, keys, memory = known.resolved, known.keys, known.memory
  context_parallel.check(reader, resolved, said(given, "deployment.block_size"))
  local out = core.copy(given)
  if serves then
    local own = resolved.values.scheduler
    out.scheduler = policy_with(reader, "scheduler", given.scheduler == nil and own or given.scheduler, keys, own)
  end
  local steps = steps_once(reader, given.steps, known)
  if steps.follows_engine then out.steps = steps end
  if out.async_depth == nil then out.async_depth = keys.async_depth end
  out.deployment, memory = with_deployment(given, keys, memory, serves)
  local corrections = 0
  if steps.follows_engine then out.corrections, corrections = corrections_of(reader, given, resolved) end
  out.engine = nil
  local follows = serves or steps.follows_engine
  return { given = out, engine = resolved, is_stated = given.engine ~= nil, memory = memory,
    note = follows and chosen.note or nil,
    notes = notes_of(reader, chosen, follows, resolved, given), keys = keys,
    options = chosen.options, router = keys.router, corrections = corrections,
    states_block_size = said(given, "deployment.block_size") ~= nil }
end

return application
