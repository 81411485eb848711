-- `rooflua new NAME --as FORM`: what starts the deployment of a launch command, of files of a start, or of a scenario.
local choice = require "rooflua.engines.choice"
local cluster = require "rooflua.manifests.cluster"
local core = require "rooflua.base.core"
local forms = require "rooflua.manifests.forms"
local launch = require "rooflua.applied.launch"
local native = require "rooflua.native"
local opening = require "rooflua.runs.opening"
local policy = require "rooflua.policy"
local quoting = require "rooflua.text.quoting"
local release = require "rooflua.engines.release"
local spec = require "rooflua.spec"
local startup = require "rooflua.startup.deployment"
local trials = require "rooflua.advise.trials"

local written = {}

local function fail(form, message, ...) core.fail("--as %s: " .. message, form, ...) end

--- Nodes of an engine and GPUs on each: those of its file, else as many as the machine has on one node.
local function spread(part, gpu)
  if part.gpus then return end
  local needs = cluster.gpus(part)
  local on_node = gpu and spec.hardware(gpu).node_gpus or 8
  part.nodes = needs > on_node and math.ceil(needs / on_node) or 1
  part.gpus = math.ceil(needs / part.nodes)
end

local function part_of(deployment, about)
  local out = { engine = deployment.engine, release = deployment.release, model = deployment.model,
    options = deployment.options, count = 1, nodes = 1 }
  for key, value in pairs(about or {}) do out[key] = value end
  return out
end

--- Options of an engine that say the keys of `deployment`; a sentence names those that have none.
local function add_deployment(chosen, options, given, told)
  for key, value in core.sorted_pairs(core.plain(given or {})) do
    local found
    for _, option in ipairs(chosen.engine.options) do
      local is_alike = option.key == "deployment." .. key and release.holds(option, chosen.release)
      if is_alike and not found and pcall(choice.check, key, option, value) then found = option end
    end
    if found then
      if options[found.name] == nil then options[found.name] = value end
    else
      told[#told + 1] = ("deployment.%s has no option of %s, and is not written"):format(key, chosen.engine.title)
    end
  end
end

--- The repository that a model of the catalogue is published as is not chosen here: its name is written.
local function model_name(form, value)
  if type(value) ~= "string" then fail(form, "the model of the scenario is a table, and has no name to write") end
  return value
end

local function name_of(value)
  if type(value) == "string" then return value end
  return policy.is_instance(value) and policy.definition(value).name or nil
end

--- The cluster of a scenario: {parts, router, gpu, told}.
local function of_scenario(form, path)
  local opened, told = opening.file(path, {}), {}
  if opened.kind ~= "serve" or #opened.variants ~= 1 then
    fail(form, "%s: expected a scenario of kind \"serve\" with one variant", path)
  end
  local given = trials.plain((opening.variant(opened, 1)))
  local gpu = type(given.hardware) == "string" and spec.hardware(given.hardware).name or nil
  local parts, list = {}, type(given.replicas) == "table" and core.plain(given.replicas) or { { count = given.replicas } }
  for i, each in ipairs(list) do
    each = core.plain(each)
    local engine = each.engine or given.engine
    if engine == nil then fail(form, "%s: engine: the scenario states none", path) end
    local chosen = opened.reader:at("engine", choice.of, engine)
    local options = core.copy(chosen.options)
    add_deployment(chosen, options, each.deployment or given.deployment, told)
    parts[i] = part_of(chosen, { options = options, model = model_name(form, each.model or given.model),
      count = each.count or 1, role = each.role ~= "both" and each.role or nil })
    if each.autoscaler then
      told[#told + 1] = "its autoscaler is not in this file: rooflua run --write hpa=FILE writes it"
    end
  end
  return { parts = parts, router = name_of(given.router), gpu = gpu, told = told }
end

--- The GPU that files name, or that is given.
local function gpu_of(deployment, hardware)
  local ok, name = true, hardware ~= "" and hardware or nil
  if deployment.found then ok, name = pcall(startup.hardware, deployment.found, hardware, "--hardware") end
  return ok and name and spec.hardware(name).name or nil
end

--- The cluster of a command, or of files.
local function of_launch(form, about, hardware)
  local deployment = launch.deployment(about)
  local own, told = deployment.cluster, core.copy(deployment.told)
  local gpu, parts = gpu_of(deployment, hardware), {}
  for i, each in ipairs(own and own.engines or { deployment }) do
    parts[i] = part_of(each, { count = each.count, role = each.role, gpus = each.gpus, nodes = each.nodes or 1,
      model = about.model or each.model or deployment.model, told = nil })
    if not parts[i].model then fail(form, "the command names no model; give it: --model NAME") end
  end
  for _, sentence in ipairs(own and own.told or {}) do told[#told + 1] = sentence end
  return { parts = parts, router = own and own.router and own.router.name, gpu = gpu, told = told }
end

--- Checks what every writer needs, and names the two roles.
local function completed(about, name)
  about.name = name
  for _, part in ipairs(about.parts) do
    part.gpu = about.gpu
    spread(part, about.gpu)
    if part.role then about[part.role] = about[part.role] or part end
  end
  return about
end

--- The text of a cluster in a form.
---@param about table {parts, router, gpu}
function written.text(form, about, name) return forms.of(form).write(completed(about, name)) end

--- What the program calls: {text, extension, notes}.
---@param form string of forms.names
---@param about table? {text or from, engine, model} of a launch command, of files, or of a scenario FILE.lua
---@param hardware string "" where none is given
---@param name string
function written.run(form, about, hardware, name)
  if not about then fail(form, "what? --command \"vllm serve ...\", --from FILE..., or --from SCENARIO.lua") end
  local from = about.from and core.plain(about.from) or {}
  local own
  if #from == 1 and from[1]:find "%.lua$" then
    if about.engine or about.model or hardware ~= "" then
      fail(form, "%s says engine, model and hardware; change them there", from[1])
    end
    own = of_scenario(form, from[1])
  else
    own = of_launch(form, core.copy(about, about.from and { from = from }), hardware)
  end
  local text = written.text(form, own, name)
  local notes = {}
  if own.router and not core.is_among(own.router, { "llm_d", "dynamo_kv" }) then
    own.told[#own.told + 1] = ("the router %s has no place in this form"):format(own.router)
  end
  for i, sentence in ipairs(own.told) do notes[i] = "note  " .. quoting.line(native.printable(sentence)) .. "\n" end
  return { text = text, extension = forms.of(form).extension, notes = core.join(notes, "") }
end

return written
