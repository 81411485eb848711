-- What work costs. Every primitive prices one run of an operation on one rank, goes through record,
-- and returns (time_s * count, bound). The ledger holds seconds per evidence; when somebody listens
-- (explain) every record becomes a row.
local native = require "rooflua.native"
local core = require "rooflua.core"
local spec = require "rooflua.spec"
local mfu = require "rooflua.mfu"
local batch = require "rooflua.batch"
local border = require "rooflua.abi"

local ffi, abi = border.ffi, border.functions
local context = abi.context
local fail, type, ask = core.fail, type, mfu.ask
local evidence_names = mfu.evidence_names
local bounds = { [0] = "compute", "memory", "link" }
local nan = 0 / 0
local infinity = math.huge

ffi.cdef [[
typedef struct { double seconds[6]; int32_t listening, reserved; } rooflua_ledger;
]]
local ledger = ffi.cast("rooflua_ledger *", native.ledger)
local estimate = ffi.new "rooflua_estimate"

local cost = { batch = batch.new }

local evidence_codes = {}
for code = 0, 5 do evidence_codes[evidence_names[code]] = code end

local function evidence_code(evidence, what)
  local code = evidence_codes[evidence]
  if code then return code end
  local data = mfu.view_data[evidence]
  if data then return data.evidence end
  if type(evidence) ~= "string" then
    fail("%s: evidence: expected a name or an estimate, found %s", what, core.describe(evidence))
  end
  local known = {}
  for i = 0, 5 do known[i + 1] = evidence_names[i] end
  return fail("%s: %s", what, native.unknown_name("evidence", evidence, known))
end

-- Recording ---------------------------------------------------------------------------------------

local rows                 -- list of rows while somebody listens
local corrections = {}     -- instances with an op method, in order
local correction_count = 0
local op = {}              -- what a correction sees, reused

local function note_row(row)
  rows[#rows + 1] = row
end

--- Applies the corrections in order; each is a row of its own when somebody listens.
local function correct(name, kind, time_s, code, count, flop, bytes, value, bound, shape)
  op.name, op.kind, op.shape, op.flop, op.bytes, op.bound = name, kind, shape, flop, bytes, bound
  op.mfu = value == value and value or nil
  op.evidence, op.count = evidence_names[code], count
  for i = 1, correction_count do
    local before_s = time_s
    op.time_s = before_s
    time_s = corrections[i]:op(op, before_s)
    if type(time_s) ~= "number" or not (time_s >= 0 and time_s < infinity) then
      fail("correction %s returned %s for %s; expected seconds", corrections[i].name or i, core.describe(time_s), tostring(name))
    end
    if rows and time_s ~= before_s then
      note_row { name = corrections[i].name, kind = "correction", of = name, time_s = time_s - before_s, count = count,
        flop = 0, bytes = 0, evidence = op.evidence, bound = bound, shape = "" }
    end
  end
  return time_s
end

local function keep(name, kind, time_s, code, count, flop, bytes, value, bound, shape, note)
  if rows then
    note_row { name = name or kind, kind = kind, shape = shape or "", flop = flop, bytes = bytes,
      mfu = value == value and value or nil, bound = bound, evidence = evidence_names[code], note = note or "",
      time_s = time_s, count = count }
  end
  if correction_count > 0 then
    time_s = correct(name or kind, kind, time_s, code, count, flop, bytes, value, bound, shape)
  end
  local total_s = time_s * count
  ledger.seconds[code] = ledger.seconds[code] + total_s
  return total_s, bound
end

local function check_count(count, what)
  if type(count) ~= "number" or not (count >= 0 and count < infinity) then
    fail("%s: count: expected a number >= 0, found %s", what, core.describe(count))
  end
end

--- An operation that a step model composed itself: enters the ledger like a primitive.
function cost.record(name, time_s, evidence, count, flop, bytes, value, bound, note, kind, shape)
  if type(time_s) ~= "number" or not (time_s >= 0 and time_s < infinity) then
    fail("cost.record: time_s: expected seconds >= 0, found %s", core.describe(time_s))
  end
  if type(name) ~= "string" then fail("cost.record: name: expected text, found %s", core.describe(name)) end
  count = count or 1
  check_count(count, "cost.record")
  return (keep(name, kind or name, time_s, evidence_code(evidence, "cost.record"), count, flop or 0, bytes or 0,
    value or nan, bound, shape, note))
end

--- True while somebody listens: only then is it worth making texts for rows.
function cost.listening() return rows ~= nil end

--- The worst of several evidences.
function cost.mixed(...)
  local worst = 0
  for i = 1, select("#", ...) do
    local code = evidence_code((select(i, ...)), "cost.mixed")
    if code > worst then worst = code end
  end
  return evidence_names[worst]
end

-- Primitives ----------------------------------------------------------------------------------------

--- time = max(flop / (peak mfu), bytes / bandwidth). Pure arithmetic; records nothing.
function cost.roofline(flop, bytes, peak_flop_per_s, value, bytes_per_s)
  if type(flop) ~= "number" or not (flop >= 0 and flop < infinity) then core.not_negative(flop, "cost.roofline: flop") end
  if type(bytes) ~= "number" or not (bytes >= 0 and bytes < infinity) then core.not_negative(bytes, "cost.roofline: bytes") end
  if type(peak_flop_per_s) ~= "number" or not (peak_flop_per_s > 0 and peak_flop_per_s < infinity) then
    core.positive(peak_flop_per_s, "cost.roofline: peak_flop_per_s")
  end
  if type(value) ~= "number" or not (value > 0 and value <= 1) then
    fail("cost.roofline: mfu: expected a number in (0, 1], found %s", core.describe(value))
  end
  if type(bytes_per_s) ~= "number" or not (bytes_per_s > 0 and bytes_per_s < infinity) then
    core.positive(bytes_per_s, "cost.roofline: bytes_per_s")
  end
  local arithmetic_s, traffic_s = flop / (peak_flop_per_s * value), bytes / bytes_per_s
  if traffic_s > arithmetic_s then return traffic_s, "memory" end
  return arithmetic_s, "compute"
end

local function shape_text(...) return rows and string.format(...) or nil end

--- What an estimate just written to `estimate` costs.
local function price(database, name, kind, count, shape, launch_s)
  local e = estimate
  local note
  if rows then note = native.describe_last(database) end
  local time_s = e.latency_s
  if launch_s then
    time_s = time_s > launch_s and time_s - launch_s or 0
    if rows then note = "in the same call; " .. note end
  end
  return keep(name, kind, time_s, e.evidence, count, e.flop, e.bytes, e.mfu, bounds[e.bound], shape, note)
end

--- [m,k] x [k,n], the shape of one rank.
function cost.gemm(db, m, k, n, dtype, count, name)
  count = count or 1
  check_count(count, "cost.gemm")
  ask.gemm(db, m, k, n, dtype, estimate, "cost.gemm")
  return price(db, name, "gemm", count, rows and string.format("m=%.14g k=%.14g n=%.14g %s", m, k, n, dtype or "bf16"))
end

local function check_shape(shape, what)
  if type(shape) ~= "table" then fail("%s: shape: expected {heads, kv_heads, head_dim, tp, kv_dtype}, found %s", what, core.describe(shape)) end
end

--- A chunk of new_tokens behind context_tokens, of one request.
--- @param launch_s number|nil of a chunk that joins a call which runs anyway: the time that call pays already
function cost.attention_prefill(db, shape, new_tokens, context_tokens, count, name, launch_s)
  if launch_s then core.not_negative(launch_s, "cost.attention_prefill: launch_s") end
  count = count or 1
  check_count(count, "cost.attention_prefill")
  check_shape(shape, "cost.attention_prefill")
  ask.prefill(db, shape.heads, shape.kv_heads, shape.head_dim, new_tokens, context_tokens, shape.tp or 1,
    shape.kv_dtype, estimate, "cost.attention_prefill")
  return price(db, name, "attention_prefill", count,
    rows and string.format("new=%.14g context=%.14g heads=%d/%d tp=%d", new_tokens, context_tokens, shape.heads, shape.kv_heads, shape.tp or 1),
    launch_s)
end

--- One token for each of `batch` requests; contexts as a sum, because KV bytes decide.
function cost.attention_decode(db, shape, batch_size, context_tokens_sum, context_tokens_max, count, name)
  count = count or 1
  check_count(count, "cost.attention_decode")
  check_shape(shape, "cost.attention_decode")
  if type(batch_size) ~= "number" or not (batch_size > 0) then core.positive(batch_size, "cost.attention_decode: batch") end
  if type(context_tokens_sum) ~= "number" then core.number(context_tokens_sum, "cost.attention_decode: context_tokens_sum") end
  ask.decode(db, shape.heads, shape.kv_heads, shape.head_dim, batch_size, context_tokens_sum / batch_size,
    shape.tp or 1, shape.kv_dtype, estimate, "cost.attention_decode")
  return price(db, name, "attention_decode", count,
    rows and string.format("batch=%.14g context=%.14g heads=%d/%d tp=%d", batch_size, context_tokens_sum / batch_size,
      shape.heads, shape.kv_heads, shape.tp or 1))
end

--- Any op of db:lookup, priced: grouped GEMM, MLA, linear attention, elementwise.
function cost.lookup(db, query, count, name)
  count = count or 1
  check_count(count, "cost.lookup")
  ask.lookup(db, query, estimate, "cost.lookup")
  return price(db, name, query.op, count, rows and cost.query_text(query))
end

function cost.query_text(query)
  core.table(query, "cost.query_text")
  local parts = {}
  for _, key in ipairs(core.sorted_keys(query)) do
    if key ~= "op" then parts[#parts + 1] = key .. "=" .. tostring(query[key]) end
  end
  return core.join(parts, " ")
end

local function collective(kind_code, kind, target, bytes, ranks, count, name)
  local what = "cost." .. kind
  count = count or 1
  check_count(count, what)
  if type(bytes) ~= "number" then core.number(bytes, what .. ": bytes") end
  if type(ranks) ~= "number" then core.number(ranks, what .. ": ranks") end
  local shape = rows and string.format("bytes=%.14g ranks=%d", bytes, ranks)
  local status
  if kind_code == 0 and mfu.is_database(target) then
    status = abi.all_reduce(context, target, bytes, ranks, 0, estimate)
    if status == 0 then return price(target, name, kind, count, shape) end
  else
    local hardware = mfu.is_database(target) and target.hardware or target
    if not spec.is(hardware, "Hardware") then
      fail("%s: expected a Database or Hardware, found %s", what, core.describe(target))
    end
    status = abi.collective(context, hardware, bytes, ranks, kind_code, estimate)
    if status == 0 then
      return keep(name, kind, estimate.latency_s, estimate.evidence, count, 0, bytes, nan, "link", shape, "two lines over the link bandwidth")
    end
  end
  return fail("%s: %s", what, ffi.string(abi.message(context)))
end

function cost.all_reduce(target, bytes, ranks, count, name)
  return collective(0, "all_reduce", target, bytes, ranks, count, name)
end
function cost.all_to_all(target, bytes, ranks, count, name)
  return collective(1, "all_to_all", target, bytes, ranks, count, name)
end

--- Work bound by memory: bytes over datasheet bandwidth.
function cost.memory(hardware, bytes, count, name)
  count = count or 1
  check_count(count, "cost.memory")
  if type(bytes) ~= "number" or not (bytes >= 0 and bytes < infinity) then core.not_negative(bytes, "cost.memory: bytes") end
  local own = core.object_fields[hardware]
  if own == nil or own.memory_bytes_per_s == nil then
    fail("cost.memory: hardware: expected Hardware, found %s", core.describe(hardware))
  end
  return keep(name, "memory", bytes / own.memory_bytes_per_s, 4, count, 0, bytes, nan, "memory",
    rows and string.format("bytes=%.14g", bytes), "bytes over bandwidth")
end

-- Formulas: cost.flop.*, cost.bytes.* -------------------------------------------------------------------

local groups = { flop = {}, bytes = {} }
for _, formula in ipairs(native.formulas()) do groups[formula.group][formula.name] = formula.call end
cost.flop = core.readonly(groups.flop, "cost.flop", true)
cost.bytes = core.readonly(groups.bytes, "cost.bytes", true)

--- The operations of one forward pass on one rank, in order.
function cost.layers(model, deployment)
  return native.layers(spec.model(model), spec.deployment(deployment))
end

-- Memoisation ---------------------------------------------------------------------------------------------

local most_entries = 262144
local seconds_of = ffi.typeof "double[6]"

--- Runs `call` with an empty account; returns its time and what it added, then restores the account.
local function isolate(call)
  local saved = seconds_of()
  for i = 0, 5 do
    saved[i] = ledger.seconds[i]
    ledger.seconds[i] = 0
  end
  local ok, time_s = pcall(call)
  local added = seconds_of()
  for i = 0, 5 do
    added[i] = ledger.seconds[i]
    ledger.seconds[i] = saved[i] + (ok and added[i] or 0)
  end
  if not ok then error(time_s, 0) end
  return time_s, added
end

local function memo(fn, what, key_of, ...)
  if type(fn) ~= "function" then fail("%s: expected a function, found %s", what, core.describe(fn)) end
end

--- Exact memo of a pure priced function of one number.
function cost.memoize(fn)
  memo(fn, "cost.memoize")
  local times, codes, amounts, mixtures, entries = {}, {}, {}, {}, 0
  local function miss(key)
    local time_s, added = isolate(function() return fn(key) end)
    if type(time_s) ~= "number" then return time_s end
    if entries >= most_entries then times, codes, amounts, mixtures, entries = {}, {}, {}, {}, 0 end
    entries = entries + 1
    local code, kinds = 0, 0
    for i = 0, 5 do
      if added[i] ~= 0 then code, kinds = i, kinds + 1 end
    end
    times[key], codes[key], amounts[key] = time_s, kinds <= 1 and code or -1, added[code]
    if kinds > 1 then mixtures[key] = added end
    return time_s
  end
  return function(key)
    if rows then return fn(key) end
    local time_s = times[key]
    if time_s == nil then
      if type(key) ~= "number" or key ~= key then fail("a memoized function takes one number, found %s", core.describe(key)) end
      return miss(key)
    end
    local code = codes[key]
    if code >= 0 then
      ledger.seconds[code] = ledger.seconds[code] + amounts[key]
    else
      local added = mixtures[key]
      for i = 0, 5 do ledger.seconds[i] = ledger.seconds[i] + added[i] end
    end
    return time_s
  end
end

local base = 67108864 -- 2^26: two whole numbers below it fit one double

--- The same of two whole numbers below 2^26.
function cost.memoize2(fn)
  memo(fn, "cost.memoize2")
  local one = cost.memoize(function(key)
    local b = key % base
    return fn((key - b) / base, b)
  end)
  return function(a, b)
    if rows then return fn(a, b) end
    if type(a) ~= "number" or type(b) ~= "number" or not (a >= 0 and a < base and b >= 0 and b < base) or
      a % 1 ~= 0 or b % 1 ~= 0 then
      return fn(a, b)
    end
    return one(a * base + b)
  end
end

-- Explaining -------------------------------------------------------------------------------------------------

--- Shares of the ledger's seconds per evidence; they sum to 1.
local function shares()
  local total = 0
  for i = 0, 5 do total = total + ledger.seconds[i] end
  local out = {}
  for i = 0, 5 do
    if ledger.seconds[i] > 0 then out[evidence_names[i]] = ledger.seconds[i] / total end
  end
  return out
end
cost.shares = shares

--- Empties the ledger: the engine does it before each step.
function cost.reset()
  for i = 0, 5 do ledger.seconds[i] = 0 end
end

--- Spreads a step's time over what was recorded; time nobody recorded is assumed.
function cost.settle(time_s)
  local total = 0
  for i = 0, 5 do total = total + ledger.seconds[i] end
  if total > 0 then
    for i = 0, 5 do ledger.seconds[i] = ledger.seconds[i] * (time_s / total) end
  else
    ledger.seconds[5] = time_s
  end
end

--- The op corrections of the scenario, for everything priced from now on.
function cost.set_corrections(list)
  corrections, correction_count = {}, 0
  for _, instance in ipairs(list or {}) do
    if instance.op then
      correction_count = correction_count + 1
      corrections[correction_count] = instance
    end
  end
end

--- Runs a function and returns the tree of what it priced.
function cost.explain(call)
  if type(call) ~= "function" then fail("cost.explain: expected a function, found %s", core.describe(call)) end
  local outer_rows, mine = rows, {}
  local outer_listening = ledger.listening
  rows, ledger.listening = mine, 1
  local ok, time_s, added = pcall(isolate, call)
  rows, ledger.listening = outer_rows, outer_listening
  if not ok then error(time_s, 0) end
  local total, sum = 0, {}
  for i = 0, 5 do total = total + added[i] end
  for i = 0, 5 do
    if added[i] > 0 then sum[evidence_names[i]] = added[i] / total end
  end
  local plain, corrected = {}, {}
  for _, row in ipairs(mine) do
    local list = row.kind == "correction" and corrected or plain
    list[#list + 1] = row
  end
  if type(time_s) ~= "number" then time_s = total end
  return { time_s = time_s, rows = plain, evidence = sum, corrections = corrected }
end

return cost
