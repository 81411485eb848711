-- Objects of the engine that say what is simulated: models, hardware, deployments. Their fields and methods, read-only.
local native = require "rooflua.native"
local core = require "rooflua.base.core"

local specs = {}
local fail, fields = core.fail, core.object_fields

local methods = {
  Model = {
    parameters = function(model) return native.model_parameters(model) end,
    active_parameters = function(model) return native.model_active_parameters(model) end,
    kv_bytes_per_token = function(model, kv_dtype)
      return native.model_kv_bytes_per_token(model, kv_dtype)
    end,
  },
  Hardware = {},
  Deployment = {},
}
-- Fields that are absent in most models: nil, because scripts ask whether they are there.
local optional = { moe = true, mla = true, hybrid = true, sampling = true, vision = true, audio = true, streams = true,
  ngram_tables = true }

local lists = setmetatable({}, { __mode = "k" })  -- fields that are lists, of which scripts get copies

local function copy(value)
  if type(value) ~= "table" then return value end
  local out = {}
  for key, each in pairs(value) do out[key] = copy(each) end
  return out
end

local function define(object, class)
  local known_methods = methods[class]
  core.define_class(object, "rooflua." .. class, function(self, key)
    local method = known_methods[key]
    if method then return method end
    local own = fields[self]
    if own == nil then fail("%s: this object was closed", class) end
    local value = own[key]
    if value ~= nil and lists[value] then return copy(value) end
    if value ~= nil or optional[key] then return value end
    local known = {}
    for _, name in ipairs(core.sorted_keys(own)) do known[#known + 1] = name end
    for _, name in ipairs(core.sorted_keys(known_methods)) do known[#known + 1] = name end
    return fail("%s: %s", class, core.unknown_name("field", key, known))
  end, function(self)
    return class .. " " .. tostring(fields[self] and fields[self].name or "")
  end)
end

--- Gives a new object its fields; nested tables are read-only, and lists are copies, so that # and ipairs see them.
---@param extra table? fields to add
function specs.adopt(object, class, extra)
  define(object, class)
  local own = native.object_fields(object)
  for key, value in pairs(own) do
    if type(value) == "table" and value[1] ~= nil then
      lists[value] = true
    elseif type(value) == "table" then
      own[key] = core.readonly(value, class .. "." .. key, key ~= "peak_flop_per_s")
    end
  end
  for key, value in pairs(extra or {}) do own[key] = value end
  fields[object] = own
  return object
end

--- Whether two plain values state the same.
local function alike(a, b)
  if type(a) ~= "table" or type(b) ~= "table" then return a == b end
  for key, value in pairs(a) do
    if not alike(value, b[key]) then return false end
  end
  for key in pairs(b) do
    if a[key] == nil then return false end
  end
  return true
end

-- What two descriptions of one model or GPU may differ in: where they were read, and constants of modelled kernels.
local besides = { "origin", "source", "aliases", "name", "constants", "fit_note", "sources", "tables_from", "notes",
  "sampling" }

--- Whether two Models, or two Hardwares, describe the same thing.
function specs.same(a, b)
  if rawequal(a, b) then return true end
  local one, other = native.object_fields(a), native.object_fields(b)
  for _, key in ipairs(besides) do one[key], other[key] = nil, nil end
  return alike(one, other)
end

local changes = setmetatable({}, { __mode = "k" }) -- Hardware -> changed figures, which tables do not follow

--- Remembers which figures of a shipped GPU a table changes that only modelled kernels read. Returns the Hardware.
---@param given table what is changed
function specs.note_changes(hardware, given)
  local keys = {}
  for _, key in ipairs { "clock_hz", "clock_mhz", "sms" } do
    if given[key] ~= nil then keys[#keys + 1] = key end
  end
  changes[hardware] = #keys > 0 and keys or nil
  return hardware
end

--- Figures of a GPU that were changed and that rows of tables do not follow, as a list; nil where there are none.
function specs.changes(hardware) return changes[hardware] end

--- The same GPU with other constants of modelled kernels and collectives.
---@param constants table {name = value}
---@param about table? on what they were fitted: {fitted_on}, or {lender, title} as fit_note says them
---@param where string? what states them, in front of messages
function specs.with_constants(hardware, constants, about, where)
  core.table(constants, where or "mfu.model")
  local out = specs.adopt(native.with_constants(hardware, core.plain(constants), about or {}, where), "Hardware")
  changes[out] = changes[hardware]
  return out
end

--- Whether a value is a "Model", a "Hardware" or a "Deployment".
function specs.is(object, class) return core.is_class(object, "rooflua." .. class) end

return specs
