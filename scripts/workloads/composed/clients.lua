--- Clients that each wait for an answer, think, and send the next request: when they send. What they send, a workload
--- says.
local arrivals = require "rooflua.arrivals"

local clients = {}

--- The parameters of such clients.
--- @param think table the declaration of think_time_s
--- @param more table? further declarations
function clients.parameters(think, more)
  local params = {
    clients = { default = 16, unit = "clients", min = 1, integer = true, doc = "Number of clients." },
    think_time_s = think,
    start_rate_per_s = { default = 0.0, unit = "requests/s", min = 0, infinite = true,
      doc = "Rate at which the clients send their first requests, Poisson; math.huge = all at time 0; 0 = each after a "
        .. "pause of think_time_s, and all at time 0 where there is no such pause." },
  }
  for name, declaration in pairs(more or {}) do params[name] = declaration end
  return params
end

--- @param key string that the time follows from, for errors
local function one_more(state, at_s, key)
  if state.sent >= state.count then return nil end
  state.sent = state.sent + 1
  local prompt, output, fields = state.take(state)
  if not prompt then
    state.sent, state.count = state.sent - 1, state.sent - 1
    return nil
  end
  return arrivals.in_time(at_s, state.sent, state.count, key), prompt, output, fields
end

--- The first requests. Pauses of all clients begin at time 0: the next of n of them ends after 1/n of the mean, as in
--- the order of n exponential times.
local function next_request(state)
  if state.started >= state.clients then return nil end
  local rate, key = state.start_rate_per_s, "workload.start_rate_per_s"
  if rate == 0 and state.think_time_s > 0 then
    rate, key = (state.clients - state.started) / state.think_time_s, "workload.think_time_s"
  end
  state.started = state.started + 1
  if rate > 0 and rate < math.huge then state.start_s = state.start_s + state.starting:exponential(rate) end
  return one_more(state, state.start_s, key)
end

local function answered(state, now_s)
  local pause = 0
  if state.think_time_s > 0 then pause = state.thinking:exponential(1 / state.think_time_s) end
  return one_more(state, now_s + pause, "workload.think_time_s")
end

--- Adds what clients need to the state of a workload.
--- @param workload table clients, think_time_s, start_rate_per_s
--- @param rng rooflua.Random
--- @param state table count (requests of all clients together), take(state): prompt_tokens, output_tokens, fields of
---   the next request; nil: there is none
function clients.open(workload, rng, state)
  state.next, state.done = next_request, answered
  state.thinking, state.starting = rng:stream "think_time", rng:stream "start_rate"
  state.clients, state.think_time_s = workload.clients, workload.think_time_s
  state.start_rate_per_s, state.start_s = workload.start_rate_per_s, 0
  state.sent, state.started = 0, 0
  return state
end

return clients
