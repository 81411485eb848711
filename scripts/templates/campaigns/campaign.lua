--- Starts the shards of a sweep, each with a shell of its own. `rooflua campaign submit FILE --on @STEM@` takes it for
--- scenarios in the folder above.
local policy = require "rooflua.policy"

---@class campaigns.Own
---@field shell string
---@field program string
local Own = policy.define {
  name = "@STEM@",
  doc = "A shell for each shard, all at once; the folder of the campaign is on a file system that all machines see.",
  params = {
    shell = { default = "sh", doc = "What runs a shard's line: \"ssh host sh\", or a queue's command." },
    program = { default = "", doc = "The program on the machines; \"\": this one, by its path." },
  },
}

--- Texts of files by name: submit.sh is what a user starts, run.sh waits for the end, merge.sh puts results together.
--- `campaign` has dir, shards, jobs and name; :enter() goes to the folder, :run(shard) does a shard, :merge() merges.
---@return table<string, string>
function Own:write(campaign)
  if self.program ~= "" then campaign.program = self.program end
  local dir = campaign.quoted(campaign.dir)
  local lines = { "#!/bin/sh", "# Does the shards and waits for their end." }
  for shard = 0, campaign.shards - 1 do
    lines[#lines + 1] = ("%s %s/task.sh %d > %s/logs/%d.log 2>&1 &"):format(self.shell, dir, shard, dir, shard)
  end
  lines[#lines + 1] = "wait"
  return {
    ["task.sh"] = "#!/bin/sh\n# The shard whose number is the argument.\n" .. campaign:enter() .. " && "
      .. campaign:run('"$1"/' .. campaign.shards) .. "\n",
    ["run.sh"] = table.concat(lines, "\n") .. "\n",
    ["merge.sh"] = campaign:merge(),
    ["submit.sh"] = ("#!/bin/sh\n# Runs all shards, then the merge.\nsh %s/run.sh\nsh %s/merge.sh\n"):format(dir, dir),
  }
end

--- What the campaign's README says of shards that failed.
---@return string
function Own:again(campaign)
  return ("The same line again does only what is missing:\n\n    sh %s"):format(
    campaign.quoted(campaign.dir .. "/submit.sh"))
end

return Own
