-- The parts that manifests start as one cluster: its engines with their options, how many there are, roles, router.
local core = require "rooflua.base.core"
local holes = require "rooflua.manifests.holes"
local json = require "rooflua.json"
local native = require "rooflua.native"
local reading = require "rooflua.engines.launch.reading"
local secrets = require "rooflua.text.secrets"
local start = require "rooflua.engines.launch.start"
local units = require "rooflua.text.units"

local cluster = {}

--- Where an engine or another object stands, for people.
function cluster.place(each) return ("%s:%d"):format(each.file, each.line or 0) end

--- Files of a part: those of its script, and of the ConfigMaps that are mounted.
local function files_of(part, config_maps)
  local out = core.copy(part.files)
  for _, mount in ipairs(part.mounts or {}) do
    for name, text in pairs(mount.path and config_maps[mount.map] or {}) do
      local path = mount.file == name and mount.path or mount.path:gsub("/+$", "") .. "/" .. name
      out[path] = type(text) == "string" and text or nil
    end
  end
  return out
end

--- The variables of a part that are given, each once: the last one holds. A sentence names the others.
local function environment_of(part, told)
  local by_name, out, left_out = {}, {}, {}
  for _, each in ipairs(part.environment) do by_name[each[1]] = each[2] end
  for name, value in core.sorted_pairs(by_name) do
    if not holes.has(value) then
      out[#out + 1] = { name, value }
    elseif not secrets.is_named(name) then
      left_out[#left_out + 1] = name
    end
  end
  if #left_out > 0 then told[#told + 1] = "variables whose values are not given: " .. core.join(left_out, ", ") end
  return out
end

--- The GPUs of one engine by its widths.
function cluster.gpus(deployment)
  local engine, out = deployment.engine, 1
  local counts_all = core.is_among("tp", engine.counts_all_ranks or {})
  for _, width in ipairs { "tp", "pp", not counts_all and "dp" or nil } do
    local found
    for _, option in ipairs(engine.options) do
      local value = option.key == "deployment." .. width and deployment.options[option.name]
      found = found or type(value) == "number" and value or nil
    end
    out = out * (found or 1)
  end
  return out
end

--- Counts of what srun starts: as many engines as tasks, where that many GPUs are there.
local function spread(part, needs)
  local nodes, tasks = part.nodes or 1, part.tasks or 1
  local all = part.all_gpus or part.task_gpus and part.task_gpus * tasks or part.node_gpus and part.node_gpus * nodes
  if not all then return end
  local count = math.max(1, math.min(tasks, math.floor(all / needs)))
  part.count, part.nodes = part.count * count, math.max(1, math.floor(nodes / count))
  part.gpus = math.floor(all / count / part.nodes)
end

--- The options of an engine that say which part of a request it does.
---@param is_encode boolean? of one that only encodes
local function role_options(engine, is_encode)
  local out = {}
  for _, option in ipairs(engine.options) do
    if option.parameter == "role" or option.encodes and is_encode then out[#out + 1] = option end
  end
  return out
end

--- Whether a name is that of an option, or of a key of it as in "kv_transfer_config.kv_role".
local function is_of(option, name) return name == option.name or name:find(option.name .. ".", 1, true) == 1 end

--- An engine without the options that say its role, which `role` says.
function cluster.without_role(deployment)
  local options = core.copy(deployment.options)
  for _, option in ipairs(deployment.role
    and role_options(deployment.engine, deployment.role == "encode") or {}) do
    for name in pairs(deployment.options) do
      if is_of(option, name) then options[name] = nil end
    end
  end
  return core.copy(deployment, { options = options })
end

--- The value of an option as a table: {value}, and of JSON its keys; those that dotted options state come last.
local function fields_of(option, options)
  local value = options[option.name]
  local out = { value }
  local is_json, decoded = pcall(json.decode, option.type == "json" and value or "")
  if is_json and type(decoded) == "table" then out = decoded end
  for name, each in pairs(options) do
    if name ~= option.name and is_of(option, name) then out[name:sub(#option.name + 2)] = each end
  end
  return out
end

--- The role that options say: the one whose value has, where the values of roles differ, the same fields.
local function role_of(engine, options)
  for _, option in ipairs(engine.options) do
    if option.encodes and option.encodes(fields_of(option, options)) then return "encode" end
  end
  for _, option in ipairs(role_options(engine)) do
    local own, by_role = fields_of(option, options), {}
    for role, value in pairs(option.values_of) do by_role[role] = fields_of(option, { [option.name] = value }) end
    for key, value in pairs(own) do
      if by_role.prefill[key] ~= by_role.decode[key] then
        for _, role in ipairs { "prefill", "decode" } do
          if by_role[role][key] == value then return role end
        end
      end
    end
  end
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
  if not ok then
    local said = tostring(out):gsub("^[^%s:]+%.lua:%d+: ", "")
    core.fail("--from %s: %s", cluster.place(part), holes.shown(said))
  end
  for _, list in ipairs { left_out, told } do
    for _, each in ipairs(list) do out.told[#out.told + 1] = each end
  end
  out.is_stated, part.count, part.nodes = version ~= nil, part.count or 1, part.nodes or 1
  spread(part, cluster.gpus(out))
  for _, key in ipairs { "count", "gpus", "gpu", "name", "file", "line", "nodes", "role" } do out[key] = part[key] end
  out.role = out.role or role_of(out.engine, out.options)
  return out
end

--- Options as one text, each on a line.
function cluster.options_text(options)
  local out = {}
  for name, value in core.sorted_pairs(options) do out[#out + 1] = name .. "=" .. json.encode(value) end
  return core.join(out, "\n")
end

--- Engines of one kind together, with their count.
local function merged(list)
  local out, by_key = {}, {}
  for _, each in ipairs(list) do
    local key = json.encode { each.engine.name, each.release, each.model or "", each.role or "", each.gpus or 0,
      each.nodes, cluster.options_text(each.options) }
    if by_key[key] then
      by_key[key].count = by_key[key].count + each.count
    else
      by_key[key], out[#out + 1] = each, each
    end
  end
  return out
end

--- What the engines of files say against each other.
local function check(engines, main, told)
  local has = {}
  for _, each in ipairs(engines) do
    has[each.role or "both"] = true
    local needs, own = cluster.gpus(each), each.gpus and each.gpus * each.nodes
    if own and own ~= needs then
      told[#told + 1] = ("%s: has %s, and its engine takes %d"):format(cluster.place(each), units.counted(own, "GPU"),
        needs)
    end
    if each.model and main.model and each.model ~= main.model then
      core.fail("--from: %s serves %s, and %s %s: give files of one model", cluster.place(main),
        native.printable(main.model), cluster.place(each), native.printable(each.model))
    end
  end
  if (has.prefill == nil) ~= (has.decode == nil) then -- a role alone is none
    told[#told + 1] = ("only engines for %s are named: they are taken to do both"):format(
      has.prefill and "prefill" or "decode")
    for _, each in ipairs(engines) do each.role = nil end
  end
end

--- A sentence about engines; nil where it is one.
local function counts_text(engines)
  local out = {}
  for i, each in ipairs(engines) do
    out[i] = ("%d x %s%s%s"):format(each.count, each.role or "engine",
      each.gpus and ", " .. units.counted(each.gpus, "GPU") .. " each" or "",
      each.nodes > 1 and (" on each of %d nodes"):format(each.nodes) or "")
  end
  return (#engines > 1 or engines[1].count > 1) and "the files start " .. core.join(out, "; ") or nil
end

--- The engines of files, and the one that figures of one engine are of: {engines, main, router, autoscalers, told}.
---@param found table of startup/seen.lua, with parts
---@param release string? the release that a log says
function cluster.of(found, release)
  local list, told = {}, {}
  for i, part in ipairs(found.parts) do list[i] = deployment_of(core.copy(part), found.config_maps, release) end
  local engines = merged(list)
  local main = engines[1]
  for _, each in ipairs(engines) do
    if main.role == "encode" then main = each end
  end
  if main.role == "encode" then
    core.fail("--from: %s only encodes, and no engine computes prompts", cluster.place(main))
  end
  check(engines, main, told)
  for _, each in ipairs(engines) do
    main = each.role == "decode" and main.role ~= "decode" and each or main
    main.model = main.model or each.model
  end
  told[#told + 1] = counts_text(engines)
  return { engines = engines, main = main, router = found.routers[1], autoscalers = found.autoscalers, told = told }
end

return cluster
