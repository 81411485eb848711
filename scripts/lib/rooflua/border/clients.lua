--- What a client sees: the request that it sends or that has ended, how it ended, and random numbers of its own.
local answers = require "rooflua.border.answers"
local core = require "rooflua.base.core"
local random = require "rooflua.random"
local serving = require "rooflua.border.views"
local statuses = require "rooflua.base.statuses"

local handle_of = serving.handle_of

local clients = {}

local function wait_of(instance, method, value, words)
  if value == nil then return math.huge end
  if type(value) == "number" and value >= 0 then return value end
  answers.wrong("client", instance, method, "%s must return %s; found %s", method, words, core.describe(value))
end

local ending_fields = { "outcome", "status", "attempt", "now_s", "waited_s", "output_tokens" }

--- How an attempt ended, read-only.
local function ending_of(outcome, attempt, now_s, waited_s, output_tokens)
  local fields = { outcome = outcome, status = statuses.of(outcome), attempt = attempt, now_s = now_s,
    waited_s = waited_s, output_tokens = output_tokens }
  return setmetatable({}, {
    __index = function(_, key)
      if fields[key] == nil and key ~= "status" then serving.unknown("an ending", key, core.set(ending_fields)) end
      return fields[key]
    end,
    __newindex = serving.read_only "an ending is",
    __metatable = false,
  })
end

--- What the engine calls: patience(slot) -> seconds to the first token, to the last and to a cancel; again(slot, ...)
--- -> delay and whether output is kept; nil: it gives up. And the memory of the random stream of the call that runs.
function clients.asks_of(instance)
  local draws = random.streams(0):stream "clients"

  local function patience(slot)
    local request = handle_of(slot)
    local first_s, total_s, cancel_s
    if instance.patience then first_s, total_s = instance:patience(request, draws) end
    if instance.cancels then cancel_s = instance:cancels(request, draws) end
    local words = "seconds from 0 on, or nil: for ever"
    return wait_of(instance, "patience", first_s, words), wait_of(instance, "patience", total_s, words),
      wait_of(instance, "cancels", cancel_s, words)
  end

  local function again(slot, outcome, attempt, now_s, waited_s, output_tokens)
    if not instance.again then return nil end
    local ending = ending_of(outcome, attempt, now_s, waited_s, output_tokens)
    local delay_s, keeps_output = instance:again(handle_of(slot), ending, draws)
    if delay_s == nil then return nil end
    if not (type(delay_s) == "number" and delay_s >= 0 and delay_s < math.huge) then
      answers.wrong("client", instance, "again", "again must return seconds from 0 on, or nil: the client gives up; "
        .. "found %s", core.describe(delay_s))
    end
    if keeps_output ~= nil and type(keeps_output) ~= "boolean" then
      answers.wrong("client", instance, "again", "again must return true or false after the delay; found %s",
        core.describe(keeps_output))
    end
    return delay_s, keeps_output or false
  end

  return patience, again, draws
end

--- Whether a client ever ends a request or sends one again.
function clients.acts(instance)
  return instance.patience ~= nil or instance.cancels ~= nil or instance.again ~= nil
end

return clients
