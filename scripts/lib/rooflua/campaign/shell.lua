-- What a template of scripts/campaigns gets: a campaign, with the parts of shell scripts that every engine needs.
--
-- name, title, dir, scenario (its file in `scenario/`), shards, jobs, runs, program, arguments (of `run`, quoted), set
-- (hash of its runs), rounds (whether shards divide each round of a search or plan), files ({name, copy_of} below
-- `scenario/`)
local native = require "rooflua.native"
local quoting = require "rooflua.text.quoting"

local shell = {}
shell.__index = shell

--- The text of a file.
function shell.text_of(path) return native.read_file(path) or "" end

--- A word for a POSIX shell.
shell.quoted = quoting.shell
local quoted = shell.quoted

--- A scalar of YAML; the text of a file below a key; a word of a container's command (text/quoting.lua).
shell.yaml, shell.yaml_block, shell.container = quoting.yaml, quoting.yaml_block, quoting.container

--- A word of a line that a scheduler reads ("#SBATCH"). Such a line ends where the text has a line break, and what
--- follows would be a command: this is refused.
function shell.directive(text)
  if text:find "[%c]" then
    error(("job files name '%s' in a line of their own, and it has a line break or a control character; give another "
      .. "name"):format(quoting.line(text)), 0)
  end
  return quoted(text)
end

--- A line of words without those that are empty.
function shell.line(...)
  local parts = {}
  for i = 1, select("#", ...) do
    local each = select(i, ...)
    if each ~= nil and each ~= "" then parts[#parts + 1] = each end
  end
  return table.concat(parts, " ")
end

local function folder(campaign, places) return places and places.scenario or campaign.dir .. "/scenario" end

--- The command that goes to the scenario: files that it names are looked for there, whatever the folder of the task.
function shell.enter(campaign, places) return "cd " .. quoted(folder(campaign, places)) end

--- The command that does one shard. `shard` is what --shard gets, as shell; `places` may say other folders
--- than the campaign's.
function shell.run(campaign, shard, places)
  places = places or {}
  return shell.line(quoted(places.program or campaign.program), "run",
    quoted(folder(campaign, places) .. "/" .. campaign.scenario), campaign.arguments,
    "--shard " .. shard, "--results", quoted((places.results or campaign.dir .. "/results") .. "/"),
    campaign.rounds and "--round " .. quoted(campaign.dir .. "/results.sqlite") or "",
    campaign.jobs > 1 and "--jobs " .. campaign.jobs or "", "--quiet")
end

--- Whether the runs of a campaign are known before. A search or a plan chooses them as it goes, and each of its
--- variants has a set of its own: nothing says which shard lacks one of them.
function shell.knows_runs(campaign) return campaign.set ~= "" end

--- The command that lists what is there; with the shards that lack runs, where the runs are known before.
function shell.listed(campaign, results)
  local more = shell.knows_runs(campaign) and { "--set " .. campaign.set, "--missing " .. campaign.shards } or {}
  return shell.line(quoted(campaign.program), "results list", results, unpack(more))
end

--- The script that joins the shards, and says what is missing. `from` is shell: the files to join, if they are not
--- those of the folder of results.
function shell.merge(campaign, header, from)
  local program, dir = quoted(campaign.program), campaign.dir
  local all = quoted(dir .. "/results.sqlite")
  header = header or "# Joins what the shards have so far; it may run at any time, and again."
  local lines = { "#!/bin/sh", header, "set -e",
    shell.line(program, "results merge", all, from or quoted(dir .. "/results")),
    shell.line(program, "results list", all) }
  if shell.knows_runs(campaign) then
    lines[#lines + 1] = "# The shards that lack runs, as an array to submit again."
    lines[#lines + 1] = shell.listed(campaign, all)
  end
  return table.concat(lines, "\n") .. "\n"
end

return shell
