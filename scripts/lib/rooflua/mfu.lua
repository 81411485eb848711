-- The MFU database: measured kernel tables of one GPU and a lookup over them. The hot methods are
-- FFI leaf calls; each answer is (mfu or nil, estimate), the estimate a view that the next call of
-- the same database overwrites.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local chunks = require "rooflua.sandbox.chunks"
local spec = require "rooflua.spec"
local specs = require "rooflua.border.specs"
local border = require "rooflua.border.abi"
local files = require "rooflua.sandbox.files"
local policy = require "rooflua.policy"

local ffi, abi = border.ffi, border.functions
local context = abi.context
local fail = core.fail
local type, getmetatable_of = type, debug.getmetatable

local mfu = {}

-- Evidence, from good to bad, by code.
local evidence_names = require("rooflua.base.words").by_code "evidence"
mfu.evidence_names = evidence_names

-- Number formats: code by any spelling.
local dtype_codes = {}
for _, name in ipairs { "bf16", "fp8", "fp16", "fp32", "int8", "fp4", "int4" } do
  dtype_codes[name] = native.dtype_code(name)
end
local function dtype_code(dtype)
  if dtype == nil then return dtype_codes.bf16 end
  local code = dtype_codes[dtype]
  if code then return code end
  if type(dtype) ~= "string" then
    fail("dtype: expected text (bf16, fp8, ...), found %s", core.describe(dtype))
  end
  code = native.dtype_code(dtype)
  dtype_codes[dtype] = code
  return code
end
mfu.dtype_code = dtype_code

-- The estimate view ------------------------------------------------------------------------------

local views = setmetatable({}, { __mode = "k" })   -- database -> its view's fields (cdata)
local owners = setmetatable({}, { __mode = "kv" }) -- view -> database
local numbers = { latency_s = true, distance = true, rows = true, selected_row = true, flop = true,
  bytes = true }
local view_fields = { "latency_s", "mfu", "evidence", "rows", "distance", "note", "selected_row",
  "flop", "bytes",
  "mfu_up", "mfu_down" }

local view_data = setmetatable({}, { __mode = "k" })
local View = {
  __index = function(view, key)
    local data = view_data[view]
    if numbers[key] then return data[key] end
    if key == "mfu" or key == "mfu_up" or key == "mfu_down" then
      local value = data[key]
      if value ~= value then return nil end
      return value
    end
    if key == "evidence" then return evidence_names[data.evidence] end
    if key == "note" then return native.describe_last(owners[view]) end
    return fail("estimate: %s", native.unknown_name("field", tostring(key), view_fields))
  end,
  __newindex = function() fail "an estimate is read-only" end,
  __tostring = function(view)
    return string.format("estimate %.6g s, %s", view.latency_s, view.evidence)
  end,
  __metatable = false,
}
mfu.view_data = view_data

-- Databases ---------------------------------------------------------------------------------------

local methods = {}
local database_meta
local database_fields = core.object_fields

local function adopt(object)
  local meta = core.define_class(object, "rooflua.Database", function(self, key)
    local method = methods[key]
    if method then return method end
    local own = database_fields[self]
    if key == "tables_loaded" then return native.database_fields(self).tables_loaded end
    if key == "hardware" or (own and own[key] ~= nil) then return own and own[key] end
    local known = { "hardware", "layout", "quantizes", "strategy", "tables_loaded" }
    for _, name in ipairs(core.sorted_keys(methods)) do known[#known + 1] = name end
    return fail("Database: %s", native.unknown_name("field", tostring(key), known))
  end, function(self)
    local own = database_fields[self]
    return "Database " .. (own.hardware and own.hardware.name or own.layout) .. " (" .. own.strategy
      .. ")"
  end)
  database_meta = meta
  local own = native.database_fields(object)
  if own.hardware then specs.adopt(own.hardware, "Hardware") end
  own.strategy, own.lookup = own.lookup, nil  -- db:lookup{...} is a method
  database_fields[object] = own
  local view = setmetatable({}, View)
  view_data[view] = ffi.new "rooflua_estimate"
  views[object] = view
  owners[view] = object
  return object
end

local function check(database, what)
  if type(database) ~= "userdata" or getmetatable_of(database) ~= database_meta or
    database_meta == nil then
    fail("%s: expected a Database (mfu.open), found %s", what, core.describe(database))
  end
end
function mfu.is_database(value)
  return database_meta ~= nil and type(value) == "userdata" and
    getmetatable_of(value) == database_meta
end

--- What a status other than 0 means: run the user's lookup, or raise.
local function settle(status, database, data, what)
  if status == 2 then return native.retry(database, data) end
  fail("%s: %s", what, ffi.string(abi.message(context)))
end

local function check_number(value, what, name)
  if type(value) ~= "number" then
    fail("%s: %s: expected a number, found %s", what, name, core.describe(value))
  end
end

-- The three shapes of question, writing into `data`; shared with rooflua.cost.
local ask = {}
mfu.ask = ask

function ask.gemm(database, m, k, n, dtype, data, what)
  check(database, what)
  if type(m) ~= "number" then check_number(m, what, "m") end
  if type(k) ~= "number" then check_number(k, what, "k") end
  if type(n) ~= "number" then check_number(n, what, "n") end
  local status = abi.gemm(context, database, m, k, n, dtype_code(dtype), data)
  if status ~= 0 then settle(status, database, data, what) end
end

function ask.prefill(database, heads, kv_heads, head_dim, new_tokens, context_tokens, tp, kv_dtype,
  data, what)
  check(database, what)
  if type(heads) ~= "number" then check_number(heads, what, "heads") end
  if type(kv_heads) ~= "number" then check_number(kv_heads, what, "kv_heads") end
  if type(head_dim) ~= "number" then check_number(head_dim, what, "head_dim") end
  if type(new_tokens) ~= "number" then check_number(new_tokens, what, "new_tokens") end
  if type(context_tokens) ~= "number" then check_number(context_tokens, what, "context_tokens") end
  if type(tp) ~= "number" then check_number(tp, what, "tp") end
  local status = abi.prefill(context, database, heads, kv_heads, head_dim, new_tokens,
    context_tokens, tp,
    dtype_code(kv_dtype), data)
  if status ~= 0 then settle(status, database, data, what) end
end

function ask.decode(database, heads, kv_heads, head_dim, batch, context_tokens, tp, kv_dtype, data,
  what)
  check(database, what)
  if type(heads) ~= "number" then check_number(heads, what, "heads") end
  if type(kv_heads) ~= "number" then check_number(kv_heads, what, "kv_heads") end
  if type(head_dim) ~= "number" then check_number(head_dim, what, "head_dim") end
  if type(batch) ~= "number" then check_number(batch, what, "batch") end
  if type(context_tokens) ~= "number" then check_number(context_tokens, what, "context_tokens") end
  if type(tp) ~= "number" then check_number(tp, what, "tp") end
  local status = abi.decode(context, database, heads, kv_heads, head_dim, batch, context_tokens, tp,
    dtype_code(kv_dtype), data)
  if status ~= 0 then settle(status, database, data, what) end
end

-- Any op, by name ---------------------------------------------------------------------------------

local op_codes = {}
for code, name in ipairs { "gemm", "attention_prefill", "attention_decode", "grouped_gemm",
  "mla_prefill",
  "mla_decode", "linear_attention", "all_reduce", "memory", "launch", "elementwise" } do
  op_codes[name] = code - 1
end
local kernel_codes = {}
for code, name in ipairs { "copy", "read", "write", "launch", "graph_node", "norm", "rope",
  "silu_mul", "quantize" } do
  kernel_codes[name] = code
end
-- Numbers that each op reads; those of an op share one struct, so that the rest stays 0.
local moe = "experts ranks tp experts_per_token hidden_size intermediate_size tokens"
local op_fields = {
  gemm = "m k n",
  attention_prefill = "heads kv_heads head_dim tp batch new_tokens context_tokens",
  attention_decode = "heads kv_heads head_dim tp batch context_tokens",
  grouped_gemm = moe,
  mla_prefill = "heads tp qk_nope_head_dim qk_rope_head_dim v_head_dim batch new_tokens context_tokens",
  mla_decode = "heads tp kv_lora_rank qk_rope_head_dim batch context_tokens",
  linear_attention = "conv key_heads key_head_dim value_heads value_head_dim batch new_tokens",
  all_reduce = "ranks bytes",
  memory = "bytes",
  launch = "",
  elementwise = "tokens width",
}
local words = { "op", "dtype", "kv_dtype", "decode", "eager", "kernel" }

local function code_of(codes, name, what)
  local code = codes[name]
  if code then return code end
  local known = core.sorted_keys(codes)
  if type(name) ~= "string" then
    fail("%s: expected one of %s, found %s", what, core.join(known, ", "), core.describe(name))
  end
  return fail("%s", what .. ": " .. native.unknown_name("name", name, known))
end

--- Per op: its struct, its known keys, and a function that copies the numbers without a loop.
local function question_of(op)
  local known, is_known, code = {}, {}, { "local query, q, check = ... local v" }
  for name in op_fields[op]:gmatch "%S+" do
    known[#known + 1], is_known[name] = name, true
    local default = (name == "tp" or name == "ranks") and 1 or 0
    code[#code + 1] = ("v = query.%s if v == nil then v = %d elseif type(v) ~= 'number' "
      .. "then check(v, '%s') end q.%s = v"):format(name, default, name, name)
  end
  for _, name in ipairs(words) do known[#known + 1], is_known[name] = name, true end
  local q = ffi.new "rooflua_query"
  return { q = q, code = op_codes[op], known = known, is_known = is_known, fill = assert(loadstring(core.join(code,
    "\n"), "=rooflua.mfu")) }
end
local questions = {}
for op in pairs(op_fields) do questions[op] = question_of(op) end

local function check_field(value, name) check_number(value, "db:lookup", name) end

--- Writes a query into `q`, the struct of its op unless another is given, and returns it.
local function fill(query, q, what)
  if type(query) ~= "table" then core.table(query, what) end
  local question = questions[query.op]
  if question == nil then code_of(op_codes, query.op, what .. ": op") end
  for key in next, query do
    if not question.is_known[key] then
      fail("%s: %s: %s", what, query.op, native.unknown_name("field", tostring(key),
        question.known))
    end
  end
  q = q or question.q
  q.op, q.tp, q.ranks = question.code, 1, 1
  question.fill(query, q, check_field)
  q.dtype, q.kv_dtype = dtype_code(query.dtype), dtype_code(query.kv_dtype)
  q.decode, q.eager = query.decode and 1 or 0, query.eager and 1 or 0
  q.kernel = query.kernel and code_of(kernel_codes, query.kernel, what .. ": kernel") or 0
  return q
end
mfu.fill = fill

function ask.lookup(database, query, data, what)
  check(database, what)
  local q = fill(query, nil, what)
  local status = abi.lookup(context, database, q, data)
  if status ~= 0 then settle(status, database, data, what) end
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

--- A name that is not native is a file of scripts/lookup; a class stands for its defaults.
local function lookup_of(lookup)
  if type(lookup) == "string" then
    local names, in_lua = native.list_lookups(), native.list_folder(native.home .. "/scripts/lookup", ".lua")
    for _, name in ipairs(names) do
      if name == lookup then return lookup end
    end
    for i, name in ipairs(in_lua) do
      if name == lookup then return chunks.require("lookup." .. name) {} end
      names[#names + 1] = in_lua[i]
    end
    fail("lookup: %s", native.unknown_name("lookup", lookup, names))
  end
  if policy.is_class(lookup) then return lookup {} end
  return lookup
end

--- A table as a user's lookup sees it: what one question writes, the next would read.
local seen_tables = setmetatable({}, { __mode = "k" })
local function seen(table_of)
  local view = seen_tables[table_of]
  if view then return view end
  local rows, shown = {}, {}
  for i, row in ipairs(table_of.rows) do rows[i] = core.readonly(row, "a row of " .. table_of.name) end
  for key, value in pairs(table_of) do shown[key] = value end
  shown.rows = rows
  view = core.readonly(shown, "the table " .. table_of.name)
  seen_tables[table_of] = view
  return view
end

--- Same tables, another strategy: a name, a function (table, query) -> value, evidence, or a policy.
function methods.with(db, lookup, options)
  check(db, "db:with")
  lookup = lookup_of(lookup)
  if type(lookup) == "string" then return adopt(native.with_lookup(db, lookup)) end
  options = options and core.table(options, "db:with") or {}
  core.check_keys(options, with_options, "db:with")
  local call, returns, name = lookup, options.returns, options.name
  if type(lookup) == "table" and type(lookup.lookup) == "function" then
    returns, name = returns or lookup.returns, name or lookup.name
    call = function(t, query) return lookup:lookup(seen(t), query) end
  elseif type(lookup) == "function" then
    call = function(t, query) return lookup(seen(t), query) end
  else
    fail("db:with: expected a lookup's name, a function or a policy, found %s",
      core.describe(lookup))
  end
  returns = returns or "latency_s"
  if returns ~= "latency_s" and returns ~= "mfu" then
    fail("db:with: returns: expected \"mfu\" or \"latency_s\", found %s", core.describe(returns))
  end
  return adopt(native.with_lookup(db, name or "function", call, returns == "mfu"))
end

function methods.tables(db) return native.list_tables(db) end
function methods.rows(db, name) return native.table_rows(db, name) end
function methods.report(db) return native.database_report(db) end

local left_out_keys = { "table", "lookup", "leave", "most_rows" }

--- What the other rows of a table say of each row that is taken away in turn.
function methods.leave_one_out(db, options)
  check(db, "db:leave_one_out")
  core.table(options, "db:leave_one_out")
  core.check_keys(options, left_out_keys, "db:leave_one_out")
  local most_rows = options.most_rows or 400
  check_number(most_rows, "db:leave_one_out", "most_rows")
  return native.leave_one_out(db, options.table, options.lookup or database_fields[db].strategy,
    options.leave or "row", most_rows)
end

--- What this database answers to the rows that another one measured.
function methods.compare(db, reference)
  check(db, "db:compare")
  check(reference, "db:compare: reference")
  return native.compare_databases(db, reference)
end

function methods.peak(db, dtype) return native.database_peak(db, dtype or "bf16") end

local open_keys = { "path", "layout", "gpu", "lookup", "hardware", "default_mfu", "model" }

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
  plain.lookup = type(lookup) == "string" and lookup or nil
  if plain.model ~= nil then
    if plain.hardware == nil then fail "mfu.open: model: needs a GPU (hardware or gpu)" end
    plain.hardware, plain.model = specs.with_constants(plain.hardware, plain.model), nil
  end
  if plain.path ~= nil then plain.path = files.find(plain.path, "mfu.open: path", "folder of tables") end
  local database = adopt(native.open_database(plain))
  if lookup ~= nil and type(lookup) ~= "string" then return methods.with(database, lookup) end
  return database
end

--- Named lookup strategies.
function mfu.lookups() return native.list_lookups() end

--- How the last failed lookup failed: "no_table", "no_rows", "division_by_zero", or nil.
function mfu.failure() return native.last_failure() end

return mfu
