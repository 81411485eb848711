-- The account of a step: its seconds per kind of evidence, in memory of the engine (engine/cost/price/ledger.h). While
-- something listens (an explanation), each operation is also kept as a row. Corrections of the scenario are applied to
-- each operation. All that rooflua.cost records goes through ledger.keep.
local native = require "rooflua.native"
local answers = require "rooflua.border.answers"
local core = require "rooflua.base.core"
local estimates = require "rooflua.border.estimates"
local memo = require "rooflua.border.memo"
local words = require "rooflua.base.words"
local ffi = require("rooflua.border.abi").ffi

local fail, type = core.fail, type
local evidence_names = estimates.evidence_names
local infinity, nan, min, max = math.huge, 0 / 0, math.min, math.max

local state = ffi.cast("rooflua_ledger *", native.ledger)
local seconds = ffi.cast("double *", native.ledger) -- those of `state`, its first field

local ledger = { memoize = memo.memoize, memoize2 = memo.memoize2 }

local evidence_codes = words.codes "evidence" -- by name, and each code by itself
for code in pairs(words.by_code "evidence") do evidence_codes[code] = code end
ledger.codes = evidence_codes
local assumed = evidence_codes.assumed

--- The code of an evidence, given by its name, by the code itself, or by an estimate that has it.
function ledger.code(evidence, what)
  local code = evidence_codes[evidence]
  if code then return code end
  local data = estimates.view_data[evidence]
  if data then return data.evidence end
  if type(evidence) ~= "string" then
    fail("%s: evidence: expected a name, a code or an estimate, found %s", what, core.describe(evidence))
  end
  return fail("%s: %s", what, native.unknown_name("evidence", evidence, words.names "evidence"))
end

-- Recording ---------------------------------------------------------------------------------------

local rows                 -- list of rows while an explanation listens, else nil
local prefix = false       -- in front of the names of rows: "draft." while a drafter is priced
local corrections = {}     -- instances with an op method, in order
local correction_count, work_left = 0, 1
local asked_count = 0      -- of them; those that follow are the engine's, and what they add is assumed
local observed = false     -- whether there are rows or corrections
local every = setmetatable({}, { __index = function() return true end })
local reads_of = {}        -- kinds of operations whose shape or work a correction may read, or `every`
local applied              -- the scenario's list that `corrections` was made of
local lists = setmetatable({}, { __mode = "k" }) -- such a list -> {instances, number = its own one, asked}
local last_number = 0
local op_fields = { "bound", "bytes", "count", "evidence", "flop", "kind", "mfu", "name", "shape", "time_s" }
local known_field, is_work = core.set(op_fields), core.set { "bound", "bytes", "flop", "mfu", "shape" }
local op = setmetatable({}, {  -- the operation being corrected; one table for all, because some lack an mfu
  __index = function(own, key)
    if is_work[key] and not rawget(own, "shape") then
      fail("an op: %s: is not made for kind '%s', as the correction's reads_work says", key, own.kind)
    end
    if known_field[key] then return nil end
    fail("an op: %s", core.unknown_name("field", key, op_fields))
  end,
})
local seen_op = setmetatable({}, {  -- the read-only view of it that corrections get
  __index = op,
  __newindex = function(_, key)
    fail("an op is read-only (assigning '%s'); a correction returns the new seconds", tostring(key))
  end,
  __metatable = false,
})
core.contents[seen_op] = op -- for pairs

local function forget_work() op.shape, op.flop, op.bytes, op.bound, op.mfu = nil, nil, nil, nil, nil end

--- Applies the corrections in order. While an explanation listens, each change is a row of its own.
--- @return number time_s
--- @return number added_s part of it that corrections added which the engine brings
local function correct(name, kind, time_s, code, count, flop, bytes, value, bound, shape)
  op.name, op.kind, op.evidence, op.count = name, kind, evidence_names[code], count
  if reads_of[kind] then
    op.shape, op.flop, op.bytes, op.bound = shape or "", flop, bytes, bound
    op.mfu = value == value and value or nil
  elseif rawget(op, "shape") then
    forget_work()
  end
  local added_s, work = 0, 1
  for i = 1, correction_count do
    local before_s, asked = time_s, i <= asked_count
    op.time_s = before_s
    time_s = corrections[i]:op(seen_op, before_s)
    if type(time_s) ~= "number" or not (time_s >= 0 and time_s < infinity) then
      answers.wrong("correction", corrections[i], "op", "op(op, time_s) returned %s for %s; expected seconds",
        core.describe(time_s), tostring(name))
    end
    if rows and time_s ~= before_s then
      rows[#rows + 1] = { name = corrections[i].name, kind = "correction", of = name,
        time_s = time_s - before_s, count = count, flop = 0, bytes = 0, evidence = asked and op.evidence or "assumed",
        bound = bound, shape = "" }
    end
    if not asked then added_s = added_s + max(0, time_s - before_s) end
    if corrections[i].changes_work and time_s < before_s then work = work * time_s / before_s end
  end
  if kind ~= "floor" then work_left = work end
  return time_s, min(added_s, time_s)
end

--- The row of an operation that was entered last; nil where there is none.
local function last_operation(name)
  for i = #rows, 1, -1 do
    local row = rows[i]
    if row.kind ~= "correction" and row.kind ~= "floor" and (name == nil or row.name == name) then return row end
  end
end

--- A lower bound makes an operation longer: the operation reaches less of the peak.
local function lengthen(name, floor_s)
  local row = last_operation(name)
  if row and row.mfu and row.time_s > 0 then row.mfu = row.mfu * row.time_s / (row.time_s + floor_s) end
end

--- The part of the last operation's work that corrections leave which say `changes_work`: lower bounds are multiplied.
function ledger.work_left() return correction_count > 0 and work_left or 1 end

--- What rows and corrections make of one operation.
--- @return number time_s of one run, corrected
--- @return number added_s part of it that is assumed, whatever the evidence of the operation is
local function observe(name, kind, time_s, code, count, flop, bytes, value, bound, shape, note)
  if prefix then name = prefix .. (name or kind) end
  if rows then
    local part = value == value and value or nil
    if kind == "floor" then lengthen(name, time_s) end
    rows[#rows + 1] = { name = name or kind, kind = kind, shape = shape or "", flop = flop, bytes = bytes, mfu = part,
      at_peak_s = part and part < infinity and part * time_s or nil, bound = bound, evidence = evidence_names[code],
      note = note or "", time_s = time_s, count = count }
  end
  if correction_count == 0 then return time_s, 0 end
  return correct(name or kind, kind, time_s, code, count, flop, bytes, value, bound, shape)
end

--- The same, entered in the account. Returns the seconds of all runs.
local function enter_observed(name, kind, time_s, code, count, ...)
  local corrected_s, added_s = observe(name, kind, time_s, code, count, ...)
  seconds[code] = seconds[code] + (corrected_s - added_s) * count
  if added_s > 0 then seconds[assumed] = seconds[assumed] + added_s * count end
  return corrected_s * count
end

--- "m=64 as m=96 k=4096": a field of a shape whose price asked for more than there is.
local function shape_of(shape, field, there, asked)
  local from = (" " .. shape .. " "):find((" %s=%.14g "):format(field, asked), 1, true)
  if not from then return shape end
  return ("%s%s=%.4g as %s"):format(shape:sub(1, from - 1), field, there, shape:sub(from))
end

--- The work of the operation that was entered last: that of the rows that there are, where its price asked for others.
--- Only the row of an explanation changes. Times, and what corrections see, are those of the price. What the price
--- asked for stays in row.priced.
--- @param work table {flop, bytes: of one run; field, there, asked: the field of the shape that differs; or shape;
--- at_peak_s: seconds of its arithmetic at the peak}; each is optional
function ledger.counted(work)
  local row = rows and last_operation()
  if not row then return end
  row.priced = { flop = row.flop, bytes = row.bytes, mfu = row.mfu, shape = row.shape }
  local flop = work.flop or row.flop
  if flop ~= row.flop then
    local part = row.flop > 0 and flop / row.flop or 0
    row.flop, row.mfu = flop, row.mfu and row.mfu * part
    row.at_peak_s = row.at_peak_s and row.at_peak_s * part
  end
  row.bytes, row.at_peak_s, row.shape = work.bytes or row.bytes, work.at_peak_s or row.at_peak_s,
    work.shape or row.shape
  if work.asked and work.asked ~= work.there then
    row.shape = shape_of(row.shape, work.field, work.there, work.asked)
  end
end

--- Enters one operation: its row, its corrections, its seconds.
--- @return number time_s of all `count` runs, corrected
--- @return string bound
function ledger.keep(name, kind, time_s, code, count, flop, bytes, value, bound, shape, note)
  if observed then
    return enter_observed(name, kind, time_s, code, count, flop, bytes, value, bound, shape, note), bound
  end
  local total_s = time_s * count
  seconds[code] = seconds[code] + total_s
  return total_s, bound
end

--- The same of an operation that a script composed itself: cost.record.
function ledger.record(name, time_s, evidence, given_count, flop, bytes, value, bound, note, kind, shape)
  local count = given_count or 1
  local good = type(time_s) == "number" and time_s >= 0 and time_s < infinity and type(name) == "string"
  good = good and type(count) == "number" and count >= 0 and count < infinity
  flop, bytes = flop or 0, bytes or 0
  good = good and type(flop) == "number" and flop >= 0 and flop < infinity
  good = good and type(bytes) == "number" and bytes >= 0 and bytes < infinity
  good = good and (bound == nil or type(bound) == "string")
  if not good then answers.wrong_record(name, time_s, count, flop, bytes, bound) end
  local code = type(evidence) == "number" and evidence >= 0 and evidence < 6 and evidence % 1 == 0 and evidence
    or evidence_codes[evidence] or ledger.code(evidence, "cost.record")
  if observed then
    return enter_observed(name, kind or name, time_s, code, count, flop, bytes, value or nan, bound, shape, note)
  end
  seconds[code] = seconds[code] + time_s * count
  return time_s * count
end

--- Rows or corrections have come or gone.
local function look()
  observed, reads_of = rows ~= nil or correction_count > 0, {}
  for i = 1, correction_count do
    local read = corrections[i].reads_work
    if read == nil or read == true then reads_of = every end
    for _, kind in ipairs(reads_of ~= every and read or {}) do reads_of[kind] = true end
  end
  forget_work()
  state.corrected = correction_count > 0 and lists[applied].number or 0
  state.listening = rows and 1 or 0
end

local seconds_of = ffi.typeof "double[6]"

--- Runs `call` with an empty account. Returns its time and the seconds per evidence that it added. If `keep` is true,
--- the account then holds these in addition to what it held before.
local function isolate(call, keep)
  local saved = seconds_of()
  for i = 0, 5 do
    saved[i] = state.seconds[i]
    state.seconds[i] = 0
  end
  local ok, time_s = pcall(call)
  local added = seconds_of()
  for i = 0, 5 do
    added[i] = state.seconds[i]
    state.seconds[i] = saved[i] + (ok and keep and added[i] or 0)
  end
  if not ok then error(time_s, 0) end
  return time_s, added
end

-- Explaining -------------------------------------------------------------------------------------------------

--- Shares of the ledger's seconds per evidence; they sum to 1.
function ledger.shares()
  local total = 0
  for i = 0, 5 do total = total + state.seconds[i] end
  local out = {}
  for i = 0, 5 do
    if state.seconds[i] > 0 then out[evidence_names[i]] = state.seconds[i] / total end
  end
  return out
end

--- Empties the account; the engine does so before each step.
function ledger.reset()
  for i = 0, 5 do state.seconds[i] = 0 end
end

--- Makes the account sum to the time of the step. Time that nothing was recorded for is assumed. Where more was
--- recorded, because work overlaps, every evidence gets less of it.
function ledger.settle(time_s)
  local total = 0
  for i = 0, 5 do total = total + state.seconds[i] end
  if total > time_s then
    for i = 0, 5 do state.seconds[i] = state.seconds[i] * (time_s / total) end
  else
    state.seconds[5] = state.seconds[5] + (time_s - total)
  end
end

--- Those of a list that have an op method. Replicas that have lists of their own take turns.
local function known(list)
  local own = lists[list]
  if own then return own end
  last_number = last_number + 1
  own = { instances = {}, asked = 0, number = last_number } -- the number is what remembered prices belong to
  local asked = #list - (list.unasked or 0)
  for i, instance in ipairs(list) do
    if instance.op then
      own.instances[#own.instances + 1] = instance
      if i <= asked then own.asked = #own.instances end
    end
  end
  lists[list] = own
  return own
end

local none = {}

--- Sets the corrections that apply to every operation from now on: those of `list` that have an op method.
--- @param list table? instances; `unasked`: how many of the last ones an engine's rule brings (none)
function ledger.set_corrections(list)
  local own = known(list or none)
  corrections, correction_count, asked_count, applied = own.instances, #own.instances, own.asked, list
  look()
end

--- The same, at no cost where `list` is set already. Every step of a live run calls this, because another scenario
--- may have been priced in between.
function ledger.apply(list)
  prefix = false
  if list ~= applied then ledger.set_corrections(list) end
end

--- Runs a function with these corrections in force, and after it, also after an error, with those that were before.
--- @return ... what the function returns
function ledger.with_corrections(list, call, ...)
  local before, named = applied, prefix
  ledger.set_corrections(list)
  local function back(ok, first, ...)
    ledger.set_corrections(before)
    prefix = named
    if not ok then error(first, 0) end
    return first, ...
  end
  return back(pcall(call, ...))
end

--- Puts a text in front of the names of all operations that are entered from now on; false ends it.
function ledger.name_with(text) prefix = text end

--- Takes the rows, the corrections and the corrected operation away, for a simulation inside this one. Its account is
--- empty already.
function ledger.set_aside()
  local kept = { rows = rows, corrections = corrections, count = correction_count, asked = asked_count,
    applied = applied, prefix = prefix, op = {} }
  for _, name in ipairs(op_fields) do kept.op[name] = rawget(op, name) end
  rows, prefix = nil, false
  ledger.set_corrections {}
  return kept
end

--- Puts back what set_aside gave.
function ledger.restore(kept)
  rows, corrections, correction_count, applied = kept.rows, kept.corrections, kept.count, kept.applied
  asked_count, prefix = kept.asked, kept.prefix
  look()
  for _, name in ipairs(op_fields) do op[name] = kept.op[name] end
end

--- Ends listening, after an interrupt in the middle of an explanation.
function ledger.silence()
  rows = nil
  look()
end

local rounding = 1e-9 -- of the time of a step

--- What a step takes beyond the operations that were recorded, which nothing is known of; or, below 0, what they take
--- less because they overlap.
function ledger.rest_row(rest_s)
  local missing = rest_s > 0
  return { name = missing and "not_itemised" or "overlap", kind = missing and "step" or "correction", shape = "",
    flop = 0, bytes = 0, bound = "", evidence = "assumed", time_s = rest_s, count = 1,
    note = missing and "the step model returns more than it records" or "the step model returns less than it records" }
end

local function explained(call, keep)
  local outer_rows, mine = rows, {}
  rows = mine
  look()
  local ok, time_s, added = pcall(isolate, call, keep)
  rows = outer_rows
  look()
  if not ok then error(time_s, 0) end
  local total, sum = 0, {}
  for i = 0, 5 do total = total + added[i] end
  if type(time_s) ~= "number" then time_s = total end
  local rest_s = time_s - total
  if math.abs(rest_s) > rounding * math.abs(time_s) then
    mine[#mine + 1] = ledger.rest_row(rest_s)
    if rest_s > 0 then total, added[5] = time_s, added[5] + rest_s end
    if keep and rest_s > 0 then state.seconds[5] = state.seconds[5] + rest_s end
  end
  for i = 0, 5 do
    if added[i] > 0 then sum[evidence_names[i]] = added[i] / total end
  end
  local plain, corrected = {}, {}
  for _, row in ipairs(mine) do
    local list = row.kind == "correction" and row.of and corrected or plain
    list[#list + 1] = row
  end
  return { time_s = time_s, rows = plain, evidence = sum, corrections = corrected }
end

--- Runs a function that prices, and returns {time_s, rows, evidence, corrections} of all that it priced. What is
--- explained is not charged: the account around it stays as it is.
function ledger.explain(call)
  if type(call) ~= "function" then fail("cost.explain: expected a function, found %s", core.describe(call)) end
  return explained(call, false)
end

--- The same for the step that the engine prices: the account holds what was priced.
function ledger.explain_step(call) return explained(call, true) end

--- True during an explanation: only then are the notes of rows needed.
function ledger.listening() return rows ~= nil end

--- Whether the shapes of operations of a kind and their work are read: by an explanation, or by a correction.
function ledger.shapes_wanted(kind) return rows ~= nil or reads_of[kind or ""] == true end

return ledger
