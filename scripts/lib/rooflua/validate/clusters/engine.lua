-- The engine of a measured cluster: its release, and options in its own words from the columns of a row.
local catalogue = require "rooflua.engines.catalogue"
local choice = require "rooflua.engines.choice"
local core = require "rooflua.base.core"
local policies = require "rooflua.scenario.policies"
local Reader = require "rooflua.scenario.reader"
local release = require "rooflua.engines.release"

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

--- The newest release of vLLM's first engine, which later releases still had behind a switch.
local function first_generation(about)
  local found
  for _, each in ipairs(about.releases) do
    if release.earlier(each.name, "0.8") then found = each.name end
  end
  return found
end

--- Whether a row runs vLLM's first engine in a release that has both.
local function runs_v0(row)
  return row.other_settings:find "VLLM_USE_V1=0" ~= nil or row.other_settings:find "V0 engine" ~= nil
end

--- {engine, release} of a row. Without a release it is the one in force in the month that the row names, else the
--- newest that is known.
function engine.chosen(row, notes)
  local name, version = row.engine:lower():match "^%S+", row.engine_version
  if row.engine:find "%(" then core.fail("%s: engine: nothing is known of '%s'", row.where, row.engine) end
  local about = catalogue.of(name)
  if about.name == "vllm" and runs_v0(row) then
    local found = first_generation(about)
    notes[#notes + 1] = ("V0 engine of %s: the rules of %s %s"):format(version, about.title, found)
    return choice.parse(about.name .. " " .. found)
  end
  local parsed = version ~= "" and release.parse(version) or nil
  if parsed then
    local chosen = choice.parse(about.name .. " " .. version)
    notes[#notes + 1] = chosen.note
    return chosen
  end
  local day = engine.day(row)
  local found, which = catalogue.newest(about), "the newest that is known"
  if day ~= "" and on_day(about, day) then found, which = on_day(about, day), "the release of its month" end
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
  local on = said:match "chunked prefill (%a+)"
  return { ["scheduler.enable_chunked_prefill"] = on == "on" and true or on == "off" and false or nil }
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
    if name and not release.earlier(chosen.release, "0.8") then out[name] = value end
  end
  return out
end

--- The scheduler where it is another one than the engine's; nil else.
function engine.scheduler(row)
  return runs_v0(row) and policies.of(Reader.new "validate", "scheduler", "vllm_v0") or nil
end

return engine
