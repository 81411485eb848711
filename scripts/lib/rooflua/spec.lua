-- What is simulated: models, hardware, deployments. Read-only objects of the engine.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local named_files = require "rooflua.sandbox.named_files"
local specs = require "rooflua.border.specs"

local spec = {}
local fail, fields = core.fail, core.object_fields
local is, adopt = specs.is, specs.adopt

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
  return adopt(native.load_model(plain, is_table and native.where() or nil), "Model")
end

--- A shipped GPU by name or alias, a hardware.toml or its folder, or a table: the fields that a Hardware object shows,
--- or the keys of a hardware.toml, with `from` naming a GPU that supplies the rest.
function spec.hardware(source)
  if is(source, "Hardware") then return source end
  if type(source) == "table" then
    local own, base = {}, nil
    for key, value in pairs(core.plain(source)) do own[key] = core.plain(value) end
    named_files.note(own.tables_from)
    if own.from ~= nil then base, own.from = spec.hardware(own.from), nil end
    local object = native.load_hardware(own, native.where(), base)
    return specs.note_changes(adopt(object, "Hardware"), base and own or {})
  end
  if type(source) ~= "string" then
    fail("spec.hardware: expected a name, a path or a table, found %s", core.describe(source))
  end
  named_files.note(source)
  return adopt(native.load_hardware(source), "Hardware")
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

--- The share of a peak that a load reached in the whole time, of which it ran a part; 0 where nothing was counted.
local function reached(per_s, unit, peak, busy_frac)
  return peak and peak > 0 and per_s * unit / peak * busy_frac or 0
end

--- Watts that were measured on a GPU under steady loads: power.csv beside its hardware.toml, which the program
--- scripts/collect/power.py writes. A list of {load, busy_frac, mfu, bandwidth_frac, watts}: the shares are of the
--- whole time, pauses included, so that an idle GPU has 0, 0, 0. nil where there is no such file, and of a GPU that is
--- given as a table. A row that is none is an error.
function spec.power(source)
  local hardware = spec.hardware(source)
  local folder = hardware.source:match "^(.*)/[^/]*%.toml$"
  local path = folder and folder .. "/power.csv"
  if not path or not native.file_exists(path) then return nil end
  local rows = {}
  for i, row in ipairs((native.csv_read(path, true, { "op", "dtype", "shape" }))) do
    local where = ("%s:%d"):format(path, row.line)
    for _, name in ipairs { "busy", "watts", "tflop_per_s", "gb_per_s" } do
      if type(row[name]) ~= "number" or not (row[name] >= 0 and row[name] < 1e6) then
        fail("%s: %s: expected a number, not negative, found %s", where, name, core.describe(row[name]))
      end
    end
    local idle = row.op == "idle"
    local peak = hardware.peak_flop_per_s[row.dtype ~= "" and row.dtype or "bf16"]
    if row.tflop_per_s > 0 and not peak then fail("%s: %s has no peak of %s", where, hardware.name, row.dtype) end
    if row.busy > 1 then fail("%s: busy: expected a share of the time, found %g", where, row.busy) end
    local busy_frac = idle and 0 or row.busy
    rows[i] = { load = idle and "idle" or ("%s %s %s"):format(row.op, row.dtype, row.shape), busy_frac = busy_frac,
      mfu = reached(row.tflop_per_s, 1e12, peak, busy_frac),
      bandwidth_frac = reached(row.gb_per_s, 1e9, hardware.memory_bytes_per_s, busy_frac), watts = row.watts }
  end
  return rows
end

--- Names of shipped models, and of GPUs.
function spec.models() return native.list_models() end
function spec.gpus() return native.list_hardware() end

return spec
