--- What a router sees: the request to be routed, and the signals of the replicas that may take it.
local ffi = require "ffi"
local answers = require "rooflua.border.answers"
local core = require "rooflua.base.core"
local knowledge = require "rooflua.border.knowledge"
local serving = require "rooflua.border.views"

local C, B, handle_of = serving.functions, serving.border, serving.handle_of
local fail, unknown, read_only = serving.fail, serving.unknown, serving.read_only

local function need_route()
  if B.live ~= 2 then fail("the replicas were used after the call that they were given to") end
  return B.route
end

-- RouterFact (engine/serve/replica/cluster.h)
local SENT_TOKENS, STORED_TOKENS, PREFILL_TOKENS, BLOCKS, SHARED_BLOCKS, SENT_BLOCKS, HAS_ADAPTER = 0, 1, 2, 3, 4, 5, 6
local RANK_REQUESTS, RANK_TOKENS, RANK_SEATS = 7, 8, 9

local signal_fields = {
  index = function(_, index) return index + 1 end,
  waiting = function(s) return s.waiting end,
  running = function(s) return s.running end,
  decodes = function(s) return s.decodes end,
  prefilling = function(s) return s.prefilling end,
  landing_prompts = function(s) return s.landing_prompts end,
  waiting_tokens = function(s) return s.waiting_tokens end,
  context_tokens = function(s) return s.context_tokens end,
  kv_used_frac = function(s) return s.kv_used_frac end,
  free_blocks = function(s) return s.free_blocks end,
  total_blocks = function(s) return s.total_blocks end,
  outstanding = function(s) return s.outstanding end,
  group = function(s) return s.group + 1 end,
  --- Tokens of the request being routed that this replica has cached: as it is now, or as its events said.
  prefix_hit_tokens = function(_, index) return (C.route_cached_tokens(B, index)) end,
  tier_hit_tokens = function(_, index) return (C.route_fact(B, index, STORED_TOKENS)) end,
  --- Whether the adapter of the request is in a slot there now, or it has none.
  has_adapter = function(_, index) return C.route_fact(B, index, HAS_ADAPTER) ~= 0 end,
  --- Requests of a rank that are not over, and the tokens of their prompts, as they are now.
  rank_requests = function(_, index) return (C.route_fact(B, index, RANK_REQUESTS)) end,
  rank_tokens = function(_, index) return (C.route_fact(B, index, RANK_TOKENS)) end,
  --- Seats that these requests do not take.
  rank_seats = function(_, index) return (C.route_fact(B, index, RANK_SEATS)) end,
  -- These are kept for routers that declare them.
  prefix_sent_tokens = function(_, index) return (C.route_fact(B, index, SENT_TOKENS)) end,
  sent_blocks = function(_, index) return (C.route_fact(B, index, SENT_BLOCKS)) end,
  prefill_tokens_in_flight = function(_, index) return (C.route_fact(B, index, PREFILL_TOKENS)) end,
  blocks_in_flight = function(_, index) return (C.route_fact(B, index, BLOCKS)) end,
  shared_blocks_in_flight = function(_, index) return (C.route_fact(B, index, SHARED_BLOCKS)) end,
}

-- The signals that the router may read: those it declared; if it declared none, all that cost nothing to keep.
local undeclared = {}
for name, field in pairs(signal_fields) do
  if not knowledge.kept[name] then undeclared[name] = field end
end
local readable, asked = undeclared, nil

local function not_declared(instance, key)
  if not signal_fields[key] then unknown("a replica's signals", key, signal_fields) end
  fail(("router %s reads the signal '%s' without declaring it; add it to signals = { ... }"):format(
    tostring(instance.name), key))
end

local Signals = ffi.metatype("rooflua_replica_signals_handle", {
  __index = function(handle, key)
    local route = need_route()
    local field = readable[key]
    if not field then not_declared(asked, key) end
    if handle.position >= route.replica_count then fail("there is no such replica") end
    return (field(route.signals + handle.position, handle.position))
  end,
  __newindex = read_only("signals are"),
  __metatable = false,
})

local function need_signal(name)
  if not readable[name] then not_declared(asked, name) end
end

local function holder(what, k, count)
  if type(k) ~= "number" or not (k >= 1 and k <= count) or k % 1 ~= 0 then
    fail(("%s: expected a whole number from 1 to %d, found %s"):format(what, count, core.describe(k)))
  end
  return B.holders[k - 1] + 1
end

--- The k-th replica that has some of the prompt cached.
local function prefix_holder(_, k)
  need_route()
  need_signal "prefix_hit_tokens"
  local count = B.holder_count
  if count < 0 or B.holders_sent ~= 0 then count = C.find_holders(B) end
  return (holder("prefix_holder", k, count))
end

--- The k-th replica that the router sent some of the prompt to.
local function sent_holder(_, k)
  need_route()
  need_signal "prefix_sent_tokens"
  local count = B.holder_count
  if count < 0 or B.holders_sent == 0 then count = C.find_sent_holders(B) end
  return (holder("sent_holder", k, count))
end

--- Content and tokens of the k-th segment of the prompt, as the workload states them; nil after the last one, and for
--- a prompt of private tokens.
local function segment(_, k)
  need_route()
  if type(k) ~= "number" or k < 1 or k % 1 ~= 0 then
    fail(("segment: expected a whole number from 1 on, found %s"):format(core.describe(k)))
  end
  local tokens = C.route_segment(B, k - 1)
  if tokens < 0 then return nil end
  return B.segment_content, tokens
end

--- Indices of the engine. They are current, whatever the age of the signals.
local indices = {
  least_outstanding = function()
    need_signal "outstanding"
    return C.least_outstanding(B) + 1
  end,
  prefix_holders = function()
    need_signal "prefix_hit_tokens"
    return (C.find_holders(B))
  end,
  prefix_holder = function() return prefix_holder end,
  sent_holders = function()
    need_signal "prefix_sent_tokens"
    return (C.find_sent_holders(B))
  end,
  sent_holder = function() return sent_holder end,
  segment = function() return segment end,
}

local function next_candidate(list, i)
  if i < #list then return i + 1, list[i + 1] end
end

ffi.metatype("rooflua_candidates_handle", {
  __ipairs = function(list) return next_candidate, list, 0 end,
  __len = function() return need_route().candidate_count end,
  __index = function(_, i)
    local route = need_route()
    if type(i) ~= "number" then
      if i == "now_s" then return route.now_s end
      if i == "signals_s" then return route.signals_s end
      if i == "decode_stage" then return route.decode_stage ~= 0 end
      if i == "together" or i == "placed" then return route[i] end
      local index = indices[i]
      return index and (index()) or nil
    end
    if not (i >= 1 and i <= route.candidate_count) or i % 1 ~= 0 then return nil end
    return (Signals(route.candidates[i - 1]))
  end,
  __newindex = read_only("the list of replicas is"),
  __metatable = false,
})
local candidates = ffi.new("rooflua_candidates_handle", 0)

local routing = { candidates = candidates }

--- The signals of one replica, counted from 0.
function routing.signals_of(index) return (Signals(index)) end

--- The signals that a router declared, by name, with `index`; if it declared none, all that cost nothing to keep.
function routing.declared(instance)
  if instance.signals == nil then return undeclared end
  local fields = { index = signal_fields.index }
  for _, name in ipairs(instance.signals) do
    if not signal_fields[name] then
      fail(("%s: signals: %s"):format(tostring(instance.name),
        core.unknown_name("signal", name, core.sorted_keys(signal_fields))))
    end
    fields[name] = signal_fields[name]
  end
  return fields
end

--- The router whose declared signals are readable from now on. Returns the one before.
function routing.set_asked(instance)
  local before = asked
  asked, readable = instance, instance and routing.declared(instance) or undeclared
  return before
end

--- What the engine keeps for a router (engine/script/serving/router.cpp).
routing.knowledge = knowledge.of

local REFUSED = -1 -- Router::refused

--- The router's `false`.
local function refusal(instance)
  if not instance.refuses then
    answers.wrong("router", instance, "route", "route returned false, which refuses the request; say refuses = true in "
      .. "policy.define")
  end
  if B.route.decode_stage ~= 0 then
    answers.wrong("router", instance, "route", "route returned false for a request whose prompt is computed; it can be "
      .. "refused when it comes, and then needs a decode replica")
  end
  return REFUSED
end

--- The replica that a method of the router chose.
local function chosen(instance, method, choice)
  local count = B.route.candidate_count
  if type(choice) ~= "number" or not (choice >= 1 and choice <= count) or choice % 1 ~= 0 then
    answers.wrong("router", instance, method, "%s returned %s; expected a whole number from 1 to %d", method,
      type(choice) == "number" and tostring(choice) or core.describe(choice), count)
  end
  return B.route.candidates[choice - 1]
end

local function route_by(instance)
  if instance ~= asked then routing.set_asked(instance) end
  local choice = instance:route(handle_of(B.route.slot), candidates)
  if choice == false then return (refusal(instance)) end
  return (chosen(instance, "route", choice))
end

local function place_by(instance)
  if instance ~= asked then routing.set_asked(instance) end
  return (chosen(instance, "place", instance:place(handle_of(B.route.slot), candidates)))
end

--- What the engine calls for each request: a 0-based index of a replica; REFUSED.
function routing.route_of(instance)
  return function() return (route_by(instance)) end
end

--- The same for each request that gets a rank of its engine.
function routing.place_of(instance)
  return function() return (place_by(instance)) end
end

return routing
