-- What a template of scripts/campaigns gets: a campaign, with the parts of shell scripts that every engine needs.
--
-- name, title, dir, scenario (its file in `scenario/`), shards, jobs, runs, program, arguments (of `run`, quoted), set
-- (hash of its runs), rounds (whether shards divide each round of a search or plan), files ({name, copy_of} below
-- `scenario/`)
local native = require "rooflua.native"

local shell = {}
shell.__index = shell

--- The text of a file.
function shell.text_of(path) return native.read_file(path) or "" end

--- A word for a POSIX shell.
function shell.quoted(text)
  if text:find "^[%w_@%%+=:,./-]+$" then return text end
  return "'" .. text:gsub("'", "'\\''") .. "'"
end
local quoted = shell.quoted

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

--- The command that does one shard. `shard` is what --shard gets, `places` may say other folders than the campaign's.
function shell.run(campaign, shard, places)
  places = places or {}
  return shell.line(quoted(places.program or campaign.program), "run",
    quoted(folder(campaign, places) .. "/" .. campaign.scenario), campaign.arguments,
    "--shard " .. shard, "--results", quoted((places.results or campaign.dir .. "/results") .. "/"),
    campaign.rounds and "--round " .. quoted(campaign.dir .. "/results.sqlite") or "",
    campaign.jobs > 1 and "--jobs " .. campaign.jobs or "", "--quiet")
end

--- The script that joins the shards, and says what is missing.
function shell.merge(campaign, places, header)
  places = places or {}
  local program, dir = quoted(places.program or campaign.program), places.dir or campaign.dir
  local all = quoted(dir .. "/results.sqlite")
  header = header or "# Joins what the shards have so far; it may run at any time, and again."
  return table.concat({ "#!/bin/sh", header, "set -e",
    shell.line(program, "results merge", all, quoted(places.results or dir .. "/results")),
    shell.line(program, "results list", all),
    "# The shards that lack runs, as an array to submit again.",
    shell.line(program, "results list", all, campaign.set ~= "" and "--set " .. campaign.set or "", "--missing",
      tostring(campaign.shards)) }, "\n") .. "\n"
end

return shell
