-- The batch that a step model prices: the prefills and decodes of one step. Its numbers are in memory of the engine,
-- or of the library if the batch was made in Lua. A handle carries an epoch, so a batch that is used after its step is
-- an error. Positions are checked, and all views are read-only.
local core = require "rooflua.base.core"
local native = require "rooflua.native"
local border = require "rooflua.border.abi"
local constants = require "rooflua.border.constants"
local reader = require "rooflua.border.batch_reader"

local ffi = border.ffi
local B = border.table_at("rooflua_serve_table", native.serve_table()).border

local fail, type, min, infinity = core.fail, type, math.min, math.huge

ffi.cdef [[
typedef struct { const int32_t slot, epoch; } rooflua_batch_handle;
typedef struct { int32_t slot, epoch; } rooflua_batch_place;
typedef struct { const int32_t slot, epoch; } rooflua_prefills_handle;
typedef struct { const int32_t slot, epoch, position; } rooflua_prefill_handle;
typedef struct { const int32_t slot, epoch; } rooflua_contexts_handle;
typedef struct { const int32_t slot, epoch; } rooflua_widths_handle;
]]

local live_slot = 1

-- One entry per batch: slot 1 is the engine's, whose epoch is in the border, so that the engine ends it. Batches made
-- in Lua have the others and stay until the VM is closed.
local datas, epochs = {}, {}
local last = ffi.new "int32_t[1]" -- the epoch that the engine's was given last
-- The epoch of the batch that is priced, as a signed number: compiled code would compare others as doubles.
local live = ffi.cast("int32_t *", ffi.cast("char *", B) + ffi.offsetof("rooflua_serve_border", "batch_live"))
-- slot -> {contexts = function() -> int32 pointer or nil, widths = the same, max = function, keep = anchors; pointer,
-- epoch, row_widths, width_epoch: what they returned in that epoch. Each walks all running requests: once per step.}
local details = { {} }
local function stale() fail "this batch was used after its step" end

-- In compiled code every line has an interrupt guard, and so has the way into a function and out of it. Steps read
-- their batch many times, so what they read is in few lines, and the batch of the engine is read without a call.
local function data_of(h)
  if h.slot == live_slot then return live[0] == h.epoch and B.batch or stale() end
  return epochs[h.slot] == h.epoch and datas[h.slot] or stale()
end

local function read_only(_, key) fail("a batch is read-only (assigning '%s')", tostring(key)) end

local prefill_numbers = constants.of { new_tokens = true, context_tokens = true, completes = false,
  left_tokens = true }

local function other_of_prefill(handle, key)
  local row = data_of(handle).prefills[handle.position]
  if prefill_numbers[key] then return row[key] end
  if key == "completes" then return row.completes ~= 0 end
  return fail("a prefill: %s", core.unknown_name("field", key, { "completes",
    "context_tokens", "left_tokens", "new_tokens" }))
end

local Prefill = ffi.metatype("rooflua_prefill_handle", {
  __index = function(h, key)
    local is_live = h.slot == live_slot and live[0] == h.epoch
    if is_live and prefill_numbers[key] then return B.batch.prefills[h.position][key] end
    return (other_of_prefill(h, key))
  end,
  __newindex = read_only,
  __metatable = false,
})

local function next_element(list, i)
  if i < #list then return i + 1, list[i + 1] end
end
local function each(list) return next_element, list, 0 end

local Prefills = ffi.metatype("rooflua_prefills_handle", {
  __ipairs = each,
  __len = function(h)
    return (h.slot == live_slot and live[0] == h.epoch and B.batch or data_of(h)).prefill_count
  end,
  __index = function(h, i) if type(i) ~= "number" or not (i >= 1 and i <= data_of(h).prefill_count) then return nil end
    return (Prefill(h.slot, h.epoch, i - 1)) -- not a tail call: a tail call into FFI ends a trace
  end,
  __newindex = read_only,
  __metatable = false,
})

local function context_at(handle, i)
  local data = data_of(handle)
  if type(i) ~= "number" or not (i >= 1 and i <= data.decodes) then return nil end
  local contexts = data.contexts
  if contexts ~= nil then return contexts[i - 1] end
  local detail = details[handle.slot]
  if detail.contexts then
    if detail.epoch ~= handle.epoch then detail.epoch, detail.pointer = handle.epoch, detail.contexts() end
    return detail.pointer[i - 1]
  end
  return data.decode_context_tokens / data.decodes -- only the sum is known
end

local Contexts = ffi.metatype("rooflua_contexts_handle", {
  __ipairs = each,
  __len = function(handle) return data_of(handle).decodes end,
  __index = context_at,
  __newindex = read_only,
  __metatable = false,
})

--- Tokens of row i: 1 and its drafts. Their mean where only the sum is known.
local function width_at(handle, i)
  local data = data_of(handle)
  if type(i) ~= "number" or not (i >= 1 and i <= data.decodes) then return nil end
  if data.decode_tokens == data.decodes then return 1 end
  if data.widths ~= nil then return data.widths[i - 1] end
  local detail = details[handle.slot]
  if detail.widths then
    if detail.width_epoch ~= handle.epoch then detail.width_epoch, detail.row_widths = handle.epoch, detail.widths() end
    return detail.row_widths[i - 1]
  end
  return data.decode_tokens / data.decodes
end

local Widths = ffi.metatype("rooflua_widths_handle", {
  __ipairs = each,
  __len = function(handle) return data_of(handle).decodes end,
  __index = width_at,
  __newindex = read_only,
  __metatable = false,
})

-- Parts of contexts. The replica keeps the sums of its bounds at O(1); every other bound is summed here, context by
-- context. The mean of all stands for each context where a batch was made from their sum.

local function check_bound(tokens, what)
  if type(tokens) ~= "number" or not (tokens >= 1 and tokens < infinity) then
    fail("a batch: %s: expected a finite number of tokens >= 1, found %s", what, core.describe(tokens))
  end
end

local function only_sum_known(handle, data) return data.contexts == nil and not details[handle.slot].contexts end

local function capped(handle, data, cap)
  local sum, n = 0, data.decodes
  if n == 0 then return 0, true end
  if only_sum_known(handle, data) then return n * min(data.decode_context_tokens / n + 1, cap), false end
  for i = 1, n do sum = sum + min(context_at(handle, i) + 1, cap) end
  return sum, true
end

local Batch

--- The data of the batch that a method was called with.
local function own_data(handle, name)
  if not ffi.istype(Batch, handle) then fail("a batch: %s: call it as batch:%s(tokens)", name, name) end
  return data_of(handle)
end

local function bounded_tokens(handle, cap)
  local data = own_data(handle, "bounded_tokens")
  local bounds = data.bounds
  check_bound(cap, "bounded_tokens")
  if bounds ~= nil then
    local caps = bounds.caps
    if caps[0] == cap then return data.bounded_tokens[0], true end
    if caps[1] == cap then return data.bounded_tokens[1], true end
    if caps[2] == cap then return data.bounded_tokens[2], true end
    if caps[3] == cap then return data.bounded_tokens[3], true end
  end
  return capped(handle, data, cap)
end

local function chunked(handle, data, chunk)
  local sum, n = 0, data.decodes
  if n == 0 then return 0, true end
  if only_sum_known(handle, data) then return n * (data.decode_context_tokens / n % chunk + 1), false end
  for i = 1, n do sum = sum + context_at(handle, i) % chunk + 1 end
  return sum, true
end

local function chunk_tokens(handle, chunk)
  local data = own_data(handle, "chunk_tokens")
  local bounds = data.bounds
  check_bound(chunk, "chunk_tokens")
  if bounds ~= nil and bounds.chunk == chunk then return data.chunk_tokens, true end
  return chunked(handle, data, chunk)
end

local known = { "adapter_held", "adapter_load_s", "adapter_loads", "adapter_tokens", "adapters", "bounded_tokens",
  "chunk_tokens", "decode_context_max", "decode_context_tokens", "decode_contexts", "decode_pairs", "decode_tokens",
  "decode_widths", "decodes", "draft_passes", "draft_rows", "draft_tokens", "expert_load", "expert_moved_bytes",
  "expert_rebalanced", "expert_stall_s", "group_max_tokens", "group_prefills", "group_ranks", "group_tokens",
  "prefills", "requests", "sampled", "tokens" }

-- Whether a field is read in place: all are but views and methods.
local read_in_place = core.set(known)
for _, name in ipairs { "bounded_tokens", "chunk_tokens", "decode_context_max", "decode_contexts", "decode_widths",
  "prefills" } do
  read_in_place[name] = false
end
local numbers = constants.of(read_in_place)

local function other_of_batch(handle, key)
  local data = data_of(handle)
  if numbers[key] then return data[key] end
  if key == "prefills" then return (Prefills(handle.slot, handle.epoch)) end
  if key == "decode_contexts" then return (Contexts(handle.slot, handle.epoch)) end
  if key == "decode_widths" then return (Widths(handle.slot, handle.epoch)) end
  if key == "decode_context_max" then return (details[handle.slot].max()) end
  if key == "bounded_tokens" then return bounded_tokens end
  if key == "chunk_tokens" then return chunk_tokens end
  return fail("a batch: %s", core.unknown_name("field", key, known))
end

Batch = ffi.metatype("rooflua_batch_handle", {
  __index = function(h, key)
    if h.slot == live_slot and live[0] == h.epoch and numbers[key] then return B.batch[key] end
    return (other_of_batch(h, key))
  end,
  __newindex = read_only,
  __tostring = function(handle)
    local data = data_of(handle)
    return string.format("batch of %d prefills and %d decodes", data.prefill_count, data.decodes)
  end,
  __metatable = false,
})

local batch = {}

--- Sets the functions that collect contexts of single requests of the batch that the engine prices.
---@param context_max function
---@param contexts function returns a pointer to one int32 per decode
---@param widths function the same for the tokens of rows
function batch.attach(context_max, contexts, widths)
  details[live_slot] = { max = context_max, contexts = contexts, widths = widths }
end

--- The epoch of the next step that the engine prices; the engine ends it (rooflua_serve_border.batch_live).
local function next_epoch()
  local epoch = last[0] < 2147483647 and last[0] + 1 or 1 -- 0: the engine prices none
  last[0], live[0] = epoch, epoch
  return epoch
end

--- A handle for the step that the engine prices.
function batch.live() return (Batch(live_slot, next_epoch())) end

local lasting = Batch(live_slot, 0)
local place_of_lasting = ffi.cast("rooflua_batch_place *", lasting)

--- The same for a step model that keeps no batch: one handle for all steps, so that none has to be made.
function batch.lasting()
  place_of_lasting.epoch = next_epoch()
  return lasting
end

--- A batch as the engine would give it, for tests and for kind = "price".
--- {prefills = {{new_tokens=, context_tokens=}, ...}, decode_contexts = {c1, c2, ...}} or, instead of
--- the contexts, decodes = n and decode_context_tokens = sum. group = {ranks=, tokens=, max_tokens=, prefills=} says
--- what the ranks that step together have, this one included. Rows of several tokens: decode_tokens = their sum, or
--- decode_widths = {w1, w2, ...}; draft_rows, draft_tokens, draft_passes are those of the next step. adapters: how many
--- different ones; adapter_tokens: of requests with one, default all.
function batch.new(given)
  local data, largest, keep = reader.read(given)
  local slot = #details + 1
  datas[slot], epochs[slot] = ffi.cast("const rooflua_batch *", data), 1
  details[slot] = { max = function() return largest end, keep = keep }
  return Batch(slot, 1)
end

--- Of a batch in memory that is written again and again: a function that returns a handle for what lies at an address
--- now. A handle ends with the next call.
---@param context_max function returns the largest context of its decodes
function batch.rewritten(context_max)
  local slot = #details + 1
  epochs[slot], details[slot] = 0, { max = context_max }
  return function(address)
    datas[slot], epochs[slot] = ffi.cast("const rooflua_batch *", address), epochs[slot] + 1
    return Batch(slot, epochs[slot])
  end
end

--- True if `value` is a batch.
function batch.is(value) return ffi.istype(Batch, value) end

return batch
