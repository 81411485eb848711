--- GNU parallel: shards on this machine, or on others by ssh.
local policy = require "rooflua.policy"

local Parallel = policy.define {
  name = "parallel",
  doc = "GNU parallel with a job log; the same line again does the shards that failed.",
  source = "GNU parallel, parallel(1)",
  params = {
    most = { default = 0, integer = true, min = 0, doc = "Shards at once on a machine; 0: one per core." },
    options = { default = "", doc = "Options of parallel: --sshloginfile hosts." },
    program = { default = "", doc = "The program on the machines; \"\": this one, by its path." },
  },
}

function Parallel:write(campaign)
  if self.program ~= "" then campaign.program = self.program end
  -- parallel puts a shard's number in the place of {}, and the value of an expression in that of {= =}.
  if campaign.dir:find "[{}]" then
    error("--on parallel: the name of the campaign's folder has a brace, which parallel replaces; give another name", 0)
  end
  local dir, numbers = campaign.quoted(campaign.dir), {}
  for i = 1, campaign.shards do numbers[i] = i - 1 end
  local task = { "#!/bin/sh", "# The shard whose number is the argument.",
    campaign:enter() .. " && " .. campaign:run('"$1"/' .. campaign.shards) .. " > " .. dir .. '/logs/"$1".log 2>&1' }
  -- A round of a search or plan does every shard again.
  local log = campaign.rounds and "" or "--joblog " .. dir .. "/logs/joblog --resume-failed"
  local line = campaign.line("parallel --will-cite", log,
    self.most > 0 and "-j " .. self.most or "", self.options, '"$@"',
    campaign.quoted("sh " .. dir .. "/task.sh {}"), ":::", table.concat(numbers, " "))
  return {
    ["task.sh"] = table.concat(task, "\n") .. "\n",
    ["merge.sh"] = campaign:merge(),
    ["run.sh"] = "#!/bin/sh\n# Does the shards and waits for their end.\n" .. line .. "\n",
    ["submit.sh"] = ([[
#!/bin/sh
# Runs all shards, then the merge. Again: the shards that failed. Options go to parallel.
%s ||
  echo "some shards failed: see" %s/logs >&2
sh %s/merge.sh
]]):format(line, dir, dir),
  }
end

function Parallel:again(campaign)
  return ("The same line again does the shards that failed:\n\n    sh %s"):format(
    campaign.quoted(campaign.dir .. "/submit.sh"))
end

return Parallel
