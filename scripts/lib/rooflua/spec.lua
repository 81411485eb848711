-- What is simulated: models, hardware, deployments. Read-only objects of the engine.
local native = require "rooflua.native"
local cards = require "rooflua.border.cards"
local core = require "rooflua.base.core"
local files = require "rooflua.sandbox.files"
local named_files = require "rooflua.sandbox.named_files"
local own_family = require "rooflua.border.own_family"
local power_rows = require "rooflua.border.power"
local specs = require "rooflua.border.specs"

local spec = {}
local fail, fields = core.fail, core.object_fields
local is, adopt = specs.is, specs.adopt

--- Notes the files of kinds of layers that a table names.
local function note_layers(own)
  for _, of in ipairs { "attention", "mlp" } do
    for _, group in ipairs(type(own[of]) == "table" and own[of] or {}) do
      if type(group) == "table" then named_files.note(group.kind) end
    end
  end
end

--- A shipped model by name or alias, a config.json or its folder, a .toml, or a table with the same keys. In a table,
--- `from` names a model; every other key replaces the one of that model's own file, and false leaves it out. `ignore`
--- lists keys of a config.json that are left out before it is read.
function spec.model(source)
  if is(source, "Model") then return source end
  if type(source) ~= "string" and type(source) ~= "table" then
    fail("spec.model: expected a name, a path or a table, found %s", core.describe(source))
  end
  local is_table, plain = type(source) == "table", core.plain(source)
  named_files.note(is_table and plain.from or plain)
  if is_table then note_layers(plain) end
  return adopt(native.load_model(plain, is_table and native.where() or nil, files.folder()), "Model")
end

--- A shipped GPU by name or alias, a hardware.toml or its folder, or a table: the fields that a Hardware object shows,
--- or the keys of a hardware.toml, with `from` naming a GPU that supplies the rest; `power_cap_w` limits its watts,
--- `mixed` lists the GPUs of a group of several kinds (border/cards.lua).
function spec.hardware(source)
  if is(source, "Hardware") then return source end
  if type(source) == "table" then
    local own, base = {}, nil
    for key, value in pairs(core.plain(source)) do own[key] = core.plain(value) end
    named_files.note(own.tables_from)
    if own.mixed ~= nil then
      for key in pairs(own) do
        if key ~= "mixed" then fail("spec.hardware: %s: has no effect beside mixed, which says every figure", key) end
      end
      base, own = cards.mixed(own.mixed, spec.hardware)
    elseif own.from ~= nil then
      base, own.from = spec.hardware(own.from), nil
    end
    cards.capped(own, base)
    local object = native.load_hardware(own, native.where(), base)
    local changed = specs.note_changes(adopt(object, "Hardware"), base and own or {})
    return base and own_family.applied(changed, base.source) or changed
  end
  if type(source) ~= "string" then
    fail("spec.hardware: expected a name, a path or a table, found %s", core.describe(source))
  end
  named_files.note(source)
  return own_family.applied(adopt(native.load_hardware(source), "Hardware"))
end

--- A model on GPUs. Does not fit: an error saying by how much.
function spec.deployment(options)
  if is(options, "Deployment") then return options end
  local own = {}
  for key, value in pairs(core.plain(core.table(options, "spec.deployment"))) do own[key] = value end
  local placed = { model = spec.model(own.model), hardware = spec.hardware(own.hardware) }
  own.model, own.hardware = nil, nil
  local object = native.deploy(placed.model, placed.hardware, own)
  adopt(object, "Deployment", placed)
  local shown = fields[object]
  shown.weight_dtype, shown.kv_dtype = shown.weights, shown.kv
  return object
end

--- Watts that were measured on a GPU: power.csv or power_by_load.csv beside its hardware.toml. A list of {load,
--- busy_frac, mfu, bandwidth_frac, watts}: the shares are of the whole time, pauses included, so that an idle GPU has
--- 0, 0, 0. A row of power_by_load.csv has watts_p25, watts_p50, watts_p90 and readings as well; `watts` is its p75.
--- Then what the rows are, in words. nil where there is no such file, and of a GPU that is given as a table. A row that
--- is none is an error.
function spec.power(source) return power_rows.of(spec.hardware(source)) end

--- Names of shipped models, and of GPUs.
function spec.models() return native.list_models() end
function spec.gpus() return native.list_hardware() end

return spec
