--- An array job of SLURM, with a second job that merges when the array has ended, however it ended.
local policy = require "rooflua.policy"

local Slurm = policy.define {
  name = "slurm",
  doc = "A job array; TERM comes 60 s before the time limit. The merge is a second job, after the array.",
  source = "Slurm documentation, sbatch(1), job_array",
  params = {
    partition = { default = "", doc = "--partition of both jobs; \"\": the default one." },
    account = { default = "", doc = "--account of both jobs." },
    time = { default = "", doc = "--time of a task: \"02:00:00\"." },
    memory = { default = "", doc = "--mem of a task: \"4G\"." },
    most = { default = 0, integer = true, min = 0, doc = "Tasks that run at once; 0: as many as there is room." },
    options = { default = "", doc = "Further options of sbatch for both jobs, as on its command line." },
    setup = { default = "", doc = "Lines of shell before the program: module load ..." },
    program = { default = "", doc = "The program on the nodes; \"\": this one, by its path." },
  },
}

local function headers(self, lines)
  for _, each in ipairs { "partition", "account" } do
    if self[each] ~= "" then lines[#lines + 1] = "#SBATCH --" .. each .. "=" .. self[each] end
  end
  if self.options ~= "" then lines[#lines + 1] = "#SBATCH " .. self.options end
  return lines
end

function Slurm:write(campaign)
  if self.program ~= "" then campaign.program = self.program end
  local most = self.most > 0 and "%" .. self.most or ""
  local job = headers(self, { "#!/bin/sh", "#SBATCH --job-name=" .. campaign.name,
    "#SBATCH --array=0-" .. campaign.shards - 1 .. most,
    "#SBATCH --output=" .. campaign.directive(campaign.dir .. "/logs/%A_%a.log"),
    "#SBATCH --cpus-per-task=" .. campaign.jobs, "#SBATCH --signal=B:TERM@60" })
  if self.time ~= "" then job[#job + 1] = "#SBATCH --time=" .. self.time end
  if self.memory ~= "" then job[#job + 1] = "#SBATCH --mem=" .. self.memory end
  if self.setup ~= "" then job[#job + 1] = self.setup end
  job[#job + 1] = campaign:enter() .. " && exec " .. campaign:run("auto/" .. campaign.shards)
  local merge = headers(self, { "#SBATCH --job-name=" .. campaign.name .. "-merge",
    "#SBATCH --output=" .. campaign.directive(campaign.dir .. "/logs/merge-%j.log") })
  if self.setup ~= "" then merge[#merge + 1] = self.setup end
  local dir = campaign.quoted(campaign.dir)
  return {
    ["run.sh"] = ("#!/bin/sh\n# Does the shards and waits for their end.\nexec sbatch --wait \"$@\" %s/job.sh\n")
      :format(dir),
    ["job.sh"] = table.concat(job, "\n") .. "\n",
    ["merge.sh"] = campaign:merge(table.concat(merge, "\n")),
    ["submit.sh"] = ([[
#!/bin/sh
# Submits the shards and then the merge. Options go to sbatch: --array=3,7 submits a part again.
set -e
job=$(sbatch --parsable "$@" %s/job.sh)
job=${job%%%%;*}
echo "shards: job $job; merge: job $(sbatch --parsable --dependency=afterany:"$job" %s/merge.sh)"
]]):format(dir, dir),
  }
end

function Slurm:again(campaign)
  return ("Do those again (numbers, as in `--array=`):\n\n    sh %s --array=NUMBERS"):format(
    campaign.quoted(campaign.dir .. "/submit.sh"))
end

return Slurm
