--- What a decider sees: a request, the decode replica that was chosen for it, and the prefill replicas.
local answers = require "rooflua.border.answers"
local core = require "rooflua.base.core"
local routing = require "rooflua.border.routing"
local serving = require "rooflua.border.views"

local ffi = require("rooflua.border.abi").ffi
local B, C, handle_of, fail = serving.border, serving.functions, serving.handle_of, serving.fail

local pair_pointer = ffi.typeof "const rooflua_pair_view *"
local member = ffi.new "rooflua_pair_member"
local view -- of the call that runs; nil: none does

local function need_view()
  if view == nil then fail("the pair was used after the call that it was given to") end
  return view
end

--- The i-th prefill replica as it is now.
local function member_at(i)
  need_view()
  if type(i) ~= "number" or i % 1 ~= 0 or C.pair_member(B, i - 1, member) == 0 then
    fail(("pair: expected the number of a prefill replica, from 1 to %d, found %s"):format(
      view.pool.candidate_count, core.describe(i)))
  end
  return member
end

local methods = {
  --- Tokens of prompts at the i-th prefill replica that are not computed yet, cached ones among them.
  queued_tokens = function(_, i) return member_at(i).queued_tokens end,
  --- Tokens that a step of it computes at most; 0: no limit.
  budget_tokens = function(_, i) return member_at(i).budget_tokens end,
  --- What the prompt's KV takes from there to the decode replica, at the share of the links that is free now.
  transfer_s = function(_, i) return member_at(i).transfer_s end,
}

local fields = {
  now_s = function() return view.pool.now_s end,
  prompt_tokens = function() return handle_of(view.pool.slot).prompt_tokens end,
  cached_tokens = function() return view.cached_tokens end,
  decode = function() return (routing.signals_of(view.decode)) end,
  prefill = function() return routing.candidates end,
}
for name, method in pairs(methods) do fields[name] = function() return method end end

local pair = setmetatable({}, {
  __index = function(_, key)
    need_view()
    local field = fields[key]
    if not field then serving.unknown("a decider's pair", key, fields) end
    return (field())
  end,
  __newindex = serving.read_only "the pair is",
  __metatable = false,
})

local deciding = {}

--- Whether a decider splits a request, asked within the call of another decider.
function deciding.ask(instance, request, given)
  local split = instance:split(request, given)
  if type(split) ~= "boolean" then
    answers.wrong("decider", instance, "split", "split(request, pair) must return true or false; found %s",
      core.describe(split))
  end
  return split
end

--- What the engine calls for each request: whether a prefill replica is used.
function deciding.split_of(instance)
  return function()
    local before = routing.set_asked(instance)
    view = ffi.cast(pair_pointer, ffi.cast("const void *", B.route))
    local ok, split = pcall(deciding.ask, instance, handle_of(view.pool.slot), pair)
    view = nil
    routing.set_asked(before)
    if not ok then error(split, 0) end
    return split
  end
end

return deciding
