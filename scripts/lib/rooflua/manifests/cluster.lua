-- The parts that manifests start as one cluster: its engines with their options, how many there are, roles, router.
local chunks = require "rooflua.sandbox.chunks"
local command = require "rooflua.applied.command"
local core = require "rooflua.base.core"
local engine_metrics = require "rooflua.handover.engine_metrics"
local holes = require "rooflua.manifests.holes"
local json = require "rooflua.json"
local native = require "rooflua.native"
local reading = require "rooflua.engines.launch.reading"
local start = require "rooflua.engines.launch.start"
local units = require "rooflua.text.units"

local cluster = {}

local function place(each) return each.line and ("%s:%d"):format(each.file, each.line) or each.file end

--- Files of a part: those of the script, and of the ConfigMaps that are mounted.
local function files_of(part, config_maps)
  local out = core.copy(part.files)
  for _, mount in ipairs(part.mounts or {}) do
    for name, text in pairs(config_maps[mount.map] or {}) do
      if type(text) == "string" and mount.path then
        local is_file = mount.file == name
        out[is_file and mount.path or (mount.path:gsub("/+$", "") .. "/" .. name)] = text
      end
    end
  end
  return out
end

--- The variables of a part that are given, each once; a sentence names the others.
local function environment_of(part, told)
  local by_name, out, left_out = {}, {}, {}
  for _, each in ipairs(part.environment) do by_name[each[1]] = each[2] end
  for name, value in core.sorted_pairs(by_name) do
    if holes.has(value) then
      left_out[#left_out + 1] = name
    else
      out[#out + 1] = { name, value }
    end
  end
  if #left_out > 0 then told[#told + 1] = "variables whose values are not given: " .. core.join(left_out, ", ") end
  return out
end

local function number_of(deployment, name)
  for _, option in ipairs(deployment.engine.options) do
    local value = option.key == "deployment." .. name and deployment.options[option.name]
    if type(value) == "number" then return value end
  end
  return 1
end

--- The GPUs of one engine by its widths.
function cluster.gpus(deployment)
  local counts_all = core.is_among("tp", deployment.engine.counts_all_ranks or {})
  return number_of(deployment, "tp") * number_of(deployment, "pp") * (counts_all and 1 or number_of(deployment, "dp"))
end

--- Counts of what srun starts: each task is an engine, where that many GPUs are there.
local function spread(part, needs)
  local tasks = part.tasks
  if not tasks and not part.node_gpus and not part.task_gpus and not part.all_gpus then return end
  local nodes = part.nodes or 1
  local all = part.all_gpus or part.task_gpus and part.task_gpus * (tasks or 1) or part.node_gpus
    and part.node_gpus * nodes
  local count = all and tasks and tasks > 1 and math.max(1, math.floor(all / needs)) or 1
  if tasks then count = math.min(count, tasks) end
  part.count = part.count * count
  part.nodes = math.max(1, math.floor(nodes / count))
  part.gpus = all and math.floor(all / count / part.nodes) or part.gpus
end

--- The engine of a part as a deployment of launch/reading.lua, with {count, role, gpus, nodes, gpu, name, file, line}.
---@param release string? what other files say of it, in place of the image's
local function deployment_of(part, config_maps, release)
  local found, told = start.of(part.words), {}
  local words, left_out = holes.without(found.engine, part.words, found.behind)
  local version = release or part.release
  local ok, out = pcall(reading.words, { words = words, environment = environment_of(part, told), remarks = {},
    files = files_of(part, config_maps) }, { engine = found.engine.name .. (version and " " .. version or ""),
    is_measured = true })
  if not ok then core.fail("--from %s: %s", place(part), holes.shown(tostring(out):gsub("^[^%s:]+%.lua:%d+: ", ""))) end
  for _, list in ipairs { left_out, told } do
    for _, each in ipairs(list) do out.told[#out.told + 1] = each end
  end
  out.is_stated = version ~= nil
  part.count = part.count or 1
  spread(part, cluster.gpus(out))
  for _, key in ipairs { "count", "gpus", "gpu", "name", "file", "line" } do out[key] = part[key] end
  out.nodes, out.role = part.nodes or 1, part.role or cluster.role(out)
  return out
end

--- The role that options say: SGLang's mode, vLLM's producer and consumer.
function cluster.role(deployment)
  local mode = deployment.options.disaggregation_mode
  if mode == "prefill" or mode == "decode" then return mode end
  for _, name in ipairs { "kv_transfer_config", "kv_transfer_config.kv_role" } do
    local text = tostring(deployment.options[name] or "")
    if text:find "kv_producer" then return "prefill" end
    if text:find "kv_consumer" then return "decode" end
  end
end

--- What two engines have in common where they are one kind.
local function key_of(each)
  return json.encode { each.engine.name, each.release, each.model or json.null, each.role or json.null,
    each.gpus or json.null, each.nodes, core.sorted_keys(each.options), cluster.options_text(each.options) }
end

function cluster.options_text(options)
  local out = {}
  for name, value in core.sorted_pairs(options) do out[#out + 1] = name .. "=" .. json.encode(value) end
  return core.join(out, "\n")
end

local function merged(list)
  local out, by_key = {}, {}
  for _, each in ipairs(list) do
    local key = key_of(each)
    if by_key[key] then
      by_key[key].count = by_key[key].count + each.count
    else
      by_key[key], out[#out + 1] = each, each
    end
  end
  return out
end

--- A role alone is none: its engines do both.
local function check_roles(engines, told)
  local by_role = {}
  for _, each in ipairs(engines) do by_role[each.role or "both"] = true end
  if not by_role.prefill == not by_role.decode then return end
  for _, each in ipairs(engines) do each.role = nil end
  told[#told + 1] = ("only engines for %s are named: they are taken to do both"):format(
    by_role.prefill and "prefill" or "decode")
end

--- Tells where the GPUs of a pod are not those that its engine takes.
local function check_gpus(each, told)
  local needs = cluster.gpus(each)
  local has = each.gpus and each.gpus * each.nodes
  if has and has ~= needs then
    told[#told + 1] = ("%s: has %s%s, and its engine takes %d"):format(place(each), units.counted(each.gpus, "GPU"),
      each.nodes > 1 and (" on each of %d nodes"):format(each.nodes) or "", needs)
  end
end

--- The engines of files, and the one that figures of one engine are of: {engines, main, router, told}.
---@param found table of startup/seen.lua, with parts
---@param release string? the release that a log says
function cluster.of(found, release)
  local list, told = {}, {}
  for i, part in ipairs(found.parts) do list[i] = deployment_of(core.copy(part), found.config_maps, release) end
  local engines = merged(list)
  check_roles(engines, told)
  local main = engines[1]
  for _, each in ipairs(engines) do
    check_gpus(each, told)
    if each.model ~= main.model and each.model and main.model then
      core.fail("--from: %s serves %s, and %s %s: give files of one model", place(main), native.printable(main.model),
        place(each), native.printable(each.model))
    end
  end
  for _, each in ipairs(engines) do
    if each.role == "decode" and main.role ~= "decode" then main = each end
    main.model = main.model or each.model
  end
  return { engines = engines, main = main, router = found.routers[1], autoscalers = found.autoscalers, told = told }
end

--- The autoscaler of an HPA that names an engine; a sentence where it is not simulated.
local function autoscaler_of(own, each, told)
  local names = engine_metrics.of("hpa", each.engine.name)
  for metric, series in pairs(names) do
    local is_one = type(series) == "string" and own.series == series:gsub(":", "_")
    local target = is_one and tonumber(own.value)
    if target and target > 0 and own.max then
      return chunks.shipped "autoscalers.hpa" { metric = metric, target = target }
    end
  end
  told[#told + 1] = ("%s: this autoscaler is not simulated; %s run"):format(place(own), units.counted(each.count, "replica"))
end

local function scaled(entry, each, autoscalers, told)
  for _, own in ipairs(autoscalers) do
    if own.target == each.name then
      entry.autoscaler = autoscaler_of(own, each, told)
      if entry.autoscaler then
        entry.min, entry.max = own.min, own.max
        entry.count = math.min(math.max(entry.count, own.min), own.max)
      end
    end
  end
end

local function plural(each)
  return ("%d x %s%s%s"):format(each.count, each.role or "engine",
    each.gpus and ", " .. units.counted(each.gpus, "GPU") .. " each" or "",
    each.nodes > 1 and (" on each of %d nodes"):format(each.nodes) or "")
end

--- A sentence about the engines of a cluster; nil where it is one.
function cluster.text(own)
  if #own.engines == 1 and own.engines[1].count == 1 then return nil end
  local parts = {}
  for i, each in ipairs(own.engines) do parts[i] = plural(each) end
  return "the files start " .. core.join(parts, "; ")
end

--- Puts the cluster into keys of a scenario, and sentences about it into `told`.
---@param keys table of applied/command.lua: those of its main engine
---@param given table? the scenario, whose router holds
function cluster.keys(own, keys, told, given)
  local entries, is_plain = {}, #own.engines == 1 and own.engines[1].role == nil
  for i, each in ipairs(own.engines) do
    local entry = { count = each.count * (type(keys.replicas) == "number" and each == own.main and keys.replicas or 1) }
    if not is_plain then
      entry.role, entry.engine = each.role, each == own.main and keys.engine or command.keys(each, given).engine
    end
    scaled(entry, each, own.autoscalers, told)
    is_plain = is_plain and not entry.autoscaler
    entries[i] = entry
  end
  told[#told + 1] = cluster.text(own)
  if not is_plain then
    keys.replicas = entries
  elseif entries[1].count > 1 then
    keys.replicas = entries[1].count
  end
  local has_several = #entries > 1 or entries[1].count > 1
  if own.router and has_several and (given or {}).router == nil then
    keys.router = own.router.name
    told[#told + 1] = ("router %s with its defaults, as %s says"):format(own.router.name, place(own.router))
  end
  for _, each in ipairs(own.told) do told[#told + 1] = each end
end

return cluster
