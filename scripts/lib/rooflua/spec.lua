-- What is simulated: models, hardware, deployments. Read-only objects of the engine.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local named_files = require "rooflua.sandbox.named_files"
local specs = require "rooflua.border.specs"

local spec = {}
local fail, fields = core.fail, core.object_fields
local is, adopt = specs.is, specs.adopt

--- A shipped model by name or alias, a config.json or its folder, a .toml, or a table with the same keys. In a table,
--- `from` names a model; every other key replaces the one of that model's own file, and false leaves it out.
function spec.model(source)
  if is(source, "Model") then return source end
  if type(source) ~= "string" and type(source) ~= "table" then
    fail("spec.model: expected a name, a path or a table, found %s", core.describe(source))
  end
  local is_table, plain = type(source) == "table", core.plain(source)
  named_files.note(is_table and plain.from or plain)
  return adopt(native.load_model(plain, is_table and native.where() or nil), "Model")
end

-- A table in the units of the library: what a Hardware object shows.
local si_fields = { "name", "from", "architecture", "peak_flop_per_s", "memory_bytes_per_s",
  "memory_bytes",
  "usable_memory_bytes", "link_bytes_per_s", "domain_gpus", "network_bytes_per_s", "sms", "clock_hz", "l2_bytes",
  "tables_from" }

--- Keys of a hardware.toml, and what these figures are called in a table with `from`.
local words_of_toml = { peak_tflop_per_s = "peak_flop_per_s", memory_gb_per_s = "memory_bytes_per_s",
  memory_gb = "memory_bytes", usable_memory_gib = "usable_memory_bytes", link_gb_per_s = "link_bytes_per_s",
  network_gb_per_s = "network_bytes_per_s", clock_mhz = "clock_hz", l2_mib = "l2_bytes" }

--- Refuses, in a table with `from`, words of a hardware.toml, and a figure that nothing reads.
local function check_changes(given)
  for _, key in ipairs(core.sorted_keys(given)) do
    if words_of_toml[key] then
      fail("spec.hardware: %s: is a key of hardware.toml; beside `from` say %s, in %s", key, words_of_toml[key],
        key == "peak_tflop_per_s" and "flop per second" or key == "clock_mhz" and "Hz" or "bytes")
    end
  end
  if given.l2_bytes ~= nil then
    fail("spec.hardware: l2_bytes: has no effect: no time depends on the size of the L2 cache")
  end
end

--- Usable memory: what is stated, else the same part of other memory as in the GPU that `from` names.
local function usable_bytes(given, base, memory_bytes)
  if given.usable_memory_bytes ~= nil then return given.usable_memory_bytes end
  if base.usable_memory_bytes == nil then return memory_bytes end
  return base.usable_memory_bytes * memory_bytes / base.memory_bytes
end

--- A figure of a GPU: positive, and not in another unit.
local function figure(value, key)
  core.positive(value, "spec.hardware: " .. key)
  local problem = native.implausible(key, value)
  if problem ~= "" then fail("spec.hardware: %s: %s", key, problem) end
  return value
end

local function toml_form(given)
  if given.from then check_changes(given) end
  core.check_keys(given, si_fields, "spec.hardware")
  local base = given.from and fields[spec.hardware(given.from)] or {}
  local function take(key) return given[key] == nil and base[key] or given[key] end
  local function need(key)
    local value = take(key)
    if value == nil then
      fail("spec.hardware: needs '%s' (or from = \"h200-sxm\", to start from a shipped GPU)", key)
    end
    return figure(value, key)
  end
  local peaks = {}
  for dtype, rate in pairs(base.peak_flop_per_s and core.plain(base.peak_flop_per_s) or {}) do
    peaks[dtype] = rate / 1e12
  end
  if given.peak_flop_per_s ~= nil then
    for dtype, rate in pairs(core.plain(core.table(given.peak_flop_per_s,
      "spec.hardware: peak_flop_per_s"))) do
      peaks[dtype] = figure(rate, "peak_flop_per_s." .. tostring(dtype)) / 1e12
    end
  end
  local memory_bytes, network = need "memory_bytes", take "network_bytes_per_s"
  return {
    name = given.name or (base.name and base.name .. "+") or "hardware",
    architecture = take "architecture" or "unknown",
    peak_tflop_per_s = peaks,
    memory_gb_per_s = need "memory_bytes_per_s" / 1e9,
    memory_gb = memory_bytes / 1e9,
    usable_memory_gib = figure(usable_bytes(given, base, memory_bytes), "usable_memory_bytes") / 2^30,
    link_gb_per_s = need "link_bytes_per_s" / 1e9,
    domain_gpus = take "domain_gpus",
    network_gb_per_s = network and network ~= 0 and figure(network, "network_bytes_per_s") / 1e9 or nil,
    sms = need "sms", clock_mhz = need "clock_hz" / 1e6, l2_mib = need "l2_bytes" / 2^20,
    tables_from = given.tables_from or (given.from and base.name) or nil,
  }
end

--- A shipped GPU by name or alias, a hardware.toml or its folder, or a table: the fields that a
--- Hardware object shows, with `from` naming a GPU that supplies the rest; or the keys of a hardware.toml.
function spec.hardware(source)
  if is(source, "Hardware") then return source end
  if type(source) == "table" then
    source = core.plain(source)
    named_files.note(source.tables_from)
    local stated = source
    if source.from ~= nil or source.peak_tflop_per_s == nil then source = toml_form(source) end
    return specs.note_changes(adopt(native.load_hardware(source, native.where()), "Hardware"), stated)
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

--- Names of shipped models, and of GPUs.
function spec.models() return native.list_models() end
function spec.gpus() return native.list_hardware() end

return spec
