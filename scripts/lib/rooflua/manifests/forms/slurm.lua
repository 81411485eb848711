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
local secrets = require "rooflua.text.secrets"

local slurm = { name = "slurm", title = "a job of SLURM", extension = ".sh" }

--- Commands that change nothing here.
local idle = core.set { "wait", "mkdir", "sleep", "echo", "module", "ulimit", "trap", "[", "[[",
  "pip", "pip3" }

--- What #SBATCH lines say.
local function job_of(text, record)
  local out = {}
  for line in text:gmatch "%f[^\n%z](#SBATCH[^\n]*)" do
    local words = {}
    for word in line:gsub("%s#.*", ""):gmatch "%S+" do words[#words + 1] = word end
    launches.slurm_options(words, out)
    record.understood, record.read[#record.read + 1] = record.understood + 1, { line = 1, means = "read",
      text = secrets.masked(native.printable(line), 200) }
  end
  return out
end

--- Puts commands of a script into the record: launch lines are read, others are not.
local function account(record, commands)
  for _, each in ipairs(commands) do
    local entry = { line = each.line, means = "read", name = holes.shown(each.words[1] or "a line"),
      text = secrets.masked(native.printable(holes.shown((each.text:gsub("%s+", " ")))), 200) }
    if each.is_launch then
      record.understood, record.read[#record.read + 1] = record.understood + 1, entry
    elseif idle[entry.name] then
      record.later = record.later + 1
    else
      record.not_understood, record.unread[#record.unread + 1] = record.not_understood + 1, entry
    end
  end
end

--- Reads a script. Returns whether it starts an engine.
function slurm.read_text(text, about)
  local job, variables = job_of(text, about), {}
  for name, value in pairs { SLURM_NNODES = job.nodes, SLURM_JOB_NUM_NODES = job.nodes, SLURM_NTASKS = job.tasks,
    SLURM_GPUS_ON_NODE = job.node_gpus } do
    variables[name] = tostring(value)
  end
  local found = launches.script(text, { variables = variables, files = {} })
  for _, part in ipairs(found.parts) do
    part.tasks = part.tasks or not part.nodes and job.tasks or nil -- srun has the job's where it states none
    for _, key in ipairs { "nodes", "node_gpus", "gpu" } do part[key] = part[key] or job[key] end
    if not part.tasks and job.node_tasks then part.tasks = job.node_tasks * (part.nodes or 1) end
    part.role, part.count = part.role or kubernetes.role(part.name), job.array or 1
    part.gpu = part.gpu and gpus.known(part.gpu, about.told)
    about.parts[#about.parts + 1] = part
  end
  account(about, found.commands)
  return #found.parts > 0
end

function slurm.write(about)
  local nodes, most, steps, file = 0, 0, {}, nil
  local function gres(count) return ("--gres=gpu:%s%d"):format(about.gpu and about.gpu .. ":" or "", count) end
  for _, part in ipairs(about.parts) do
    local _, line = containers.file(part)
    if part.count > 500 then core.fail "--as slurm: more than 500 engines, each of which is a line" end
    if line and file and line ~= file then core.fail "--as slurm: the roles have two files of options" end
    nodes, most, file = nodes + part.count * part.nodes, math.max(most, part.gpus), line or file
    local variables = ""
    for _, each in ipairs(containers.variables(part)) do
      variables = variables .. each[1] .. "=" .. quoting.shell(each[2]) .. " "
    end
    local words, image = containers.words(part, "options.yaml"), quoting.shell(containers.image(part))
    for i = 1, part.count do
      steps[#steps + 1] = ("%ssrun --job-name=%s-%d --nodes=%d --ntasks=%d %s --exclusive --container-image=%s %s &")
        :format(variables, part.role or "engine", i, part.nodes, part.nodes, gres(part.gpus), image,
          containers.shell_text(words))
    end
  end
  return ("#!/usr/bin/env bash\n#SBATCH --job-name=%s\n#SBATCH --nodes=%d\n#SBATCH %s\nset -euo pipefail\n%s%s\nwait\n")
    :format(quoting.name(about.name, "model"), nodes, gres(most), file or "", core.join(steps, "\n"))
end

return slurm
