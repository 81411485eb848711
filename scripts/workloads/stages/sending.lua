--- Sends the requests of stages that follow each other: the next one begins when all answers of the one before have
--- ended, and a pause later.
---
---     state = sending.start(state, stages, rules)        fields next, done and more of a workload's state
---
--- `stages` is a list of {count, rate_per_s, duration_s} or {count, clients}. `state.request(state, at_s, i, stage)`
--- returns request number i of a stage, as `next` of a workload does.
local sending = {}

--- Adds the times of `count` requests that exponential gaps spread over `duration_s`, the last at its end.
local function spread(times, gaps, from_s, count, duration_s)
  local first, sum = #times, 0
  for i = 1, count do
    sum = sum + gaps:exponential(1)
    times[first + i] = sum
  end
  for i = first + 1, first + count do times[i] = from_s + times[i] * (duration_s / sum) end
end

local function poisson(times, gaps, stage)
  local second = 0
  while #times < stage.count do
    local count = gaps:poisson(stage.rate_per_s)
    if count > 0 then spread(times, gaps, second, count, 1) end
    second = second + 1
  end
end

--- When the requests of a stage are sent, from its beginning on. Those of a number of clients: at once.
local function times_of(stage, rules)
  local times = {}
  if stage.clients then
    for i = 1, stage.count do times[i] = 0 end
  elseif rules.arrivals == "poisson" then
    poisson(times, rules.gaps, stage)
  elseif rules.arrivals == "constant" then
    spread(times, rules.gaps, 0, stage.count, stage.duration_s)
  else
    for i = 1, stage.count do times[i] = i / stage.rate_per_s end
  end
  return times
end

--- How many requests of a stage may be under way at once.
local function limit_of(stage, rules)
  local most = rules.max_in_flight > 0 and rules.max_in_flight or math.huge
  return math.min(most, stage.clients or math.huge, stage.count)
end

local function begin(state, number, at_s)
  local stage = state.stages[number]
  state.stage, state.begin_s, state.sent, state.ended = number, at_s, 0, 0
  state.times, state.most = times_of(stage, state.rules), limit_of(stage, state.rules)
end

--- The next request of this stage, not before `not_before_s`; nil where all were sent.
local function send(state, not_before_s)
  local i = state.sent + 1
  if i > state.stages[state.stage].count then return nil end
  state.sent = i
  return state:request(math.max(state.begin_s + state.times[i], not_before_s), i, state.stage)
end

--- Requests that wait for no answer: the first ones of a stage.
local function next_request(state)
  if state.sent - state.ended >= state.most then return nil end
  return send(state, 0)
end

--- An answer makes room for another request, or ends the stage.
local function answered(state, now_s)
  state.ended = state.ended + 1
  local stage = state.stages[state.stage]
  if state.ended < stage.count then return send(state, now_s) end
  if state.stage == #state.stages then return nil end
  begin(state, state.stage + 1, now_s + state.rules.gap_s)
  return nil
end

--- After the answer that ended a stage: the first requests of the next one.
local function more(state)
  if state.stage == 1 or state.ended > 0 then return nil end
  return next_request(state)
end

function sending.start(state, stages, rules)
  state.stages, state.rules = stages, rules
  state.next, state.done, state.more = next_request, answered, more
  begin(state, 1, 0)
  return state
end

return sending
