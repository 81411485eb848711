-- A scenario whose model, engine and deployment are those of a launch command, or of files of a start (--from).
local application = require "rooflua.applied.application"
local chunks = require "rooflua.sandbox.chunks"
local cluster = require "rooflua.manifests.cluster"
local clusters = require "rooflua.applied.clusters"
local command = require "rooflua.applied.command"
local core = require "rooflua.base.core"
local native = require "rooflua.native"
local Reader = require "rooflua.scenario.reader"
local schema = require "rooflua.scenario.schema"
local spec = require "rooflua.spec"
local startup = require "rooflua.startup.deployment"

local launch = {}

local replaced = { "model", "engine", "deployment" }

local function fail(message, ...) core.fail("--command: " .. message, ...) end

--- Whether a text is the name of a repository, and no path.
local function is_repository(text) return text:find "^%w[%w._-]*/%w[%w._-]*$" ~= nil end

--- The model that a command or a file names, or that is given in its place; one that no file describes is an error.
function launch.model_of(deployment, given)
  local name = given or deployment.model
  local function fail(message, ...) -- luacheck: ignore 431
    core.fail((deployment.found and "--from: " or "--command: ") .. message, ...)
  end
  if not name then fail "names no model; give it: --model NAME, or --model FOLDER/config.json" end
  local ok, problem = pcall(spec.model, name)
  if ok then return name end
  if given then fail("--model: %s", problem) end
  local what = is_repository(name) and "no shipped model has this name" or "there is no config.json at this place"
  fail("the model '%s' is not known: %s%s. Give its config.json: --model FOLDER/config.json", native.printable(name),
    what, tostring(problem):match "; did you mean [^?]*%?" or "")
end

--- Refuses what stands in the way of a command: keys that parts of the scenario state of their own.
local function check(given)
  if given.kind == "plan" then
    fail "a plan chooses engine and deployment itself: run it without, or ask with rooflua plan --command"
  end
  if type(given.replicas) == "table" then
    for i, each in ipairs(core.plain(given.replicas)) do
      for _, key in ipairs(replaced) do
        if type(each) == "table" and core.plain(each)[key] ~= nil then
          fail("replicas[%d].%s is stated; a command replaces those of the whole scenario only", i, key)
        end
      end
    end
  end
end

--- The deployment of a command, or of files of a start, which has `found` as well (startup/seen.lua).
function launch.deployment(about)
  if about.from then
    if about.text then core.fail "--from and --command: give one of them" end
    return startup.of(about)
  end
  local ok, deployment = pcall(command.read, about.text, { engine = about.engine })
  if not ok then fail("%s", deployment) end
  return deployment
end

--- Scenario keys of a command, checked: {model, engine, speculation, replicas} and sentences about the rest.
--- @param about table {text = the command or from = files, engine = "vllm 0.19" or nil, model = in place of its own}
--- @param given table? the scenario
function launch.keys(about, given)
  local deployment = launch.deployment(about)
  local keys, told = command.keys(deployment.role and cluster.without_role(deployment) or deployment, given)
  keys.model = launch.model_of(deployment, about.model)
  if deployment.cluster then clusters.keys(deployment.cluster, keys, told, given) end
  if about.model and deployment.model and about.model ~= deployment.model then
    told[#told + 1] = ("%s in place of the %s's %s"):format(about.model, about.from and "file" or "command",
      native.printable(deployment.model))
  end
  return keys, told, deployment
end

--- The hardware of files, where what is given says none or another one; a sentence about the latter goes to `told`.
local function hardware_of(deployment, given, what, told)
  if not deployment.found then return given end
  local hardware, remark = startup.hardware(deployment.found, given, what)
  told[#told + 1] = remark and native.printable(remark)
  return hardware
end

--- The hardware of a command that stands alone: that of --hardware, or of the files of --from.
function launch.hardware(about, given)
  return about.from and hardware_of(launch.deployment(about), given, "--hardware", {}) or given
end

--- What a step of a command is called: "Qwen/Qwen3-32B on h100-sxm, vllm 0.19, tp 2".
function launch.title(about, hardware)
  local keys, _, deployment = launch.keys(about)
  local given = { model = keys.model, hardware = hardware, engine = keys.engine }
  local ok, chosen = pcall(application.implied, Reader.new "step", given)
  local options, widths = core.copy(deployment.options, ok and chosen.options or nil), {}
  for _, width in ipairs { "tp", "dp", "pp", "ep", "cp", "dcp" } do
    for _, option in ipairs(deployment.engine.options) do
      local value = options[option.name]
      if option.key == "deployment." .. width and type(value) == "number" then
        widths[#widths + 1] = (", %s %d"):format(option.parameter, value)
      end
    end
  end
  return ("%s on %s, %s%s"):format(native.printable(tostring(keys.model)), hardware, keys.engine[1],
    core.join(widths, ""))
end

--- What `rooflua capacity` asks of the engine of a command: {model, engine, speculation, adapters}, and what is given.
function launch.capacity(reader, given, about)
  local keys, told, deployment = launch.keys(about)
  local out = core.copy(given)
  out.model, out.engine, out.deployment = keys.model, keys.engine, nil
  out.hardware = hardware_of(deployment, given.hardware, "--hardware", told)
  out.speculation, out.adapters = keys.speculation, keys.adapters
  reader.shared.told = told
  reader.shared.startup = deployment.found and deployment.found.has_start and deployment.found or nil
  return out
end

--- The load of a run of files alone: one request per second of the lengths that `vllm bench serve` sends by default.
local function default_load(kind, told)
  if kind ~= "serve" then return nil end
  told[#told + 1] = "no load is stated: 1 request/s of 1024+128 tokens; --bench or a scenario says another"
  return chunks.shipped "workloads.poisson" { rate_per_s = 1, num_requests = 200, prompt_tokens = 1024,
    output_tokens = 128 }
end

--- A scenario with the keys of a command, and the keys that it replaces. What the command does not say in keys becomes
--- notes of every answer.
function launch.scenario(reader, given, about)
  check(given)
  local keys, told, deployment = launch.keys(about, given)
  local out = core.copy(given)
  out.hardware = hardware_of(deployment, given.hardware, "hardware", told)
  for _, key in ipairs(replaced) do out[key] = nil end
  local replicas = given.replicas
  if keys.replicas then
    local is_list, what = type(keys.replicas) == "table", about.from and "--from" or "--command"
    if is_list and replicas ~= nil then
      core.fail("%s: starts several kinds of engines, and the scenario states its replicas; leave them out", what)
    elseif type(replicas) == "table" then
      core.fail("%s: starts %d engines, and the scenario lists its replicas; state their number", what, keys.replicas)
    end
    keys.replicas = is_list and keys.replicas or keys.replicas * (replicas or 1)
  end
  local kind = given.kind or schema.entry("kind").default
  if given.speculation ~= nil and keys.speculation == nil then
    told[#told + 1] = "speculation of the scenario is left out: the command asks for no drafts"
    out.speculation = nil
  end
  for key, value in pairs(keys) do
    local entry = schema.entry(key)
    if not entry.kinds or entry.kinds[kind] then
      out[key] = value
    elseif key == "speculation" or key == "adapters" then
      told[#told + 1] = ("%s of the command are left out: kind \"%s\" has none"):format(
        key == "speculation" and "drafts" or key, kind)
    end
  end
  reader.shared.told = told
  reader.shared.startup = deployment.found and deployment.found.has_start and deployment.found or nil
  if about.has_no_load then out.workload = default_load(kind, told) end
  return out, keys.adapters and { "adapters", core.unpack(replaced) } or replaced
end

return launch
