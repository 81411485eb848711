-- Launch commands in words of a container or a line of a script: also those behind `bash -c`, srun and docker run.
--
-- A part of a cluster is {words, environment = {{name, value}}, files = {path = text}, line, image, gpus (of a pod),
-- nodes (of one engine), count, role, name, gpu (of the catalogue), release}; of srun also {tasks, node_gpus,
-- task_gpus, all_gpus}.
local catalogue = require "rooflua.engines.catalogue"
local core = require "rooflua.base.core"
local dynamo_words = require "rooflua.manifests.dynamo_words"
local holes = require "rooflua.manifests.holes"
local native = require "rooflua.native"
local secrets = require "rooflua.text.secrets"
local shell_script = require "rooflua.manifests.shell_script"
local start = require "rooflua.engines.launch.start"
local units = require "rooflua.text.units"

local launches = {}

local shells = core.set { "sh", "bash", "ash", "dash", "zsh" }
local talking = core.set { "echo", "printf", "pip", "pip3", "kubectl", "helm", "grep", "pkill", "apt-get", "[", "[[",
  "test", "for" }
local deepest = 4

local function base_of(word) return (word or ""):match "([^/]*)$" end

--- The script behind `sh -c` or `bash -o pipefail -c`, and the place of the shell.
local function inner_script(words)
  for i = 1, #words - 2 do
    local at = words[i + 1] == "-o" and i + 3 or i + 1
    if shells[base_of(words[i])] and (words[at] or ""):find "^%-%a*c$" then return words[at + 1], i end
  end
end

local options_of_slurm = { ["-N"] = "nodes", ["--nodes"] = "nodes", ["-n"] = "tasks", ["--ntasks"] = "tasks",
  ["--gpus-per-node"] = "node_gpus", ["--gpus-per-task"] = "task_gpus", ["--gres"] = "node_gpus", ["-G"] = "all_gpus",
  ["--gpus"] = "all_gpus", ["--ntasks-per-node"] = "node_tasks", ["-J"] = "name", ["--job-name"] = "name",
  ["-a"] = "array", ["--array"] = "array", ["--container-image"] = "image" }

local function put_option(out, key, value)
  local number = value and tonumber(value:match "(%d+)%%?%d*$")
  if key == "name" or key == "image" then
    out[key] = value and value:gsub("#", "/")
  elseif key == "array" then
    out.array = number and number - (tonumber(value:match "^(%d+)%-") or number) + 1
  else
    out[key] = number
    if key:find "gpus$" then out.gpu = value and value:gsub("^gpu:", ""):match "^(%a[%w_.-]*):%d+$" or out.gpu end
  end
end

--- Puts what options of srun or #SBATCH say into a table: --nodes=2, -N 2, -N2. Returns the place behind them.
function launches.slurm_options(words, out)
  local at = 2
  while (words[at] or ""):sub(1, 1) == "-" do
    local flag, value = words[at]:match "^(%-%-[%w-]+)=(.*)$"
    if not flag then flag, value = words[at]:match "^(%-%a)(.+)$" end
    local key = options_of_slurm[flag or words[at]]
    if key and not value then value, at = words[at + 1], at + 1 end
    if key then put_option(out, key, value) end
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

--- Words of a container with the engine's command in front where its image alone says it.
function launches.words(image, command, args)
  local words, engine, at = core.rest(command, 1), image and start.of_image(image), 0
  for _, word in ipairs(args) do words[#words + 1] = word end
  if not engine or #command > 0 or start.is_one(words) or inner_script(words) then return words end
  for word in engine.command:gmatch "%S+" do
    at = at + 1
    table.insert(words, at, word)
  end
  return words
end

--- The variables of words in front of a command, behind those that it has: env A=b, docker run -e A=b.
local function with_front(environment, words, last)
  local set = { environment = core.copy(environment), told = {} }
  start.read_front(words, last, set)
  return set.environment
end

--- Adds the parts of a script behind `sh -c`.
local function add_inner(script, environment, part, about)
  local variables = core.copy(about.variables)
  for _, each in ipairs(environment) do variables[each[1]] = each[2] end
  local found = launches.script(holes.script(script, variables), core.copy(about, { depth = (about.depth or 0) + 1,
    variables = variables, image = part.image }))
  for _, each in ipairs(found.parts) do
    for i, variable in ipairs(environment) do table.insert(each.environment, i, variable) end
    about.parts[#about.parts + 1] = core.copy(part, each, { line = part.line })
  end
  return #found.parts > 0
end

--- The words that `docker run ... IMAGE ...` starts, and their variables; others as they are.
local function of_container(words, environment, part)
  local program = base_of(words[1])
  if program ~= "docker" and program ~= "podman" then return words, environment end
  part.gpus = gpus_of_docker(words)
  for i, word in ipairs(words) do
    if start.of_image(word) then
      part.image = word
      return launches.words(word, {}, core.rest(words, i + 1)), with_front(environment, words, i - 1)
    end
  end
  return words, environment
end

--- Adds the parts that a command starts. Returns whether it starts an engine.
---@param command table {words, environment, line}
---@param about table {parts, files, variables, image, depth}
function launches.add(command, about)
  local words, environment = command.words, command.environment
  local part = { line = command.line, image = about.image, files = about.files }
  if talking[words[1] or ""] or (about.depth or 0) > deepest then return false end
  if base_of(words[1]) == "srun" then words = core.rest(words, launches.slurm_options(words, part)) end
  words, environment = of_container(words, environment, part)
  local script, at = inner_script(words)
  if script then return add_inner(script, with_front(environment, words, at - 1), part, about) end
  words, part.role = dynamo_words.read(words)
  if not start.is_one(words) then return false end
  part.words, part.environment = words, environment
  about.parts[#about.parts + 1] = part
  return true
end

--- Whether a text has words that start an engine.
function launches.has_line(text)
  for _, engine in ipairs(catalogue.saying "starts") do
    for _, each in ipairs(engine.starts) do
      if text:find((each:gsub("^%-m ", ""):gsub("%p", "%%%0"):gsub(" ", "%%s+"))) then return true end
    end
    if text:find(engine.image:match "^[^:]+", 1, true) then return true end
  end
  return text:find "%-m%s+dynamo%." ~= nil
end

--- {parts, commands} of a script; commands that start an engine are marked with is_launch.
function launches.script(text, about)
  local read = shell_script.read(text, about.variables or {})
  local own = core.copy(about, { parts = {}, files = core.copy(about.files, read.files) })
  for _, command in ipairs(read.commands) do
    if command.problem and launches.has_line(command.text) then
      core.fail("line %d: the launch line is not read: %s", command.line, holes.shown(command.problem))
    end
    command.is_launch = launches.add(command, own)
  end
  return { parts = own.parts, commands = read.commands }
end

--- A part for people: "2 x decode, 4 GPUs: vllm serve ...", without secrets.
function launches.text(part)
  local text = secrets.masked(native.printable(holes.shown(core.join(part.words, " "))), 400):gsub("%s+", " ")
  return ("%d x %s%s: %s"):format(part.count or 1, part.role or "engine",
    part.gpus and ", " .. units.counted(part.gpus, "GPU") or "", text)
end

return launches
