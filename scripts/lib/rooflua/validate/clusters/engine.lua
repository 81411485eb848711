-- The engine of a measured cluster: its release, and options in its own words from the columns of a row.
local catalogue = require "rooflua.engines.catalogue"
local choice = require "rooflua.engines.choice"
local core = require "rooflua.base.core"
local release = require "rooflua.engines.release"
local values = require "rooflua.engines.values"

local engine = {}

--- The last day of the month that a text names ("2025-09"), as texts are compared; "" where it names none.
function engine.day(row)
  for _, name in ipairs { "engine_version", "client", "other_settings" } do
    local month = row[name]:match "20%d%d%-[01]%d"
    if month then return month .. "-31" end
  end
  return ""
end

--- The newest release of an engine on a day; nil where none is that old.
local function on_day(about, day)
  local found
  for _, each in ipairs(about.releases) do
    if each.day and each.day <= day then found = each.name end
  end
  return found
end

--- The generation of an engine that a row names where a release has several by a switch: "V0 engine" is V0.
local function generation_of(row) return row.other_settings:match "%f[%w](V%d+) engine" end

--- The newest release that has no other generation than this one; nil where there is none.
local function of_generation(about, generation)
  local hardware = require("rooflua.spec").hardware "h100-sxm"
  for i = #about.releases, 1, -1 do
    local name = about.releases[i].name
    local found = values.of(about, name, { hardware = hardware, tp = 1, dp = 1, pp = 1, ep = 1 }).values
    if found.generation == generation then return name end
  end
end

--- The newest release whose command counts the host's memory in blocks, where a run of the row's deployment says it so.
local function counting_blocks(about, row)
  if not (row.deployment_counts_blocks and about.offload_blocks_before) then return nil end
  for i = #about.releases, 1, -1 do
    local name = about.releases[i].name
    if release.earlier(name, about.offload_blocks_before) then return name end
  end
end

--- {engine, release} of a row. Without a release it is the one in force in the month that the row names, else the
--- newest that is known and takes what the runs of its deployment say.
function engine.chosen(row, notes)
  local name, version = row.engine:lower():match "^%S+", row.engine_version
  if row.engine:find "%(" then core.fail("%s: engine: nothing is known of '%s'", row.where, row.engine) end
  local about = catalogue.of(name)
  local generation = generation_of(row)
  local older = generation and of_generation(about, generation)
  if older then
    notes[#notes + 1] = ("%s engine of %s: the rules of %s %s"):format(generation, version, about.title, older)
    return choice.parse(about.name .. " " .. older)
  end
  local parsed = version ~= "" and release.parse(version) or nil
  if parsed then
    local chosen = choice.parse(about.name .. " " .. version)
    notes[#notes + 1] = chosen.note
    return chosen
  end
  local day = engine.day(row)
  local found, which = catalogue.newest(about), "the newest that is known"
  if day ~= "" and on_day(about, day) then
    found, which = on_day(about, day), "the release of its month"
  elseif counting_blocks(about, row) then
    found, which = counting_blocks(about, row), "the newest that counts the host's memory in blocks"
  end
  notes[#notes + 1] = ("engine version not stated: %s %s, %s"):format(about.title, found, which)
  return choice.parse(about.name .. " " .. found)
end

--- The name of the option of an engine that sets one of these keys.
local function option_for(about, keys)
  for _, key in ipairs(keys) do
    for _, option in ipairs(about.options) do
      if option.key == key and option.flag then return option.name end
    end
  end
end

--- Settings in words, by the key that they are of.
local function switches(row)
  local said = row.other_settings:lower()
  local word, out = said:match "chunked prefill (%a+)", {}
  if word == "on" or word == "off" then out["scheduler.enable_chunked_prefill"] = word == "on" end
  return out
end

local by_column = { max_num_seqs = { "scheduler.max_num_seqs" },
  max_num_batched_tokens = { "scheduler.max_num_batched_tokens", "scheduler.chunked_prefill_size" } }

--- The key `engine` of a scenario.
function engine.of(row, chosen, notes)
  local out = { chosen.engine.name .. " " .. chosen.release }
  for column, keys in core.sorted_pairs(by_column) do
    local name = row[column] and option_for(chosen.engine, keys)
    if name then out[name] = row[column] end
    if row[column] and not name then
      notes[#notes + 1] = ("%s: %s has no such option"):format(column, chosen.engine.title)
    end
  end
  for key, value in core.sorted_pairs(switches(row)) do
    local name = option_for(chosen.engine, { key })
    if name and not generation_of(row) then out[name] = value end
  end
  return out
end

return engine
