-- What work costs. Every primitive prices one run of an operation on one rank, goes through record,
-- and returns (time_s * count, bound). The ledger holds seconds per evidence; inside cost.explain
-- every record becomes a row, too.
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local spec = require "rooflua.spec"
local specs = require "rooflua.border.specs"
local mfu = require "rooflua.mfu"
local policy = require "rooflua.policy"
local answers = require "rooflua.border.answers"
local batch = require "rooflua.border.batch"
local ledger = require "rooflua.border.ledger"
local octave_grid = require "rooflua.border.octave_grid"
local border = require "rooflua.border.abi"

local ffi, abi = border.ffi, border.functions
local context = abi.context
local fail, type, ask = core.fail, type, mfu.ask
local evidence_names = mfu.evidence_names
local bounds = require("rooflua.base.words").by_code "bound"
local nan = 0 / 0
local infinity = math.huge

local estimate = ffi.new "rooflua_estimate"

local keep, listening, shapes_wanted = ledger.keep, ledger.listening, ledger.shapes_wanted

local cost = {
  batch = batch.new, memoize = ledger.memoize, memoize2 = ledger.memoize2, explain = ledger.explain,
  octaves = octave_grid.points, octave_grid = octave_grid.new,
  listening = listening, shapes_wanted = shapes_wanted,
  shares = ledger.shares, reset = ledger.reset, settle = ledger.settle,
  set_corrections = ledger.set_corrections, counted = ledger.counted, work_left = ledger.work_left,
}

local function check_count(count, what)
  if type(count) ~= "number" or not (count >= 0 and count < infinity) then
    fail("%s: count: expected a number >= 0, found %s", what, core.describe(count))
  end
end

--- The names of evidence, from good to bad.
function cost.evidence_names() return require("rooflua.base.words").names "evidence" end

--- The number of each evidence, by its name: for run:add.
function cost.evidence_codes()
  local out = {}
  for _, name in ipairs(cost.evidence_names()) do out[name] = ledger.code(name, "cost.evidence_codes") end
  return out
end

--- Calls fn(...) and returns its results. A trace of the compiler ends here and a new one begins after it, so that
--- code that runs once, such as the miss of a memo, does not become part of code that runs often.
cost.apart = native.call_apart

--- An operation that a step model composed itself: enters the ledger like a primitive.
cost.record = ledger.record

--- The worst of several evidences.
function cost.mixed(...)
  local worst = 0
  for i = 1, select("#", ...) do
    local code = ledger.code((select(i, ...)), "cost.mixed")
    if code > worst then worst = code end
  end
  return evidence_names[worst]
end

--- The groups that a bucketing policy makes of the prefills of a step, checked: no request and no token is lost.
function cost.groups(bucketing, prefills)
  local groups = type(bucketing) == "table" and bucketing.groups
  if type(groups) ~= "function" then
    if policy.is_instance(bucketing) then fail("bucketing %s has no groups method", bucketing.name) end
    fail("cost.groups: expected a policy of bucketing, found %s", core.describe(bucketing))
  end
  return (answers.groups(bucketing, groups(bucketing, prefills), prefills))
end

-- Primitives ----------------------------------------------------------------------------------------

--- time = max(flop / (peak mfu), bytes / bandwidth). Pure arithmetic; records nothing.
function cost.roofline(flop, bytes, peak_flop_per_s, value, bytes_per_s)
  if type(flop) ~= "number" or not (flop >= 0 and flop < infinity) then
    core.not_negative(flop, "cost.roofline: flop")
  end
  if type(bytes) ~= "number" or not (bytes >= 0 and bytes < infinity) then
    core.not_negative(bytes, "cost.roofline: bytes")
  end
  if type(peak_flop_per_s) ~= "number" or not (peak_flop_per_s > 0 and
    peak_flop_per_s < infinity) then
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

--- What an estimate just written to `estimate` costs.
local function price(database, name, kind, count, shape, launch_s)
  local e = estimate
  local note
  if listening() then note = native.describe_last(database) end
  local time_s = e.latency_s
  local value = e.mfu
  if launch_s then
    time_s = time_s > launch_s and time_s - launch_s or 0
    if listening() then
      note = "in the same call; " .. note
      value = time_s > 0 and value * e.latency_s / time_s or nan
    end
  end
  local seconds, bound = keep(name, kind, time_s, e.evidence, count, e.flop, e.bytes, value, bounds[e.bound],
    shape, note)
  return seconds, bound
end

--- [m,k] x [k,n], the shape of one rank.
function cost.gemm(db, m, k, n, dtype, count, name)
  count = count or 1
  check_count(count, "cost.gemm")
  ask.gemm(db, m, k, n, dtype, estimate, "cost.gemm")
  local seconds, bound = price(db, name, "gemm", count,
    shapes_wanted() and string.format("m=%.14g k=%.14g n=%.14g %s", m, k, n, dtype or "bf16"))
  return seconds, bound
end

local function check_shape(shape, what)
  if type(shape) ~= "table" then
    fail("%s: shape: expected {heads, kv_heads, head_dim, tp, kv_dtype}, found %s", what,
      core.describe(shape))
  end
end

--- A chunk of new_tokens after context_tokens, of one request.
--- @param launch_s number|nil of a chunk that joins a call which runs anyway: the time that call pays already
function cost.attention_prefill(db, shape, new_tokens, context_tokens, count, name, launch_s)
  if launch_s then core.not_negative(launch_s, "cost.attention_prefill: launch_s") end
  count = count or 1
  check_count(count, "cost.attention_prefill")
  check_shape(shape, "cost.attention_prefill")
  ask.prefill(db, shape.heads, shape.kv_heads, shape.head_dim, new_tokens, context_tokens,
    shape.tp or 1,
    shape.kv_dtype, estimate, "cost.attention_prefill")
  local seconds, bound = price(db, name, "attention_prefill", count,
    shapes_wanted() and string.format("new=%.14g context=%.14g heads=%d/%d tp=%d", new_tokens, context_tokens,
      shape.heads, shape.kv_heads, shape.tp or 1),
    launch_s)
  return seconds, bound
end

--- One token for each of `batch` requests; contexts as a sum, because KV bytes decide.
function cost.attention_decode(db, shape, batch_size, context_tokens_sum, context_tokens_max,
  count, name)
  count = count or 1
  check_count(count, "cost.attention_decode")
  check_shape(shape, "cost.attention_decode")
  if type(batch_size) ~= "number" or not (batch_size > 0) then
    core.positive(batch_size, "cost.attention_decode: batch")
  end
  if type(context_tokens_sum) ~= "number" then
    core.number(context_tokens_sum, "cost.attention_decode: context_tokens_sum")
  end
  ask.decode(db, shape.heads, shape.kv_heads, shape.head_dim, batch_size,
    context_tokens_sum / batch_size,
    shape.tp or 1, shape.kv_dtype, estimate, "cost.attention_decode")
  local seconds, bound = price(db, name, "attention_decode", count,
    shapes_wanted() and string.format("batch=%.14g context=%.14g heads=%d/%d tp=%d", batch_size,
      context_tokens_sum / batch_size,
      shape.heads, shape.kv_heads, shape.tp or 1))
  return seconds, bound
end

--- Any op of db:lookup, priced: grouped GEMM, MLA, linear attention, elementwise.
function cost.lookup(db, query, count, name)
  count = count or 1
  check_count(count, "cost.lookup")
  ask.lookup(db, query, estimate, "cost.lookup")
  local seconds, bound = price(db, name, query.op, count, shapes_wanted() and cost.query_text(query))
  return seconds, bound
end

function cost.query_text(query)
  core.table(query, "cost.query_text")
  local parts = {}
  for _, key in ipairs(core.sorted_keys(query)) do
    if key ~= "op" then parts[#parts + 1] = tostring(key) .. "=" .. tostring(query[key]) end
  end
  return core.join(parts, " ")
end

local function collective(kind_code, kind, target, bytes, ranks, count, name)
  local what = "cost." .. kind
  count = count or 1
  check_count(count, what)
  if type(bytes) ~= "number" then core.number(bytes, what .. ": bytes") end
  if type(ranks) ~= "number" then core.number(ranks, what .. ": ranks") end
  local shape = shapes_wanted(kind) and string.format("bytes=%.14g ranks=%d", bytes, ranks)
  local status
  if kind_code == 0 and mfu.is_database(target) then
    status = abi.all_reduce(context, target, bytes, ranks, 0, estimate)
    if status == 0 then return price(target, name, kind, count, shape) end
  else
    local hardware = mfu.is_database(target) and target.hardware or target
    if not specs.is(hardware, "Hardware") then
      fail("%s: expected a Database or Hardware, found %s", what, core.describe(target))
    end
    status = abi.collective(context, hardware, bytes, ranks, kind_code, estimate)
    if status == 0 then
      local seconds, bound = keep(name, kind, estimate.latency_s, estimate.evidence, count, 0, bytes, nan, "link",
        shape, "two lines over the link bandwidth")
      return seconds, bound
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
  if type(bytes) ~= "number" or not (bytes >= 0 and bytes < infinity) then
    core.not_negative(bytes, "cost.memory: bytes")
  end
  local own = core.object_fields[hardware]
  if own == nil or own.memory_bytes_per_s == nil then
    fail("cost.memory: hardware: expected Hardware, found %s", core.describe(hardware))
  end
  local seconds, bound = keep(name, "memory", bytes / own.memory_bytes_per_s, 4, count, 0, bytes, nan, "memory",
    shapes_wanted() and string.format("bytes=%.14g", bytes), "bytes over bandwidth")
  return seconds, bound
end

-- Formulas: cost.flop.*, cost.bytes.* -------------------------------------------------------------------

local groups = { flop = {}, bytes = {} }
for _, formula in ipairs(native.formulas()) do
  groups[formula.group][formula.name] = formula.call
end
cost.flop = core.readonly(groups.flop, "cost.flop", true)
cost.bytes = core.readonly(groups.bytes, "cost.bytes", true)

--- The operations of one forward pass on one rank, in order.
function cost.layers(model, deployment)
  return native.layers(spec.model(model), spec.deployment(deployment))
end

--- The numbers of an operation's shape by name: {m = 64, k = 4096, n = 6144} of "m=64 as m=80 k=4096 n=6144 bf16".
--- Of "heads=32/8" it is the first number.
function cost.shape_fields(shape)
  local out = {}
  for name, number in core.text(shape, "cost.shape_fields"):gmatch "([%a_][%w_]*)=(%-?[%d%.]+)" do
    if out[name] == nil then out[name] = tonumber(number) end
  end
  return out
end

return cost
