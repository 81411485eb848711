-- Launch commands in words of a container or a line of a script: also those behind `bash -c`, srun and docker run.
--
-- A part of a cluster is {words, environment = {{name, value}}, files = {path = text}, line, image, gpus (of a pod or a
-- task), nodes (of one engine), tasks, count (how many of them), role, name, gpu (of the catalogue), release}.
local core = require "rooflua.base.core"
local dynamo_words = require "rooflua.manifests.dynamo_words"
local holes = require "rooflua.manifests.holes"
local shell_script = require "rooflua.manifests.shell_script"
local native = require "rooflua.native"
local secrets = require "rooflua.startup.secrets"
local start = require "rooflua.engines.launch.start"
local units = require "rooflua.text.units"

local launches = {}

local shells = core.set { "sh", "bash", "ash", "dash", "zsh" }
local talking = core.set { "echo", "printf", "pip", "pip3", "kubectl", "helm", "grep", "pkill", "apt-get", "[", "[[",
  "test", "for" }
local deepest = 4

local function base_of(word) return word:match "([^/]*)$" end

--- The script behind `sh -c`, and the place of the shell.
local function inner_script(words)
  for i = 1, #words - 2 do
    if shells[base_of(words[i])] and words[i + 1]:find "^%-[%a]*c$" then return words[i + 2], i end
    if shells[base_of(words[i])] and words[i + 1]:find "^%-o$" and words[i + 3]
      and words[i + 3]:find "^%-[%a]*c$" and words[i + 4] then
      return words[i + 4], i
    end
  end
end

local options_of_srun = { ["-N"] = "nodes", ["--nodes"] = "nodes", ["-n"] = "tasks", ["--ntasks"] = "tasks",
  ["--gpus-per-node"] = "node_gpus", ["--gpus-per-task"] = "task_gpus", ["--gres"] = "node_gpus", ["-G"] = "all_gpus",
  ["--gpus"] = "all_gpus", ["--ntasks-per-node"] = "node_tasks", ["-J"] = "name", ["--job-name"] = "name",
  ["-a"] = "array", ["--array"] = "array", ["--container-image"] = "image" }

--- "8", "h100:8", "gpu:h100:8" as a number, and the GPU where it names one.
local function gpus_of(text)
  local number = text:match "(%d+)$"
  local name = text:gsub("^gpu:", ""):match "^([%a][%w_.-]*):%d+$"
  return number and tonumber(number), name
end

--- Reads an option of SLURM into a table. Returns whether it is one that is known.
function launches.slurm_option(out, flag, value)
  local key = options_of_srun[flag]
  if not key or not value then return false end
  if key == "name" or key == "image" then
    out[key] = value
  elseif key:find "gpus$" then
    out[key], out.gpu = gpus_of(value)
  elseif key == "array" then
    local first, last = value:match "^(%d+)%-(%d+)%%?%d*$"
    out.array = first and math.max(1, tonumber(last) - tonumber(first) + 1) or 1
  else
    out[key] = tonumber(value:match "^(%d+)%-?%d*$")
  end
  return true
end

--- What options of srun in front of a command say, and the place behind them.
local function of_srun(words, about)
  local at = 2
  while words[at] and words[at]:sub(1, 1) == "-" do
    local flag, value = words[at]:match "^(%-%-?[%w-]+)=(.*)$"
    flag = flag or words[at]
    local takes_next = not value and options_of_srun[flag] ~= nil
    if not value and flag:find "^%-[NnGJa]%w" then flag, value, takes_next = flag:sub(1, 2), flag:sub(3), false end
    if takes_next then value, at = words[at + 1], at + 1 end
    launches.slurm_option(about, flag, value)
    at = at + 1
  end
  return at
end

--- GPUs of `docker run --gpus 2`, "device=0,1".
local function gpus_of_docker(words)
  for i, word in ipairs(words) do
    local value = word:match "^%-%-gpus=(.*)$" or word == "--gpus" and words[i + 1]
    local devices = value and value:match "device=([%w,-]+)"
    if devices then return select(2, devices:gsub(",", "")) + 1 end
    if value then return tonumber(value) end
  end
end

local function slice(words, first)
  local out = {}
  for i = first, #words do out[#out + 1] = words[i] end
  return out
end

local function joined(one, other)
  local out = {}
  for _, list in ipairs { one, other } do
    for _, each in ipairs(list or {}) do out[#out + 1] = each end
  end
  return out
end

--- Environment of words in front of an inner shell: env A=b, docker run -e A=b.
local function front_environment(words, last)
  local state = { environment = {}, told = {} }
  start.read_front(words, last, state)
  return state.environment
end

--- A variable of a list by its name: the last one holds.
local function variables_of(environment)
  local out = {}
  for _, each in ipairs(environment) do out[each[1]] = each[2] end
  return out
end

--- Adds the parts that a command starts. Returns whether it starts an engine.
---@param command table {words, environment, line, image}
---@param about table {parts, files, variables, told, depth}
function launches.add(command, about)
  local words, part = command.words, { line = command.line, image = command.image, files = about.files }
  if talking[words[1] or ""] or (about.depth or 0) > deepest then return false end
  if words[1] and base_of(words[1]) == "srun" then words = slice(words, of_srun(words, part)) end
  local program = base_of(words[1] or "")
  if program == "docker" or program == "podman" then part.gpus = gpus_of_docker(words) end
  local script, at = inner_script(words)
  if script then
    local environment = joined(command.environment, front_environment(words, at - 1))
    local found = launches.script(script, core.copy(about, { depth = (about.depth or 0) + 1,
      variables = core.copy(about.variables, variables_of(environment)) }))
    for _, each in ipairs(found.parts) do
      each.environment = joined(environment, each.environment)
      for key, value in pairs(part) do
        if each[key] == nil or key == "line" then each[key] = value end
      end
      about.parts[#about.parts + 1] = each
    end
    return #found.parts > 0
  end
  words, part.role = dynamo_words.read(words)
  if not start.is_one(words) then return false end
  part.words, part.environment = words, command.environment
  about.parts[#about.parts + 1] = part
  return true
end

--- {parts, commands, unread} of a script: commands are marked with is_launch.
function launches.script(text, about)
  local read = shell_script.read(text, about.variables or {})
  local own = core.copy(about, { parts = {}, files = core.copy(about.files, read.files) })
  for _, command in ipairs(read.commands) do
    command.is_launch = launches.add({ words = command.words, environment = command.environment,
      line = command.line, image = about.image }, own)
  end
  for _, each in ipairs(read.unread) do
    if each.text:find "vllm%s+serve" or each.text:find "launch_server" or each.text:find "trtllm%-serve" then
      core.fail("line %d: the launch line is not read: %s", each.line, holes.shown(each.problem))
    end
  end
  return { parts = own.parts, commands = read.commands, unread = read.unread }
end

--- A part for people: "2 x decode, 4 GPUs: vllm serve ...", without secrets.
function launches.text(part)
  local text = secrets.masked(native.printable(holes.shown(core.join(part.words, " "))), 400):gsub("%s+", " ")
  return ("%d x %s%s: %s"):format(part.count or 1, part.role or "engine",
    part.gpus and ", " .. units.counted(part.gpus, "GPU") or "", text)
end

return launches
