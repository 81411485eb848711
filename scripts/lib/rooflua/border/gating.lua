--- What a gate's policy sees: a request, the requests that are held, and the replicas.
local answers = require "rooflua.border.answers"
local core = require "rooflua.base.core"
local routing = require "rooflua.border.routing"
local serving = require "rooflua.border.views"

local ffi = require("rooflua.border.abi").ffi
local B, handle_of, fail = serving.border, serving.handle_of, serving.fail

local view_pointer = ffi.typeof "const rooflua_gate_view *"
local view -- of the call that runs; nil: none does

local function optional(value, none)
  if value == none then return nil end
  return value
end

local function bands()
  local out = {}
  for i = 0, view.band_count - 1 do
    local each = view.bands[i]
    out[i + 1] = { priority = each.priority, held = each.held, held_tokens = each.held_tokens }
  end
  return out
end

--- How many requests of a class are held.
local function held_by(_, class)
  if view == nil then fail("the view was used after the call that it was given to") end
  if type(class) ~= "number" or class < 0 or class % 1 ~= 0 then
    fail(("held_by: expected the number of a class, found %s"):format(core.describe(class)))
  end
  return class < view.class_count and view.held_by_class[class] or 0
end

local fields = {
  now_s = function() return view.pool.now_s end,
  signals_s = function() return view.pool.signals_s end,
  held = function() return view.held end,
  held_tokens = function() return view.held_tokens end,
  held_by = function() return held_by end,
  bands = bands,
  in_flight = function() return view.in_flight end,
  in_flight_tokens = function() return view.in_flight_tokens end,
  saturation = function() return view.saturation end,
  ready = function() return view.ready end,
  replicas = function() return routing.candidates end,
  --- Of the request that is asked about.
  held_s = function() return view.held_s end,
  deadline_s = function() return (optional(view.deadline_s, -1)) end,
}

local gate = setmetatable({}, {
  __index = function(_, key)
    if view == nil then fail("the view was used after the call that it was given to") end
    local field = fields[key]
    if not field then serving.unknown("a gate's view", key, fields) end
    return (field())
  end,
  __newindex = serving.read_only "the view is",
  __metatable = false,
})

local gating = {}

--- A function that the engine calls: what `answer` makes of the instance's method.
local function made(instance, answer)
  return function()
    local before = routing.set_asked(instance)
    view = ffi.cast(view_pointer, ffi.cast("const void *", B.route))
    local ok, first, second = pcall(answer, instance)
    view = nil
    routing.set_asked(before)
    if not ok then error(first, 0) end
    return first, second
  end
end

local verdicts = { pass = 0, hold = 1, reject = 2 }

local function admit(instance)
  local answer = instance:admit(handle_of(view.pool.slot), gate)
  local verdict = verdicts[answer]
  if not verdict then
    answers.wrong("admission", instance, "admit",
      'admit(request, view) must return "pass", "hold" or "reject"; found %s',
      type(answer) == "string" and ("%q"):format(answer) or core.describe(answer))
  end
  if answer == "hold" and type(instance.next) ~= "function" then
    answers.wrong("admission", instance, "admit",
      "it holds a request and has no next(request, view) method to let it go")
  end
  return verdict
end

local function ask_next(instance)
  local passes, again_s = instance:next(handle_of(view.pool.slot), gate)
  if type(passes) ~= "boolean" then
    answers.wrong("admission", instance, "next", "next(request, view) must return true or false; found %s",
      core.describe(passes))
  end
  if again_s ~= nil and not (type(again_s) == "number" and again_s >= 0 and again_s < math.huge) then
    answers.wrong("admission", instance, "next", "the time at which to ask again must be a number of seconds; found %s",
      core.describe(again_s))
  end
  return passes, again_s or -1
end

local function flows()
  local out = {}
  for i = 0, view.flow_count - 1 do
    local each = view.flows[i]
    out[i + 1] = { id = optional(each.id, -1), priority = each.priority, held = each.held,
      held_tokens = each.held_tokens, oldest_s = each.oldest_s, deadline_s = optional(each.deadline_s, -1),
      served_prompt_tokens = each.served_prompt_tokens, served_output_tokens = each.served_output_tokens,
      service = each.service, granted = each.granted, request = handle_of(each.slot) }
  end
  return out
end

local function choose(instance)
  local given = flows()
  local place = instance:choose(given, gate)
  if type(place) ~= "number" or not (place >= 1 and place <= #given) or place % 1 ~= 0 then
    answers.wrong("admission", instance, "choose",
      "choose(flows, view) must return a whole number from 1 to %d; found %s",
      #given, type(place) == "number" and tostring(place) or core.describe(place))
  end
  return place - 1
end

--- What the engine calls when a request comes, when a held one may go, and to choose among flows.
function gating.admit_of(instance) return made(instance, admit) end
function gating.next_of(instance) return made(instance, ask_next) end
function gating.choose_of(instance) return made(instance, choose) end

return gating
