--- What a policy sees of a running simulation: the replica, its requests, the plan, the batch. The views read the
--- engine's memory. A handle carries an epoch and a position is checked, so a view that is used after the call that it
--- was given to is an error.
--
-- Results in parentheses are not tail calls. Compiled-code idiom: docs/LUA_API.md, "Hot paths".
local answers = require "rooflua.border.answers"
local border = require "rooflua.border.abi"
local constants = require "rooflua.border.constants"
local native = require "rooflua.native"
local core = require "rooflua.base.core"
local group_fields = require "rooflua.border.group_fields"
local request_fields = require "rooflua.border.request_fields"

local ffi, type = border.ffi, type
local istype = ffi.istype

ffi.cdef [[
typedef struct { const int32_t slot; const uint32_t epoch; } rooflua_request_handle;
typedef struct { const int32_t kind; } rooflua_request_list;
typedef struct { const int32_t position; } rooflua_replica_signals_handle;
typedef struct { const int32_t only; } rooflua_replica_handle;
typedef struct { const int32_t only; } rooflua_plan_handle;
typedef struct { const int32_t only; } rooflua_candidates_handle;
]]

local C = border.table_at("rooflua_serve_table", native.serve_table())
local B = C.border

--- Errors point at the policy's line.
local function fail(message)
  native.fail(message)
end

--- The error of an assignment to a view.
local function read_only(what, instead)
  return function(_, key) fail(("%s read-only (assigning '%s')%s"):format(what, tostring(key), instead or "")) end
end
local act = "; act through the plan"

local function unknown(kind, key, known, methods)
  fail(core.unknown_name("field of " .. kind, key, core.sorted_keys(core.copy(known, methods))))
end

-- Requests ---------------------------------------------------------------------------------------

local Handle = ffi.typeof "rooflua_request_handle"

local function lost(handle)
  if B.live == 0 or handle.slot >= B.slots then
    fail("a request was used after the call that it was given to")
  end
  fail("this request is done and gone")
end

-- In compiled code every line has an interrupt guard, and so has the way into a function and out of it. What policies
-- read and call many times in a plan is in few lines.
local function request_at(h)
  if B.live ~= 0 and h.slot < B.slots and B.requests[h.slot].epoch == h.epoch then return B.requests + h.slot end
  return lost(h)
end

local field_of_request = constants.of(request_fields)

ffi.metatype(Handle, {
  __index = function(handle, key)
    local h, field = handle, field_of_request[key] or unknown("a request", key, request_fields)
    local live = B.live ~= 0 and h.slot < B.slots and B.requests[h.slot].epoch == h.epoch
    if field == true then return (live and B.requests + h.slot or lost(h))[key] end
    return (field(live and B.requests + h.slot or lost(h), h))
  end,
  __newindex = read_only("a request is", act),
  __eq = function(a, b)
    if not (istype(Handle, a) and istype(Handle, b)) then return false end
    return a.slot == b.slot and a.epoch == b.epoch
  end,
  __tostring = function(handle) return "request " .. request_at(handle).id end,
  __metatable = false,
})

local function handle_of(slot)
  return (Handle(slot, B.requests[slot].epoch))
end

local function slot_of(request, verb, owner)
  if not istype(Handle, request) then
    fail((owner or "plan:") .. verb .. ": expected a request, found " .. core.describe(request))
  end
  request_at(request)
  return request.slot
end

-- Lists of requests --------------------------------------------------------------------------------

--- The position of the last access to each list, so that a loop over the list takes linear time.
local cursors = {}
for kind = 0, 2 do cursors[kind] = { index = 0, slot = -1, change = -1, view = nil } end
local WAITING_LIST, PREFILLING_LIST, RUNNING_LIST = 0, 1, 2

local function no_view() fail("the replica was used after the call that it was given to") end
local function need_view() return B.live ~= 0 and B.view ~= nil and B.view or no_view() end

local function length_of(list)
  local view, kind = B.live ~= 0 and B.view ~= nil and B.view or no_view(), list.kind
  return kind == WAITING_LIST and view.waiting or kind == PREFILLING_LIST and view.prefilling or view.seats
end

local function walk(kind, view, slot, steps)
  local requests = B.requests
  if kind == PREFILLING_LIST then
    for _ = 1, steps do slot = requests[slot].next_prefilling end
  else
    for _ = 1, steps do slot = requests[slot].next end
  end
  return slot
end

local function element(list, i)
  local count, kind, view = length_of(list), list.kind, B.view
  if type(i) ~= "number" or not (i >= 1 and i <= count) or i % 1 ~= 0 then return nil end
  if i == count then
    if kind == WAITING_LIST then return (handle_of(view.waiting_tail)) end
    if kind == PREFILLING_LIST then return (handle_of(view.prefilling_tail)) end
    return (handle_of(view.running_tail))
  end
  local head = kind == WAITING_LIST and view.waiting_head
    or kind == PREFILLING_LIST and view.prefilling_head or view.running_head
  if i == 1 then return (handle_of(head)) end
  local cursor = cursors[kind]
  local slot
  if cursor.change == B.change and cursor.index <= i and cursor.index > 0 then
    slot = walk(kind, view, cursor.slot, i - cursor.index)
  else
    slot = walk(kind, view, head, i - 1)
  end
  cursor.change, cursor.index, cursor.slot = B.change, i, slot
  return (handle_of(slot))
end

local function next_element(list, i)
  if i < #list then return i + 1, list[i + 1] end
end

local RequestList = ffi.metatype("rooflua_request_list", {
  __len = length_of,
  __index = element,
  __ipairs = function(list) return next_element, list, 0 end,
  __newindex = read_only("a list of requests is", act),
  __metatable = false,
})
local waiting_list = RequestList(WAITING_LIST)
local prefilling_list = RequestList(PREFILLING_LIST)
local running_list = RequestList(RUNNING_LIST)

-- The replica --------------------------------------------------------------------------------------

-- By name: `true` where the engine's number is read as it is, or a function of the engine's view of the replica.
local replica_fields = {
  index = function(v) return v.index + 1 end,
  decode_tokens = function(v) return v.speculates ~= 0 and v.decode_tokens or v.decodes end,
  speculates = function(v) return v.speculates ~= 0 end,
  decode_steps = function(v) return v.decode_index + v.lane_steps end,
  decode_blocks = function() return (C.decode_blocks(B)) end,
  free_tokens = function(v) return v.free_blocks * v.block_size end,
  prefix_caching = function(v) return v.hits > 0 end,
  max_model_len = function(v) return v.max_model_len ~= 0 and v.max_model_len or nil end,
}
for name, field in pairs(group_fields) do replica_fields[name] = field end
for _, name in ipairs { "async_depth", "block_size", "decode_context_tokens", "decodes", "finishing", "free_blocks",
  "in_flight", "now_s", "seat_blocks", "seats", "total_blocks", "waiting_tokens" } do
  replica_fields[name] = true
end
local replica_methods = {
  waiting = function() need_view() return waiting_list end,
  prefilling = function() need_view() return prefilling_list end,
  running = function() need_view() return running_list end,
  growing_tokens = function(_, request)
    need_view()
    return (C.growing_tokens(B, slot_of(request, "growing_tokens", "replica:")))
  end,
  shared_tokens = function(_, a, b)
    need_view()
    return (C.shared_tokens(B, slot_of(a, "shared_tokens", "replica:"), slot_of(b, "shared_tokens", "replica:")))
  end,
  new_block = function(_, request)
    need_view()
    return (C.new_block(B, slot_of(request, "new_block", "replica:")))
  end,
}

local field_of_replica, method_of_replica = constants.of_two(replica_fields, replica_methods)

ffi.metatype("rooflua_replica_handle", {
  __index = function(_, key)
    local field = field_of_replica[key]
    if field == true then return (B.live ~= 0 and B.view ~= nil and B.view or no_view())[key] end
    if field then return (field(B.live ~= 0 and B.view ~= nil and B.view or no_view())) end
    return method_of_replica[key] or unknown("a replica", key, replica_fields, replica_methods)
  end,
  __newindex = read_only("a replica is", act),
  __metatable = false,
})
local replica = ffi.new("rooflua_replica_handle", 0)

-- The plan -----------------------------------------------------------------------------------------

local scheduler -- the instance whose plan is being filled: decode_all may ask it for victims

local function no_plan() fail("the plan was used after the call that it was given to") end
local function need_plan() if B.live ~= 1 then no_plan() end end

local function refused() fail(ffi.string(C.refusal(B))) end
local function settle(status) return status == 1 or status ~= 0 and refused() end

local function not_whole(value, verb, what)
  fail("plan:" .. verb .. ": expected a whole number of " .. what .. ", found " .. core.describe(value))
end
local function whole(value, verb, what)
  if type(value) == "number" and value >= 0 and value < 2147483648 and value % 1 == 0 then return value end
  return not_whole(value, verb, what)
end

local NOT_READ = -2 -- status of an admission whose request or numbers make no sense

local function are_numbers(a, b, c, d)
  return type(a) == "number" and type(b) == "number" and type(c) == "number" and type(d) == "number"
end

--- The error of such an admission.
local function not_admitted(request, tokens, hold_tokens, fit_tokens, spare_blocks)
  need_plan()
  slot_of(request, "admit")
  whole(tokens, "admit", "tokens")
  whole(hold_tokens, "admit", "tokens to hold")
  whole(fit_tokens, "admit", "tokens to fit")
  whole(spare_blocks, "admit", "spare blocks")
end

local decide_load -- asks the policy of the replica what is loaded of a request (rooflua.border.tiering)

--- An admission that was neither done nor declined: refused, or stores beside the GPUs have something of the request.
--- Then its replica's policy says what is loaded.
local function admit_or_refuse(status, request, tokens, hold, fit, spare)
  while status < NOT_READ do
    decide_load()
    status = C.admit(B, request.slot, request.epoch, tokens, hold, fit, spare)
  end
  return status == 1 or status ~= 0 and refused()
end

--- Preempts the request that the scheduler's victim(replica) returned.
local function shed(victim)
  if not istype(Handle, victim) then
    answers.wrong("scheduler", scheduler, "victim", "victim(replica) returned %s; expected one of replica:running()",
      core.describe(victim))
  end
  local count = C.shed(B, slot_of(victim, "decode_all (victim)"))
  if count == -1 then answers.wrong("scheduler", scheduler, "victim", "%s", ffi.string(C.refusal(B))) end
  return count
end

local reasons = setmetatable({}, { __mode = "k" }) -- scheduler -> {why = how many it rejected for this reason}
local most_reasons = 8 -- of one scheduler

--- Keeps why the scheduler rejected a request.
local function note_reason(why)
  core.plain_text(why, "plan:reject: the reason")
  local own = reasons[scheduler] or { count = 0, by_text = {} }
  reasons[scheduler] = own
  if not own.by_text[why] then
    if own.count == most_reasons then return end
    own.count, own.by_text[why] = own.count + 1, 0
  end
  own.by_text[why] = own.by_text[why] + 1
end

local plan_methods = {
  decode_all = function(_, limit)
    if B.live ~= 1 then no_plan() end
    local count = C.decode_all(B, limit == nil and -1 or whole(limit, "decode_all", "tokens"))
    while count == -2 do count = shed(scheduler:victim(replica)) end
    if count < 0 then fail(ffi.string(C.refusal(B))) end
    return count
  end,
  decode = function(_, request, tokens)
    need_plan()
    return (settle(C.decode(B, slot_of(request, "decode"), tokens == nil and -1 or whole(tokens, "decode", "tokens"))))
  end,
  prefill = function(_, request, tokens)
    need_plan()
    return (settle(C.prefill(B, slot_of(request, "prefill"), whole(tokens, "prefill", "tokens"))))
  end,
  admit = function(_, request, tokens, hold_tokens, fit_tokens, spare_blocks)
    local hold, fit, spare = hold_tokens or 0, fit_tokens or 0, spare_blocks or 0
    local status = B.live == 1 and are_numbers(tokens, hold, fit, spare) and istype(Handle, request)
      and C.admit(B, request.slot, request.epoch, tokens, hold, fit, spare) or NOT_READ
    if status == 1 then return true end
    if status == NOT_READ then not_admitted(request, tokens, hold, fit, spare) end
    return status ~= 0 and admit_or_refuse(status, request, tokens, hold, fit, spare)
  end,
  encodable = function(_, request, tokens)
    need_plan()
    local count = C.encodable(B, slot_of(request, "encodable"), whole(tokens, "encodable", "tokens"))
    return count >= 0 and count or refused()
  end,
  preempt = function(_, request)
    need_plan()
    return (settle(C.preempt(B, slot_of(request, "preempt"))))
  end,
  reject = function(_, request, why)
    need_plan()
    local done = settle(C.reject(B, slot_of(request, "reject")))
    if done and why ~= nil then note_reason(why) end
    return done
  end,
  wake_at = function(_, time_s)
    need_plan()
    if type(time_s) ~= "number" or not (time_s >= 0 and time_s < math.huge) then
      fail("plan:wake_at: expected a time in seconds, found " .. core.describe(time_s))
    end
    return (settle(C.wake_at(B, time_s)))
  end,
}
local plan_fields = { -- as replica_fields
  tokens = true,
  decodes = true,
  prefills = true,
  admitted = true,
  preempted = true,
  requests = function(p) return p.decodes + p.prefills end,
  --- Why plan:admit said no last, where that says nothing of the requests after it: "adapter".
  held_for = function(p) return p.held_for == 1 and "adapter" or nil end,
}

local method_of_plan, field_of_plan = constants.of_two(plan_methods, plan_fields)

ffi.metatype("rooflua_plan_handle", {
  __index = function(_, key)
    local method = method_of_plan[key]
    if method then return method end
    local field = field_of_plan[key] or unknown("a plan", key, plan_fields, plan_methods)
    if field == true then return (B.live == 1 and B.plan_view or no_plan())[key] end
    return (field(B.live == 1 and B.plan_view or no_plan()))
  end,
  __newindex = read_only("a plan is", "; it has methods, as plan:admit(request, tokens)"),
  __metatable = false,
})
local plan = ffi.new("rooflua_plan_handle", 0)

-- What the engine calls ----------------------------------------------------------------------------

local serving = { border = B, functions = C, handle_of = handle_of, replica = replica, fail = fail, unknown = unknown,
  read_only = read_only }

--- The scheduler whose plan is being filled from now on. Returns the one before.
function serving.set_scheduler(instance)
  local before = scheduler
  scheduler = instance
  return before
end

local function plan_by(instance)
  scheduler = instance
  instance:plan(replica, plan)
end

--- Who asks the policy of the replica about an admission that says so, and tells the engine.
function serving.load_by(decide) decide_load = decide end

--- What the engine calls for each plan of a scheduler.
function serving.plan_of(instance)
  return function() plan_by(instance) end
end

--- The waiting queue's key of the request in `slot`.
function serving.key(instance, slot)
  local key = instance:key(handle_of(slot))
  if type(key) ~= "number" or key - key ~= 0 then
    answers.wrong("scheduler", instance, "key", "key(request) must return a finite number; found %s (request %d)",
      core.describe(key), B.requests[slot].id)
  end
  return key
end

--- Why a scheduler rejected requests: {why = how many}; nil where it gave no reason.
function serving.reasons(instance) return reasons[instance] and reasons[instance].by_text end

--- Gives the copy of a scheduler its reasons so far.
function serving.copy_reasons(from, to)
  local own = reasons[from]
  if not own then return end
  local texts = core.copy(own.by_text)
  reasons[to] = { count = own.count, by_text = texts }
end

return serving
