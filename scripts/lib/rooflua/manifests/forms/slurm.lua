-- A script of a shell that starts engines, and a job of SLURM: its #SBATCH lines and what srun starts.
-- Source: SchedMD/slurm 22.05 to 25.05, sbatch and srun manual pages; NVIDIA/pyxis --container-image
local containers = require "rooflua.manifests.containers"
local core = require "rooflua.base.core"
local gpus = require "rooflua.manifests.gpus"
local holes = require "rooflua.manifests.holes"
local kubernetes = require "rooflua.manifests.forms.kubernetes"
local launches = require "rooflua.manifests.launches"
local native = require "rooflua.native"
local quoting = require "rooflua.text.quoting"
local secrets = require "rooflua.startup.secrets"

local slurm = { name = "slurm", title = "a job of SLURM", extension = ".sh" }

--- What #SBATCH lines say, and the variables that SLURM sets from them.
local function directives(text, record)
  local out, number = {}, 0
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    number = number + 1
    local rest = line:match "^#SBATCH%s+(.-)%s*$"
    if rest then
      rest = rest:gsub("%s+#.*$", "")
      local flag, value = rest:match "^(%-%-?[%w-]+)[=%s]%s*(%S+)"
      if not flag then flag, value = rest:match "^(%-%a)(%S+)" end
      local is_read = flag and launches.slurm_option(out, flag, value)
      record.count = record.count + 1
      if is_read then
        record.understood = record.understood + 1
        record.read[#record.read + 1] = { line = number, means = "of the job", text = native.printable(line) }
      else
        record.later = record.later + 1
      end
    end
  end
  return out
end

local function variables_of(job)
  local out = {}
  for name, value in pairs { SLURM_NNODES = job.nodes, SLURM_JOB_NUM_NODES = job.nodes, SLURM_NTASKS = job.tasks,
    SLURM_GPUS_ON_NODE = job.node_gpus, SLURM_GPUS_PER_NODE = job.node_gpus } do
    out[name] = tostring(value)
  end
  return out
end

--- Puts commands of a script into the record: launch lines are read, others are not.
local function account(record, found)
  for _, each in ipairs(found.commands) do
    local text = secrets.masked(native.printable(holes.shown((each.text:gsub("%s+", " ")))), 200)
    record.count = record.count + 1
    if each.is_launch then
      record.understood = record.understood + 1
      record.read[#record.read + 1] = { line = each.line, means = "starts an engine", text = text }
    else
      record.not_understood = record.not_understood + 1
      record.unread[#record.unread + 1] = { line = each.line, text = text, name = each.words[1] or "a variable" }
    end
  end
  for _, each in ipairs(found.unread) do
    record.count, record.not_understood = record.count + 1, record.not_understood + 1
    record.unread[#record.unread + 1] = { line = each.line, name = "a line",
      text = secrets.masked(native.printable((each.text:gsub("%s+", " "))), 200) }
  end
end

--- Reads a script. Returns whether it starts an engine.
function slurm.read_text(text, about)
  local job = directives(text, about.record)
  local found = launches.script(text, { variables = variables_of(job), files = {}, told = about.told })
  if #found.parts == 0 then return false end
  account(about.record, found)
  for _, part in ipairs(found.parts) do
    local is_step = part.nodes or part.tasks or part.node_gpus or part.task_gpus or part.all_gpus
    for _, key in ipairs { "nodes", "tasks", "node_gpus", "task_gpus", "all_gpus", "gpu" } do
      local holds = not is_step or key == "node_gpus" or key == "gpu" or key == "nodes" or key == "tasks" and not part.nodes
      if part[key] == nil and holds then part[key] = job[key] end
    end
    if not part.tasks and job.node_tasks then part.tasks = job.node_tasks * (part.nodes or 1) end
    part.role = kubernetes.role(part.name or "")
    part.count = job.array or 1
    local gpu = part.gpu
    part.gpu = gpu and gpus.known(gpu)
    if gpu and not part.gpu then about.told[#about.told + 1] = ("the GPU '%s' is not known here"):format(gpu) end
    if type(part.image) == "string" then part.image = part.image:gsub("#", "/") end
    about.parts[#about.parts + 1] = part
  end
  return true
end

function slurm.write(about)
  local lines, nodes, most, gpu, file = {}, 0, 0, nil, nil
  for _, part in ipairs(about.parts) do
    nodes, most, gpu = nodes + part.count * part.nodes, math.max(most, part.gpus), part.gpu
    local text = containers.file(part)
    if text and file and text ~= file then core.fail "--as slurm: the roles have two files of options" end
    file = text or file
  end
  local function gres(count) return ("--gres=gpu:%s%d"):format(gpu and gpu .. ":" or "", count) end
  local function add(...) lines[#lines + 1] = string.format(...) end
  add "#!/usr/bin/env bash"
  add("#SBATCH --job-name=%s", quoting.name(about.name, "model"))
  add("#SBATCH --nodes=%d", nodes)
  add("#SBATCH %s", gres(most))
  add "set -euo pipefail"
  if file then lines[#lines + 1] = containers.file_line(file):sub(1, -2) end
  for _, part in ipairs(about.parts) do
    local variables = {}
    for _, each in ipairs(containers.variables(part)) do
      variables[#variables + 1] = each[1] .. "=" .. quoting.shell(each[2]) .. " "
    end
    local words = containers.words(part, "options.yaml")
    for i = 1, part.count do
      lines[#lines + 1] = ("%ssrun --job-name=%s --nodes=%d --ntasks=%d %s --exclusive --container-image=%s %s &"):format(
        core.join(variables, ""), (part.role or "engine") .. "-" .. i, part.nodes, part.nodes, gres(part.gpus),
        quoting.shell(containers.image(part)), containers.shell_text(words))
    end
  end
  add "wait"
  return core.join(lines, "\n") .. "\n"
end

return slurm
