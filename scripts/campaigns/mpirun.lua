--- A rank of an MPI launcher per shard. The program knows nothing of MPI: the launcher starts it on many machines.
local policy = require "rooflua.policy"

local Mpirun = policy.define {
  name = "mpirun",
  doc = "A rank per shard. A rank never fails, because mpirun would end all others; the merge says what is missing.",
  source = "Open MPI 4.1, mpirun(1)",
  params = {
    launcher = { default = "mpirun", doc = "The launcher: mpirun, mpiexec, srun --mpi=pmix." },
    options = { default = "", doc = "Its options: --hostfile hosts --map-by node." },
    setup = { default = "", doc = "Lines of shell before the program: module load ..." },
    program = { default = "", doc = "The program on the machines; \"\": this one, by its path." },
  },
}

function Mpirun:write(campaign)
  if self.program ~= "" then campaign.program = self.program end
  local dir = campaign.quoted(campaign.dir)
  local task = { "#!/bin/sh",
    "# One rank. A status other than 0 would end the other ranks, so it is printed and not returned." }
  if self.setup ~= "" then task[#task + 1] = self.setup end
  task[#task + 1] = campaign:enter() .. " && " .. campaign:run("auto/" .. campaign.shards)
    .. " > " .. dir .. "/logs/$$.log 2>&1 ||\n"
    .. '  echo "a shard ended with status $?: see" ' .. dir .. "/logs/$$.log >&2"
  local launch = campaign.line(self.launcher, "-n " .. campaign.shards, self.options, '"$@"', "sh", dir .. "/task.sh")
  return {
    ["task.sh"] = table.concat(task, "\n") .. "\n",
    ["merge.sh"] = campaign:merge(),
    ["run.sh"] = "#!/bin/sh\n# Does the shards and waits for their end.\n" .. launch .. "\n",
    ["submit.sh"] = ([[
#!/bin/sh
# Runs all shards, then the merge. Options go to the launcher.
set -e
%s
sh %s/merge.sh
]]):format(launch, dir),
  }
end

function Mpirun:again(campaign)
  return ("The same line again does only what is missing:\n\n    sh %s"):format(
    campaign.quoted(campaign.dir .. "/submit.sh"))
end

return Mpirun
