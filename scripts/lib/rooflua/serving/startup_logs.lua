-- The start-up logs of the engines of a scenario, and of a deployment alone.
local capacity = require "rooflua.serving.capacity"
local core = require "rooflua.base.core"
local forms = require "rooflua.logs.forms"
local log = require "rooflua.logs.log"
local Reader = require "rooflua.scenario.reader"

local logs = {}

local keys = { "model", "hardware", "engine", "deployment", "scheduler", "speculation", "adapters", "experts" }
local own_keys = { "form", "replica" }

--- What an engine of a scenario is asked for its ledger: what its replica says stands before what the scenario says.
local function about_of(given, own)
  local out = {}
  for _, key in ipairs(keys) do
    out[key] = given[key]
    if own[key] ~= nil then out[key] = own[key] end
  end
  return out
end

--- The log of a deployment that is described as in engines.capacity, and sentences on what is not in it.
---@param about table as engines.capacity takes it, with form? and replica?
function logs.of(about, reader)
  about = core.plain(core.table(about or {}, "engines.startup_log"))
  local asked, own = {}, {}
  for key, value in pairs(about) do
    if core.is_among(key, own_keys) then own[key] = value else asked[key] = value end
  end
  local found = capacity.of(asked, reader or Reader.new "engines.startup_log")
  local lines, told = log.lines(found, asked)
  return forms.text(lines, own.form, found.facts.engine.name, own.replica or 0), told
end

--- What each engine of a scenario says of itself, in their order.
local function engines_of(given)
  local out = {}
  if type(given.replicas) ~= "table" then
    for i = 1, tonumber(given.replicas) or 1 do out[i] = {} end
    return out
  end
  for _, each in ipairs(core.plain(given.replicas)) do
    local own = core.plain(each)
    for _ = 1, own.count or 1 do out[#out + 1] = own end
  end
  return out
end

--- What the first engine of a scenario does: {stated = options that the scenario states, facts = of its ledger,
--- blocks = of its KV cache, as it counts them}.
function logs.options(reader, given)
  local found = capacity.of(about_of(given, engines_of(given)[1] or {}), reader)
  return { stated = found.facts.resolved.stated or {}, facts = found.facts,
    blocks = found.blocks }
end

local function write(path, text)
  if path == "-" then
    io.stdout:write(text)
    io.stdout:flush()
    return
  end
  local file, problem = io.open(path, "wb")
  local is_written = file and file:write(text)
  if not file or not is_written or not file:close() then
    core.fail("--startup-log: %s cannot be written: %s", path, problem or "the disk is full")
  end
end

--- Writes the log of each engine, where the path has %replica, else that of the first one.
---@param asked table {startup_log, startup_form}
---@return string[] sentences
function logs.write(reader, given, asked)
  local told, engines, path = {}, engines_of(given), asked.startup_log
  local is_each = path:find("%replica", 1, true) ~= nil
  for i, own in ipairs(engines) do
    if i > 1 and not is_each then
      told[#told + 1] = ("--startup-log has the log of the first of %d engines; %%replica in its name stands for each")
        :format(#engines)
      break
    end
    local about = about_of(given, own)
    about.form, about.replica = asked.startup_form, i - 1
    local text, sentences = logs.of(about, reader)
    write((path:gsub("%%replica", tostring(i - 1))), text)
    for _, sentence in ipairs(sentences) do
      if not core.is_among(sentence, told) then told[#told + 1] = sentence end
    end
  end
  return told
end

return logs
