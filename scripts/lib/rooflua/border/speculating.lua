--- What the engine asks of speculation: drafts of a planned step, the acceptance of a request, and what landed.
local batch = require "rooflua.border.batch"
local random = require "rooflua.random"
local serving = require "rooflua.border.views"

local B = serving.border
local live, replica = batch.live, serving.replica

local speculating = {}

function speculating.drafts(instance) return (instance:drafts(live(), replica)) end

--- Of the one request that is visible now.
function speculating.draft(instance, k) return (instance:draft(serving.handle_of(0), k)) end

function speculating.landed(instance, now_s, rows, drafted, accepted, decodes, ...)
  instance:landed { now_s = now_s, rows = rows, drafted = drafted, accepted = accepted, decodes = decodes,
    accepted_at = { ... } }
end

--- @param name string of the request's stream for curves
function speculating.curve(instance, seed, name)
  local stream = random.streams(seed):stream(name, B.requests[0].id)
  return (instance:curve(serving.handle_of(0), stream))
end

--- @param name string of the request's stream for draws
function speculating.accept(instance, seed, name, drafted, emitted)
  local stream = random.streams(seed):stream(name, B.requests[0].id)
  local function u(position) return stream:at(position) end
  return (instance:accept(serving.handle_of(0), drafted, emitted, u))
end

return speculating
