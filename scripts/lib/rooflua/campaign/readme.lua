-- The README of a campaign: what was written, and what to do when something is missing.
local quoting = require "rooflua.text.quoting"
local shell = require "rooflua.campaign.shell"

local readme = {}
local quoted = shell.quoted

--- @param engine table the template; its `again` says how shards are done again
function readme.text(campaign, engine)
  local all = quoted(campaign.dir .. "/results.sqlite")
  local own = shell.line(campaign:enter() .. " && " .. quoted(campaign.program), "run",
    quoted(campaign.dir .. "/scenario/" .. campaign.scenario), campaign.arguments, "--results", all)
  return ([[
# %s

%d runs of `%s` in %d shards, on %s.

| | |
|---|---|
| `scenario/` | the scenario and the files that it depends on |
| `submit.sh` | submits the shards and the merge |
| `results/` | a file per shard |
| `results.sqlite` | what the merge makes of them |
| `logs/` | what the tasks printed |

Submit:

    sh %s

Each run is kept as soon as it has ended. A task that was killed loses the run that it worked on; done again, it does
only what is missing. %s:

    %s

%s

Read the results (the report of the scenario, a table for other tools):

    %s
    %s results export %s --format csv

The first of them runs here what is still missing.
]]):format(quoting.line(campaign.title ~= "" and campaign.title or campaign.scenario), campaign.runs,
    quoting.line(campaign.scenario),
    campaign.shards, campaign.on, quoted(campaign.dir .. "/submit.sh"),
    shell.knows_runs(campaign) and "Which shards lack runs" or "Which runs are there",
    shell.listed(campaign, quoted(campaign.dir .. "/results")),
    engine:again(campaign), own, quoted(campaign.program), all)
end

return readme
