-- The MFU database: measured kernel tables of one GPU and a lookup over them. The hot methods are
-- FFI leaf calls; each answer is (mfu or nil, estimate), the estimate a view that the next call of
-- the same database overwrites.
local native = require "rooflua.native"
local catalogue = require "rooflua.engines.catalogue"
local core = require "rooflua.base.core"
local spec = require "rooflua.spec"
local specs = require "rooflua.border.specs"
local own_family = require "rooflua.border.own_family"
local questions = require "rooflua.border.questions"
local estimates = require "rooflua.border.estimates"
local tables = require "rooflua.border.tables"
local files = require "rooflua.sandbox.files"
local named_files = require "rooflua.sandbox.named_files"
local named_policies = require "rooflua.sandbox.named_policies"
local policy = require "rooflua.policy"

local fail, type = core.fail, type
local check, check_number = questions.check, questions.check_number

local mfu = {
  evidence_names = estimates.evidence_names, view_data = estimates.view_data, dtype_code = questions.dtype_code,
  is_database = questions.is_database, ask = questions.ask, fill = questions.fill,
}
local ask, view_data = questions.ask, estimates.view_data

-- Databases ---------------------------------------------------------------------------------------

local views = setmetatable({}, { __mode = "k" })   -- database -> the view of its answers
local methods = {}
local database_fields = core.object_fields

local function adopt(object)
  local meta = core.define_class(object, "rooflua.Database", function(self, key)
    local method = methods[key]
    if method then return method end
    local own = database_fields[self]
    if key == "tables_loaded" then return native.database_fields(self).tables_loaded end
    if key == "hardware" or (own and own[key] ~= nil) then return own and own[key] end
    local known = { "engine", "hardware", "layout", "strategy", "tables_loaded" }
    for _, name in ipairs(core.sorted_keys(methods)) do known[#known + 1] = name end
    return fail("Database: %s", core.unknown_name("field", key, known))
  end, function(self)
    local own = database_fields[self]
    return "Database " .. (own.hardware and own.hardware.name or own.layout) .. " (" .. own.strategy
      .. ")"
  end)
  questions.of_class(meta)
  local own = native.database_fields(object)
  if own.hardware then specs.adopt(own.hardware, "Hardware") end
  own.strategy, own.lookup = own.lookup, nil  -- db:lookup{...} is a method
  database_fields[object] = own
  views[object] = estimates.new(object)
  return object
end

-- Methods -----------------------------------------------------------------------------------------

-- No tail calls from here on: fifteen of them end a trace, and a step model asks more often.
local function answer(data)
  local value = data.mfu
  if value ~= value then return nil end
  return value
end

function methods.gemm(db, m, k, n, dtype)
  check(db, "db:gemm")
  local view = views[db]
  local data = view_data[view]
  ask.gemm(db, m, k, n, dtype, data, "db:gemm")
  return answer(data), view
end

function methods.prefill(db, heads, kv_heads, head_dim, seq_len, tp, kv_dtype)
  check(db, "db:prefill")
  local view = views[db]
  local data = view_data[view]
  ask.prefill(db, heads, kv_heads, head_dim, seq_len, 0, tp or 1, kv_dtype, data, "db:prefill")
  return answer(data), view
end

function methods.decode(db, heads, kv_heads, head_dim, batch, context_tokens, tp, kv_dtype)
  check(db, "db:decode")
  local view = views[db]
  local data = view_data[view]
  ask.decode(db, heads, kv_heads, head_dim, batch, context_tokens, tp or 1, kv_dtype, data,
    "db:decode")
  return answer(data), view
end

function methods.lookup(db, query)
  check(db, "db:lookup")
  local view = views[db]
  local data = view_data[view]
  ask.lookup(db, query, data, "db:lookup")
  return answer(data), view
end

--- Questions by name, of which one or two numbers change: where they go, "first" and "second" say.
function methods.prepare(db, by_name)
  check(db, "db:prepare")
  return require("rooflua.border.prepared").new(db, by_name, mfu)
end

local with_options = { "returns", "name" }

--- What a lookup's name or class means: the name of a compiled one, or a policy of scripts/lookup or of a folder
--- `lookup` beside the scenario.
local function lookup_of(lookup)
  if policy.is_class(lookup) then return lookup {} end
  if type(lookup) ~= "string" then return lookup end
  local names = native.list_lookups()
  for _, name in ipairs(names) do
    if name == lookup then return lookup end
  end
  return named_policies.instance("lookup", lookup)
    or fail("lookup: %s", named_policies.unknown("lookup", lookup, "lookup", names))
end

--- What the engine calls for a lookup in Lua: {name, call, is_mfu, written = the function whose line errors name}.
local function called(lookup, options, what)
  local name, returns, written, call = options.name, options.returns, lookup, nil
  if type(lookup) == "table" and type(lookup.lookup) == "function" then
    returns, name, written = returns or lookup.returns, name or lookup.name, lookup.lookup
    call = function(t, query, all) return lookup:lookup(tables.seen(t), query, tables.seen_all(all)) end
  elseif type(lookup) == "function" then
    call = function(t, query, all) return lookup(tables.seen(t), query, tables.seen_all(all)) end
  else
    fail("%s: expected a lookup's name, a function or a policy, found %s", what, core.describe(lookup))
  end
  returns = returns or "latency_s"
  if returns ~= "latency_s" and returns ~= "mfu" then
    fail("%s: returns: expected \"mfu\" or \"latency_s\", found %s", what, core.describe(returns))
  end
  return { name = name or "function", call = call, is_mfu = returns == "mfu", written = written,
    policy = policy.is_instance(lookup) and lookup or nil }
end

--- The call of a lookup that sees a table once: a policy may remember what it has read of a table, so each table gets
--- an instance of its own.
local function forgetful(own)
  if not own.policy then return own.call end
  local seen, instance
  return function(t, query, all)
    if t ~= seen then seen, instance = t, policy.fresh(own.policy) end
    return instance:lookup(tables.seen(t), query, tables.seen_all(all))
  end
end

local own_lookups = setmetatable({}, { __mode = "k" }) -- database -> what `called` returned, where its lookup is in Lua

--- Same tables, another strategy: a name, a function (table, query, tables) -> value, evidence, or a policy.
function methods.with(db, lookup, options)
  check(db, "db:with")
  lookup = lookup_of(lookup)
  options = options and core.table(options, "db:with") or {}
  core.check_keys(options, with_options, "db:with")
  if type(lookup) == "string" then
    for _, key in ipairs(core.sorted_keys(options)) do
      fail("db:with: %s: has no effect, because %s is a compiled lookup", key, lookup)
    end
    return adopt(native.with_lookup(db, lookup))
  end
  local own = called(lookup, options, "db:with")
  local database = adopt(native.with_lookup(db, own.name, own.call, own.is_mfu, own.written))
  own_lookups[database] = own
  return database
end

--- The tables that lookups use; with "all" also those that are there to be read and compared.
function methods.tables(db, which)
  check(db, "db:tables")
  if which ~= nil and which ~= "all" then
    fail("db:tables: expected nothing or \"all\", found %s", core.describe(which))
  end
  return native.list_tables(db, which == "all")
end
function methods.rows(db, name) return native.table_rows(db, name) end
function methods.report(db) return native.database_report(db) end

local left_out_keys = { "table", "lookup", "leave", "most_rows" }

--- What the other rows of a table say of each row that is taken away in turn, by this database's lookup or another one.
function methods.leave_one_out(db, options)
  check(db, "db:leave_one_out")
  core.table(options, "db:leave_one_out")
  core.check_keys(options, left_out_keys, "db:leave_one_out")
  local most_rows, leave = options.most_rows or 400, options.leave or "row"
  check_number(most_rows, "db:leave_one_out", "most_rows")
  local lookup, own = options.lookup, own_lookups[db]
  if lookup ~= nil then
    lookup = lookup_of(lookup)
    own = type(lookup) ~= "string" and called(lookup, {}, "db:leave_one_out: lookup") or nil
  end
  if own then
    return native.leave_one_out(db, options.table, own.name, leave, most_rows, forgetful(own), own.is_mfu,
      own.written)
  end
  return native.leave_one_out(db, options.table, lookup or database_fields[db].strategy, leave, most_rows)
end

--- What this database answers to the rows that another one measured.
function methods.compare(db, reference)
  check(db, "db:compare")
  check(reference, "db:compare: reference")
  return native.compare_databases(db, reference)
end

--- Whether rows of an op in a format contain a part of another op, so that it is not added again.
function methods.includes(db, op, dtype, part)
  check(db, "db:includes")
  return native.database_includes(db, op, dtype, part)
end

function methods.of_engine(db, engine)
  check(db, "db:of_engine")
  local database = adopt(native.database_of_engine(db, engine))
  own_lookups[database] = own_lookups[db]
  return database
end

--- Whether any table answers for an op, of this GPU or of the one that it borrows from.
function methods.measures(db, op)
  check(db, "db:measures")
  return native.database_measures(db, op)
end

function methods.peak(db, dtype) return native.database_peak(db, dtype or "bf16") end

local open_keys = { "path", "layout", "gpu", "lookup", "engine", "hardware", "default_mfu", "model",
  "tables" }

--- Tables of a GPU: open "h200-sxm", or open{path=, layout=, gpu=, lookup=}.
function mfu.open(options)
  if mfu.is_database(options) then return options end
  if type(options) == "string" then options = { gpu = options } end
  if specs.is(options, "Hardware") then options = { hardware = options } end
  if type(options) ~= "table" then
    fail("mfu.open: expected a GPU's name or a table, found %s", core.describe(options))
  end
  core.check_keys(options, open_keys, "mfu.open")
  local plain, lookup = {}, options.lookup
  if lookup ~= nil then lookup = lookup_of(lookup) end
  for key, value in pairs(options) do plain[key] = value end
  if plain.hardware ~= nil then plain.hardware = spec.hardware(plain.hardware) end
  if plain.gpu ~= nil and plain.path == nil and plain.hardware == nil then
    plain.hardware = spec.hardware(plain.gpu)
  end
  if plain.gpu ~= nil and plain.path == nil and plain.hardware ~= nil then -- tables of one GPU, peaks of another
    local lender = spec.hardware(core.text(plain.gpu, "mfu.open: gpu"))
    plain.gpu = lender.name
    if lender.name ~= plain.hardware.name then plain.path = lender.source:match "^(.*)/[^/]*$" end
  end
  plain.lookup = type(lookup) == "string" and lookup or nil
  plain.lenders = catalogue.lenders()
  if catalogue.has(plain.engine) then plain.engine = catalogue.of(plain.engine).tables.name end
  if plain.tables == nil and plain.path == nil and plain.hardware and own_family.is_modelled(plain.hardware) then
    plain.tables = false
  end
  if plain.tables ~= nil and type(plain.tables) ~= "boolean" then
    fail("mfu.open: tables: expected true or false, found %s", core.describe(plain.tables))
  end
  if plain.model ~= nil then
    if plain.hardware == nil then fail "mfu.open: model: needs a GPU (hardware or gpu)" end
    plain.hardware, plain.model = specs.with_constants(plain.hardware, plain.model), nil
  end
  if plain.path ~= nil then
    plain.path = files.find(plain.path, "mfu.open: path", "folder of tables")
    named_files.note(options.path, true)
  end
  local database = adopt(native.open_database(plain))
  if lookup ~= nil and type(lookup) ~= "string" then return methods.with(database, lookup) end
  return database
end

local keys_of_add = { "dry_run", "folder", "name", "replace", "to" }

--- A folder that was measured becomes a GPU with a name, as `rooflua data add`: checked, and copied where it has no
--- errors. Of trusted scripts.
function mfu.add(given)
  if not native.trusted then fail "mfu.add: scenarios write no files; run with --trusted" end
  local own = core.plain(core.table(given, "mfu.add"))
  core.check_keys(own, keys_of_add, "mfu.add")
  core.text(own.folder, "mfu.add: folder")
  for _, key in ipairs { "name", "to" } do
    if own[key] ~= nil then core.text(own[key], "mfu.add: " .. key) end
  end
  for _, key in ipairs { "dry_run", "replace" } do
    if own[key] ~= nil and type(own[key]) ~= "boolean" then
      fail("mfu.add: %s: expected true or false, found %s", key, core.describe(own[key]))
    end
  end
  if own.dry_run and own.replace then fail "mfu.add: replace: has no effect with dry_run, which writes nothing" end
  return native.add_folder(own)
end

--- Named lookup strategies.
function mfu.lookups() return native.list_lookups() end

--- Every op of db:lookup with its fields, and every number format, as the engine declares them.
function mfu.ops() return native.ops() end
function mfu.formats() return native.formats() end

--- How the last failed lookup failed: "no_table", "no_rows", "division_by_zero", or nil.
function mfu.failure() return native.last_failure() end

return mfu
