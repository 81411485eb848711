-- Questions to a database, made from the engine's declarations of ops and number formats: the fields that each
-- op knows, what their values may be, and the leaf calls that answer.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local border = require "rooflua.border.abi"

local ffi, abi = border.ffi, border.functions
local context = abi.context
local fail, type, getmetatable_of = core.fail, type, debug.getmetatable

local questions = {}

-- Number formats: code by any spelling.
local dtype_codes, bytes_per_element = {}, {}
for _, format in ipairs(native.formats()) do
  dtype_codes[format.name] = format.code
  bytes_per_element[format.name] = format.bits / 8
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
questions.dtype_code = dtype_code
questions.bytes_per_element = bytes_per_element

local database_meta

--- The metatable of all databases, once there is one.
function questions.of_class(meta) database_meta = meta end

function questions.is_database(value)
  return database_meta ~= nil and type(value) == "userdata" and getmetatable_of(value) == database_meta
end

local function check(database, what)
  if type(database) ~= "userdata" or getmetatable_of(database) ~= database_meta or
    database_meta == nil then
    fail("%s: expected a Database (mfu.open), found %s", what, core.describe(database))
  end
end
questions.check = check

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
questions.check_number = check_number

-- The three questions that step models ask most, writing into `data`.
local ask = {}
questions.ask = ask

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

local function code_of(codes, name, what)
  local code = codes[name]
  if code then return code end
  local known = core.sorted_keys(codes)
  if type(name) ~= "string" then
    fail("%s: expected one of %s, found %s", what, core.join(known, ", "), core.describe(name))
  end
  return fail("%s", what .. ": " .. native.unknown_name("name", name, known))
end

--- Lua text that copies one field of `query` to its place in `values`.
local function copied(field, place)
  local read = ("v = query[%q] "):format(field.name)
  if field.kind == "flag" then
    return read .. ("if v == nil then values[%d] = %d else values[%d] = v and 1 or 0 end"):format(place, field.default,
      place)
  end
  if field.kind == "word" then
    return read .. ("values[%d] = v and (words[%q][v] or code_of(words[%q], v, what .. ': %s')) or %.17g"):format(place,
      field.name, field.name, field.name, field.default)
  end
  return read .. ("if v == nil then v = %.17g elseif type(v) ~= 'number' then check(v, 'db:lookup', '%s') end "
    .. "values[%d] = v"):format(field.default, field.name, place)
end

--- Per op: its struct, its known keys, and a function that copies the values without a loop.
local function question_of(op)
  local known, is_known, words, place = {}, {}, {}, 0
  local code = { "local check, code_of, words, type = ... return function(query, values, what) local v" }
  for _, field in ipairs(op.fields) do
    known[#known + 1], is_known[field.name] = field.name, true
    if field.kind == "word" then
      words[field.name] = {}
      for i, word in ipairs(field.words) do words[field.name][word] = i end
    end
    if field.kind ~= "kv_dtype" then
      code[#code + 1] = copied(field, place)
      place = place + 1
    end
  end
  for _, name in ipairs { "op", "dtype", "kv_dtype" } do
    if not is_known[name] then known[#known + 1], is_known[name] = name, true end
  end
  code[#code + 1] = "end"
  local make = assert(loadstring(core.join(code, "\n"), "=rooflua.mfu"))
  return { q = ffi.new "rooflua_query", code = op.code, known = known, is_known = is_known,
           fill = make(check_number, code_of, words, type) }
end

local declared, op_codes = {}, {}
for _, op in ipairs(native.ops()) do declared[op.name], op_codes[op.name] = op, op.code end

-- What a run asks of few ops is made when it asks.
local of_ops = setmetatable({}, {
  __index = function(made, name)
    local op = declared[name]
    if op then made[name] = question_of(op) end
    return rawget(made, name)
  end,
})

--- Writes the query into `q`, the struct of its op unless another is given, and returns it.
local function fill(query, q, what)
  if type(query) ~= "table" then core.table(query, what) end
  local question = of_ops[query.op]
  if question == nil then code_of(op_codes, query.op, what .. ": op") end
  for key in next, query do
    if not question.is_known[key] then
      fail("%s: %s: %s", what, query.op, core.unknown_name("field", key,
        question.known))
    end
  end
  q = q or question.q
  q.op = question.code
  question.fill(query, q.values, what)
  q.dtype, q.kv_dtype = dtype_code(query.dtype), dtype_code(query.kv_dtype)
  return q
end
questions.fill = fill

function ask.lookup(database, query, data, what)
  check(database, what)
  local q = fill(query, nil, what)
  local status = abi.lookup(context, database, q, data)
  if status ~= 0 then settle(status, database, data, what) end
end

return questions
