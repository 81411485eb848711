-- The requests of a case as a workload: recorded requests, or a load generated from its description.
local policy = require "rooflua.policy"

local replay = {}

--- A workload of rows {arrival_s, prompt_tokens, output_tokens, content}.
local function of_rows(rows, shares_content)
  local class = policy.define { name = "validate_replay", doc = "The requests of a measured case.", params = {} }
  function class:requests() -- luacheck: ignore 212
    return {
      at = 0, shares_content = shares_content,
      next = function(state)
        state.at = state.at + 1
        local row = rows[state.at]
        if not row then return nil end
        return row.arrival_s, row.prompt_tokens, row.output_tokens, row.content and { content = row.content } or nil
      end,
    }
  end
  return class {}
end

--- Gives requests with the same prompt the same content, so that the prefix cache has it. A shared prefix comes first.
local function with_content(requests, shared_prefix_tokens)
  local ids, next_id, any = {}, 2, false
  for i, each in ipairs(requests) do
    local content
    if each.prompt ~= nil then
      if not ids[each.prompt] then ids[each.prompt], next_id = next_id, next_id + 1 end
      content = { { ids[each.prompt], each.prompt_tokens } }
    elseif shared_prefix_tokens and each.prompt_tokens > shared_prefix_tokens then
      content = { { 1, shared_prefix_tokens }, { 1000000 + i, each.prompt_tokens - shared_prefix_tokens } }
    end
    each.content, any = content, any or content ~= nil
  end
  return any
end

--- Recorded requests.
function replay.recorded(requests, shared_prefix_tokens)
  return of_rows(requests, with_content(requests, shared_prefix_tokens))
end

--- Poisson arrivals in stages: rate times duration requests, at times that are uniform in the stage. There are
--- `prompts` different prompts in turn; nil: all are different.
--- @param stages table {{rate_per_s, duration_s}}
--- @return table workload, requests with their stage
function replay.poisson(stages, prompt_tokens, output_tokens, prompts, rng)
  local requests, from_s = {}, 0
  local gaps = rng:stream "arrivals"
  for index, stage in ipairs(stages) do
    local times, sum, count = {}, 0, math.floor(stage.rate_per_s * stage.duration_s + 0.5)
    for i = 1, count + 1 do
      sum = sum + gaps:exponential(1)
      times[i] = sum
    end
    for i = 1, count do
      local at = #requests
      requests[at + 1] = { arrival_s = from_s + times[i] / sum * stage.duration_s, prompt_tokens = prompt_tokens,
        output_tokens = output_tokens, prompt = prompts and at % prompts, stage = index - 1 }
    end
    from_s = from_s + stage.duration_s
  end
  return of_rows(requests, with_content(requests)), requests
end

--- One batch of requests that arrive at once.
function replay.batch(count, prompt_tokens, output_tokens)
  local requests = {}
  for i = 1, count do
    requests[i] = { arrival_s = 0, prompt_tokens = prompt_tokens, output_tokens = output_tokens, scored = true }
  end
  return of_rows(requests, false), requests
end

return replay
