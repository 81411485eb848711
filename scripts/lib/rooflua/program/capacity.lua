-- What `rooflua capacity` asks: the ledger of a deployment that options and `--set` describe.
local believed = require "rooflua.serving.believed"
local capacity = require "rooflua.serving.capacity"
local core = require "rooflua.base.core"
local json = require "rooflua.json"
local opening = require "rooflua.runs.opening"
local Reader = require "rooflua.scenario.reader"
local schema = require "rooflua.scenario.schema"
local text = require "rooflua.serving.capacity_text"

local ledger = {}

--- The key path that `--set NAME=VALUE` means: a key of the deployment, else one of the scenario.
local function path_of(name)
  local first = name:match "^[^.]+" or name
  return first ~= "engine" and schema.entry("deployment." .. first) and "deployment." .. name or name
end

--- What files of a start say beside the ledger of a scenario's table; and the title of the ledger.
function ledger.beside(reader, given)
  local about = {}
  for _, key in ipairs(capacity.keys) do about[key] = given[key] end
  local found = capacity.of(about, reader)
  return believed.of(found, reader.shared.startup), text.title(found)
end

---@param given table {model, hardware, engine, deployment}
---@param sets string[] "key=value", as in --set
---@param launch table? a launch command {text, engine, model}, in place of model and engine
---@return table {text, document, starts}
function ledger.command(given, sets, launch)
  local reader, paths = Reader.new "capacity", {}
  if launch then given = require("rooflua.applied.launch").capacity(reader, given, launch) end
  for i, each in ipairs(sets) do
    local name, value = each:match "^%s*([^=%s]+)%s*(=.*)$"
    paths[i] = name and path_of(name) .. value or each
  end
  local found = capacity.of(opening.with_sets(reader, core.plain(given), paths), reader)
  local fits = not found.starts and capacity.fits(found) or nil
  local document, lines = text.document(found, fits), { text.answer(found, fits) }
  if reader.shared.startup then
    local beside = believed.of(found, reader.shared.startup)
    document.startup, lines[#lines + 1] = beside, believed.text(beside)
  end
  for _, note in ipairs(found.notes) do
    if note ~= found.note then lines[#lines + 1] = note end
  end
  document.notes = json.array(found.notes)
  return { text = table.concat(lines, "\n"), document = document, starts = found.starts }
end

return ledger
