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

--- With -notify a task gets USR2 before it is killed, and USR1 before it is held. The program knows TERM.
local watched = [[
(trap '' USR1 USR2; %s && exec %s) &
task=$!
trap '' USR1
trap 'kill -TERM $task' USR2
wait $task
status=$?
# A signal ends the waiting, too.
while kill -0 $task 2>/dev/null; do
  wait $task
  status=$?
done
exit $status]]

function Sge:write(campaign)
  if self.program ~= "" then campaign.program = self.program end
  local name, logs = campaign.name, campaign.directive(campaign.dir .. "/logs")
  local job = headers(self, { "#!/bin/sh", "#$ -S /bin/sh", "#$ -N " .. name,
    "#$ -t 1-" .. campaign.shards, "#$ -j y", "#$ -o " .. logs, "#$ -notify" })
  if self.most > 0 then job[#job + 1] = "#$ -tc " .. self.most end
  if self.time ~= "" then job[#job + 1] = "#$ -l h_rt=" .. self.time end
  if self.memory ~= "" then job[#job + 1] = "#$ -l h_vmem=" .. self.memory end
  if self.setup ~= "" then job[#job + 1] = self.setup end
  job[#job + 1] = watched:format(campaign:enter(), campaign:run("auto/" .. campaign.shards))
  local merge = headers(self, { "#$ -S /bin/sh", "#$ -N " .. name .. "-merge", "#$ -j y", "#$ -o " .. logs })
  if self.setup ~= "" then merge[#merge + 1] = self.setup end
  local dir = campaign.quoted(campaign.dir)
  return {
    ["run.sh"] = ("#!/bin/sh\n# Does the shards and waits for their end.\nexec qsub -sync y \"$@\" %s/job.sh\n")
      :format(dir),
    ["job.sh"] = table.concat(job, "\n") .. "\n",
    ["merge.sh"] = campaign:merge(table.concat(merge, "\n")),
    ["submit.sh"] = ([[
#!/bin/sh
# Submits the shards and then the merge. Options go to qsub: -t 4-4 submits the shard 3 again.
set -e
job=$(qsub -terse "$@" %s/job.sh)
job=${job%%%%.*}
echo "shards: job $job; merge: job $(qsub -terse -hold_jid "$job" %s/merge.sh)"
]]):format(dir, dir),
  }
end

function Sge:again(campaign)
  return ("Do them again one by one, with numbers from 1 (the shard 3 is the task 4):\n\n    sh %s -t 4-4"):format(
    campaign.quoted(campaign.dir .. "/submit.sh"))
end

return Sge
