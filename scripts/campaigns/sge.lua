--- An array job of SGE (Grid Engine), with a second job that merges when it has ended.
local policy = require "rooflua.policy"

local Sge = policy.define {
  name = "sge",
  doc = "An array job of Grid Engine. Its tasks are counted from 1; the shards from 0.",
  source = "Grid Engine documentation, qsub(1)",
  params = {
    queue = { default = "", doc = "-q of both jobs." },
    time = { default = "", doc = "h_rt of a task: \"02:00:00\"." },
    memory = { default = "", doc = "h_vmem of a task: \"4G\"." },
    most = { default = 0, integer = true, min = 0, doc = "Tasks that run at once (-tc); 0: as many as there is room." },
    options = { default = "", doc = "Further options of qsub for both jobs, as on its command line." },
    setup = { default = "", doc = "Lines of shell before the program: module load ..." },
    program = { default = "", doc = "The program on the nodes; \"\": this one, by its path." },
  },
}

local function headers(self, lines)
  if self.queue ~= "" then lines[#lines + 1] = "#$ -q " .. self.queue end
  if self.options ~= "" then lines[#lines + 1] = "#$ " .. self.options end
  return lines
end

function Sge:write(campaign)
  if self.program ~= "" then campaign.program = self.program end
  local job = headers(self, { "#!/bin/sh", "#$ -S /bin/sh", "#$ -N " .. campaign.name,
    "#$ -t 1-" .. campaign.shards, "#$ -j y", "#$ -o " .. campaign.dir .. "/logs", "#$ -notify" })
  if self.most > 0 then job[#job + 1] = "#$ -tc " .. self.most end
  if self.time ~= "" then job[#job + 1] = "#$ -l h_rt=" .. self.time end
  if self.memory ~= "" then job[#job + 1] = "#$ -l h_vmem=" .. self.memory end
  if self.setup ~= "" then job[#job + 1] = self.setup end
  job[#job + 1] = "exec " .. campaign:run("auto/" .. campaign.shards)
  local merge = headers(self, { "#$ -S /bin/sh", "#$ -N " .. campaign.name .. "-merge", "#$ -j y",
    "#$ -o " .. campaign.dir .. "/logs" })
  if self.setup ~= "" then merge[#merge + 1] = self.setup end
  local dir = campaign.quoted(campaign.dir)
  return {
    ["run.sh"] = ("#!/bin/sh\n# Does the shards and waits for their end.\nexec qsub -sync y \"$@\" %s/job.sh\n")
      :format(dir),
    ["job.sh"] = table.concat(job, "\n") .. "\n",
    ["merge.sh"] = campaign:merge(nil, table.concat(merge, "\n")),
    ["submit.sh"] = ([[
#!/bin/sh
# Submits the shards and then the merge. Options go to qsub: -t 4-4 submits the shard 3 again.
set -e
job=$(qsub -terse "$@" %s/job.sh)
qsub -hold_jid "${job%%%%.*}" %s/merge.sh
]]):format(dir, dir),
  }
end

function Sge:again(campaign)
  return ("Do them again one by one, with numbers from 1 (the shard 3 is the task 4):\n\n    sh %s -t 4-4"):format(
    campaign.quoted(campaign.dir .. "/submit.sh"))
end

return Sge
