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

local manifests = {}

local function fail(form, message, ...) core.fail("--as %s: " .. message, form, ...) end

--- Adds options of an engine that say the keys of `deployment`; a sentence names those that have none.
local function add_deployment(chosen, options, given, told)
  for key, value in core.sorted_pairs(core.plain(given or {})) do
    local found
    for _, option in ipairs(chosen.engine.options) do
      local is_alike = option.key == "deployment." .. key and release.holds(option, chosen.release)
      if is_alike and not found and pcall(choice.check, key, option, value) then found = option end
    end
    if found and options[found.name] == nil then options[found.name] = value end
    if not found then
      told[#told + 1] = ("deployment.%s has no option of %s, and is not written"):format(key, chosen.engine.title)
    end
  end
end

--- The cluster of a scenario: {parts, router, gpu, told}.
local function of_scenario(form, path)
  local opened, told, parts = opening.file(path, {}), {}, {}
  if opened.kind ~= "serve" then fail(form, "%s: expected a scenario of kind \"serve\"", path) end
  if #opened.variants > 1 then told[1] = ("the first of %d variants is written"):format(#opened.variants) end
  local given = opening.variant(opened, 1)
  local gpu, router = given.hardware, given.router
  local is_list = type(given.replicas) == "table"
  for i, each in ipairs(is_list and core.plain(given.replicas) or { { count = given.replicas } }) do
    each = core.copy(given, { count = 1, role = "both" }, each)
    if each.engine == nil or type(each.model) ~= "string" then
      fail(form, "%s: the scenario states no %s by its name", path, each.engine == nil and "engine" or "model")
    end
    local chosen = opened.reader:at("engine", choice.of, each.engine)
    local options = core.copy(chosen.options)
    add_deployment(chosen, options, each.deployment, told)
    parts[i] = { engine = chosen.engine, release = chosen.release, options = options, model = each.model, nodes = 1,
      count = each.count, role = each.role ~= "both" and each.role or nil }
    if each.autoscaler then told[#told + 1] = "its autoscaler is written by rooflua run --write hpa=FILE" end
  end
  return { parts = parts, router = policy.is_instance(router) and policy.definition(router).name or router,
    gpu = type(gpu) == "string" and spec.hardware(gpu).name or nil, told = told }
end

--- The cluster of a command, or of files.
local function of_launch(form, about, hardware)
  local deployment = launch.deployment(about)
  local own, told, parts = deployment.cluster or {}, core.copy(deployment.told), {}
  local ok, gpu = true, hardware ~= "" and hardware or nil
  if deployment.found then ok, gpu = pcall(startup.hardware, deployment.found, hardware, "--hardware") end
  for i, each in ipairs(own.engines or { deployment }) do
    parts[i] = { engine = each.engine, release = each.release, options = each.options, count = each.count or 1,
      role = each.role, gpus = each.gpus, nodes = each.nodes or 1,
      model = about.model or each.model or deployment.model }
    if not parts[i].model then fail(form, "the command names no model; give it: --model NAME") end
  end
  return { parts = parts, router = own.router and own.router.name, gpu = ok and gpu and spec.hardware(gpu).name or nil,
    told = told }
end

--- The text of a cluster in a form.
---@param about table {parts = {{engine, release, model, options, count, role, nodes, gpus}}, router, gpu}
function manifests.text(form, about, name)
  local own, on_node = forms.of(form), about.gpu and spec.hardware(about.gpu).node_gpus or 8
  about.name = name
  for _, part in ipairs(about.parts) do
    local needs = cluster.gpus(part)
    if not part.gpus then
      part.nodes = needs > on_node and math.ceil(needs / on_node) or 1
      part.gpus = math.ceil(needs / part.nodes)
    end
    part.gpu = about.gpu
    if part.role then about[part.role] = part end
    if own.is_one_node and part.nodes > 1 then fail(form, "an engine stays on one node; it needs %d", part.nodes) end
  end
  if #about.parts > 1 and not (#about.parts == 2 and about.prefill and about.decode) then
    fail(form, "one kind of engine is written, or prefill and decode; found %d", #about.parts)
  end
  local text = own.write(about)
  if text:find("{{", 1, true) then fail(form, "a value has {{, which is read as a template") end
  return text
end

--- What the program calls: {text, extension, notes}.
---@param form string of forms.names
---@param about table? {text or from, engine, model} of a launch command, of files, or of a scenario FILE.lua
---@param hardware string "" where none is given
---@param name string
function manifests.run(form, about, hardware, name)
  if not about then fail(form, "what? --command \"vllm serve ...\", --from FILE..., or --from SCENARIO.lua") end
  local from, own = about.from and core.plain(about.from) or {}
  if #from == 1 and from[1]:find "%.lua$" then
    if about.engine or about.model or hardware ~= "" then
      fail(form, "%s says engine, model and hardware; change them there", from[1])
    end
    own = of_scenario(form, from[1])
  else
    own = of_launch(form, core.copy(about, about.from and { from = from }), hardware)
  end
  local text, notes = manifests.text(form, own, name), {}
  if own.router and not core.is_among(own.router, { "llm_d", "dynamo_kv" }) then
    own.told[#own.told + 1] = ("the router %s has no place in this form"):format(tostring(own.router))
  end
  for i, sentence in ipairs(own.told) do notes[i] = "note  " .. quoting.line(native.printable(sentence)) .. "\n" end
  return { text = text, extension = forms.of(form).extension, notes = core.join(notes, "") }
end

return manifests
